//! A server that other hosts reach: an address that the host's owner named, TLS, and an account for the load.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::net::{IpAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use weir_bus::Certificates;
use weir_model::{Endpoint, Secret};
use weir_process::PathError;
use weir_server::{ServerError, StartOptions};

use crate::RunError;

/// The account of the load.
const USER: &str = "weir_load";

/// Where a server listens for other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    pub(crate) address: IpAddr,
    /// 0: a free one.
    pub(crate) port: u16,
}

/// Who loads a server from other hosts.
#[derive(Debug, Clone)]
pub(crate) struct LoadAccount {
    pub(crate) listen: ListenAddress,
    pub(crate) password: Secret,
}

impl LoadAccount {
    /// Its name.
    pub(crate) const USER: &str = USER;

    /// Makes the account on the server of `endpoint`: all of its schema, and nothing else.
    pub(super) fn make(&self, endpoint: &Endpoint) -> Result<(), ServerError> {
        weir_server::let_in_load(endpoint, USER, &self.password)
    }
}

/// Where other hosts reach a server.
#[derive(Debug, Clone)]
pub(crate) struct Listening {
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
    /// The authority of its certificate, PEM.
    pub(crate) authority: String,
}

impl Listening {
    /// Makes a certificate in the folder `tls` and lets the server of `options` listen.
    pub(super) fn prepare(
        account: &LoadAccount,
        tls: &Path,
        options: &mut StartOptions,
    ) -> Result<Self, RunError> {
        let ListenAddress { address, port } = account.listen;
        let port = free_port(address, port)?;
        let made = Certificates::make(&address.to_string());
        let made = made.map_err(|error| RunError::Listening {
            address,
            port,
            why: error.to_string(),
        })?;
        let folder = DirBuilder::new().mode(0o700).create(tls);
        folder.map_err(PathError::on("create", tls))?;
        let (certificate, key) = (tls.join("certificate.pem"), tls.join("key.pem"));
        write_private(&certificate, &made.certificate)?;
        write_private(&key, &made.key)?;
        // Where statements may read and write files: a folder that stays empty.
        let files = tls.join("files");
        let folder = DirBuilder::new().mode(0o700).create(&files);
        folder.map_err(PathError::on("create", &files))?;
        let path = |path: &Path| path.display().to_string();
        let variables = [
            ("skip_networking", "OFF".to_owned()),
            ("bind_address", address.to_string()),
            ("port", port.to_string()),
            ("ssl_cert", path(&certificate)),
            ("ssl_key", path(&key)),
            ("secure_file_priv", path(&files)),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value));
        weir_model::set_options(&mut options.variables, variables);
        Ok(Self {
            address,
            port,
            authority: made.authority,
        })
    }
}

/// The port, if no process listens on it, or a free one for 0.
fn free_port(address: IpAddr, port: u16) -> Result<u16, RunError> {
    let bound = TcpListener::bind((address, port)).and_then(|listener| listener.local_addr());
    let bound = bound.map_err(|error| RunError::Listening {
        address,
        port,
        why: error.to_string(),
    });
    Ok(bound?.port())
}

fn write_private(path: &Path, text: &str) -> Result<(), PathError> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(PathError::on("write", path))
}
