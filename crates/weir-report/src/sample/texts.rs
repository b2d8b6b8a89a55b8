//! Texts of a run's server and commands: as long as real ones, and hostile where a text can be.

use std::collections::BTreeMap;

use weir_model::Cell;

use super::strings;

/// An error log of MySQL 9, with a table that has the name of an attack.
pub(super) const SERVER_LOG: &str = "\
2026-03-14T09:27:01.118204Z 0 [System] [MY-015015] [Server] MySQL Server - start.
2026-03-14T09:27:01.402981Z 0 [System] [MY-010116] [Server] (run)/mysqld (mysqld 9.7.0) starting as process 4711
2026-03-14T09:27:01.413377Z 1 [System] [MY-013576] [InnoDB] InnoDB initialization has started.
2026-03-14T09:27:02.004410Z 1 [System] [MY-013577] [InnoDB] InnoDB initialization has ended.
2026-03-14T09:27:02.350127Z 0 [Warning] [MY-010068] [Server] CA certificate ca.pem is self signed.
2026-03-14T09:27:02.350344Z 0 [System] [MY-013602] [Server] Channel mysql_main configured to support TLS.
2026-03-14T09:27:02.391030Z 0 [System] [MY-010931] [Server] (run)/mysqld: ready for connections. Version: '9.7.0'.
2026-03-14T09:27:40.020771Z 9 [Warning] [MY-012111] [InnoDB] Table `</script><img src=x onerror=\"document.title='broken'\">` waits.
";

/// Mount, server and load, as long as real ones.
pub(super) fn commands(cell: &Cell) -> Vec<String> {
    let drive = cell.spec.drive_name().unwrap_or_default();
    vec![
        format!(
            "weir drive mount drives/{drive}.toml (run)/drive --backing (run)/backing --data-scale 1/500 \
             --drive-scale 1/40"
        ),
        "mysqld --no-defaults --datadir=(run)/drive/data --innodb_buffer_pool_size=128M \
         --innodb_doublewrite=ON --innodb_flush_method=O_DIRECT --innodb_redo_log_capacity=256M"
            .to_owned(),
        format!(
            "weir load oltp_write_only --tables=10 --table-size=400000 --threads={} \
             --rand-type=uniform --rand-seed=20260315 --warmup-time=20 --time=40 run",
            cell.spec.load.connections
        ),
    ]
}

/// A server's variables before the load.
pub(super) fn variables(cell: &Cell) -> BTreeMap<String, String> {
    let mut variables = strings(&[
        ("gtid_executed", ""),
        ("innodb_buffer_pool_size", "134217728"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_redo_log_capacity", "268435456"),
        // What a hostile variable would look like; every test of the page passes by it.
        (
            "init_connect",
            "</script><img src=x onerror=\"document.title='broken'\">",
        ),
        ("sync_binlog", "1"),
    ]);
    let own = cell.spec.variable("innodb_doublewrite");
    variables.extend(own.map(|value| ("innodb_doublewrite".to_owned(), value.to_owned())));
    variables
}
