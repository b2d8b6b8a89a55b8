//! The functions that the gate takes for the server's own, beside the server: with a function stored under each
//! name, no call of it may reach that.

use std::collections::BTreeSet;

use weir_model::Flavor;
use weir_testing::{connect, start};

use crate::role::{Gates, Role};

/// The list of the gate.
const KNOWN: &str = include_str!("../../src/gate/functions.rs");
/// The server's word that a stored function has other arguments (`ER_SP_WRONG_NO_OF_ARGS`): the call has reached it.
const OTHER_ARGUMENTS: u16 = 1318;
/// The value of the stored function.
const STORED: i64 = 4_711;

pub(crate) fn no_known_function_can_be_a_stored_one(flavor: Flavor) {
    let (server, _directory) = start(flavor);
    let gates = Gates::new(&server.endpoint());
    let mut connection = connect(&server.endpoint());
    connection
        .run("SET GLOBAL log_bin_trust_function_creators = 1")
        .unwrap();
    let (mut reached, mut tried) = (Vec::new(), 0);
    for name in names() {
        let arguments = ["", "1", "1, 1", "1, 1, 1", "*", "1 AS a"];
        let calls = arguments.iter().flat_map(|arguments| {
            ["", " "].map(|blank| format!("SELECT {name}{blank}({arguments})"))
        });
        let passing: Vec<_> = calls
            .filter(|sql| gates.passes(Role::Reading, sql))
            .collect();
        if passing.is_empty() {
            continue;
        }
        let create = format!("CREATE FUNCTION `{name}`() RETURNS INT NO SQL RETURN {STORED}");
        connection.run(create).unwrap();
        for sql in passing {
            tried += 1;
            let is_stored = match connection.first::<weir_mysql::Value>(&sql) {
                Ok(value) => value == Some(weir_mysql::Value::from(STORED.to_string())),
                Err(error) => error.code() == Some(OTHER_ARGUMENTS),
            };
            reached.extend(is_stored.then_some(sql));
        }
        connection.run(format!("DROP FUNCTION `{name}`")).unwrap();
    }
    assert!(tried > 1_000, "only {tried} calls passed the gate");
    assert!(reached.is_empty(), "{reached:?}");
}

/// All words of the source that could be names: also those of other lists than the gate's.
fn names() -> BTreeSet<&'static str> {
    let is_name = |word: &&str| {
        word.len() > 1
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    KNOWN
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(is_name)
        .collect()
}
