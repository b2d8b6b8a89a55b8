//! A server of the user's, played by a private one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use weir_model::{Address, Endpoint, Flavor};
use weir_server::{PrivateServer, StartOptions, cache_directory, free_port, loopback_variables};

use crate::harness::{Weir, World};

pub(crate) const PASSWORD: &str = "the-users-own-password";

/// The user's server: private to this test, with accounts and certificates of its own.
pub(crate) struct Users {
    server: Option<PrivateServer>,
    _directory: TempDir,
    options: StartOptions,
    pub(crate) port: u16,
    pub(crate) world: World,
    pub(crate) flavor: Flavor,
}

impl Users {
    pub(crate) fn new(flavor: Flavor) -> Self {
        Self::with(flavor, &[])
    }

    /// With variables of the test's.
    pub(crate) fn with(flavor: Flavor, more: &[(&str, &str)]) -> Self {
        let world = World::new();
        let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let certificate_file = world.write("server.pem", &certificate.cert.pem());
        let key = world.write("key.pem", &certificate.signing_key.serialize_pem());
        let own = [
            ("ssl_ca", certificate_file.to_str().unwrap()),
            ("ssl_cert", certificate_file.to_str().unwrap()),
            ("ssl_key", key.to_str().unwrap()),
            ("innodb_flush_method", "O_DIRECT"),
        ];
        let port = free_port().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut options = weir_testing::options(directory.path());
        options.variables.extend(loopback_variables(port));
        let variables = own.iter().chain(more);
        let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        options.variables.extend(variables);
        let binary = weir_testing::binary(flavor);
        weir_testing::data_directory(&binary, &options.data_dir);
        let server = PrivateServer::start(&binary, &options).unwrap();
        let mut session = server.session().unwrap();
        for account in ["app@localhost", "app@'127.0.0.1'", "poor@localhost"] {
            let create = format!("CREATE USER {account} IDENTIFIED BY '{PASSWORD}'");
            session.run("create an account", &create).unwrap();
        }
        for grant in [
            "GRANT ALL ON *.* TO app@localhost WITH GRANT OPTION",
            "GRANT ALL ON *.* TO app@'127.0.0.1'",
            "GRANT ALL ON sbtest.* TO poor@localhost",
        ] {
            session.run("grant", grant).unwrap();
        }
        for (file, user, password) in [
            ("app.cnf", "app", PASSWORD),
            ("poor.cnf", "poor", PASSWORD),
            ("wrong.cnf", "app", "not-the-password"),
        ] {
            write_option_file(&world, file, user, password);
        }
        world.write("asks.cnf", "[client]\nuser = app\n");
        Self {
            server: Some(server),
            _directory: directory,
            options,
            port,
            world,
            flavor,
        }
    }

    pub(crate) fn server(&self) -> &PrivateServer {
        self.server.as_ref().unwrap()
    }

    /// Shuts it down and starts it again, where it was.
    pub(crate) fn restart(&mut self) {
        let server = self.server.take().unwrap();
        server.stop(Duration::from_mins(1)).unwrap();
        let binary = weir_testing::binary(self.flavor);
        self.server = Some(PrivateServer::start(&binary, &self.options).unwrap());
    }

    pub(crate) fn socket(&self) -> PathBuf {
        match self.server().endpoint() {
            Endpoint {
                address: Address::Socket(path),
                ..
            } => path,
            other => panic!("{other:?}"),
        }
    }

    /// An option file with an account.
    pub(crate) fn option_file(&self, file: &str, user: &str, password: &str) {
        write_option_file(&self.world, file, user, password);
    }

    /// Its URL, with the account of an option file.
    pub(crate) fn url(&self, option_file: &str) -> String {
        format!(
            "{}:///sbtest?option-file={}&socket={}",
            self.flavor,
            self.world.path(option_file).display(),
            self.socket().display()
        )
    }

    pub(crate) fn weir(&self, arguments: &[&str]) -> Weir {
        Weir::in_world(&self.world)
            .env("HOME", self.world.home.path())
            .env("XDG_STATE_HOME", self.world.path("state"))
            .args(arguments)
    }

    /// As [`Users::weir`], but it finds this machine's servers and empty data directories.
    pub(crate) fn weir_with_servers(&self, arguments: &[&str]) -> Weir {
        let program = self.server().binary().path.clone();
        let cache = cache_directory();
        let cache = cache.ancestors().nth(2).unwrap().to_owned();
        let weir = self.weir(arguments).env("XDG_CACHE_HOME", cache);
        match program.ancestors().nth(3) {
            Some(servers) => weir.env("WEIR_SERVERS", servers),
            None => weir,
        }
    }

    /// A call of `weir flashback`.
    #[cfg(feature = "flashback")]
    pub(crate) fn flashback(&self, arguments: &[&str]) -> Weir {
        self.weir_with_servers(&[&["flashback"], arguments].concat())
    }

    /// `weir run` of a study with `factor` on the server at `url`, into the folder `out`.
    pub(crate) fn run(&self, url: &str, factor: &str, out: &str, more: &[&str]) -> Weir {
        let study = self.study(url, factor, "oltp_read_write", "rows = 2_000", "2s");
        let out = self.world.path(out);
        let (study, out) = (study.to_str().unwrap(), out.to_str().unwrap());
        self.weir(&[&["run", study, "--out", out, "--json"], more].concat())
    }

    /// A study file.
    pub(crate) fn study(
        &self,
        url: &str,
        factor: &str,
        workload: &str,
        data: &str,
        measure: &str,
    ) -> PathBuf {
        self.world.write(
            "study.toml",
            &format!(
                r#"
                [study]
                title = "Given"
                question = "Is the user's server loaded and left as it was?"
                [server]
                flavor = "{url}"
                [data]
                workload = "{workload}"
                {data}
                [load]
                threads = 2
                warmup = "0s"
                measure = "{measure}"
                [factors]
                {factor}
                [repeat]
                runs = 1
                seed = 1
                "#
            ),
        )
    }

    pub(crate) fn value(&self, name: &str) -> String {
        let value = self.server().session().unwrap().variable(name).unwrap();
        value.unwrap()
    }

    /// Lines of the log of changes.
    pub(crate) fn changes(&self) -> Vec<Value> {
        let log = self.world.path("state/weir/changes.log");
        let text = fs::read_to_string(log).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Statements of the log of changes that hold `text`.
    pub(crate) fn changes_with(&self, text: &str) -> usize {
        let changes = self.changes().into_iter();
        changes
            .filter(|line| line["statement"].as_str().unwrap().contains(text))
            .count()
    }
}

fn write_option_file(world: &World, file: &str, user: &str, password: &str) {
    let text = format!("[client]\nuser = {user}\npassword = {password}\n");
    let path = world.write(file, &text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
