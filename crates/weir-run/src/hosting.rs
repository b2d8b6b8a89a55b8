//! The servers of studies of other hosts, on this one: what an agent with `--allow server` does.
//!
//! It is what `weir run` does on its own host: data made once and kept, restored before each run, a drive mounted, a
//! server started, and all of it thrown away. The load and the results are the conductor's.

mod accepted;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use weir_agent::{
    BegunServer, RowsMade, ServerOutcome, ServerReply, ServerRole, ServerStep, ServerWork,
};
use weir_model::{Bytes, Cell, Plan, Provenance, Secret};
use weir_mysql::ClientConfig;
use weir_process::{Registry, sweep};
use weir_store::progress::Event;

use crate::cancel::{Cancel, Control};
use crate::context::StudyContext;
use crate::data::DataSets;
use crate::target::{ListenAddress, LoadAccount, PrivateTarget, Target as _};
use crate::{RunError, RunOptions, UserPermissions, commands};

/// Resources of a host that its owner lets studies of others use.
#[derive(Debug, Clone)]
pub struct ServerHosting {
    /// Directory of data directories and mounts.
    pub work: PathBuf,
    /// The address that servers listen on.
    pub listen: IpAddr,
    /// Their port; 0: a free one for each.
    pub port: u16,
    /// The `weir` program, which the drives run in.
    pub weir: PathBuf,
}

impl ServerHosting {
    /// As for a study of this host.
    fn options(&self, below_floor: bool) -> RunOptions {
        RunOptions {
            // Nothing is stored here.
            out: PathBuf::new(),
            resume: false,
            work: Some(self.work.clone()),
            weir: self.weir.clone(),
            below_floor,
            allowed: UserPermissions::default(),
            client: ClientConfig::default(),
            provenance: Provenance::default(),
        }
    }

    /// Serves one study after its first step.
    fn serve_study(
        &self,
        (plan, below_floor): (&Plan, bool),
        first: &ServerWork,
        steps: &Receiver<ServerWork>,
        stop: &AtomicBool,
    ) {
        let options = self.options(below_floor);
        let context = match open(plan, &options) {
            Ok(context) => context,
            Err(error) => return first.answer(Err(error.to_string())),
        };
        first.answer(Ok(ServerOutcome::Reply(ServerReply::Opened {
            servers: context.versions(),
            drives: context.drives.profiles(),
        })));
        let mut study = HostedStudy {
            target: None,
            data: DataSets::default(),
            context: &context,
            plan,
            listen: ListenAddress {
                address: self.listen,
                port: self.port,
            },
            stop,
        };
        for work in steps {
            let done = study.step(&work);
            work.answer(done.map_err(|error| error.to_string()));
        }
    }
}

impl ServerRole for ServerHosting {
    fn serve(&self, steps: &Receiver<ServerWork>, stop: &AtomicBool) {
        let Ok(first) = steps.recv() else {
            return;
        };
        if let ServerStep::Open { plan, below_floor } = &first.step {
            self.serve_study((plan, *below_floor), &first, steps, stop);
        } else {
            first.answer(Err("it has no study yet".to_owned()));
        }
    }
}

/// Finds what can be found wrong without starting a server.
fn open<'a>(plan: &Plan, options: &'a RunOptions) -> Result<StudyContext<'a>, RunError> {
    for cell in &plan.cells {
        accepted::check(cell)?;
    }
    // What a killed agent left behind would take memory and space from this study.
    sweep(&Registry::open()?)?;
    StudyContext::new(plan, options)
}

/// A study of another host. Its server goes before the data that it stands on.
struct HostedStudy<'a> {
    target: Option<PrivateTarget>,
    data: DataSets,
    context: &'a StudyContext<'a>,
    plan: &'a Plan,
    listen: ListenAddress,
    stop: &'a AtomicBool,
}

impl HostedStudy<'_> {
    fn step(&mut self, work: &ServerWork) -> Result<ServerOutcome, RunError> {
        Ok(ServerOutcome::Reply(match &work.step {
            ServerStep::Open { .. } => return Err(wrong("it has a study already")),
            ServerStep::Prepare => self.prepare(&work.rows)?,
            ServerStep::Begin { cell } => self.begin(cell, work.password.as_ref())?,
            ServerStep::Watch => {
                let probes = self.running()?.own_probes(work.client);
                return Ok(ServerOutcome::Probes(probes));
            }
            ServerStep::Variables => ServerReply::Variables(self.running()?.variables()?),
            ServerStep::DriveStatistics => {
                let counted = self.running()?.drive_statistics();
                ServerReply::DriveStatistics(counted.map(Box::new))
            }
            ServerStep::Log => ServerReply::Log(self.running()?.log()?),
            ServerStep::Exit => ServerReply::Exit(self.running()?.has_exited()),
            ServerStep::End => {
                self.target = None;
                ServerReply::Done
            }
        }))
    }

    fn running(&mut self) -> Result<&mut PrivateTarget, RunError> {
        self.target
            .as_mut()
            .ok_or_else(|| wrong("no server was started"))
    }

    fn prepare(&mut self, rows: &RowsMade) -> Result<ServerReply, RunError> {
        let mut ready: Vec<(Bytes, bool)> = Vec::new();
        let mut on_event = |event: &Event<'_>| match event {
            Event::Loading {
                rows_done,
                rows_total,
            } => rows.set(*rows_done, *rows_total),
            Event::DataReady { size, from_cache } => ready.push((*size, *from_cache)),
            _ => {}
        };
        let mut control = Control::new(self.stop, &mut on_event);
        let data = DataSets::prepare(self.context, &self.plan.cells, &mut control)?;
        let first = self.plan.cells.first();
        let tables = first.map_or(Bytes(0), |first| data.tables(self.context, first));
        self.data = data;
        Ok(ServerReply::Prepared { ready, tables })
    }

    /// Returns true if it sets nothing but the variables of the plan: those names are known to be the server's. A
    /// search has cells of its own.
    fn is_planned(&self, cell: &Cell) -> bool {
        let searched = self.plan.search.as_ref().map(|search| &search.factor);
        let planned = self.plan.cells.iter();
        let planned = planned.flat_map(|cell| cell.spec.primary().variables.keys());
        let planned: BTreeSet<_> = planned.chain(searched).collect();
        let mut names = cell.spec.primary().variables.keys();
        names.all(|name| planned.contains(name))
    }

    fn begin(&mut self, cell: &Cell, password: Option<&Secret>) -> Result<ServerReply, RunError> {
        self.target = None;
        accepted::check(cell)?;
        let data = self.data.find(&cell.spec);
        let data = data.filter(|_| self.context.can_start(cell) && self.is_planned(cell));
        let data = data.ok_or_else(|| wrong("the cell is none of the study's"))?;
        let password = password.ok_or_else(|| wrong("the password is missing"))?;
        let account = LoadAccount {
            listen: self.listen,
            password: password.clone(),
        };
        let cancel = Cancel::on(self.stop);
        let target = PrivateTarget::start(self.context, cell, data, Some(&account), cancel)?;
        let begun = begun(&target)?;
        self.target = Some(target);
        Ok(ServerReply::Begun(Box::new(begun)))
    }
}

/// Returns the address of `target` for other hosts.
fn begun(target: &PrivateTarget) -> Result<BegunServer, RunError> {
    let listening = target
        .listening()
        .ok_or_else(|| wrong("it does not listen"))?;
    let commands = target.commands().iter();
    let directory = target.directory();
    let commands = commands.map(|command| match directory {
        Some(directory) => commands::anonymous(command, directory),
        None => command.clone(),
    });
    Ok(BegunServer {
        address: listening.address.to_string(),
        port: listening.port,
        user: LoadAccount::USER.to_owned(),
        database: target.endpoint().database,
        authority: listening.authority.clone(),
        device: target.device(),
        commands: commands.collect(),
    })
}

/// A step that does not fit those before it: conductors of the same version send none.
fn wrong(why: &'static str) -> RunError {
    RunError::NotOnAgent {
        what: "step".to_owned(),
        value: "out of order".to_owned(),
        why,
    }
}
