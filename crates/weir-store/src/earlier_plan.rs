//! Plans of schemas 2 to 4: settings that all cells shared, and what each cell had in their place.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use weir_model::{
    Cell, Claim, CrashTest, DataSource, DataSpec, DistributionName, DriveSpec, Duration, Factor,
    Flavor, Limits, LoadSpec, NegativeControl, Node, Pace, Plan, PlannedRun, PoolStart, Price,
    Probe, Repetition, Replication, RunSpec, Scale, SearchPlan, ServerChoice, ServerUrl,
    SysbenchOptions, SysbenchWorkload, Topology, Warmup, WorkloadName, WorkloadSpec,
};

/// A plan as it was stored.
#[derive(Deserialize)]
#[serde(try_from = "StoredPlan")]
pub(crate) struct EarlierPlan(pub(crate) Plan);

#[derive(Deserialize)]
struct StoredPlan {
    title: String,
    question: String,
    seed: u64,
    server: Server,
    data: Data,
    load: Load,
    #[serde(default)]
    factors: Vec<Factor>,
    cells: Vec<StoredCell>,
    runs: Vec<PlannedRun>,
    #[serde(default)]
    repeat: Repetition,
    #[serde(default)]
    search: Option<SearchPlan>,
    claims: Vec<Claim>,
    #[serde(default)]
    negative_controls: Vec<NegativeControl>,
    #[serde(default)]
    prices: BTreeMap<String, Price>,
    #[serde(default)]
    crash_tests: Vec<CrashTest>,
}

/// The server that cells shared.
#[derive(Deserialize)]
struct Server {
    #[serde(flatten)]
    choice: Choice,
    variables: BTreeMap<String, String>,
    #[serde(default)]
    deployment: Deployment,
}

#[derive(Clone, Deserialize)]
struct Choice {
    flavor: Flavor,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    binary: Option<PathBuf>,
    #[serde(default)]
    given: Option<ServerUrl>,
}

#[derive(Clone, Default, Deserialize)]
struct Deployment {
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    pool: PoolStart,
    #[serde(default)]
    replicas: u32,
    #[serde(default)]
    replication: Replication,
}

#[derive(Clone, Deserialize)]
struct Data {
    workload: WorkloadName,
    tables: u32,
    rows: u64,
    data_scale: Scale,
    drive_scale: Scale,
}

#[derive(Clone, Deserialize)]
struct Load {
    warmup: Duration,
    #[serde(default)]
    warmup_max: Option<Duration>,
    measure: Duration,
    distribution: DistributionName,
    #[serde(default)]
    rate_per_s: Option<f64>,
    #[serde(default)]
    rtt: Duration,
    #[serde(default)]
    options: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct StoredCell {
    levels: BTreeMap<String, String>,
    drive: Option<String>,
    #[serde(default)]
    drive_settings: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    threads: u32,
    #[serde(default)]
    server: Option<Choice>,
    #[serde(default)]
    deployment: Option<Deployment>,
    #[serde(default)]
    data: Option<Data>,
    #[serde(default)]
    load: Option<Load>,
    #[serde(default)]
    probe: Option<Probe>,
}

impl TryFrom<StoredPlan> for EarlierPlan {
    type Error = String;

    fn try_from(stored: StoredPlan) -> Result<Self, String> {
        let cells = stored.cells.iter().map(|cell| stored.cell(cell));
        let cells = cells.collect::<Result<_, _>>()?;
        Ok(Self(Plan {
            title: stored.title,
            question: stored.question,
            seed: stored.seed,
            factors: stored.factors,
            cells,
            runs: stored.runs,
            repeat: stored.repeat,
            search: stored.search,
            screen: None,
            claims: stored.claims,
            negative_controls: stored.negative_controls,
            prices: stored.prices,
            crash_tests: stored.crash_tests,
        }))
    }
}

impl StoredPlan {
    fn cell(&self, cell: &StoredCell) -> Result<Cell, String> {
        let data = cell.data.as_ref().unwrap_or(&self.data);
        let load = cell.load.as_ref().unwrap_or(&self.load);
        let spec = RunSpec {
            topology: self.topology(cell),
            data: DataSpec {
                source: DataSource::Sysbench {
                    tables: data.tables,
                    rows: data.rows,
                },
                data_scale: data.data_scale,
                drive_scale: data.drive_scale,
                ..DataSpec::default()
            },
            workload: load.workload(data.workload)?,
            load: load.spec(cell.threads),
            timeline: Vec::new(),
            seed: self.seed,
        };
        Ok(Cell {
            levels: cell.levels.clone(),
            spec: Arc::new(spec),
            probe: cell.probe,
            screened: None,
        })
    }

    fn topology(&self, cell: &StoredCell) -> Topology {
        let shared = &self.server;
        let Choice {
            flavor,
            version,
            binary,
            given,
        } = cell.server.as_ref().unwrap_or(&shared.choice).clone();
        let deployment = cell.deployment.as_ref().unwrap_or(&shared.deployment);
        let mut variables = shared.variables.clone();
        variables.extend(cell.variables.clone());
        let mut topology = Topology::single(Node {
            variables,
            drive: cell.drive.clone().map(|profile| DriveSpec {
                profile,
                settings: cell.drive_settings.clone(),
            }),
            limits: deployment.limits.clone(),
            pool: deployment.pool,
            ..Node::primary(ServerChoice {
                flavor,
                version,
                binary,
                given,
            })
        });
        topology.set_replicas(deployment.replicas);
        topology.replication = deployment.replication;
        topology
    }
}

impl Load {
    fn workload(&self, name: WorkloadName) -> Result<WorkloadSpec, String> {
        let mut options = SysbenchOptions::default();
        for (name, value) in &self.options {
            options.set(name, value)?;
        }
        Ok(WorkloadSpec::Sysbench(SysbenchWorkload {
            shares: name.into(),
            mix: options.mix,
            distribution: options.distribution.distribution(self.distribution),
            text_file: None,
        }))
    }

    fn spec(&self, connections: u32) -> LoadSpec {
        LoadSpec {
            connections,
            warmup: match self.warmup_max {
                None => Warmup::Fixed {
                    length: self.warmup,
                },
                Some(at_most) => Warmup::UntilSteady {
                    at_least: self.warmup,
                    at_most,
                },
            },
            measure: self.measure,
            pace: self.rate_per_s.map_or_else(Pace::default, Pace::open),
            rtt: self.rtt,
            ..LoadSpec::default()
        }
    }
}
