//! `weir bus`: the nats-server that load hosts join.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weir_agent::bus::{Bus, BusOptions, CONDUCTOR, Folder};

use crate::cli::{BusCommand, BusUpArguments};
use crate::{Outcome, interrupt, output};

/// Pause between two looks at whether the server still runs.
const LOOK: Duration = Duration::from_millis(100);
/// Restarts in a row, each soon after the one before, after which the server is given up.
const RESTARTS_MAX: u32 = 5;

pub(crate) fn execute(command: &BusCommand) -> anyhow::Result<Outcome> {
    match command {
        BusCommand::Up(arguments) => up(arguments),
    }
}

fn up(arguments: &BusUpArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let folder = Folder::at(arguments.dir.as_deref());
    let mut options = BusOptions {
        listen: arguments.listen.clone(),
        address: arguments.address.clone(),
        agents: (1..=arguments.agents)
            .map(|number| format!("agent-{number}"))
            .collect(),
    };
    let bus = Bus::up(&folder, &options)?;
    // A server that is started again listens where the first one did.
    bus.listens_at().clone_into(&mut options.listen);
    eprintln!(
        "bus at {} (nats-server {}); Ctrl-C ends it",
        bus.address(),
        bus.pid()
    );
    output::line(folder.join_file(CONDUCTOR).display())?;
    for name in folder.agents()? {
        output::line(folder.join_file(&name).display())?;
    }
    if arguments.dir.is_some() {
        eprintln!(
            "conductors find it by {}",
            variable(&folder.join_file(CONDUCTOR))
        );
    }
    eprintln!("on a load host: weir agent --join FILE; or from here: weir agents up HOST...");
    keep(bus, &folder, &options, stop)
}

fn variable(path: &Path) -> String {
    format!("WEIR_BUS={}", path.display())
}

/// Keeps the server running on the same folder: what it has stored is there again.
fn keep(
    mut bus: Bus,
    folder: &Folder,
    options: &BusOptions,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let mut restarts = 0;
    let mut looks: u32 = 0;
    while !stop.load(Ordering::SeqCst) {
        std::thread::sleep(LOOK);
        looks = looks.saturating_add(1);
        if !bus.has_ended() {
            continue;
        }
        if looks > 100 {
            restarts = 0;
        }
        (restarts, looks) = (restarts + 1, 0);
        anyhow::ensure!(
            restarts <= RESTARTS_MAX,
            "nats-server: ended {RESTARTS_MAX} times in a row; see nats-server.log in {}",
            folder.path().display()
        );
        eprintln!("nats-server has ended; it is started again");
        bus = Bus::up(folder, options)?;
    }
    Ok(Outcome::Done)
}
