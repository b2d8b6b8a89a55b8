//! Devices in memory that keep or break one promise: each lie is found, none is invented.

use super::*;
use crate::powercut::lane::Durability;
use crate::powercut::record::Record;

const PAGES: u32 = 16;
/// Writes of each lane, in batches with a flush after each but the last.
const WRITES: u64 = 75;
const BATCH: u64 = 5;
const RUN: RunId = RunId(7);

/// A sector of a write that reaches a device.
#[derive(Clone, Copy)]
struct Sector {
    lane: Lane,
    sequence: u64,
    /// Number of the sector in its page.
    number: usize,
    /// No flush has covered the write at the cut.
    is_open: bool,
}

/// Cuts a device that keeps the sectors of which `keeps` is true; `after` changes its bytes at last.
fn cut(keeps: impl Fn(Sector) -> bool, after: impl Fn(&Lane, &mut [u8])) -> Vec<LaneFindings> {
    let order = WriteOrder::new(PAGES);
    let acknowledged = WRITES - BATCH;
    let lanes = Lane::all();
    let mut media = lanes.map(|lane| vec![0; (lane.page.0 * order.pages()) as usize]);
    let mut flushed = [0; LANES];
    for sequence in 1..=WRITES {
        for (number, lane) in lanes.iter().enumerate() {
            let record = Record {
                run: RUN,
                lane: number as u16,
                page: order.page(sequence) as u32,
                sequence,
                flushed,
            };
            let mut content = vec![0; lane.page.0 as usize];
            record.encode(&mut content);
            let at = (order.page(sequence) * lane.page.0) as usize;
            let place = media[number][at..].chunks_exact_mut(SECTOR_BYTES);
            let sectors = content.chunks_exact(SECTOR_BYTES).zip(place).enumerate();
            for (index, (sector, place)) in sectors {
                let written = Sector {
                    lane: *lane,
                    sequence,
                    number: index,
                    is_open: sequence > acknowledged,
                };
                if keeps(written) {
                    place.copy_from_slice(sector);
                }
            }
        }
        if sequence >= u64::from(PAGES) && sequence % BATCH == 0 && sequence <= acknowledged {
            for (number, lane) in lanes.iter().enumerate() {
                if lane.durability.is_promised() {
                    flushed[number] = sequence;
                }
            }
        }
    }
    let (mut pages, mut flushed) = (LanePages::new(), [0; LANES]);
    for (number, lane) in lanes.iter().enumerate() {
        after(lane, &mut media[number]);
        let expected = FileIdentity {
            run: RUN,
            lane: number as u16,
            order,
        };
        let found = media[number].chunks_exact(lane.page.0 as usize).enumerate();
        let found = found
            .map(|(page, content)| PageState::read(content, page as u64, expected, &mut flushed));
        pages.insert(number as u16, found.collect());
    }
    judge(&pages, order, &[acknowledged; LANES], &flushed)
}

fn untouched(_: &Lane, _: &mut [u8]) {}

fn is_clean(found: &LaneFindings) -> bool {
    (found.lost, found.out_of_order, found.torn, found.damaged) == (0, 0, 0, 0)
}

#[test]
fn nothing_is_invented_on_devices_that_keep_their_promise() {
    assert!(cut(|_| true, untouched).iter().all(is_clean));
    assert!(
        cut(|sector| !sector.is_open, untouched)
            .iter()
            .all(is_clean)
    );
    // Any of the open writes, each whole.
    let some = |sector: Sector| !sector.is_open || sector.sequence.is_multiple_of(3);
    assert!(cut(some, untouched).iter().all(is_clean));
}

#[test]
fn pages_that_tear_are_found_with_the_size_of_their_pieces() {
    for piece in [512, 4096, 8192] {
        let per_piece = piece / SECTOR_BYTES;
        let keeps =
            |sector: Sector| !sector.is_open || (sector.number / per_piece).is_multiple_of(2);
        for found in cut(keeps, untouched) {
            let tears = found.lane.page.0 > piece as u64;
            assert_eq!(found.torn > 0, tears, "{found:?}");
            assert_eq!(found.smallest_piece, tears.then_some(Bytes(piece as u64)));
            assert_eq!((found.lost, found.out_of_order, found.damaged), (0, 0, 0));
        }
    }
}

#[test]
fn a_flush_that_does_nothing_is_found_in_its_way_of_writing_alone() {
    for lie in [
        Durability::Fsync,
        Durability::Fdatasync,
        Durability::Dsync,
        Durability::Completion,
    ] {
        for direct in [true, false] {
            let is_lying = |lane: &Lane| (lane.durability, lane.direct) == (lie, direct);
            let keeps = |sector: Sector| !is_lying(&sector.lane) || sector.sequence < 60;
            for found in cut(keeps, untouched) {
                if !is_lying(&found.lane) {
                    assert!(is_clean(&found), "{found:?}");
                    continue;
                }
                assert!(found.lost > 0 && found.torn == 0, "{found:?}");
                // Other lanes kept later writes, which know what was flushed before.
                assert_eq!(found.out_of_order > 0, lie.is_promised(), "{found:?}");
            }
        }
    }
}

#[test]
fn an_old_state_that_is_whole_is_a_loss_and_keeps_the_order() {
    for found in cut(|sector| sector.sequence <= 40, untouched) {
        assert!(found.lost > 0 && found.out_of_order == 0, "{found:?}");
    }
}

#[test]
fn an_acknowledged_page_that_is_half_there_is_lost_and_torn() {
    let lane = Lane::all()[2];
    let last = WRITES - BATCH;
    let keeps = |sector: Sector| {
        let is_hit = sector.lane == lane && sector.sequence == last && sector.number > 3;
        !sector.is_open && !is_hit
    };
    let found = cut(keeps, untouched);
    let (hit, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| found.lane == lane);
    assert_eq!((hit[0].lost, hit[0].torn), (1, 1));
    assert_eq!(hit[0].smallest_piece, Some(Bytes(4 * 512)));
    assert!(others.iter().all(is_clean));
}

#[test]
fn bytes_that_no_writer_wrote_are_damage() {
    let flipped = cut(
        |_| true,
        |lane, media| media[lane.page.0 as usize + 700] ^= 1,
    );
    let misdirected = cut(
        |_| true,
        |lane, media| {
            let page = lane.page.0 as usize;
            media.copy_within(..page, page);
        },
    );
    for found in flipped.into_iter().chain(misdirected) {
        assert_eq!(
            (found.damaged, found.torn, found.lost),
            (1, 0, 1),
            "{found:?}"
        );
    }
}
