//! Settings of users' servers that need a start, some of them new data: each loads, or ends in one line that names
//! the variable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use weir_load::{LoadPlan, PreparePlan};
use weir_model::{Endpoint, Flavor, LoadSpec, WorkloadName};
use weir_server::PrivateServer;
use weir_testing::{binary, options, start_shaped};

use super::settings::{account, judge, try_setting, try_shortly};
use super::{Bench, ROWS, TABLES, go, make};

weir_testing::on_both_flavors! {
    settings_that_need_a_start_load_or_are_named
    small_pages_load_or_are_named
    a_server_whose_innodb_only_reads_is_read_and_otherwise_named
    where_names_are_written_in_small_letters_a_schema_in_capitals_is_found
}

/// The variable that is to be named, and all that are set.
type Setting = (&'static str, &'static [(&'static str, &'static str)]);

const OF_BOTH: &[Setting] = &[
    ("performance_schema", &[("performance_schema", "OFF")]),
    ("skip_name_resolve", &[("skip_name_resolve", "ON")]),
    ("table_open_cache", &[("table_open_cache", "1")]),
];

const OF_MYSQL: &[Setting] = &[(
    "disabled_storage_engines",
    &[("disabled_storage_engines", "InnoDB")],
)];

/// MySQL 9 has no `character_set_client_handshake` any more.
const OF_MARIADB: &[Setting] = &[
    (
        "character_set_client_handshake",
        &[
            ("character_set_client_handshake", "OFF"),
            ("character_set_server", "latin1"),
        ],
    ),
    // On file systems that tell capitals apart it becomes 0, with a warning; MySQL does not start.
    ("lower_case_table_names", &[("lower_case_table_names", "2")]),
    ("thread_handling", &[("thread_handling", "pool-of-threads")]),
];

fn settings_for(flavor: Flavor) -> impl Iterator<Item = &'static Setting> {
    let more = match flavor {
        Flavor::Mysql => OF_MYSQL,
        Flavor::Mariadb => OF_MARIADB,
    };
    OF_BOTH.iter().chain(more)
}

/// Makes an account on a server, and starts it once more with these variables.
fn restarted(
    flavor: Flavor,
    variables: &[(&str, &str)],
    prepared: bool,
) -> Result<(Bench, Endpoint), String> {
    let bench = Bench::empty(flavor);
    let mut root = bench.server.session().unwrap();
    let user = account(&bench, &mut root);
    if prepared {
        let tables = PreparePlan {
            endpoint: user.clone(),
            ..bench.tables()
        };
        make(&tables).unwrap();
    }
    drop(root);
    let Bench { server, directory } = bench;
    server.stop(Duration::from_mins(1)).unwrap();
    let mut options = options(directory.path());
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    options.variables.extend(variables);
    let server = PrivateServer::start(&binary(flavor), &options);
    let server = server.map_err(|error| error.to_string())?;
    Ok((Bench { server, directory }, user))
}

fn settings_that_need_a_start_load_or_are_named(flavor: Flavor) {
    let mut wrong = Vec::new();
    for (variable, variables) in settings_for(flavor) {
        let tried = restarted(flavor, variables, false).and_then(|(bench, user)| {
            judge(
                variable,
                catch_unwind(AssertUnwindSafe(|| try_shortly(&bench, &user))),
            )
        });
        if let Err(why) = tried {
            wrong.push(format!("{variables:?}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A server on data that were made with these variables.
pub(super) fn on_new_data(flavor: Flavor, variables: &[(&str, &str)]) -> Bench {
    let (server, directory) = start_shaped(&binary(flavor), variables, &[]);
    Bench { server, directory }
}

fn small_pages_load_or_are_named(flavor: Flavor) {
    let bench = on_new_data(flavor, &[("innodb_page_size", "4096")]);
    let user = account(&bench, &mut bench.server.session().unwrap());
    // Its own tables load; the index over three columns of texts is too long for such pages.
    let tried = catch_unwind(AssertUnwindSafe(|| try_setting(&bench, &user)));
    judge("innodb_page_size", tried).unwrap();
}

fn a_server_whose_innodb_only_reads_is_read_and_otherwise_named(flavor: Flavor) {
    let (bench, user) = restarted(flavor, &[("innodb_read_only", "ON")], true).unwrap();
    let plan = |workload| LoadPlan {
        endpoint: user.clone(),
        max_events: Some(20),
        load: LoadSpec {
            measure: Duration::from_secs(20).into(),
            ..bench.plan(workload).load
        },
        ..bench.plan(workload)
    };
    let outcome = go(&plan(WorkloadName::OltpReadOnly)).unwrap();
    assert_eq!(outcome.counts_whole_run.transactions, 20);
    let mut tables = PreparePlan {
        endpoint: user.clone(),
        ..bench.tables()
    };
    tables.tables.tables = TABLES + 1;
    tables.tables.rows = ROWS;
    let write = go(&plan(WorkloadName::OltpReadWrite)).map(drop);
    for told in [make(&tables), write] {
        let told = told.unwrap_err().to_string();
        let is_named = told.replace('-', "_").contains("innodb_read_only");
        assert!(is_named && told.lines().count() == 1, "{told}");
    }
}

/// On servers that write names in small letters, a user who writes `Shop` means the schema `shop`.
fn where_names_are_written_in_small_letters_a_schema_in_capitals_is_found(flavor: Flavor) {
    let bench = on_new_data(flavor, &[("lower_case_table_names", "1")]);
    let mut root = bench.server.session().unwrap();
    let mut user = account(&bench, &mut root);
    try_shortly(&bench, &user).unwrap();
    for statement in [
        "CREATE DATABASE Shop",
        "GRANT ALL ON Shop.* TO bench@localhost",
    ] {
        root.run("make a schema", statement).unwrap();
    }
    "Shop".clone_into(&mut user.database);
    let gate = super::gate_of("Shop");
    let never = std::sync::atomic::AtomicBool::new(false);
    let mut tables = PreparePlan::new(user.clone(), WorkloadName::OltpReadWrite);
    tables.tables.rows = 100;
    for _ in 0..2 {
        weir_load::prepare(&tables, &gate, &never, &mut |_, _| {}).unwrap();
    }
    let mut plan = LoadPlan::new(user, WorkloadName::OltpReadWrite);
    (plan.rows, plan.max_events) = (100, Some(20));
    assert_eq!(go(&plan).unwrap().counts_whole_run.transactions, 20);
    weir_load::cleanup(&tables, &gate).unwrap();
    assert_eq!(
        bench.value::<u64>(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'shop'"
        ),
        0
    );
}
