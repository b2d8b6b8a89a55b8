//! Prints the table of all crash tests in a folder, as `scripts/crash-table.sh` makes them: a cell is all
//! tests whose names differ in their last part, the seed.
#![allow(
    clippy::print_stdout,
    reason = "it is a program, and this is its output"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use weir_crash::{CrashTest, StateResult, Tally};

/// A cell's tests, added up.
#[derive(Default)]
struct Cell {
    seeds: u32,
    commits: u64,
    states: Vec<StateResult>,
    controls: Vec<StateResult>,
    is_own_control: bool,
}

impl Cell {
    fn add(&mut self, test: CrashTest) {
        self.seeds += 1;
        self.commits += test.commits;
        self.is_own_control = test.control.is_none();
        self.states.extend(test.states);
        self.controls.extend(test.control_states);
    }

    fn row(&self, name: &str) -> String {
        let tally = Tally::count(&self.states);
        let recovery: Vec<String> = tally
            .recovery
            .iter()
            .map(|(outcome, states)| format!("{outcome} {states}"))
            .collect();
        let control = Tally::count(&self.controls).damaged;
        let control = if self.is_own_control {
            "itself".to_owned()
        } else {
            format!("{} of {}", control.states, control.of)
        };
        let older = |state: &&StateResult| {
            let mut pages = state.truth.torn_pages.iter();
            pages.any(|page| page.older_copy_taken().is_some())
        };
        let damaged = tally.damaged;
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {control} | {} of {}, < {:.1} % |",
            damaged.of,
            self.seeds,
            self.commits,
            tally.torn,
            self.states.iter().filter(older).count(),
            tally.commits_lost.states,
            recovery.join(", "),
            damaged.states,
            damaged.of,
            damaged.at_most * 100.0
        )
    }

    /// Returns the damage of the damaged states, in the server's words, with the number of states.
    fn words(&self) -> BTreeMap<String, u32> {
        let mut counted = BTreeMap::new();
        for state in &self.states {
            let Some(words) = state.judgement.first_damage() else {
                continue;
            };
            // Times and numbers make each of them another one.
            let words: String = words.chars().filter(|c| !c.is_ascii_digit()).collect();
            let words = format!("{}: {words}", state.moment.name());
            *counted
                .entry(words.chars().take(200).collect())
                .or_default() += 1;
        }
        counted
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("name the folder of the table")?;
    let mut cells: BTreeMap<String, Cell> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some((cell, _)) = name.rsplit_once('-') else {
            continue;
        };
        if path.join("crash-test.json").exists() {
            cells
                .entry(cell.to_owned())
                .or_default()
                .add(CrashTest::read(&path)?);
        }
    }
    println!(
        "| cell | states | recordings | commits | torn | older copy taken | lost commits | recovery | control | damaged |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    for (name, cell) in &cells {
        println!("{}", cell.row(name));
    }
    for (name, cell) in &cells {
        for (words, states) in cell.words() {
            println!("{name}: {states} x {words}");
        }
    }
    Ok(())
}
