//! `weir clean`.

use weir_process::{EntryKind, Registry, SweptItem, sweep};
use weir_server::Instances;

use crate::cli::CleanArguments;
use crate::commands::left_changed;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &CleanArguments) -> anyhow::Result<Outcome> {
    let mut swept = sweep(&Registry::open()?)?;
    swept.extend(Instances::open()?.sweep()?);
    let mut lines: Vec<_> = swept.iter().map(describe).collect();
    let mut outcome = Outcome::Done;
    if arguments.forget_settings {
        lines.extend(left_changed::forget());
    } else if arguments.put_back {
        let (done, is_complete) = left_changed::put_back(arguments.ask_password)?;
        lines.extend(done);
        if !is_complete {
            outcome = Outcome::Failed;
        }
    } else {
        lines.extend(left_changed::lines());
    }
    if arguments.json {
        output::line(serde_json::to_string(&lines)?)?;
    } else if lines.is_empty() {
        output::line("nothing was left behind")?;
    } else {
        for line in lines {
            output::line(line)?;
        }
    }
    Ok(outcome)
}

fn describe(swept: &SweptItem) -> String {
    match swept {
        SweptItem::Process(EntryKind::Drive, pid) => format!("ended drive, process {pid}"),
        SweptItem::Process(_, pid) => format!("ended server, process {pid}"),
        SweptItem::Mount(path) => format!("unmounted {}", path.display()),
        SweptItem::Directory(path) => format!("removed {}", path.display()),
    }
}
