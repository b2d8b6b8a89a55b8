//! The order of runs: blocks of one repetition, each in an order of its own.
//!
//! A block holds every cell once, so that a slow drift of the host falls on all cells alike
//! (randomised block design; rule R4). A cell's runs must not always follow the same cell.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::PlannedRun;

/// All runs of `cells` cells in `repetitions` blocks; the same seed gives the same order.
pub(crate) fn interleaved(cells: usize, repetitions: u32, seed: u64) -> Vec<PlannedRun> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let block = |repetition| {
        let mut order: Vec<_> = (0..cells).collect();
        order.shuffle(&mut random);
        order
            .into_iter()
            .map(move |cell| PlannedRun { cell, repetition })
    };
    (1..=repetitions).flat_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_holds_every_cell_once() {
        let order = interleaved(4, 3, 7);
        assert_eq!(order.len(), 12);
        for (index, block) in order.chunks(4).enumerate() {
            let mut cells: Vec<_> = block.iter().map(|run| run.cell).collect();
            cells.sort_unstable();
            assert_eq!(cells, [0, 1, 2, 3]);
            assert!(block.iter().all(|run| run.repetition == index as u32 + 1));
        }
    }

    #[test]
    fn the_seed_decides_and_blocks_differ() {
        assert_eq!(interleaved(8, 4, 1), interleaved(8, 4, 1));
        assert_ne!(interleaved(8, 4, 1), interleaved(8, 4, 2));
        let order = interleaved(8, 2, 1);
        let cells = |block: &[PlannedRun]| block.iter().map(|run| run.cell).collect::<Vec<_>>();
        assert_ne!(cells(&order[..8]), cells(&order[8..]));
    }
}
