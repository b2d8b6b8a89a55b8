//! `weir clean`.

use weir_process::{EntryKind, Registry, Swept, sweep};

use crate::cli::JsonArguments;
use crate::{Outcome, output};

pub(crate) fn execute(arguments: &JsonArguments) -> anyhow::Result<Outcome> {
    let swept: Vec<_> = sweep(&Registry::open()?)?.iter().map(describe).collect();
    if arguments.json {
        output::line(serde_json::to_string(&swept)?)?;
    } else if swept.is_empty() {
        output::line("nothing was left behind")?;
    } else {
        for line in swept {
            output::line(line)?;
        }
    }
    Ok(Outcome::Done)
}

fn describe(swept: &Swept) -> String {
    match swept {
        Swept::Process(EntryKind::Drive, pid) => format!("ended drive, process {pid}"),
        Swept::Process(_, pid) => format!("ended server, process {pid}"),
        Swept::Mount(path) => format!("unmounted {}", path.display()),
        Swept::Directory(path) => format!("removed {}", path.display()),
    }
}
