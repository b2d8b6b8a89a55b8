//! A script that takes back all that a random load did.

use std::thread;
use std::time::Duration;

use weir_flashback::{
    MomentRequest, Rehearsal, RehearsalResult, State, TransactionFilter, Triggers, Undo, find_like,
    rehearse,
};
use weir_model::Flavor;

use crate::random::{Random, change};
use crate::{connect, definition, dump, plan, source, start};

/// Everything since a time is taken back by the script on a copy of the table as it is: it is the table of then.
pub(crate) fn a_script_makes_the_table_of_then(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control.run(definition(flavor)).unwrap();
    let mut random = Random(4_711);
    for _ in 0..120 {
        change(&mut random, &mut control, flavor);
    }
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let expected = dump(&mut control);
    thread::sleep(Duration::from_millis(1100));
    for _ in 0..120 {
        change(&mut random, &mut control, flavor);
    }
    let source = source(&server);
    let (prepared, _work) = plan(&source, &MomentRequest::read(&time.unwrap()));
    let (mut undo, told) = Undo::read(&prepared, TransactionFilter::default()).unwrap();
    let script = undo.script(&prepared.tables, "here", "then", &told);
    assert_eq!(script.conflicts, Vec::<String>::new());
    assert!(script.changes().len() > 100, "{}", script.text);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Now, "").unwrap();
    let mut copy = made.private.connect(Some("shop")).unwrap();
    assert_eq!(dump(&mut copy), dump(&mut control));
    let missed = rehearse(&made.private, &script).unwrap();
    assert_eq!(missed, None);
    let found = dump(&mut copy);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    let rehearsal = Rehearsal::new(&prepared, &made.private, Triggers::default()).unwrap();
    let (again, rehearsed) = rehearsal.perform(&mut undo, "").unwrap();
    assert!(again.changes().eq(script.changes()));
    assert_eq!(rehearsed, RehearsalResult::default());
}
