//! The server whose switch it is: an instance of Weir's, or one that the user gives.

use std::path::PathBuf;

use anyhow::bail;
use weir_crash::Storage;
use weir_model::{Flavor, ServerUrl};
use weir_mysql::Gate;
use weir_server::{
    DOUBLEWRITE, GivenServer, InstanceInfo, InstanceState, Instances, Proof, Relative, Session,
    is_on,
};

use crate::cli::SwitchArguments;
use crate::commands::given_server;

/// A file that every InnoDB data directory has.
const SYSTEM_TABLESPACE: &str = "ibdata1";

/// A running server.
pub(super) enum Target {
    Instance(Box<InstanceInfo>),
    Given(Box<GivenServer>),
}

impl Target {
    /// The server that the user means by a name or a URL.
    pub(super) fn open(name: &str, ask_password: bool) -> anyhow::Result<Self> {
        if ServerUrl::is_meant(name) {
            let url: ServerUrl = name.parse().map_err(anyhow::Error::msg)?;
            let config = given_server::client_config(ask_password)?;
            return Ok(Self::Given(Box::new(given_server::open(&url, &config)?)));
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

    pub(super) fn session(&self) -> anyhow::Result<Session> {
        Ok(match self {
            Self::Instance(info) => Session::open(
                &Instances::open()?.endpoint(&info.instance.name)?,
                &Gate::own(),
            )?,
            Self::Given(given) => given.session()?,
        })
    }

    /// What is below its data; `None` on another host. Nothing is written into a directory that is not
    /// Weir's.
    pub(super) fn storage(&self) -> anyhow::Result<Option<Storage>> {
        let directory: Option<&PathBuf> = match self {
            Self::Instance(info) => {
                return Ok(Some(Storage::inspect(&info.folder.join("data"))?));
            }
            Self::Given(given) => given.data_dir.as_ref(),
        };
        let inspect = |path: &PathBuf| Storage::inspect_through(path, SYSTEM_TABLESPACE);
        Ok(directory.map(inspect).transpose()?)
    }

    /// What the storage itself promises.
    pub(super) fn promise(&self) -> anyhow::Result<Proof> {
        let storage = self.storage()?;
        Ok(storage.map_or(Proof::None, |storage| storage.proof()))
    }

    /// Its primary, and its replicas as far as they are known.
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
    let relative = |other: &InstanceInfo| Relative {
        name: other.instance.name.clone(),
        // What it is not told otherwise, a server has on.
        is_on: other
            .instance
            .variables
            .get(DOUBLEWRITE)
            .is_none_or(|value| is_on(value)),
    };
    let primary = all
        .iter()
        .find(|other| info.instance.replica_of.as_ref() == Some(&other.instance.name));
    let replicas = all
        .iter()
        .filter(|other| other.instance.replica_of.as_ref() == Some(name));
    Ok((primary.map(relative), replicas.map(relative).collect()))
}

/// The primary of a user's server, which the user has to name: its address alone lets nobody in.
fn of_given(given: &GivenServer, primary: Option<&ServerUrl>) -> anyhow::Result<Option<Relative>> {
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
            let primary = given_server::open(url, &given_server::client_config(false)?)?;
            let value = primary.session()?.variable(DOUBLEWRITE)?;
            Ok(Some(Relative {
                name: url.to_string(),
                is_on: value.is_none_or(|value| is_on(&value)),
            }))
        }
    }
}
