//! What is measured, and how each tool is called for it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::Context as _;
use serde::Serialize;

use crate::child;
use crate::others;
use crate::server::{Commits, Server};

/// Tables and rows of the cases that load them.
pub(crate) const TABLES: u32 = 2;
const ROWS: u32 = 100_000;
/// What `prepare` makes when it is the case.
const PREPARED_TABLES: u32 = 4;
const PREPARED_ROWS: u32 = 200_000;
const PREPARE_THREADS: u32 = 2;

/// Connections that each tool can have: a thread for each, or a goroutine.
const OTHERS_CONNECTIONS_MAX: u32 = 512;

/// One of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    Sysbench,
    Weir,
    /// `lab/go-client`: point selects only.
    GoClient,
    /// `mysqlslap`: point selects as texts only.
    Slap,
    /// Order entry only.
    GoTpc,
}

/// A way to run one of the tools.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) name: String,
    /// Empty: the Weir that is measured.
    pub(crate) program: PathBuf,
    pub(crate) options: Vec<String>,
    pub(crate) tool: Tool,
}

impl Arm {
    /// A tool as it is.
    pub(crate) fn of(tool: Tool, name: &str, program: &Path) -> Self {
        Self {
            name: name.to_owned(),
            program: program.to_owned(),
            options: Vec::new(),
            tool,
        }
    }

    pub(crate) fn weir(name: &str, program: &Path, options: &str) -> Self {
        Self {
            options: options.split_whitespace().map(str::to_owned).collect(),
            ..Self::of(Tool::Weir, name, program)
        }
    }

    /// The same, with this program if it names none.
    pub(crate) fn or_program(&self, program: &Path) -> Self {
        let mut arm = self.clone();
        if arm.program.as_os_str().is_empty() {
            program.clone_into(&mut arm.program);
        }
        arm
    }

    /// The command line for `verb` of a workload.
    pub(crate) fn command(
        &self,
        server: &Server,
        workload: &str,
        verb: &str,
        options: &[String],
    ) -> Command {
        let mut command = Command::new(&self.program);
        if self.tool == Tool::Weir {
            command.arg("load");
        }
        command.arg(workload);
        server.connect_options(&mut command);
        command.args(options).args(&self.options).arg(verb);
        command
    }
}

impl FromStr for Arm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, options) = text.split_once('=').ok_or("must be NAME=OPTIONS")?;
        let (program, options) = match options.strip_prefix('@') {
            Some(rest) => rest.split_once(' ').unwrap_or((rest, "")),
            None => ("", options),
        };
        Ok(Self::weir(name, Path::new(program), options))
    }
}

/// One run of one arm.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    pub(crate) arm: String,
    /// Queries, transactions of order entry, or rows of a `prepare`, per second.
    pub(crate) per_s: f64,
    pub(crate) cpu_us_each: f64,
    pub(crate) resident_bytes_max: u64,
}

impl Sample {
    /// What `done` did: so many of what is counted, in so many seconds.
    pub(crate) fn new(arm: &Arm, done: &child::Finished, count: f64, seconds: f64) -> Self {
        Self {
            arm: arm.name.clone(),
            per_s: count / seconds,
            cpu_us_each: done.cpu_s * 1e6 / count,
            resident_bytes_max: done.resident_bytes_max,
        }
    }
}

/// Samples all arms in turn, `turns` times. Every second turn goes backwards, so that no arm is always the last.
pub(crate) fn in_turns(
    arms: &[Arm],
    turns: usize,
    mut sample: impl FnMut(&Arm) -> anyhow::Result<Sample>,
) -> anyhow::Result<Vec<Sample>> {
    let forwards: Vec<_> = arms.iter().collect();
    let backwards: Vec<_> = arms.iter().rev().collect();
    let order = |turn| if turn % 2 == 0 { &forwards } else { &backwards };
    (0..turns).flat_map(order).map(|arm| sample(arm)).collect()
}

/// Something that both tools do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Case {
    Run(&'static str, u32),
    Prepare(Commits),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(workload, connections) => write!(f, "{workload}/{connections}"),
            Self::Prepare(Commits::Durable) => f.write_str("prepare"),
            Self::Prepare(Commits::Lazy) => f.write_str("prepare, lazy commits"),
            Self::Prepare(Commits::LazyNoBinaryLog) => {
                f.write_str("prepare, lazy commits, no binlog")
            }
        }
    }
}

impl Case {
    /// The load engine's numbers in docs/load.md, in their order.
    pub(crate) fn all() -> Vec<Self> {
        let mut cases: Vec<_> = [8, 64, 512, 3_000]
            .map(|connections| Self::Run("oltp_point_select", connections))
            .into();
        cases.push(Self::Run("oltp_read_write", 64));
        cases.push(Self::Run("oltp_write_only", 64));
        cases.extend(Commits::ALL.map(Self::Prepare));
        cases
    }

    /// Whether a tool can do this.
    pub(crate) fn is_for(self, arm: &Arm) -> bool {
        match arm.tool {
            Tool::Sysbench | Tool::Weir => true,
            Tool::GoClient | Tool::Slap => {
                matches!(self, Self::Run("oltp_point_select", connections) if connections <= OTHERS_CONNECTIONS_MAX)
            }
            Tool::GoTpc => false,
        }
    }

    /// What server it wants.
    pub(crate) fn commits(self) -> Commits {
        match self {
            Self::Run(..) => Commits::Lazy,
            Self::Prepare(commits) => commits,
        }
    }

    /// Runs all arms in turn, `turns` times, after one short round that warms the server up.
    pub(crate) fn measure(
        self,
        arms: &[Arm],
        server: &Server,
        turns: usize,
        time_s: u32,
    ) -> anyhow::Result<Vec<Sample>> {
        if let Self::Run(..) = self {
            let options = table_options(TABLES, ROWS, PREPARE_THREADS);
            prepare(&arms[0], server, &options)?;
            self.sample(&arms[0], server, 2)?;
        }
        in_turns(arms, turns, |arm| {
            self.sample(arm, server, time_s)
                .with_context(|| format!("while {} ran {self}", arm.name))
        })
    }

    fn sample(self, arm: &Arm, server: &Server, time_s: u32) -> anyhow::Result<Sample> {
        match (arm.tool, self) {
            (Tool::GoClient, Self::Run(_, connections)) => {
                return others::go_client(arm, server, (ROWS, connections, time_s));
            }
            (Tool::Slap, Self::Run(_, connections)) => {
                return others::slap(arm, server, (ROWS, connections, time_s));
            }
            _ => {}
        }
        let (done, count, seconds) = match self {
            Self::Run(workload, connections) => {
                let mut options = table_options(TABLES, ROWS, connections);
                options.push(format!("--time={time_s}"));
                let done = child::run(&mut arm.command(server, workload, "run", &options))?;
                let count = number_after(&done.output, "queries:")?;
                let seconds = number_after(&done.output, "total time:")?;
                (done, count, seconds)
            }
            Self::Prepare(_) => {
                let options = table_options(PREPARED_TABLES, PREPARED_ROWS, PREPARE_THREADS);
                let done = prepare(arm, server, &options)?;
                let wall_s = done.wall_s;
                (done, f64::from(PREPARED_TABLES * PREPARED_ROWS), wall_s)
            }
        };
        Ok(Sample::new(arm, &done, count, seconds))
    }
}

/// Makes the tables anew.
fn prepare(arm: &Arm, server: &Server, options: &[String]) -> anyhow::Result<child::Finished> {
    for table in 1..=PREPARED_TABLES {
        server.query(&format!("DROP TABLE IF EXISTS sbtest{table}"))?;
    }
    child::run(&mut arm.command(server, "oltp_read_write", "prepare", options))
}

fn table_options(tables: u32, rows: u32, threads: u32) -> Vec<String> {
    vec![
        format!("--tables={tables}"),
        format!("--table-size={rows}"),
        format!("--threads={threads}"),
    ]
}

/// The number that follows a label of sysbench's report, such as `12.34s` after `total time:`.
pub(crate) fn number_after(report: &str, label: &str) -> anyhow::Result<f64> {
    let number = || {
        let rest = report.split_once(label)?.1.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        rest[..end].parse().ok()
    };
    number().with_context(|| format!("no number after `{label}` in:\n{report}"))
}
