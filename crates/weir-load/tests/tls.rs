//! Encrypted load on real servers of both flavours: all modes, certificates, ciphers.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;
use weir_load::{
    LoadError, LoadOutcome, LoadPlan, PreparePlan, TableOptions, Workload, prepare, run,
};
use weir_model::{
    Address, Distribution, Endpoint, Flavor, LoadSpec, Mix, Secret, SysbenchWorkload, Tls, TlsMode,
    WorkloadName,
};
use weir_mysql::{Compression, Gate};
use weir_server::PrivateServer;

const ROWS: u64 = 1_000;
const CONNECTIONS: u32 = 3;

/// An authority, and certificates that it has signed: a server's, made out to `localhost`, and a
/// client's.
struct Certificates(TempDir);

impl Certificates {
    fn new() -> Self {
        let certificates = Self(tempfile::tempdir().unwrap());
        let key = KeyPair::generate().unwrap();
        let mut params = Self::params("authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        certificates.write("ca.pem", &params.self_signed(&key).unwrap().pem());
        let authority = Issuer::new(params, key);
        for (name, host) in [("server", "localhost"), ("client", "weir")] {
            let key = KeyPair::generate().unwrap();
            let certificate = Self::params(host).signed_by(&key, &authority).unwrap();
            certificates.write(&format!("{name}-cert.pem"), &certificate.pem());
            certificates.write(&format!("{name}-key.pem"), &key.serialize_pem());
        }
        certificates
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A server with these certificates and a loaded table.
struct Bench {
    server: PrivateServer,
    _directory: TempDir,
    port: u16,
    certificates: Certificates,
}

impl Bench {
    fn new(flavor: Flavor) -> Self {
        let certificates = Certificates::new();
        let file = |name: &str| certificates.path(name).display().to_string();
        let variables = [
            ("ssl_ca", file("ca.pem")),
            ("ssl_cert", file("server-cert.pem")),
            ("ssl_key", file("server-key.pem")),
        ];
        let variables: Vec<_> = variables.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let (server, directory, port) = weir_testing::start_on_tcp(flavor, &variables);
        make_account(&server);
        let bench = Self {
            server,
            _directory: directory,
            port,
            certificates,
        };
        let tables = PreparePlan {
            tables: TableOptions {
                rows: ROWS,
                ..TableOptions::default()
            },
            ..PreparePlan::new(
                bench.endpoint("127.0.0.1", bench.trusting(TlsMode::VerifyCa)),
                WorkloadName::OltpReadWrite,
            )
        };
        prepare(
            &tables,
            &Gate::own(),
            &AtomicBool::new(false),
            &mut |_, _| {},
        )
        .unwrap();
        bench
    }

    fn trusting(&self, mode: TlsMode) -> Tls {
        Tls {
            mode,
            authority: Some(self.certificates.path("ca.pem")),
            ..Tls::default()
        }
    }

    fn endpoint(&self, host: &str, tls: Tls) -> Endpoint {
        far(&self.server, host, self.port, tls)
    }

    /// A run; its encrypted connections as the server counts them.
    fn load(&self, endpoint: Endpoint) -> Result<(LoadOutcome, u64), LoadError> {
        let before = self.encrypted();
        let plan = LoadPlan {
            rows: ROWS,
            max_events: Some(60),
            load: LoadSpec {
                connections: CONNECTIONS,
                measure: weir_model::Duration::default(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(endpoint, WorkloadName::OltpReadWrite)
        };
        let outcome = go(&plan)?;
        assert_eq!(outcome.counts.transactions, 60);
        Ok((outcome, self.encrypted() - before))
    }

    fn refused(&self, endpoint: Endpoint) -> String {
        self.load(endpoint).unwrap_err().to_string()
    }

    fn encrypted(&self) -> u64 {
        self.counter("Ssl_finished_accepts")
    }

    fn counter(&self, name: &str) -> u64 {
        self.server.status().unwrap()[name].parse().unwrap()
    }
}

/// An account that logs in over TCP.
fn make_account(server: &PrivateServer) {
    let mut oracle = weir_testing::connect(&server.endpoint());
    for statement in [
        "CREATE USER 'far'@'127.0.0.1' IDENTIFIED BY 'secret word'",
        "GRANT ALL ON *.* TO 'far'@'127.0.0.1'",
    ] {
        oracle.run(statement).unwrap();
    }
}

fn far(server: &PrivateServer, host: &str, port: u16, tls: Tls) -> Endpoint {
    Endpoint {
        address: Address::Tcp(host.to_owned(), port),
        user: "far".to_owned(),
        password: Secret::new("secret word"),
        tls,
        ..server.endpoint()
    }
}

fn go(plan: &LoadPlan) -> Result<LoadOutcome, LoadError> {
    run(plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {})
}

/// On one server, because starting one is what takes the time.
fn encryption_does_what_its_options_say(flavor: Flavor) {
    let bench = Bench::new(flavor);
    every_mode_encrypts_as_much_as_it_says(&bench);
    certificates_are_checked_as_far_as_the_mode_says(&bench);
    long_requests_and_long_replies_pass(&bench);
    client_certificates_and_ciphers_are_used(&bench);
}

fn every_mode_encrypts_as_much_as_it_says(bench: &Bench) {
    // The connections, and the one of the checks before the run.
    let all = u64::from(CONNECTIONS) + 1;
    for (mode, host, expected) in [
        (TlsMode::Disabled, "127.0.0.1", 0),
        (TlsMode::Preferred, "127.0.0.1", all),
        (TlsMode::Required, "127.0.0.1", all),
        (TlsMode::VerifyCa, "127.0.0.1", all),
        (TlsMode::VerifyIdentity, "localhost", all),
    ] {
        let (_, encrypted) = bench
            .load(bench.endpoint(host, bench.trusting(mode)))
            .unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
        assert_eq!(encrypted, expected, "{}", mode.name());
    }
    // Nobody listens on a socket, but who insists is obeyed.
    for (mode, expected) in [(TlsMode::Preferred, 0), (TlsMode::Required, all)] {
        let local = Endpoint {
            tls: bench.trusting(mode),
            ..bench.server.endpoint()
        };
        assert_eq!(bench.load(local).unwrap().1, expected, "{}", mode.name());
    }
}

fn certificates_are_checked_as_far_as_the_mode_says(bench: &Bench) {
    let stranger = Certificates::new();
    let strange = Tls {
        authority: Some(stranger.path("ca.pem")),
        ..bench.trusting(TlsMode::VerifyCa)
    };
    let error = bench.refused(bench.endpoint("127.0.0.1", strange));
    assert!(
        error.contains("signed by none of the authorities"),
        "{error}"
    );
    // It is made out to the name, not to the address.
    let named = bench.endpoint("127.0.0.1", bench.trusting(TlsMode::VerifyIdentity));
    let error = bench.refused(named);
    assert!(error.contains("not made out to this host"), "{error}");
}

fn client_certificates_and_ciphers_are_used(bench: &Bench) {
    weir_testing::connect(&bench.server.endpoint())
        .run("ALTER USER 'far'@'127.0.0.1' REQUIRE X509")
        .unwrap();
    let without = bench.endpoint("127.0.0.1", bench.trusting(TlsMode::Required));
    let error = bench.refused(without.clone());
    assert!(error.contains("Access denied"), "{error}");
    let with = |ciphers: &[&str]| Endpoint {
        tls: Tls {
            certificate: Some(bench.certificates.path("client-cert.pem")),
            key: Some(bench.certificates.path("client-key.pem")),
            ciphers: ciphers.iter().map(|name| (*name).to_owned()).collect(),
            ..without.tls.clone()
        },
        ..without.clone()
    };
    // The second is one of TLS 1.2.
    for ciphers in [&[][..], &["ECDHE-ECDSA-AES256-GCM-SHA384"]] {
        bench.load(with(ciphers)).unwrap();
    }
    // The server's key is not RSA.
    let error = bench.refused(with(&["ECDHE-RSA-AES256-GCM-SHA384"]));
    assert!(
        error.contains("alert") || error.contains("closed"),
        "{error}"
    );
}

fn long_requests_and_long_replies_pass(bench: &Bench) {
    let [plain_bytes, compressed_bytes] = [None, Some(Compression::Zlib)].map(|compression| {
        insert_in_bulk(bench, compression);
        read_long_ranges(bench, compression)
    });
    // The ranges are digits.
    let ratio = plain_bytes as f64 / compressed_bytes as f64;
    assert!(ratio > 1.5, "{ratio} times fewer bytes");
}

/// Statements of half a megabyte are more than a socket takes at once.
fn insert_in_bulk(bench: &Bench, compression: Option<Compression>) {
    let endpoint = Endpoint {
        database: format!("bulk_{}", compression.map_or("plain", Compression::name)),
        ..bench.endpoint("127.0.0.1", bench.trusting(TlsMode::Required))
    };
    let tables = PreparePlan {
        compression,
        ..PreparePlan::new(endpoint.clone(), WorkloadName::BulkInsert)
    };
    prepare(
        &tables,
        &Gate::own(),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    let plan = LoadPlan {
        max_events: Some(100_000),
        load: LoadSpec {
            compression: compression.map_or_else(Default::default, Into::into),
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, WorkloadName::BulkInsert)
    };
    assert_eq!(go(&plan).unwrap().counts.transactions, 100_000);
}

/// The bytes that the server sends for it.
fn read_long_ranges(bench: &Bench, compression: Option<Compression>) -> u64 {
    let endpoint = bench.endpoint("127.0.0.1", bench.trusting(TlsMode::Required));
    let mut plan = LoadPlan {
        rows: ROWS,
        max_events: Some(50),
        load: LoadSpec {
            compression: compression.map_or_else(Default::default, Into::into),
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, WorkloadName::OltpReadOnly)
    };
    // 1,000 rows of 120 bytes are many records.
    plan.workload = with_ranges_of(1_000);
    let before = (bench.counter("Bytes_sent"), bench.encrypted());
    assert_eq!(go(&plan).unwrap().counts.transactions, 50);
    assert!(bench.encrypted() > before.1);
    bench.counter("Bytes_sent") - before.0
}

/// One transaction on a server without certificates of the test's.
fn once(server: &PrivateServer, port: u16, tls: Tls) -> Result<LoadOutcome, LoadError> {
    let endpoint = far(server, "127.0.0.1", port, tls);
    go(&LoadPlan {
        rows: 1,
        max_events: Some(1),
        load: LoadSpec {
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, WorkloadName::OltpPointSelect)
    })
}

fn make_account_and_row(server: &PrivateServer) {
    make_account(server);
    let mut oracle = weir_testing::connect(&server.endpoint());
    oracle
        .run("CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, c CHAR(120))")
        .unwrap();
    oracle.run("INSERT INTO sbtest1 VALUES (1, 'x')").unwrap();
}

fn a_server_without_encryption_is_named_or_put_up_with(flavor: Flavor) {
    let off: &[_] = match flavor {
        Flavor::Mysql => &[("tls_version", "")],
        Flavor::Mariadb => &[],
    };
    let (server, _directory, port) = weir_testing::start_on_tcp(flavor, off);
    make_account_and_row(&server);
    let with = |mode| {
        let tls = Tls {
            mode,
            ..Tls::default()
        };
        once(&server, port, tls)
    };
    with(TlsMode::Preferred).unwrap();
    let error = with(TlsMode::Required).unwrap_err().to_string();
    assert!(error.contains("does not offer TLS"), "{error}");
}

/// Accounts that need encryption, and a server that can let nobody in without: the error of a login in plain text says
/// so, the error of an encrypted one does not.
fn a_login_that_needs_encryption_says_so(flavor: Flavor) {
    let no_key: &[_] = match flavor {
        Flavor::Mysql => &[
            ("caching_sha2_password_private_key_path", "absent.pem"),
            ("caching_sha2_password_public_key_path", "absent.pub"),
            ("caching_sha2_password_auto_generate_rsa_keys", "OFF"),
        ],
        Flavor::Mariadb => &[],
    };
    let (server, _directory, port) = weir_testing::start_on_tcp(flavor, no_key);
    make_account_and_row(&server);
    let mut oracle = weir_testing::connect(&server.endpoint());
    let login = |mode| {
        let tls = Tls {
            mode,
            ..Tls::default()
        };
        once(&server, port, tls).map_err(|error| error.to_string())
    };
    if flavor == Flavor::Mysql {
        let error = login(TlsMode::Disabled).unwrap_err();
        assert!(error.contains("no RSA key"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        login(TlsMode::Required).unwrap();
        let local = Endpoint {
            address: server.endpoint().address,
            ..far(&server, "", 0, Tls::default())
        };
        for statement in [
            "CREATE USER 'far'@'localhost' IDENTIFIED BY 'secret word'",
            "GRANT ALL ON *.* TO 'far'@'localhost'",
        ] {
            oracle.run(statement).unwrap();
        }
        weir_testing::connect(&local).ping().unwrap();
    } else {
        login(TlsMode::Disabled).unwrap();
    }
    for needed in ["SSL", "X509"] {
        let require = format!("ALTER USER 'far'@'127.0.0.1' REQUIRE {needed}");
        oracle.run(require).unwrap();
        let error = login(TlsMode::Disabled).unwrap_err();
        assert!(error.contains("was not encrypted"), "{error}");
    }
    if flavor == Flavor::Mysql {
        let error = login(TlsMode::Required).unwrap_err();
        assert!(error.contains("1045"), "{error}");
        assert!(!error.contains("not encrypted"), "{error}");
    }
}

/// Certificates that MySQL makes for itself on its first start.
#[test]
fn certificates_of_mysqls_own_making_are_good_for_verify_ca() {
    let (server, directory, port) = weir_testing::start_on_tcp(Flavor::Mysql, &[]);
    let authority = directory.path().join("data/ca.pem");
    assert!(authority.exists());
    make_account_and_row(&server);
    for mode in [TlsMode::Required, TlsMode::VerifyCa] {
        let tls = Tls {
            mode,
            authority: Some(authority.clone()),
            ..Tls::default()
        };
        once(&server, port, tls).unwrap_or_else(|error| panic!("{}: {error}", mode.name()));
    }
}

weir_testing::on_both_flavors! {
    encryption_does_what_its_options_say
    a_server_without_encryption_is_named_or_put_up_with
    a_login_that_needs_encryption_says_so
}

/// Read-only transactions whose ranges have so many rows.
fn with_ranges_of(rows: u32) -> Workload {
    let workload = SysbenchWorkload {
        mix: Mix {
            range_size: rows,
            ..Mix::default()
        },
        distribution: Distribution::default(),
        ..WorkloadName::OltpReadOnly.into()
    };
    workload.into()
}
