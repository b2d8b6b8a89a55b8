//! A server that the user gives, with a run's settings until it is put back.

use std::collections::BTreeMap;
use std::path::Path;

use weir_agent::RemoteHost;
use weir_model::{Cell, DriveStatistics, Endpoint, ServerHost};
use weir_mysql::Gate;
use weir_probe::{HostProbe, Probe, ProcessProbe, ServerProbe};
use weir_server::{ConfigChanges, ExternalServer};

use super::Target;
use crate::RunError;

pub(crate) struct ExternalTarget {
    server: ExternalServer,
    /// Host of the server, if an agent there samples it.
    host: Option<RemoteHost>,
    changes: ConfigChanges,
    commands: Vec<String>,
}

impl ExternalTarget {
    /// Brings `server` to the settings of `cell`, if settings may be changed (`allowed`).
    pub(crate) fn take(
        cell: &Cell,
        server: &ExternalServer,
        host: Option<&RemoteHost>,
        allowed: bool,
    ) -> Result<Self, RunError> {
        let variables = &cell.spec.primary().variables;
        let wanted = weir_server::native_config(server, variables, allowed)?;
        let mut changes = ConfigChanges::new(server);
        changes.apply(&wanted)?;
        Ok(Self {
            server: server.clone(),
            host: host.cloned(),
            changes,
            commands: weir_server::set_statements(&wanted),
        })
    }
}

impl Target for ExternalTarget {
    fn endpoint(&self) -> Endpoint {
        self.server.endpoint.clone()
    }

    fn gate(&self) -> Gate {
        self.server.gate().clone()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, RunError> {
        let server = &self.server;
        let mut session = server.session()?;
        let mut variables = session.variables()?;
        let data = server.data_dir.as_deref();
        let unsaid = weir_server::unsaid(&mut session, &variables, server.pid, data)?;
        variables.extend(unsaid);
        if let Some(host) = &self.host {
            variables.extend(host.states().clone());
        }
        Ok(variables)
    }

    fn changes(&self) -> Option<ConfigChanges> {
        Some(ConfigChanges::new(&self.server))
    }

    fn probes(&self, client: u32) -> Vec<Box<dyn Probe>> {
        let mut probes: Vec<Box<dyn Probe>> = vec![
            Box::new(ProcessProbe::client(client)),
            Box::new(ServerProbe::new(self.endpoint())),
        ];
        if let Some(host) = &self.host {
            probes.push(Box::new(host.probe()));
            return probes;
        }
        // This host says nothing about a server on another one.
        if let Some(directory) = self.directory() {
            let directory = Some(directory.to_owned());
            probes.push(Box::new(HostProbe::of_run(directory, self.server.pid)));
        }
        if let Some(pid) = self.server.pid {
            probes.push(Box::new(ProcessProbe::server(pid)));
        }
        probes
    }

    fn server_pid(&self) -> Option<u32> {
        self.server.pid
    }

    fn directory(&self) -> Option<&Path> {
        self.server.data_dir.as_deref()
    }

    fn server_host(&self) -> Option<ServerHost> {
        Some(self.host.as_ref()?.host().clone())
    }

    fn has_drive(&self) -> bool {
        false
    }

    fn drive_statistics(&self) -> Option<DriveStatistics> {
        None
    }

    fn commands(&self) -> &[String] {
        &self.commands
    }

    /// It keeps its log for itself.
    fn log(&self) -> Result<String, RunError> {
        Ok(String::new())
    }

    fn has_exited(&mut self) -> Option<String> {
        None
    }

    fn end(mut self: Box<Self>) -> Result<(), RunError> {
        Ok(self.changes.put_back()?)
    }
}
