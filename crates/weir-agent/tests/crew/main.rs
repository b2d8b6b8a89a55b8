//! A conductor and agents on a real bus, against a null server: each agent a thread of its own with a connection of
//! its own.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used)]

mod keys;
mod runs;
mod server_steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_agent::bus::{Bus, BusOptions, CONDUCTOR, Folder, JoinFile};
use weir_agent::{AgentOptions, AgentPool, Allowance, Permission, ServerRole, serve};
use weir_load::{LoadPlan, NullServer, NullServerBehavior};
use weir_model::WorkloadName;

const VERSION: &str = "of-the-tests";

/// A bus with agents; all end with it.
struct World {
    folder: Folder,
    agents: Vec<Agent>,
    bus: Option<Bus>,
    _directory: TempDir,
}

struct Agent {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl World {
    /// A bus with join files for so many agents, and no agents yet.
    fn new(agents: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::at_path(&directory.path().join("bus"));
        let options = BusOptions {
            listen: "127.0.0.1:0".to_owned(),
            address: None,
            agents: (1..=agents)
                .map(|number| format!("agent-{number}"))
                .collect(),
        };
        let bus = Bus::up(&folder, &options).unwrap();
        Self {
            folder,
            agents: Vec::new(),
            bus: Some(bus),
            _directory: directory,
        }
    }

    fn join_file(&self, name: &str) -> JoinFile {
        JoinFile::read(&self.folder.join_file(name)).unwrap()
    }

    fn start_agent(&mut self, name: &str, version: &str) {
        self.start(name, version, None);
    }

    /// One that may start servers, by `role`.
    fn start_server_agent(&mut self, name: &str, role: Arc<dyn ServerRole>) {
        self.start(name, VERSION, Some(role));
    }

    fn start(&mut self, name: &str, version: &str, server_role: Option<Arc<dyn ServerRole>>) {
        let allowance = Allowance::new(&[], 100);
        let options = AgentOptions {
            join: self.join_file(name),
            allowance: match &server_role {
                Some(_) => allowance.with(&[Permission::Server]),
                None => allowance,
            },
            // Agents with odd names are in one zone.
            labels: if name.ends_with(['1', '3']) {
                vec!["zone=a".to_owned()]
            } else {
                Vec::new()
            },
            version: version.to_owned(),
            server_role,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            serve(&options, &flag, &mut |_| ()).unwrap();
        });
        self.agents.push(Agent {
            stop,
            thread: Some(thread),
        });
    }

    fn stop_agents(&mut self) {
        for agent in &mut self.agents {
            agent.stop.store(true, Ordering::Relaxed);
            let done = agent.thread.take().unwrap().join();
            assert!(std::thread::panicking() || done.is_ok());
        }
        self.agents.clear();
    }

    fn crew(&self) -> AgentPool {
        AgentPool::join(&self.folder.join_file(CONDUCTOR), VERSION).unwrap()
    }

    /// Waits until so many agents are there.
    fn crew_of(&self, count: usize) -> AgentPool {
        let crew = self.crew();
        let deadline = Instant::now() + Duration::from_secs(30);
        while crew.members().unwrap().len() < count {
            assert!(Instant::now() < deadline, "no {count} agents");
        }
        crew
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop_agents();
        drop(self.bus.take());
    }
}

/// A null server whose statements take so long.
fn null_server(delay: Duration) -> NullServer {
    let behavior = NullServerBehavior {
        delay,
        ..NullServerBehavior::default()
    };
    NullServer::start_tcp(0, behavior).unwrap()
}

fn plan(server: &NullServer, connections: u32, seconds: u64) -> LoadPlan {
    let mut plan = LoadPlan::new(server.endpoint(), WorkloadName::OltpPointSelect);
    plan.load.connections = connections;
    plan.load.measure = Duration::from_secs(seconds).into();
    plan
}
