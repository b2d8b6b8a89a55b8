//! Pools of two servers: what they have in common, and what a shipment brings. The files begin as a copy and go
//! apart; the last table has nothing in common but its rows.

// The lint's exception for tests does not reach their helper functions.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_server::pool_pages::{Mode, Pace, PageId, PoolError, PoolServer, Ship, Shipment};
use weir_server::{PrivateServer, StartOptions, copy_directory, forget_identity};
use weir_testing::on_both_flavors;

const ROWS: u32 = 12_000;
const PATIENCE: Duration = Duration::from_mins(1);

/// A generator of the full period of 2^16, begun at `seed`.
fn scattered(seed: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(seed & 0xffff), |at| {
        Some((at * 25_173 + 13_849) & 0xffff)
    })
}

fn insert(server: &PrivateServer, table: &str, ids: &[u32]) {
    let mut connection = weir_testing::connect(&server.endpoint());
    for ids in ids.chunks(1_000) {
        let row = |id: &u32| format!("({id}, {}, REPEAT('x', 200))", id * 7 % 5_003);
        let rows = ids.iter().map(row).collect::<Vec<_>>().join(",");
        let statement = format!("INSERT INTO {table} VALUES {rows}");
        connection.run(statement).unwrap();
    }
}

fn run(server: &PrivateServer, statement: &str) {
    let mut connection = weir_testing::connect(&server.endpoint());
    connection.run(statement).unwrap();
}

fn create(server: &PrivateServer, table: &str) {
    run(
        server,
        &format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, k INT, pad VARCHAR(250), KEY by_k (k))"
        ),
    );
}

/// Reads all rows of a table with an id up to `most`: how many pages had to be read from the drive for it.
fn reads_for(server: &PrivateServer, table: &str, most: u32) -> u64 {
    let mut session = server.session().unwrap();
    let mut reads = || -> u64 {
        let told = session
            .variable_of_status("Innodb_buffer_pool_reads")
            .unwrap();
        let ahead = session
            .variable_of_status("Innodb_buffer_pool_read_ahead")
            .unwrap();
        told.parse::<u64>().unwrap() + ahead.parse::<u64>().unwrap()
    };
    let before = reads();
    let sum =
        format!("SELECT SUM(LENGTH(pad)) FROM {table} FORCE INDEX (PRIMARY) WHERE id <= {most}");
    run(server, &sum);
    reads() - before
}

/// Until the files are as new as the pool.
fn write_all_pages(server: &PrivateServer) {
    let mut session = server.session().unwrap();
    for name in [
        "innodb_max_dirty_pages_pct_lwm",
        "innodb_max_dirty_pages_pct",
    ] {
        session
            .run("set", &format!("SET GLOBAL {name} = 0"))
            .unwrap();
    }
    let deadline = Instant::now() + PATIENCE;
    while session.pool().unwrap().pages_dirty > 0 {
        assert!(Instant::now() < deadline, "pages stay dirty");
        std::thread::sleep(Duration::from_millis(50));
    }
}

struct Pair {
    flavor: Flavor,
    one: PrivateServer,
    other: PrivateServer,
    options: StartOptions,
    _directory: tempfile::TempDir,
}

fn options(place: &Path) -> StartOptions {
    let mut options = weir_testing::options(place);
    // A pool that begins empty, and holds all.
    options.variables.extend(
        [
            ("innodb_buffer_pool_load_at_startup", "OFF"),
            ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
            ("innodb_buffer_pool_size", "64M"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    options
}

impl Pair {
    /// Two servers; the files of the second are a copy of the first one's with a table `t`.
    fn start(flavor: Flavor) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let binary = weir_testing::binary(flavor);
        let [first, second] = ["one", "other"].map(|name| {
            let place = directory.path().join(name);
            std::fs::create_dir(&place).unwrap();
            options(&place)
        });
        weir_testing::data_directory(&binary, &first.data_dir);
        let one = PrivateServer::start(&binary, &first).unwrap();
        create(&one, "t");
        let ids: Vec<_> = scattered(1).take(ROWS as usize).map(|id| id * 2).collect();
        insert(&one, "t", &ids);
        one.stop(PATIENCE).unwrap();
        copy_directory(&first.data_dir, &second.data_dir).unwrap();
        forget_identity(&second.data_dir).unwrap();
        Self {
            flavor,
            one: PrivateServer::start(&binary, &first).unwrap(),
            other: PrivateServer::start(&binary, &second).unwrap(),
            options: second,
            _directory: directory,
        }
    }

    fn servers(&self) -> (PoolServer, PoolServer) {
        let server = |name, server: &PrivateServer| {
            PoolServer::private(name, server.endpoint(), self.flavor).unwrap()
        };
        (server("one", &self.one), server("other", &self.other))
    }

    /// Starts the second server again: its pool is cold.
    fn restart_other(self) -> Self {
        let binary = self.other.binary().clone();
        self.other.stop(PATIENCE).unwrap();
        let other = PrivateServer::start(&binary, &self.options).unwrap();
        Self { other, ..self }
    }

    fn prepare(&self, mode: Mode) -> Result<Shipment, PoolError> {
        let (from, to) = self.servers();
        ship(mode).prepare(&from, &to)
    }

    /// Lets the second server answer queries for the keys of the first one's pool.
    fn ship_by_queries(&self) {
        let (from, to) = self.servers();
        let ship = ship(Mode::Translate);
        let shipment = ship.ranges(&from).unwrap();
        assert!(shipment.ranges.pages() > 100, "{shipment:?}");
        assert_eq!(shipment.ranges.left_out, 0);
        ship.read(&to, &shipment, &mut |_| true).unwrap();
        let interrupted = ship.read(&to, &shipment, &mut |_| false);
        assert!(matches!(
            interrupted,
            Err(PoolError::Interrupted { .. }) | Ok(())
        ));
    }

    /// Ships by keys to the second server; share of the listed pages that its own list then has.
    fn ship(&self) -> f64 {
        let (from, to) = self.servers();
        let shipment = self.prepare(Mode::Translate).unwrap();
        let mut asked = Vec::new();
        ship(Mode::Translate)
            .load(&to, &shipment, &mut |done| {
                asked.push(done);
                true
            })
            .unwrap();
        let pages = &shipment.translation.pages;
        assert_eq!(asked.last(), Some(&pages.len()));
        assert!(asked.len() >= 4, "{asked:?}");
        let there: HashSet<PageId> = to.resident_pages(100).unwrap().pages.into_iter().collect();
        let arrived = pages.iter().filter(|page| there.contains(page)).count();
        drop(from);
        arrived as f64 / pages.len() as f64
    }
}

fn ship(mode: Mode) -> Ship {
    Ship {
        mode,
        percent: 100,
        limit: None,
    }
}

fn variables(server: &PrivateServer) -> Vec<Option<String>> {
    let mut session = server.session().unwrap();
    ["innodb_buffer_pool_dump_pct", "innodb_buffer_pool_filename"]
        .map(|name| session.variable(name).unwrap())
        .to_vec()
}

fn lists(server: &PrivateServer) -> Vec<String> {
    let entries = std::fs::read_dir(server.data_dir()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with("ib_buffer_pool."))
        .collect()
}

/// The copy: all leaves correspond, both modes list the same pages, and these arrive.
fn a_copy_corresponds(pair: &Pair) {
    reads_for(&pair.one, "t", u32::MAX >> 1);
    let before = (variables(&pair.one), variables(&pair.other));
    let [same, translated] = [Mode::Same, Mode::Translate].map(|mode| pair.prepare(mode).unwrap());
    assert!((same.correspondence - 1.0).abs() < 1e-9, "{same:?}");
    assert_eq!(translated.unknown, 0);
    let list = |shipment: &Shipment| -> HashSet<PageId> {
        shipment.translation.pages.iter().copied().collect()
    };
    assert_eq!(list(&same), list(&translated));
    assert!(list(&same).len() > 150, "{}", list(&same).len());
    let arrived = pair.ship();
    assert!(arrived >= 0.99, "{arrived}");
    let (from, to) = pair.servers();
    let overlap = weir_server::pool_pages::compare(&from, &to).unwrap();
    assert!(overlap.warm_share() >= 0.99, "{overlap:?}");
    assert!((overlap.corresponding_share() - 1.0).abs() < 1e-9);
    assert_eq!(before, (variables(&pair.one), variables(&pair.other)));
    assert_eq!(lists(&pair.one), lists(&pair.other));
    assert_eq!(lists(&pair.one), Vec::<String>::new());
}

/// MySQL takes the share of the pages that are there, `MariaDB` of those that the pool can hold: of a pool that is a
/// quarter full, most are listed, but for pages of the system.
fn a_share_is_of_the_pages_or_of_the_pool(pair: &Pair) {
    let pool = pair.one.session().unwrap().pool().unwrap();
    let full = pool.pages_data as f64 / pool.pages as f64;
    assert!((0.1..0.7).contains(&full), "{pool:?}");
    let (from, _) = pair.servers();
    let listed = from.resident_pages(25).unwrap().pages.len() as f64 / pool.pages as f64;
    println!("{}: pool {full:.3} full, 25 % are {listed:.4}", pair.flavor);
    match pair.flavor {
        Flavor::Mysql => assert!((listed - full / 4.0).abs() <= 0.005, "{listed} {full}"),
        Flavor::Mariadb => {
            let most = 0.25_f64.min(full);
            assert!(
                (0.6 * most..=1.02 * most).contains(&listed),
                "{listed} {full}"
            );
        }
    }
}

/// The same rows arrive in another order, as parallel appliers bring them, and split other leaves.
fn files_that_went_apart_are_translated(pair: Pair) -> Pair {
    let ids: Vec<_> = scattered(7)
        .take(ROWS as usize)
        .map(|id| id * 2 + 1)
        .collect();
    insert(&pair.one, "t", &ids);
    let mut elsewhere = ids.clone();
    elsewhere.sort_by_key(|id| id.wrapping_mul(2_654_435_761));
    insert(&pair.other, "t", &elsewhere);
    write_all_pages(&pair.one);
    let pair = pair.restart_other();
    write_all_pages(&pair.one);
    let refused = pair.prepare(Mode::Same).unwrap_err().to_string();
    assert!(refused.contains("mode same is refused"), "{refused}");
    let shipment = pair.prepare(Mode::Translate).unwrap();
    let coverage = shipment.translation.counts.coverage();
    println!(
        "{}: correspondence {:.3}, coverage {coverage:.4}",
        pair.flavor, shipment.correspondence
    );
    assert!(shipment.correspondence < 0.9, "{}", shipment.correspondence);
    assert!(coverage >= 0.98, "{shipment:?}");
    the_keys_are_there(pair, "t", 50)
}

/// The second opinion: after the shipment a query for the keys of the first pool reads next to nothing, a `less`-th of
/// what it reads without.
fn the_keys_are_there(pair: Pair, table: &str, less: u64) -> Pair {
    let most = 60_000;
    let cold = reads_for(&pair.other, table, most);
    assert!(cold > 50, "{cold}");
    let pair = pair.restart_other();
    pair.ship_by_queries();
    let queried = reads_for(&pair.other, table, most);
    assert!(queried * 50 <= cold, "{queried} of {cold}");
    let pair = pair.restart_other();
    pair.ship();
    let warm = reads_for(&pair.other, table, most);
    println!("{}: {cold} pages read cold, {warm} warm", pair.flavor);
    assert!(warm * less <= cold, "{warm} of {cold}");
    pair
}

/// A dump and its load elsewhere: other numbers of tablespaces, leaves filled in the order of the key.
fn a_logical_copy_is_translated(pair: Pair) {
    for server in [&pair.one, &pair.other] {
        run(server, "DROP TABLE t");
    }
    create(&pair.other, "earlier");
    let ids: Vec<_> = scattered(3).take(ROWS as usize).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    for (server, ids) in [(&pair.one, &ids), (&pair.other, &sorted)] {
        create(server, "orders");
        insert(server, "orders", ids);
        write_all_pages(server);
    }
    let pair = pair.restart_other();
    let refused = pair.prepare(Mode::Same).unwrap_err().to_string();
    assert!(refused.contains("mode same is refused"), "{refused}");
    let coverage = pair
        .prepare(Mode::Translate)
        .unwrap()
        .translation
        .counts
        .coverage();
    assert!(coverage >= 0.98, "{coverage}");
    // Leaves that hold other keys together: 41 of 226 were still read on MySQL.
    let pair = the_keys_are_there(pair, "orders", 4);
    run(&pair.other, "DROP TABLE orders");
    let nothing = pair.prepare(Mode::Translate).unwrap_err().to_string();
    assert!(nothing.contains("no pages of tables"), "{nothing}");
    // Tablespaces that there are not, pages beyond the end.
    let (_, to) = pair.servers();
    let wrong = [(4_000_000, 3), (0, u32::MAX - 1), (1, 1 << 30)];
    let wrong = wrong.map(|(space, page)| PageId { space, page });
    to.load(&wrong, Pace::default(), &mut |_| true).unwrap();
    let interrupted = to.load(&wrong, Pace::default(), &mut |_| false);
    assert!(matches!(interrupted, Err(PoolError::Interrupted { .. })));
    assert_eq!(lists(&pair.other), Vec::<String>::new());
    assert!(pair.other.session().unwrap().pool().unwrap().pages > 0);
}

fn pools_are_shipped(flavor: Flavor) {
    let pair = Pair::start(flavor);
    a_copy_corresponds(&pair);
    a_share_is_of_the_pages_or_of_the_pool(&pair);
    let pair = files_that_went_apart_are_translated(pair);
    a_logical_copy_is_translated(pair);
}

on_both_flavors!(pools_are_shipped);

/// A ship that is killed leaves the server's list beside a list of Weir's.
fn kill_a_ship(list: &Path, kept: &Path) {
    std::fs::rename(list, kept).unwrap();
    std::fs::write(list, "0,0\n").unwrap();
}

/// `MariaDB` has one name for its list, so a ship sets it aside.
#[test]
fn a_list_that_the_server_dumped_after_a_killed_ship_stays() {
    let flavor = Flavor::Mariadb;
    let directory = tempfile::tempdir().unwrap();
    let mut options = options(directory.path());
    let dump = "innodb_buffer_pool_dump_at_shutdown".to_owned();
    options.variables.insert(dump, "ON".to_owned());
    let binary = weir_testing::binary(flavor);
    weir_testing::data_directory(&binary, &options.data_dir);
    let list = options.data_dir.join("ib_buffer_pool");
    let kept = options.data_dir.join("ib_buffer_pool.weir-kept");
    let read = || std::fs::read_to_string(&list).unwrap();
    let dump_by_ship = |server: &PrivateServer| {
        let pool = PoolServer::private("one", server.endpoint(), flavor).unwrap();
        pool.resident_pages(100).unwrap();
        assert!(!kept.exists());
    };
    let server = PrivateServer::start(&binary, &options).unwrap();
    server.stop(PATIENCE).unwrap();
    let server = PrivateServer::start(&binary, &options).unwrap();
    let before = read();
    kill_a_ship(&list, &kept);
    dump_by_ship(&server);
    assert_eq!(read(), before, "the server's own list comes back");

    kill_a_ship(&list, &kept);
    create(&server, "t");
    insert(&server, "t", &(0..ROWS).collect::<Vec<_>>());
    // Times are whole seconds, each off by one.
    std::thread::sleep(Duration::from_secs(5));
    server.stop(PATIENCE).unwrap();
    let server = PrivateServer::start(&binary, &options).unwrap();
    let newer = read();
    assert!(newer.len() > before.len(), "the server dumps when it stops");
    dump_by_ship(&server);
    assert_eq!(read(), newer);
}

/// `t` of a server that writes names in small letters, and `T` of one that does not.
#[test]
fn a_table_under_another_case_is_named() {
    let flavor = Flavor::Mariadb;
    let binary = weir_testing::binary(flavor);
    let shaping = [("lower_case_table_names", "1")];
    let (small, _directory) = weir_testing::start_shaped(&binary, &shaping, &[]);
    let (exact, _other) = weir_testing::start_shaped(&binary, &[], &[]);
    for server in [&small, &exact] {
        create(server, "T");
        insert(server, "T", &(0..1_000).collect::<Vec<_>>());
    }
    let pool =
        |server: &PrivateServer| PoolServer::private("one", server.endpoint(), flavor).unwrap();
    for (from, to) in [(&small, &exact), (&exact, &small)] {
        let refused = ship(Mode::Translate).prepare(&pool(from), &pool(to));
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, PoolError::NamesDiffer { .. }),
            "{refused}"
        );
        let words = refused.to_string();
        assert!(words.contains("lower_case_table_names"), "{words}");
    }
}
