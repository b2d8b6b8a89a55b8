//! Replicas of the server whose log is read.

use std::thread;
use std::time::Duration;

use weir_flashback::MomentRequest;
use weir_model::Flavor;
use weir_mysql::Connection;

use crate::{connect, plan, source};

/// Replicas go on while Weir reads as one of them, and none has its id.
pub(crate) fn real_replicas_are_not_disturbed(flavor: Flavor) {
    let mut servers = weir_testing::start_replicated(flavor, weir_model::Replication::Async, 2);
    let mut control = connect(&servers.primary);
    if flavor == Flavor::Mariadb {
        control.run("SET GLOBAL binlog_format = 'ROW'").unwrap();
        control = connect(&servers.primary);
    }
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
        .unwrap();
    control.run("INSERT INTO shop.orders VALUES (1)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    control.run("INSERT INTO shop.orders VALUES (2)").unwrap();
    // Connections that send the log, by the servers' numbers.
    let senders = |control: &mut Connection| -> Vec<u64> {
        let query = "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%' ORDER BY id";
        control.rows(query).unwrap()
    };
    let before = senders(&mut control);
    assert_eq!(before.len(), 2);
    let (prepared, _work) = plan(
        &source(&servers.primary),
        &MomentRequest::read(&time.unwrap()),
    );
    for _ in 0..3 {
        let mut inserted = 0;
        prepared
            .changes(&mut |change| {
                inserted += u32::from(change.row.before.is_none());
                Ok(())
            })
            .unwrap();
        assert_eq!(inserted, 1);
    }
    control.run("INSERT INTO shop.orders VALUES (3)").unwrap();
    for replica in &mut servers.replicas {
        let mut connection = connect(replica);
        let mut found = 0;
        for _ in 0..200 {
            let count: Option<i64> = connection
                .first("SELECT COUNT(*) FROM shop.orders")
                .unwrap_or(None);
            found = count.unwrap_or(0);
            if found == 3 {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(found, 3);
    }
    assert_eq!(senders(&mut control)[..2], before[..]);
}
