//! Prints the table of all crash tests in a folder, as `scripts/crash-table.sh` makes them.

use std::path::{Path, PathBuf};

use weir_crash::{CrashTest, Verdict};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("name the folder of the table")?;
    let mut cells: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    cells.retain(|cell| cell.join("crash-test.json").exists());
    cells.sort();
    print(
        "| cell | states | torn | damaged | lost commits | recovery | control | verdict |\n\
         |---|---|---|---|---|---|---|---|",
    );
    for cell in cells {
        print(&row(&cell)?);
    }
    Ok(())
}

#[allow(clippy::print_stdout)] // It is a program, and this is its output.
fn print(line: &str) {
    println!("{line}");
}

fn row(cell: &Path) -> Result<String, weir_crash::CrashError> {
    let test = CrashTest::read(cell)?;
    let tally = &test.tally;
    let recovery: Vec<String> = tally
        .recovery
        .iter()
        .map(|(outcome, states)| format!("{outcome} {states}"))
        .collect();
    let control = test
        .control
        .as_ref()
        .map_or("itself".to_owned(), |control| {
            format!("{} of {}", control.damaged.states, control.damaged.of)
        });
    Ok(format!(
        "| {} | {} | {} | {} | {} | {} | {control} | {} |",
        cell.file_name().unwrap_or_default().display(),
        tally.damaged.of,
        tally.torn,
        tally.damaged.states,
        tally.commits_lost.states,
        recovery.join(", "),
        match test.verdict {
            Verdict::Held { at_most, .. } => format!("held, < {:.1} %", at_most * 100.0),
            Verdict::Failed { state } => format!("failed (state {state})"),
            Verdict::Blind => "none".to_owned(),
        }
    ))
}
