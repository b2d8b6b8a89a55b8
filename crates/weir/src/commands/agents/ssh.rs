//! Agents on hosts that ssh reaches: keys, jump hosts and known hosts are the user's own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use weir_agent::AgentPool;
use weir_agent::bus::JoinFile;
use weir_process::{Signal, spawn_tied};

use super::joining::join;
use crate::cli::{AgentsUpArguments, OwnerArguments};
use crate::{Outcome, interrupt};

/// Pause between two looks at the connections.
const LOOK: Duration = Duration::from_millis(100);
/// Ports of tunnels on the hosts: one of these, in turn.
const TUNNEL_PORTS: std::ops::Range<u16> = 23_000..32_000;

pub(super) fn up(arguments: &AgentsUpArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let file = arguments.bus.clone().unwrap_or_else(AgentPool::usual_file);
    let crew = join(Some(&file))?;
    let present: Vec<_> = crew
        .members()?
        .into_iter()
        .map(|member| member.name)
        .collect();
    drop(crew);
    let files = free_files(&file, &present)?;
    anyhow::ensure!(
        files.len() >= arguments.hosts.len(),
        "hosts: {} (only {} join files are free); start the bus with more --agents",
        arguments.hosts.len(),
        files.len()
    );
    anyhow::ensure!(
        arguments.owner.listen.is_none() || arguments.hosts.len() == 1,
        "--listen is an address of one host; call the command once for each host"
    );
    let mut links = Vec::new();
    for (host, file) in arguments.hosts.iter().zip(&files) {
        links.push((host, Link::open(arguments, host, file)?));
    }
    eprintln!(
        "agents are started on {} hosts; Ctrl-C ends them",
        links.len()
    );
    Ok(watch(links, stop))
}

/// Join files beside the conductor's whose agents are not there.
fn free_files(conductor: &Path, present: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let folder = conductor.parent().map(weir_agent::bus::Folder::at_path);
    let folder = folder.context("the join file of the conductor lies in no folder")?;
    let free = folder
        .agents()?
        .into_iter()
        .filter(|name| !present.contains(name));
    Ok(free.map(|name| folder.join_file(&name)).collect())
}

/// Until Ctrl-C, or until the last connection has ended.
fn watch(mut links: Vec<(&String, Link)>, stop: &AtomicBool) -> Outcome {
    let mut failed = 0;
    while !stop.load(Ordering::SeqCst) && !links.is_empty() {
        std::thread::sleep(LOOK);
        links.retain_mut(|(host, link)| match link.ended() {
            Some(is_good) => {
                failed += u32::from(!is_good);
                eprintln!("{host}: the agent has ended");
                false
            }
            None => true,
        });
    }
    // Connections end with their standard input, and agents with them.
    drop(links);
    if failed > 0 {
        Outcome::Failed
    } else {
        Outcome::Done
    }
}

/// The words to the program on a host.
fn agent_words(owner: &OwnerArguments) -> Vec<String> {
    let options = [
        ("--targets", list(&owner.targets)),
        ("--max-connections", list(&[owner.max_connections])),
        ("--label", list(&owner.label)),
        ("--allow", list(&owner.allow)),
        (
            "--work",
            list(owner.work.as_ref().map(|work| work.display()).as_slice()),
        ),
        ("--listen", list(owner.listen.as_slice())),
    ];
    let mut words = ["agent", "--join", "-"].map(str::to_owned).to_vec();
    for (name, value) in options {
        words.extend(
            value
                .map(|value| [name.to_owned(), value])
                .into_iter()
                .flatten(),
        );
    }
    words
}

/// Values of one option, if there are any.
fn list<T: ToString>(values: &[T]) -> Option<String> {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    (!values.is_empty()).then(|| values.join(","))
}

/// An ssh connection with an agent at its end.
struct Link {
    child: Child,
}

impl Link {
    fn open(arguments: &AgentsUpArguments, host: &str, file: &Path) -> anyhow::Result<Self> {
        let mut join = JoinFile::read(file)?;
        let words = shlex_words(&arguments.ssh)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["-T", "-o", "ExitOnForwardFailure=yes"]);
        if !arguments.direct {
            let port = tunnel_port();
            command
                .arg("-R")
                .arg(format!("127.0.0.1:{port}:{}", join.address));
            join.address = format!("127.0.0.1:{port}");
        }
        // The key travels by standard input: arguments can be seen by others.
        let mut remote = weir_sysbench::shell_word(&arguments.weir);
        for word in agent_words(&arguments.owner) {
            remote += " ";
            remote += &weir_sysbench::shell_word(&word);
        }
        command.arg(host).arg(remote).stdin(Stdio::piped());
        let mut child = spawn_tied(&mut command, Signal::TERM)
            .with_context(|| format!("cannot start `{}`", arguments.ssh))?;
        let line = serde_json::to_string(&join)? + "\n";
        if let Some(input) = &mut child.stdin {
            // ssh that has ended says why by itself.
            let _ = input.write_all(line.as_bytes());
        }
        Ok(Self { child })
    }

    /// Returns true if it has ended well, false if badly; `None` while it runs.
    fn ended(&mut self) -> Option<bool> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(status.success())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        for _ in 0..50 {
            if self.ended().is_some() {
                return;
            }
            std::thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that others are not likely to have: by the process and the number of the tunnel.
fn tunnel_port() -> u16 {
    use std::sync::atomic::AtomicU32;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id().wrapping_mul(97) + NEXT.fetch_add(1, Ordering::Relaxed);
    let count = u32::from(TUNNEL_PORTS.end - TUNNEL_PORTS.start);
    TUNNEL_PORTS.start + (number % count) as u16
}

/// The words of a command as a shell has them.
fn shlex_words(command: &str) -> anyhow::Result<Vec<String>> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.with_context(|| format!("--ssh {command}: no command, or an open quote"))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{AgentsCommand, Cli, Command};

    #[test]
    fn a_host_hears_all_that_its_owner_says() {
        for said in [
            "",
            "--targets db1:3306,192.0.2.0/24 --max-connections 7 --label zone=b,disk=nvme --allow load,probe",
            "--allow server --work /mnt/nvme/weir --listen 10.0.0.9:3307",
        ] {
            let here = format!("weir agents up db1 {said}");
            let here = Cli::try_parse_from(here.split_whitespace()).unwrap();
            let Command::Agents {
                command: AgentsCommand::Up(here),
            } = here.command
            else {
                panic!("{said}");
            };
            let there = ["weir".to_owned()]
                .into_iter()
                .chain(agent_words(&here.owner));
            let there = Cli::try_parse_from(there).unwrap();
            let Command::Agent(there) = there.command else {
                panic!("{said}");
            };
            assert_eq!(format!("{:?}", there.owner), format!("{:?}", here.owner));
        }
    }
}
