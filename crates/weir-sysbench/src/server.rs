//! Options that say where the servers are and how to log in.

use std::path::PathBuf;

use weir_model::{Address, Endpoint, Secret, Tls, TlsMode};

use weir_mysql::{
    ClientOptions, ClientPassword, Compression, LOCAL, LOOPBACK, PORT, SCHEMA, USER, local_socket,
};

/// Files of the working directory that sysbench 1.0.20 uses with `--mysql-ssl=on`.
const AUTHORITY: &str = "cacert.pem";
const CERTIFICATE: &str = "client-cert.pem";
const KEY: &str = "client-key.pem";

/// The password that asks to be asked for.
const ASK: &str = "-";

/// The servers, as given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerSettings {
    pub(super) hosts: Vec<String>,
    pub(super) ports: Vec<u16>,
    pub(super) sockets: Vec<PathBuf>,
    /// Meaning of [`LOCAL`], if option files set it.
    local: Option<Address>,
    pub(super) user: String,
    password: Secret,
    /// The user is to be asked for it.
    pub(super) asks_password: bool,
    pub(super) database: String,
    pub(super) tls: Tls,
    /// Encryption was switched on as in 1.0.20, where certificates have fixed names.
    pub(super) uses_fixed_files: bool,
    /// Compression was switched on.
    pub(super) compresses: bool,
    /// Compression when it is on.
    pub(super) compression: Option<Compression>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            hosts: vec![LOCAL.to_owned()],
            ports: vec![PORT],
            sockets: Vec::new(),
            local: None,
            user: USER.to_owned(),
            password: Secret::default(),
            asks_password: false,
            database: SCHEMA.to_owned(),
            tls: Tls::default(),
            uses_fixed_files: false,
            compresses: false,
            compression: Some(Compression::Zlib),
        }
    }
}

impl ServerSettings {
    /// Takes what option files say of a login.
    pub(super) fn take(&mut self, login: ClientOptions) {
        self.tls = login.encryption();
        self.local = if login.uses_tcp {
            Some(Address::Tcp(
                LOOPBACK.to_owned(),
                login.port.unwrap_or(PORT),
            ))
        } else {
            login.socket.map(Address::Socket)
        };
        if let Some(host) = login.host {
            self.hosts = vec![host];
        }
        if let Some(port) = login.port {
            self.ports = vec![port];
        }
        if let Some(user) = login.user {
            self.user = user;
        }
        if let Some(database) = login.database {
            self.database = database;
        }
        match login.password {
            Some(ClientPassword::Given(password)) => self.set_password(password),
            Some(ClientPassword::Asked) => self.asks_password = true,
            None => {}
        }
    }

    /// Takes a password that is known.
    pub(super) fn set_password(&mut self, password: Secret) {
        self.password = password;
        self.asks_password = false;
    }

    /// Takes the password of an option, which may ask to be asked for.
    pub(super) fn set_password_option(&mut self, text: String) {
        self.asks_password = text == ASK;
        self.password = Secret::new(if self.asks_password {
            String::new()
        } else {
            text
        });
    }

    /// The first server, and the others over which connections are dealt in turn.
    pub(super) fn endpoint(&self) -> (Endpoint, Vec<Address>) {
        let mut addresses = self.addresses().into_iter();
        let address = addresses
            .next()
            .expect("invariant: an option without a host or port is refused");
        let endpoint = Endpoint {
            address,
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.database.clone(),
            tls: self.tls(),
        };
        (endpoint, addresses.collect())
    }

    /// Returns the compression of connections, if any.
    pub(super) fn compression(&self) -> Option<Compression> {
        self.compression.filter(|_| self.compresses)
    }

    /// Sockets override hosts, ports change before hosts, and `localhost` is a socket, as in
    /// MySQL's client library. A socket of an option file is only what `localhost` means.
    fn addresses(&self) -> Vec<Address> {
        if !self.sockets.is_empty() {
            return self.sockets.iter().cloned().map(Address::Socket).collect();
        }
        let mut addresses = Vec::new();
        for host in &self.hosts {
            if host == LOCAL {
                let local = self.local.clone();
                addresses.push(local.unwrap_or_else(|| Address::Socket(local_socket())));
                continue;
            }
            let ports = self.ports.iter();
            addresses.extend(ports.map(|port| Address::Tcp(host.clone(), *port)));
        }
        addresses
    }

    fn tls(&self) -> Tls {
        let mut tls = self.tls.clone();
        if self.uses_fixed_files {
            let in_place = |name: &str| Some(PathBuf::from(name)).filter(|path| path.exists());
            tls.authority = tls.authority.or_else(|| in_place(AUTHORITY));
            tls.certificate = tls.certificate.or_else(|| in_place(CERTIFICATE));
            tls.key = tls.key.or_else(|| in_place(KEY));
            if tls.authority.is_some() {
                tls.mode = TlsMode::VerifyCa;
            }
        }
        tls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(settings: &ServerSettings) -> Vec<String> {
        let addresses = settings.addresses();
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn ports_change_before_hosts_and_sockets_override_both() {
        let mut settings = ServerSettings {
            hosts: vec!["a".to_owned(), "b".to_owned()],
            ports: vec![1, 2],
            ..ServerSettings::default()
        };
        assert_eq!(addresses(&settings), ["a:1", "a:2", "b:1", "b:2"]);
        settings.sockets = vec!["/x".into(), "/y".into()];
        assert_eq!(addresses(&settings), ["/x", "/y"]);
        let (endpoint, more) = settings.endpoint();
        assert_eq!(endpoint.address, Address::Socket("/x".into()));
        assert_eq!(more, [Address::Socket("/y".into())]);
    }

    #[test]
    fn localhost_is_one_socket_whatever_the_ports() {
        let settings = ServerSettings {
            ports: vec![1, 2],
            ..ServerSettings::default()
        };
        assert_eq!(addresses(&settings).len(), 1);
        assert!(matches!(settings.addresses()[0], Address::Socket(_)));
    }
}
