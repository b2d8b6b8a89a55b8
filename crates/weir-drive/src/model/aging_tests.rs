//! A drive that ages: the published curve of a card that fills, settles and is slow from then on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{Bytes, DeviceModel, FileKind, Nanoseconds, Op, OpKind, Scale};

use super::Model;
use super::random::Random;
use crate::profiles;

/// The drive is this much smaller than the real one at its full speed, so all takes less time.
const SMALLER: u64 = 1000;
const CAPACITY: u64 = 320_000_000_000 / SMALLER;
const PAGE: u64 = 16_384;
const MIB: f64 = 1_048_576.0;

/// Random 16 KiB writes over the first `share` of the drive, at queue depth 32.
struct Writers {
    model: Model,
    clients: BinaryHeap<Reverse<Nanoseconds>>,
    random: Random,
    pages: u64,
}

impl Writers {
    /// A drive of the state `aged` (see [`weir_model::Flash`]), whose first `share` is then written
    /// once in order.
    fn on_a_drive_filled_to(share: f64, aged: f64) -> Self {
        let mut profile = profiles::embedded("fusionio-iodrive-320-mlc").unwrap();
        profile.flash.as_mut().unwrap().fill = aged;
        // As small as the drive is: it must not carry the writes of the first seconds.
        profile.write.buffer = Bytes(64 * 1024);
        let mut model = Model::with_capacity(&profile, Scale::FULL, CAPACITY);
        let pages = (CAPACITY as f64 * share) as u64 / PAGE;
        let mut now = 0;
        for page in 0..pages {
            now = model.submit(&write(page), now);
        }
        Self {
            model,
            clients: std::iter::repeat_n(Reverse(now), 32).collect(),
            random: Random::seeded(5),
            pages,
        }
    }

    /// MiB/s over the next `seconds` of the full-size drive.
    fn mib_per_s(&mut self, seconds: f64) -> f64 {
        let began = self.clients.peek().unwrap().0;
        let span = (seconds * 1e9) as Nanoseconds / SMALLER;
        let mut written = 0;
        while let Some(&Reverse(now)) = self.clients.peek()
            && now < began + span
        {
            self.clients.pop();
            let page = self.random.below(self.pages);
            self.clients
                .push(Reverse(self.model.submit(&write(page), now)));
            written += PAGE;
        }
        written as f64 / MIB / (span as f64 / 1e9)
    }
}

fn write(page: u64) -> Op {
    Op {
        kind: OpKind::Write,
        file: 1,
        file_kind: FileKind::Data,
        offset: page * PAGE,
        bytes: PAGE,
        compressed_fraction: 1.0,
    }
}

/// ssdperformanceblog, June 2011: 500 MiB/s at first, 110 to 120 at full fill, settled after about
/// 1,500 s.
#[test]
fn a_full_card_falls_from_500_to_between_110_and_120_mib_per_s() {
    let mut writers = Writers::on_a_drive_filled_to(1.0, 0.0);
    let fresh = writers.mib_per_s(50.0);
    assert!((480.0..=520.0).contains(&fresh), "{fresh}");
    writers.mib_per_s(1450.0);
    let settled = writers.mib_per_s(500.0);
    let later = writers.mib_per_s(1000.0);
    assert!((110.0..=120.0).contains(&settled), "{settled}");
    assert!((settled / later - 1.0).abs() < 0.05, "{settled}, {later}");
}

#[test]
fn space_that_is_left_free_keeps_the_card_fast() {
    let settled = [1.0, 0.9, 0.8, 0.6].map(|share| {
        let mut writers = Writers::on_a_drive_filled_to(share, 0.0);
        writers.mib_per_s(1500.0);
        writers.mib_per_s(500.0)
    });
    assert!(
        settled.is_sorted() && settled[3] > 3.0 * settled[0],
        "{settled:?}"
    );
}

#[test]
fn a_card_that_is_used_already_is_slow_from_the_start() {
    let mut writers = Writers::on_a_drive_filled_to(0.0, 1.0);
    writers.pages = CAPACITY / PAGE;
    let found = writers.mib_per_s(100.0);
    assert!((105.0..=125.0).contains(&found), "{found}");
}
