//! Flashbacks of real servers under a random load, beside dumps that were made at the time.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod cascades;
mod columns;
mod damage;
mod forms;
mod found;
mod hidden_keys;
mod keyless;
mod memory;
mod moments;
mod random;
mod replicas;
mod two_phases;
mod under_load;
mod undo;
mod whole_undo;

use cascades::a_foreign_key_that_the_server_does_not_log_is_refused;
use columns::{
    an_added_column_is_taken_off, images_take_the_bytes_that_their_columns_say,
    keys_are_told_apart_by_bytes, stored_results_of_expressions_come_back,
};
use damage::{a_damaged_log_is_an_error_with_its_place, any_log_is_read_without_a_panic};
use forms::every_form_of_the_log_says_the_same;
use found::{
    a_file_that_was_begun_in_the_past_is_not_begun_with, what_random_histories_found_is_right,
};
use hidden_keys::children_that_are_not_seen_are_no_children_that_are_not_there;
use keyless::rows_without_a_key_are_counted;
use moments::{
    a_long_statement_has_the_time_that_the_page_says, times_of_a_clock_that_jumps_are_refused,
};
use replicas::real_replicas_are_not_disturbed;
use tempfile::TempDir;
use two_phases::{a_branch_counts_from_its_commit, a_branch_of_an_older_file_is_refused};
use under_load::is_right_under_load;
use undo::{
    a_column_that_was_added_since_stays, a_condition_finds_rows_by_any_key,
    a_row_that_was_asked_for_is_not_left_out, a_script_asks_once_for_a_row,
    an_undo_sets_all_stored_columns, names_are_compared_as_the_server_does,
    rows_are_not_left_without_a_parent, triggers_are_refused_unless_they_may_fire,
};
use weir_flashback::{FlashbackPlan, MomentRequest, Options, Source, State, TableName, find_like};
use weir_model::Flavor;
use weir_mysql::{Connection, Row, Value};
use weir_server::PrivateServer;
use weir_testing::on_both_flavors;
use whole_undo::a_script_makes_the_table_of_then;

/// Variables with which a server keeps its rows' past.
fn logging(flavor: Flavor) -> Vec<(&'static str, &'static str)> {
    match flavor {
        Flavor::Mysql => vec![
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("local_infile", "ON"),
        ],
        Flavor::Mariadb => vec![
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("binlog_format", "ROW"),
        ],
    }
}

fn start(flavor: Flavor, more: &[(&str, &str)]) -> (PrivateServer, TempDir) {
    let mut variables = logging(flavor);
    variables.extend(more);
    weir_testing::start_with(flavor, &variables)
}

fn source(server: &PrivateServer) -> Source {
    let binary = server.binary();
    Source::at(server.endpoint(), binary.flavor, binary.version)
}

/// All columns that both flavours have, and those of one.
fn definition(flavor: Flavor) -> String {
    definition_of("shop.orders", "utf8mb4", flavor)
}

/// As [`definition`], with texts in a character set.
fn definition_of(table: &str, charset: &str, flavor: Flavor) -> String {
    let own = match flavor {
        Flavor::Mysql => "js JSON, g GEOMETRY, v VECTOR(3), e8 ENUM('x','y') CHARACTER SET utf8mb4",
        Flavor::Mariadb => "js JSON, g GEOMETRY, u UUID, i6 INET6, zip VARCHAR(500) COMPRESSED",
    };
    format!(
        "CREATE TABLE {table} (
            id BIGINT NOT NULL, code VARCHAR(40) NOT NULL,
            t1 TINYINT, t2 SMALLINT UNSIGNED, t3 MEDIUMINT, t4 INT UNSIGNED, t8 BIGINT UNSIGNED,
            f FLOAT, d DOUBLE, de DECIMAL(20,7), de2 DECIMAL(65,30),
            b BIT(13), y YEAR, da DATE, dt DATETIME, dt6 DATETIME(6), dt3 DATETIME(3),
            ts TIMESTAMP NULL, ts6 TIMESTAMP(6) NULL, ti TIME, ti1 TIME(1), ti4 TIME(4), ti6 TIME(6),
            c CHAR(20) CHARACTER SET latin1, c3 CHAR(200) CHARACTER SET utf8mb4, bi BINARY(8), vb VARBINARY(300),
            tx TEXT CHARACTER SET utf16, own TEXT, lt LONGTEXT CHARACTER SET utf8mb4, bl MEDIUMBLOB,
            e ENUM('a','b','c'), s SET('p','q','r'),
            gen INT AS (t1 + 1) STORED, vir INT AS (t1 + 2) VIRTUAL, {own},
            PRIMARY KEY (id), UNIQUE KEY (code)
        ) ENGINE=InnoDB DEFAULT CHARSET={charset}"
    )
}

/// The table, byte for byte.
fn dump(connection: &mut Connection) -> Vec<Vec<Value>> {
    dump_of(connection, "shop.orders")
}

fn dump_of(connection: &mut Connection, table: &str) -> Vec<Vec<Value>> {
    connection.run("SET SESSION time_zone = '+00:00'").unwrap();
    let query = format!(
        "SELECT *, HEX(code), HEX(own), HEX(c), HEX(c3), HEX(tx), e + 0, f + 0e0 FROM {table} ORDER BY id"
    );
    let rows: Vec<Row> = connection.rows(query).unwrap();
    rows.into_iter().map(Row::unwrap).collect()
}

fn connect(server: &PrivateServer) -> Connection {
    let mut connection = weir_testing::connect(&server.endpoint());
    connection
        .run("SET SESSION sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'")
        .unwrap();
    connection
}

fn options() -> (Options, TempDir) {
    let work = tempfile::tempdir().unwrap();
    (Options::new(work.path().to_owned()), work)
}

fn orders() -> Vec<TableName> {
    vec![TableName::read("shop.orders", "")]
}

/// A flashback of the table to `asked`, with the folder that it works in.
fn plan(source: &Source, asked: &MomentRequest) -> (FlashbackPlan, TempDir) {
    let (options, work) = options();
    let prepared = FlashbackPlan::new(source, &orders(), asked, options).unwrap();
    (prepared, work)
}

/// The table as of `asked`.
fn flash(server: &PrivateServer, asked: &MomentRequest) -> Vec<Vec<Value>> {
    let source = source(server);
    let (prepared, _work) = plan(&source, asked);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared
        .make(&binary, State::Then, "")
        .unwrap_or_else(|error| panic!("{error}"));
    dump(&mut made.private.connect(Some("shop")).unwrap())
}

on_both_flavors! {
    times_of_a_clock_that_jumps_are_refused
    real_replicas_are_not_disturbed
    is_right_under_load
    every_form_of_the_log_says_the_same
    a_script_makes_the_table_of_then
    an_added_column_is_taken_off
    keys_are_told_apart_by_bytes
    a_long_statement_has_the_time_that_the_page_says
    images_take_the_bytes_that_their_columns_say
    a_damaged_log_is_an_error_with_its_place
    any_log_is_read_without_a_panic
    a_foreign_key_that_the_server_does_not_log_is_refused
    a_branch_counts_from_its_commit
    rows_without_a_key_are_counted
    what_random_histories_found_is_right
    a_file_that_was_begun_in_the_past_is_not_begun_with
    a_branch_of_an_older_file_is_refused
    an_undo_sets_all_stored_columns
    a_column_that_was_added_since_stays
    stored_results_of_expressions_come_back
    triggers_are_refused_unless_they_may_fire
    rows_are_not_left_without_a_parent
    children_that_are_not_seen_are_no_children_that_are_not_there
    a_condition_finds_rows_by_any_key
    a_row_that_was_asked_for_is_not_left_out
    a_script_asks_once_for_a_row
    names_are_compared_as_the_server_does
}
