//! A fast drive in front of a slow one, against what was published of flash caches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{
    Bytes, CacheFill, CachedWrites, DeviceModel, DriveProfile, FileKind, FrontCache, FrontDrive,
    Nanoseconds, Op, OpKind, Scale,
};

use super::Model;
use super::random::Random;
use crate::profiles;

const PAGE: u64 = 16_384;
/// The drives are this much smaller than the real ones, at their full speed.
const SMALLER: u64 = 1000;

fn op(kind: OpKind, page: u64) -> Op {
    Op {
        kind,
        file: 1,
        file_kind: FileKind::Data,
        offset: page * PAGE,
        bytes: PAGE,
        compressed_fraction: 1.0,
    }
}

/// RAID 10 with 80 GB of a Fusion-io card in front.
fn flash_cache(writes: CachedWrites, destage_above: f64) -> DriveProfile {
    let mut profile = profiles::embedded("raid10-8x15k-bbu").unwrap();
    // As small as the drives are: it must not carry the writes of the first minutes.
    profile.write.buffer = Bytes(256 * 1024);
    profile.cache = Some(FrontCache {
        drive: FrontDrive::Found(Box::new(
            profiles::embedded("fusionio-iodrive-160-slc").unwrap(),
        )),
        capacity: Bytes(80_000_000_000),
        page: Bytes(PAGE),
        writes,
        fill: CacheFill::Read,
        dirty_share_max: 0.8,
        destage_above,
        destage_depth: 8,
    });
    profile
}

fn smaller(profile: &DriveProfile) -> Model {
    Model::with_capacity(profile, Scale::FULL, profile.capacity.0 / SMALLER)
}

/// Random pages of 100 GB of data at queue depth 128, 70 % reads: operations a second after
/// `warm_up` of them.
fn per_second(model: &mut Model, warm_up: usize) -> f64 {
    const MEASURED: usize = 20_000;
    let pages = 100_000_000_000 / SMALLER / PAGE;
    let mut random = Random::seeded(17);
    let mut clients: BinaryHeap<Reverse<Nanoseconds>> =
        std::iter::repeat_n(Reverse(1000), 128).collect();
    let (mut began, mut now) = (0, 0);
    for number in 0..warm_up + MEASURED {
        Reverse(now) = clients.pop().unwrap();
        if number == warm_up {
            began = now;
        }
        let kind = if random.unit() < 0.7 {
            OpKind::Read
        } else {
            OpKind::Write
        };
        clients.push(Reverse(model.submit(&op(kind, random.below(pages)), now)));
    }
    MEASURED as f64 / ((now - began) as f64 / 1e9)
}

/// percona.com, 2010: `FlashCache` on 80 GB of a Fusion-io card and about 100 GB of data was four
/// times as fast as the RAID alone with up to 80 % of dirty pages, and twice with write-through.
#[test]
fn a_flash_cache_gains_what_was_published() {
    let mut alone = flash_cache(CachedWrites::Through, 0.0);
    alone.cache = None;
    let alone = per_second(&mut smaller(&alone), 5_000);
    let gain = |writes, destage_above| {
        let mut model = smaller(&flash_cache(writes, destage_above));
        let gain = per_second(&mut model, 60_000) / alone;
        (gain, model.usage(0).cache.unwrap())
    };
    let (back, of_back) = gain(CachedWrites::Back, 0.75);
    let (through, of_through) = gain(CachedWrites::Through, 0.0);
    println!("gains: {back} and {through}; {of_back:?}, {of_through:?}");
    assert!((back / 4.0 - 1.0).abs() < 0.2, "{back}");
    assert!((through / 2.0 - 1.0).abs() < 0.2, "{through}");
    assert!((of_back.dirty_share - 0.8).abs() < 0.05, "{of_back:?}");
    assert!(
        of_through.dirty_share.abs() < f64::EPSILON,
        "{of_through:?}"
    );
    // 80 GB of 100 GB that are all as likely.
    let hit_ratio = of_through.hit_ratio().unwrap();
    assert!((hit_ratio / 0.8 - 1.0).abs() < 0.1, "{hit_ratio}");
}

#[test]
fn a_write_back_cache_acknowledges_at_its_own_speed_and_destages_later() {
    let mut model = smaller(&flash_cache(CachedWrites::Back, 0.0));
    let mut now = 1000;
    let mut longest = 0;
    // One every ten milliseconds: the disks keep up.
    for page in 0..500 {
        now += 10_000_000;
        longest = longest.max(model.submit(&op(OpKind::Write, page * 7 % 1000), now) - now);
    }
    assert!(longest < 100_000, "{longest}");
    let cache = model.usage(now).cache.unwrap();
    assert!(
        cache.destaged_bytes > 400 * PAGE && cache.dirty_share < 0.02,
        "{cache:?}"
    );
}

#[test]
fn a_hit_takes_the_fast_drives_time_and_a_discarded_page_is_none() {
    let mut model = smaller(&flash_cache(CachedWrites::Around, 0.0));
    let mut now = 0;
    let mut latency = |model: &mut Model, op: Op| {
        now += 100_000_000;
        model.submit(&op, now) - now
    };
    assert!(latency(&mut model, op(OpKind::Read, 5)) > 300_000);
    assert!(latency(&mut model, op(OpKind::Read, 5)) < 200_000);
    // Written around the cache: what it had is no longer right.
    latency(&mut model, op(OpKind::Write, 5));
    assert!(latency(&mut model, op(OpKind::Read, 5)) > 300_000);
    assert!(latency(&mut model, op(OpKind::Read, 5)) < 200_000);
    let gone = Op {
        bytes: u64::MAX,
        offset: 0,
        ..op(OpKind::Discard, 0)
    };
    latency(&mut model, gone);
    assert!(latency(&mut model, op(OpKind::Read, 5)) > 300_000);
    let usage = model.usage(now);
    assert_eq!(usage.cache_hits[FileKind::Data.index()], 2);
    assert_eq!(usage.cache.unwrap().read_misses, 3);
}

/// A host that keeps a quarter of the cache's size itself: a cache that is filled when the host
/// drops a page does not hold what the host still has.
#[test]
fn filling_on_eviction_keeps_the_cache_for_what_the_host_has_not() {
    const CACHED: u64 = 80_000_000_000 / (10 * SMALLER) / PAGE;
    let hit_ratio = |fill| {
        let mut profile = flash_cache(CachedWrites::Through, 0.0);
        profile.cache.as_mut().unwrap().fill = fill;
        let capacity = profile.capacity.0 / (10 * SMALLER);
        let mut model = Model::with_capacity(&profile, Scale::FULL, capacity);
        let mut random = Random::seeded(4);
        let mut host = hashlink::LinkedHashMap::new();
        for number in 0..40_000 {
            let page = random.below(CACHED / 2 * 3);
            if host.insert(page, ()).is_some() {
                continue;
            }
            if host.len() as u64 > CACHED / 4 {
                host.pop_front();
            }
            model.submit(&op(OpKind::Read, page), number * 10_000_000);
        }
        model.usage(0).cache.unwrap().hit_ratio().unwrap()
    };
    let on_read = hit_ratio(CacheFill::Read);
    let on_eviction = hit_ratio(CacheFill::Eviction {
        host_cache: Bytes(20_000_000_000),
    });
    println!("hit ratios: {on_read}, {on_eviction}");
    // (C - H) / (D - H) if all that the host has takes room in a cache of C pages.
    assert!((on_read / 0.6 - 1.0).abs() < 0.05, "{on_read}");
    assert!(on_eviction > 1.08 * on_read, "{on_eviction}");
}

#[test]
fn a_smaller_drive_has_a_smaller_cache() {
    let profile = flash_cache(CachedWrites::Back, 0.8);
    for smaller in [1000, 10_000] {
        let mut model = Model::with_capacity(&profile, Scale::FULL, profile.capacity.0 / smaller);
        let pages = 80_000_000_000 / smaller / PAGE;
        for page in 0..pages / 2 {
            model.submit(&op(OpKind::Read, page), page * 10_000_000);
        }
        let filled = model.usage(0).cache.unwrap().filled_share;
        assert!((filled - 0.5).abs() < 0.01, "{filled}");
    }
}
