//! A server on the host of an agent, on a drive and data there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use weir_agent::{AuthorityFile, BegunServer, ServerReply, ServerSession, ServerStep};
use weir_model::{Address, Cell, DriveStatistics, Endpoint, Secret, ServerHost, Tls, TlsMode};
use weir_mysql::Gate;
use weir_probe::{Probe, ProcessProbe};
use weir_server::ConfigChanges;

use super::Target;
use crate::RunError;
use crate::cancel::Cancel;

/// Steps that need no work are waited for to their end.
static GOES_ON: AtomicBool = AtomicBool::new(false);

/// A server that an agent started. Dropping it ends the server.
pub(crate) struct RemoteTarget {
    session: Rc<ServerSession>,
    endpoint: Endpoint,
    host: ServerHost,
    has_drive: bool,
    commands: Vec<String>,
    /// The authority of its certificate.
    _authority: AuthorityFile,
    is_over: bool,
}

impl RemoteTarget {
    /// Lets the agent restore the data of `cell` and start its server.
    pub(crate) fn start(
        session: &Rc<ServerSession>,
        cell: &Cell,
        cancel: Cancel<'_>,
    ) -> Result<Self, RunError> {
        let password = weir_server::random_password();
        let step = ServerStep::Begin {
            cell: Box::new(cell.clone()),
        };
        let begun = session.step(step, Some(&password), cancel.flag(), &mut |_, _| ())?;
        let ServerReply::Begun(begun) = begun else {
            return Err(RunError::wrong_answer());
        };
        let authority = AuthorityFile::write(&begun.authority)?;
        Ok(Self {
            session: Rc::clone(session),
            endpoint: endpoint(&begun, password, authority.path()),
            host: session.host(begun.device),
            has_drive: cell.spec.primary().drive.is_some(),
            commands: begun.commands,
            _authority: authority,
            is_over: false,
        })
    }

    fn ask(&self, step: ServerStep) -> Result<ServerReply, RunError> {
        Ok(self.session.step(step, None, &GOES_ON, &mut |_, _| ())?)
    }

    fn end_server(&mut self) -> Result<(), RunError> {
        self.is_over = true;
        self.ask(ServerStep::End).map(drop)
    }
}

fn endpoint(begun: &BegunServer, password: Secret, authority: PathBuf) -> Endpoint {
    Endpoint {
        address: Address::Tcp(begun.address.clone(), begun.port),
        user: begun.user.clone(),
        password,
        database: begun.database.clone(),
        tls: Tls {
            mode: TlsMode::VerifyIdentity,
            authority: Some(authority),
            ..Tls::default()
        },
    }
}

impl Target for RemoteTarget {
    fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    fn gate(&self) -> Gate {
        Gate::own()
    }

    fn variables(&self) -> Result<BTreeMap<String, String>, RunError> {
        match self.ask(ServerStep::Variables)? {
            ServerReply::Variables(variables) => Ok(variables),
            _ => Err(RunError::wrong_answer()),
        }
    }

    fn changes(&self) -> Option<ConfigChanges> {
        None
    }

    fn probes(&self, client: u32) -> Vec<Box<dyn Probe>> {
        let mut probes: Vec<Box<dyn Probe>> = vec![Box::new(ProcessProbe::client(client))];
        // Without them the run goes on: it has gaps, as with an agent that is lost later.
        let remote = self.session.probes(&GOES_ON).unwrap_or_default();
        probes.extend(
            remote
                .into_iter()
                .map(|probe| Box::new(probe) as Box<dyn Probe>),
        );
        probes
    }

    fn directory(&self) -> Option<&Path> {
        None
    }

    fn server_host(&self) -> Option<ServerHost> {
        Some(self.host.clone())
    }

    fn has_drive(&self) -> bool {
        self.has_drive
    }

    fn drive_statistics(&self) -> Option<DriveStatistics> {
        if !self.has_drive {
            return None;
        }
        match self.ask(ServerStep::DriveStatistics) {
            Ok(ServerReply::DriveStatistics(counted)) => counted.map(|counted| *counted),
            _ => None,
        }
    }

    fn commands(&self) -> &[String] {
        &self.commands
    }

    fn log(&self) -> Result<String, RunError> {
        match self.ask(ServerStep::Log)? {
            ServerReply::Log(log) => Ok(log),
            _ => Err(RunError::wrong_answer()),
        }
    }

    fn has_exited(&mut self) -> Option<String> {
        match self.ask(ServerStep::Exit) {
            Ok(ServerReply::Exit(words)) => words,
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    fn end(mut self: Box<Self>) -> Result<(), RunError> {
        self.end_server()
    }
}

impl Drop for RemoteTarget {
    fn drop(&mut self) {
        if !self.is_over {
            // The session ends it at the latest.
            let _ = self.end_server();
        }
    }
}
