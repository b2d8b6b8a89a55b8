//! Cases that are measured, and each tool's command for them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::Context as _;
use serde::Serialize;

use crate::child;
use crate::server::{Commits, Server};
use crate::way::{Way, absolute};
use crate::{others, prepare};

/// Tables and rows of the cases that load them.
pub(crate) const TABLES: u32 = 2;
const ROWS: u32 = 100_000;

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
    /// `query_floor`: what the kernel takes for point selects.
    Floor,
    /// No client: what the server takes to make tables.
    ServerAlone,
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
    pub(crate) way: Way,
}

impl Arm {
    /// A tool as it is.
    pub(crate) fn new(tool: Tool, name: &str, program: &Path) -> Self {
        Self {
            name: name.to_owned(),
            program: absolute(program),
            options: Vec::new(),
            tool,
            way: Way::Socket,
        }
    }

    pub(crate) fn weir(name: &str, program: &Path, options: &str) -> Self {
        Self {
            options: options.split_whitespace().map(str::to_owned).collect(),
            ..Self::new(Tool::Weir, name, program)
        }
    }

    /// The same, with this program if it names none.
    pub(crate) fn or_program(&self, program: &Path) -> Self {
        let mut arm = self.clone();
        if arm.program.as_os_str().is_empty() {
            arm.program = absolute(program);
        }
        arm
    }

    /// The same on this way to the server.
    fn on(&self, way: Way) -> Self {
        Self {
            way,
            ..self.clone()
        }
    }

    /// The same on this way, by a name that has it.
    fn named_on(&self, way: Way) -> Self {
        Self {
            name: format!("{} {way}", self.name),
            ..self.on(way)
        }
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
        self.way.for_sysbench(&mut command, server);
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
    /// Returns the sample of `done`: so many of what is counted, in so many seconds.
    pub(crate) fn new(arm: &Arm, done: &child::ToolOutput, count: f64, seconds: f64) -> Self {
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
    Run(&'static str, u32, Way),
    /// Point selects with so many connections over TCP, in clear text beside encrypted; the first arm is Weir in clear text.
    Encryption(u32),
    Prepare(Commits),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(workload, connections, Way::Socket) => write!(f, "{workload}/{connections}"),
            Self::Run(workload, connections, way) => write!(f, "{workload}/{connections} {way}"),
            Self::Encryption(connections) => write!(f, "encryption/{connections}"),
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
        const CONNECTIONS: [u32; 4] = [8, 64, 512, 3_000];
        let point_selects =
            |way| CONNECTIONS.map(|connections| Self::Run("oltp_point_select", connections, way));
        let mut cases: Vec<_> = point_selects(Way::Socket).into();
        cases.extend(point_selects(Way::Tcp));
        cases.extend([8, 64].map(Self::Encryption));
        cases.push(Self::Run("oltp_read_write", 64, Way::Socket));
        cases.push(Self::Run("oltp_write_only", 64, Way::Socket));
        cases.extend(Commits::ALL.map(Self::Prepare));
        cases
    }

    /// Those of `all` that can do this, on its way.
    pub(crate) fn arms(self, all: &[Arm]) -> Vec<Arm> {
        let able = all.iter().filter(|arm| self.is_for(arm));
        match self {
            Self::Run(_, _, way) => able.map(|arm| arm.on(way)).collect(),
            Self::Prepare(_) => able.cloned().collect(),
            Self::Encryption(_) => {
                let (weir, others): (Vec<_>, Vec<_>) = able.partition(|arm| arm.tool == Tool::Weir);
                let both = |arm: &Arm| [Way::Tcp, Way::Tls].map(|way| arm.named_on(way));
                weir.into_iter().chain(others).flat_map(both).collect()
            }
        }
    }

    /// Returns true if a tool can do this.
    fn is_for(self, arm: &Arm) -> bool {
        let is_few = |connections: u32| connections <= OTHERS_CONNECTIONS_MAX;
        match (arm.tool, self) {
            (Tool::Sysbench | Tool::Weir, _) | (Tool::ServerAlone, Self::Prepare(_)) => true,
            (Tool::GoClient, Self::Encryption(connections)) => is_few(connections),
            (Tool::GoClient | Tool::Slap, Self::Run("oltp_point_select", connections, _)) => {
                is_few(connections)
            }
            (Tool::Floor, Self::Run(workload, ..)) => workload == "oltp_point_select",
            _ => false,
        }
    }

    /// Returns the kind of server that it wants.
    pub(crate) fn commits(self) -> Commits {
        match self {
            Self::Run(..) | Self::Encryption(_) => Commits::Lazy,
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
        if let Self::Prepare(_) = self {
            prepare::begin(&arms[0], server)?;
        } else {
            let options = table_options(TABLES, ROWS, prepare::THREADS);
            prepare::tables(&arms[0], server, &options)?;
            self.sample(&arms[0], server, 2)?;
        }
        in_turns(arms, turns, |arm| {
            self.sample(arm, server, time_s)
                .with_context(|| format!("while {} ran {self}", arm.name))
        })
    }

    fn sample(self, arm: &Arm, server: &Server, time_s: u32) -> anyhow::Result<Sample> {
        let (workload, connections) = match self {
            Self::Run(workload, connections, _) => (workload, connections),
            Self::Encryption(connections) => ("oltp_point_select", connections),
            Self::Prepare(_) => return prepare::sample(arm, server),
        };
        let size = (ROWS, connections, time_s);
        match arm.tool {
            Tool::GoClient => return others::go_client(arm, server, size),
            Tool::Slap => return others::slap(arm, server, size),
            Tool::Floor => return others::floor(arm, server, size),
            Tool::Sysbench | Tool::Weir | Tool::ServerAlone | Tool::GoTpc => {}
        }
        let mut options = table_options(TABLES, ROWS, connections);
        options.push(format!("--time={time_s}"));
        let done = child::run(&mut arm.command(server, workload, "run", &options))?;
        let count = number_after(&done.output, "queries:")?;
        let seconds = number_after(&done.output, "total time:")?;
        Ok(Sample::new(arm, &done, count, seconds))
    }
}

/// Options of both tools: tables, rows, connections.
pub(crate) fn table_options(tables: u32, rows: u32, threads: u32) -> Vec<String> {
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
