//! The server whose switch it is: an instance of Weir's, or one that the user gives.

use std::fs;

use anyhow::bail;
use weir_crash::DataStorage;
use weir_model::{Flavor, ServerUrl, ServerVariables, ServerVersion};
use weir_mysql::Gate;
use weir_server::{
    DoublewriteStatus, ExternalServer, InstanceInfo, InstanceState, Instances, Relative, Session,
    data_elsewhere,
};

use crate::cli::SwitchArguments;
use crate::commands::external_server;

/// A file that every InnoDB data directory has.
const SYSTEM_TABLESPACE: &str = "ibdata1";

/// A running server.
pub(super) enum Target {
    Instance(Box<InstanceInfo>),
    Given(Box<ExternalServer>),
}

impl Target {
    /// The server that the user means by a name or a URL.
    pub(super) fn open(name: &str, ask_password: bool) -> anyhow::Result<Self> {
        if ServerUrl::is_meant(name) {
            let url: ServerUrl = name.parse().map_err(anyhow::Error::msg)?;
            let config = external_server::client_config(ask_password)?;
            return Ok(Self::Given(Box::new(external_server::open(&url, &config)?)));
        }
        let info = Instances::open()?.info(name)?;
        if info.state == InstanceState::Stopped {
            bail!("`{name}` does not run; start it with `weir server up {name}`");
        }
        Ok(Self::Instance(Box::new(info)))
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Instance(info) => info.instance.name.clone(),
            Self::Given(given) => given.url.to_string(),
        }
    }

    pub(super) fn flavor(&self) -> Flavor {
        match self {
            Self::Instance(info) => info.instance.flavor,
            Self::Given(given) => given.url.flavor,
        }
    }

    /// Returns its process, if it is on this host.
    fn pid(&self) -> Option<u32> {
        match self {
            Self::Instance(info) => match info.state {
                InstanceState::Running { pid } => Some(pid),
                InstanceState::Stopped => None,
            },
            Self::Given(given) => given.pid,
        }
    }

    /// The switch as the server has it.
    pub(super) fn status(&self, session: &mut Session) -> anyhow::Result<DoublewriteStatus> {
        Ok(DoublewriteStatus::read(session, self.flavor(), self.pid())?)
    }

    /// The version that runs: a program may have been replaced since the server was made.
    pub(super) fn version(&self, variables: &ServerVariables<'_>) -> ServerVersion {
        let said = variables.get("version").and_then(|said| said.parse().ok());
        said.unwrap_or(match self {
            Self::Instance(info) => info.instance.version,
            Self::Given(given) => given.version,
        })
    }

    pub(super) fn session(&self) -> anyhow::Result<Session> {
        Ok(match self {
            Self::Instance(info) => Session::open(
                &Instances::open()?.endpoint(&info.instance.name)?,
                &Gate::own(),
            )?,
            Self::Given(given) => given.session()?,
        })
    }

    /// The storage below all of its data, or why it is unknown. Nothing is written into a directory that is not
    /// Weir's.
    pub(super) fn ground(
        &self,
        session: &mut Session,
    ) -> anyhow::Result<Result<DataStorage, String>> {
        let (directory, through) = match self {
            Self::Instance(info) => {
                let directory = info.storage.join("data");
                let is_there = directory.join(SYSTEM_TABLESPACE).is_file();
                (directory, is_there.then_some(SYSTEM_TABLESPACE))
            }
            Self::Given(given) => match &given.data_dir {
                Some(directory) if is_in_this_namespace(given.pid) => {
                    (directory.clone(), Some(SYSTEM_TABLESPACE))
                }
                _ => {
                    let why =
                        "the storage is on another host or in a container, where Weir cannot look";
                    return Ok(Err(why.to_owned()));
                }
            },
        };
        if let Some(file) = data_elsewhere(session, self.flavor(), &directory)? {
            return Ok(Err(format!(
                "the storage is not known: not all data lie in {} ({file})",
                directory.display()
            )));
        }
        Ok(Ok(DataStorage::below(&directory, through)?))
    }

    /// Returns its primary, and its replicas as far as they are known.
    pub(super) fn relatives(
        &self,
        arguments: &SwitchArguments,
    ) -> anyhow::Result<(Option<Relative>, Vec<Relative>)> {
        match self {
            Self::Instance(info) => of_instance(info),
            Self::Given(given) => Ok((of_given(given, arguments.primary.as_ref())?, Vec::new())),
        }
    }
}

/// The instance's primary, and its replicas.
fn of_instance(info: &InstanceInfo) -> anyhow::Result<(Option<Relative>, Vec<Relative>)> {
    let name = &info.instance.name;
    let all = Instances::open()?.list()?;
    let relative = |other: &InstanceInfo| {
        let instance = &other.instance;
        let variables = ServerVariables::written(instance.flavor, &instance.variables);
        Relative::new(&instance.name, &variables)
    };
    let primary = all
        .iter()
        .find(|other| info.instance.replica_of.as_ref() == Some(&other.instance.name));
    let replicas = all
        .iter()
        .filter(|other| other.instance.replica_of.as_ref() == Some(name));
    Ok((primary.map(relative), replicas.map(relative).collect()))
}

/// The primary of a user's server, which the user has to name: its address alone has no account.
fn of_given(
    given: &ExternalServer,
    primary: Option<&ServerUrl>,
) -> anyhow::Result<Option<Relative>> {
    let follows = given.primary()?;
    match (follows, primary) {
        (None, None) => Ok(None),
        (None, Some(url)) => bail!("`{}` is no replica; leave --primary {url} out", given.url),
        (Some(address), None) => bail!(
            "`{}` follows {address}, and a replica is not switched before its primary; name that with \
             --primary URL, so that its setting can be read",
            given.url
        ),
        (Some(_), Some(url)) => {
            let primary = external_server::open(url, &external_server::client_config(false)?)?;
            let variables = primary.session()?.variables()?;
            let variables = ServerVariables::said(url.flavor, &variables);
            Ok(Some(Relative::new(url.to_string(), &variables)))
        }
    }
}

/// Returns true if the process `pid` sees the files that this one sees. For a server without a known process its
/// host's name has to do.
fn is_in_this_namespace(pid: Option<u32>) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt"));
    let Some(pid) = pid else {
        return true;
    };
    match (namespace("self"), namespace(&pid.to_string())) {
        (Ok(own), Ok(others)) => own == others,
        _ => false,
    }
}
