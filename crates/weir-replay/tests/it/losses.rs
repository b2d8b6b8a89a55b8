//! Connections that are lost, and sessions that are not let in: told, counted, and the replay goes on.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_load::{LoadEnd, run};
use weir_model::Flavor;
use weir_mysql::{Connection, Gate};
use weir_replay::{ReplayOptions, Survey};

use crate::bench::{Proxy, Shop, load};
use crate::null::capture as capture_of_log;

weir_testing::on_both_flavors! {
    lost_connections_and_refused_logins_are_counted
}

/// Sessions of which one is not let in.
const MANY: u64 = 500;

fn capture(shop: &Shop, flavor: Flavor) -> PathBuf {
    let proxy = Proxy::start(shop, flavor);
    let plan = load(shop, proxy.port, 300);
    run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    let path = proxy.path.clone();
    proxy.finish();
    path
}

fn lost_connections_and_refused_logins_are_counted(flavor: Flavor) {
    let shop = Shop::start(flavor);
    let path = capture(&shop, flavor);
    let survey = Survey::read(&path, &ReplayOptions::default()).unwrap();
    examples_have_values(&survey);
    // Slow enough to be met under way, and longer than a login is tried again.
    let speed = survey.length_us as f64 / 1e6 / 6.0;
    let slow = ReplayOptions {
        speed: speed.max(0.001),
        ..ReplayOptions::default()
    };
    let is_over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| kill_once(&shop, &is_over));
        let outcome = shop.replay_as(&path, &slow, true);
        is_over.store(true, Ordering::SeqCst);
        outcome
    });
    let told = &outcome.record.fidelity;
    assert!(told.connections_lost > 0, "{told:?}");
    assert_eq!(told.sessions_joined, told.sessions);
    assert_eq!(told.sent + told.not_sent.all(), survey.statements);
    assert!(told.sent > survey.statements / 2, "{told:?}");

    stopped_under_way(&shop, &path, &slow);

    let mut root = shop.oracle();
    let most = survey.sessions_at_a_time;
    root.run(format!(
        "ALTER USER shop@'%' WITH MAX_USER_CONNECTIONS {most}"
    ))
    .unwrap();
    // There is no room for the last of them.
    let _other = shop.client();
    let outcome = shop.replay_as(&path, &slow, false);
    let told = &outcome.record.fidelity;
    assert!(told.sessions_joined < told.sessions, "{told:?}");
    assert!(
        told.not_joined_why.is_some() && told.not_sent.no_connection > 0,
        "{told:?}"
    );
    assert_eq!(told.sent + told.not_sent.all(), survey.statements);
    one_of_many(&shop);
    what_sessions_have_set_is_set_again(&shop, flavor);
}

/// A replay that is stopped leaves no session and no prepared statement.
fn stopped_under_way(shop: &Shop, path: &Path, slow: &ReplayOptions) {
    let mut root = shop.oracle();
    let mut prepared = || -> u64 {
        let found: Option<(String, String)> = root
            .first("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")
            .unwrap();
        found.unwrap().1.parse().unwrap()
    };
    let stop = AtomicBool::new(false);
    let before = prepared();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            let deadline = Instant::now() + Duration::from_mins(1);
            while prepared() == before && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.store(true, Ordering::SeqCst);
        });
        shop.replay_until(path, slow, true, &stop)
    });
    assert_eq!(outcome.load.end(), Some(LoadEnd::Stopped));
    let told = &outcome.record.fidelity;
    assert!(told.sent < told.captured, "{told:?}");
    let left = |root: &mut Connection| -> Vec<(u64,)> {
        root.rows("SELECT id FROM information_schema.processlist WHERE user = 'shop'")
            .unwrap()
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut root = shop.oracle();
    while !left(&mut root).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", left(&mut root));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(prepared(), before);
}

/// The shop's statements are prepared: what is explained of each is an execution with its values.
fn examples_have_values(survey: &Survey) {
    let kinds = survey.fingerprints.iter().map(|found| found.text.as_str());
    let of_shop = |kind: &&str| kind.contains("product") || kind.contains("purchase");
    let kinds: Vec<_> = kinds.filter(of_shop).collect();
    assert!(kinds.len() >= 5, "{kinds:?}");
    for kind in kinds {
        let example = survey.examples.iter().find(|one| one.fingerprint == kind);
        let example = example.unwrap_or_else(|| panic!("no example of {kind}"));
        let has_value = example.text.bytes().any(|byte| byte.is_ascii_digit());
        assert!(has_value && !example.text.contains('?'), "{example:?}");
    }
}

/// One of 500 sessions finds no room: it is counted with its statements, and all others are sent.
fn one_of_many(shop: &Shop) {
    let mut root = shop.oracle();
    // The account has a connection beside them.
    root.run("SET GLOBAL max_connections = 600").unwrap();
    root.run(format!(
        "ALTER USER shop@'%' WITH MAX_USER_CONNECTIONS {MANY}"
    ))
    .unwrap();
    let folder = shop.directory.path().join("many");
    std::fs::create_dir(&folder).unwrap();
    let path = capture_of_log(&folder, MANY, 2 * MANY);
    let options = ReplayOptions {
        schema: Some("sbtest".to_owned()),
        speed: 0.33,
        ..ReplayOptions::default()
    };
    let told = shop.replay_as(&path, &options, false).record.fidelity;
    assert_eq!(
        (told.sessions, told.sessions_joined),
        (MANY, MANY - 1),
        "{told:?}"
    );
    assert!(told.not_joined_why.is_some());
    assert_eq!(
        (told.sent, told.not_sent.no_connection),
        (2 * MANY - 2, 2),
        "{told:?}"
    );
}

/// On a new connection too, a session reads as many rows as it has set.
fn what_sessions_have_set_is_set_again(shop: &Shop, flavor: Flavor) {
    let mut root = shop.oracle();
    root.run("ALTER USER shop@'%' WITH MAX_USER_CONNECTIONS 0")
        .unwrap();
    std::fs::remove_file(shop.directory.path().join("shop.weircap")).unwrap();
    let proxy = Proxy::start(shop, flavor);
    let endpoint = shop.endpoint(proxy.port);
    let mut clients: Vec<_> = (0..3).map(|_| weir_testing::connect(&endpoint)).collect();
    for client in &mut clients {
        client.run("SET SESSION sql_select_limit = 2").unwrap();
    }
    for _ in 0..20 {
        for client in &mut clients {
            let rows: Vec<(u64,)> = client.rows("SELECT id FROM product").unwrap();
            assert_eq!(rows.len(), 2);
        }
        // Else logins would be most of the capture's time.
        std::thread::sleep(Duration::from_millis(10));
    }
    let path = proxy.path.clone();
    proxy.finish();
    let survey = Survey::read(&path, &ReplayOptions::default()).unwrap();
    let slow = ReplayOptions {
        speed: (survey.length_us as f64 / 6e6).max(0.001),
        ..ReplayOptions::default()
    };
    let is_over = AtomicBool::new(false);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| kill_once(shop, &is_over));
        let outcome = shop.replay_as(&path, &slow, false);
        is_over.store(true, Ordering::SeqCst);
        outcome
    });
    let told = &outcome.record.fidelity;
    assert!(told.connections_lost > 0, "{told:?}");
    assert_eq!(told.sent + told.not_sent.all(), survey.statements);
    assert!(told.rows_compared > 40, "{told:?}");
    assert_eq!(told.rows_differ, 0, "{told:?}");
}

/// Ends the account's connections when there are several and each has asked something: the end of an idle one shows
/// nowhere.
fn kill_once(shop: &Shop, is_over: &AtomicBool) {
    let mut root = shop.oracle();
    let selects = |root: &mut Connection| -> u64 {
        let rows: Vec<(String, u64)> = root.rows("SHOW GLOBAL STATUS LIKE 'Com_select'").unwrap();
        rows[0].1
    };
    while !is_over.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(50));
        let ids: Vec<(u64,)> = root
            .rows("SELECT id FROM information_schema.processlist WHERE user = 'shop'")
            .unwrap();
        if ids.len() < 3 {
            continue;
        }
        let before = selects(&mut root);
        while selects(&mut root) < before + 9 && !is_over.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
        for (id,) in ids {
            // It may have left.
            let _ = root.run(format!("KILL {id}"));
        }
        return;
    }
}
