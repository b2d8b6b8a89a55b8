//! The order of runs: blocks of one repetition, each in an order of its own.
//!
//! A block holds every cell once, so that a slow drift of the host falls on all cells alike
//! (randomised block design; rule R4). A cell's runs must not always follow the same cell. Cells
//! that differ in factors within one server stay together, in an order of their own inside, unless
//! the study wants them as written.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::{Plan, PlannedRun, ScreenPart};

/// The blocks that are run in any case; the same seed gives the same order.
pub fn interleaved(plan: &Plan) -> Vec<PlannedRun> {
    let cells: Vec<usize> = (0..plan.cells.len()).collect();
    (1..=plan.repeat.runs)
        .flat_map(|repetition| block(plan, repetition, &cells))
        .collect()
}

/// One run of each of `cells`, as repetition `repetition`.
pub fn block(plan: &Plan, repetition: u32, cells: &[usize]) -> Vec<PlannedRun> {
    let mut random = random(plan.seed, repetition);
    let mut servers: Vec<Vec<usize>> = Vec::new();
    for &cell in cells {
        match servers
            .iter_mut()
            .find(|server| plan.shares_server(server[0], cell))
        {
            Some(server) => server.push(cell),
            None => servers.push(vec![cell]),
        }
    }
    servers.shuffle(&mut random);
    if !plan.repeat.keeps_order_within {
        for server in &mut servers {
            server.shuffle(&mut random);
        }
    }
    let run = |cell| PlannedRun { cell, repetition };
    servers.into_iter().flatten().map(run).collect()
}

/// Repetitions of the present configuration in a screen of up to so many rows.
const REPEATED: [(usize, u32); 2] = [(24, 5), (40, 6)];

/// The runs of a screen: its rows in random order, those of the mirror image after the others, and the present
/// configuration spread evenly between them.
pub fn screen_order(plan: &Plan) -> Vec<PlannedRun> {
    let cells_of = |part: ScreenPart| {
        let is_part = move |cell: &&usize| {
            let screened = plan.cells[**cell].screened.as_ref();
            screened.is_some_and(|screened| screened.part == part)
        };
        let cells: Vec<usize> = (0..plan.cells.len()).collect();
        cells.iter().filter(is_part).copied().collect::<Vec<_>>()
    };
    let mut random = random(plan.seed, 1);
    let mut runs: Vec<PlannedRun> = Vec::new();
    for part in [ScreenPart::Row, ScreenPart::MirroredRow] {
        let mut half = cells_of(part);
        half.shuffle(&mut random);
        let run = |cell| PlannedRun {
            cell,
            repetition: 1,
        };
        runs.extend(half.into_iter().map(run));
    }
    let rows = runs.len();
    let repeated = REPEATED.iter().find(|(most, _)| rows <= *most);
    let repeated = repeated.map_or(0, |(_, repetitions)| *repetitions);
    for cell in cells_of(ScreenPart::Repeated) {
        for repetition in (1..=repeated).rev() {
            let share = (f64::from(repetition) - 0.5) / f64::from(repeated);
            let position = (share * rows as f64).round() as usize;
            runs.insert(position, PlannedRun { cell, repetition });
        }
    }
    runs
}

/// Random numbers of one block: it is the same whichever blocks came before it.
fn random(seed: u64, repetition: u32) -> Xoshiro256PlusPlus {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..repetition).for_each(|_| random.jump());
    random
}
