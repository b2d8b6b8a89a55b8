//! A server that other hosts reach: an address that the host's owner named, TLS, and an account for the load.

use std::net::IpAddr;
use std::path::Path;

use weir_agent::bus::Certificates;
use weir_model::{Endpoint, Secret};
use weir_process::{create_private_directory, write_private};
use weir_server::{ServerError, StartOptions, free_port_of, listening_variables};

use crate::RunError;

/// Address at which a server listens for other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    pub(crate) address: IpAddr,
    /// 0: a free one.
    pub(crate) port: u16,
}

/// Account that loads a server from other hosts.
#[derive(Debug, Clone)]
pub(crate) struct LoadAccount {
    pub(crate) listen: ListenAddress,
    pub(crate) password: Secret,
}

impl LoadAccount {
    /// Name of the account.
    pub(crate) const USER: &str = "weir_load";

    /// Makes the account on the server of `endpoint`: all of its schema, and nothing else.
    pub(super) fn make(&self, endpoint: &Endpoint) -> Result<(), ServerError> {
        weir_server::let_in_load(endpoint, Self::USER, &self.password)
    }
}

/// Server that other hosts can reach.
#[derive(Debug, Clone)]
pub(crate) struct ReachableServer {
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
    /// The authority of its certificate, PEM.
    pub(crate) authority: String,
}

impl ReachableServer {
    /// Makes a certificate in the folder `tls` and lets the server of `options` listen.
    pub(super) fn prepare(
        account: &LoadAccount,
        tls: &Path,
        options: &mut StartOptions,
    ) -> Result<Self, RunError> {
        let ListenAddress { address, port } = account.listen;
        let failed = |why| RunError::Listening { address, port, why };
        let port = free_port_of(address, port).map_err(|error| failed(error.to_string()))?;
        let made = Certificates::make(&address.to_string());
        let made = made.map_err(|error| failed(error.to_string()))?;
        create_private_directory(tls)?;
        let (certificate, key) = (tls.join("certificate.pem"), tls.join("key.pem"));
        write_private(&certificate, &made.certificate)?;
        write_private(&key, &made.key)?;
        // Where statements may read and write files: a folder that stays empty.
        let files = tls.join("files");
        create_private_directory(&files)?;
        let path = |path: &Path| path.display().to_string();
        let own = [
            ("ssl_cert", path(&certificate)),
            ("ssl_key", path(&key)),
            ("secure_file_priv", path(&files)),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value));
        let variables = listening_variables(address, port).into_iter().chain(own);
        weir_model::set_options(&mut options.variables, variables);
        Ok(Self {
            address,
            port,
            authority: made.authority,
        })
    }
}
