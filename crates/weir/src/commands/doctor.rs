//! `weir doctor`.

use std::fs;

use serde::Serialize;
use weir_model::Flavor;

use crate::cli::JsonArguments;
use crate::{Outcome, output};

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    found: String,
    /// Remedy when it is not good enough; `None` when it is.
    remedy: Option<String>,
}

impl Check {
    fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self {
            what,
            found: found.into(),
            remedy: None,
        }
    }

    fn bad(what: &'static str, found: impl Into<String>, remedy: &str) -> Self {
        Self {
            what,
            found: found.into(),
            remedy: Some(remedy.to_owned()),
        }
    }
}

pub(crate) fn execute(arguments: &JsonArguments) -> anyhow::Result<Outcome> {
    let mut checks = servers()?;
    checks.extend([
        fuse(),
        flushes(),
        promptness(),
        cores(),
        memory(),
        memory_store(),
        asynchronous_io(),
    ]);
    if arguments.json {
        output::line(serde_json::to_string_pretty(&checks)?)?;
    } else {
        for check in &checks {
            let mark = if check.remedy.is_some() { "!!" } else { "ok" };
            output::line(format_args!("{mark}  {}: {}", check.what, check.found))?;
            if let Some(remedy) = &check.remedy {
                output::line(format_args!("    {remedy}"))?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn servers() -> anyhow::Result<Vec<Check>> {
    let servers = weir_server::find(None)?;
    let of_flavor = |(flavor, what)| {
        let found: Vec<_> = servers
            .iter()
            .filter(|server| server.flavor == flavor)
            .map(|server| format!("{} at {}", server.version, server.path.display()))
            .collect();
        if found.is_empty() {
            Check::bad(
                what,
                "none found",
                "run scripts/setup.sh, or name one with --server PATH",
            )
        } else {
            Check::good(what, found.join(", "))
        }
    };
    Ok([(Flavor::Mysql, "MySQL"), (Flavor::Mariadb, "MariaDB")]
        .map(of_flavor)
        .into())
}

fn fuse() -> Check {
    match weir_drive::check_fuse() {
        Ok(()) => Check::good("emulated drives (FUSE)", "can be mounted"),
        Err(error) => Check::bad(
            "emulated drives (FUSE)",
            error.to_string(),
            "without them, studies run on this machine's own storage only",
        ),
    }
}

/// Servers write to a file while it is flushed, as they do on a drive.
fn flushes() -> Check {
    let what = "flushes of emulated drives";
    match weir_process::FlushCalls::check() {
        Ok(()) => Check::good(what, "hold up no writes"),
        Err(obstacle) => Check::bad(
            what,
            format!("hold up writes to the same file ({})", obstacle.cause()),
            &format!(
                "MySQL commits up to a quarter less often on drives with slow flushes; {}",
                obstacle.remedy()
            ),
        ),
    }
}

/// An emulated drive is as accurate as its threads are woken in time.
fn promptness() -> Check {
    let what = "accuracy of emulated drives";
    let handicaps = weir_drive::handicaps();
    if handicaps.is_empty() {
        return Check::good(what, "real-time priority, and processors that stay awake");
    }
    Check::bad(
        what,
        handicaps.join(", "),
        "replies are later than the drive's, and each result says how late; run as root, or give \
         both rights to the user",
    )
}

fn cores() -> Check {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let found = cores.to_string();
    if cores >= 2 {
        Check::good("cores", found)
    } else {
        Check::bad(
            "cores",
            found,
            "server, load and drive share it; use two or more",
        )
    }
}

fn memory() -> Check {
    let remedy = "a first study needs 2G; end other programs or scale the data down";
    match weir_probe::memory() {
        Ok(memory) => {
            let found = format!("{} of {} available", memory.available, memory.total);
            if memory.available.0 >= 2 << 30 {
                Check::good("memory", found)
            } else {
                Check::bad("memory", found, remedy)
            }
        }
        Err(error) => Check::bad("memory", error.to_string(), remedy),
    }
}

fn memory_store() -> Check {
    let what = "memory-backed storage (/dev/shm)";
    match weir_server::space_available("/dev/shm".as_ref()) {
        Ok(free) if free.0 >= 1 << 30 => Check::good(what, format!("{free} free")),
        Ok(free) => Check::bad(
            what,
            format!("{free} free"),
            "data of emulated drives go to the temporary directory; name a fast one with --work",
        ),
        Err(error) => Check::bad(what, error.to_string(), "give a fast directory with --work"),
    }
}

/// `aio-max-nr` bounds native AIO over all servers (Documentation/admin-guide/sysctl/fs.rst).
fn asynchronous_io() -> Check {
    let read = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/fs/{name}")).unwrap_or_default();
        text.trim().parse::<u64>().unwrap_or(0)
    };
    let (used, most) = (read("aio-nr"), read("aio-max-nr"));
    let found = format!("{used} of {most} requests reserved");
    // One InnoDB server reserves some 5,000: 256 for each of its I/O threads.
    if most.saturating_sub(used) >= 8192 {
        Check::good("native asynchronous I/O", found)
    } else {
        Check::bad(
            "native asynchronous I/O",
            found,
            "servers may fail to start; raise it with sysctl fs.aio-max-nr=1048576",
        )
    }
}
