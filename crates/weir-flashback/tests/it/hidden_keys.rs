//! Foreign keys of tables that the account of an undo does not see.

use weir_flashback::{
    FlashbackError, FlashbackPlan, MomentRequest, Rehearsal, RehearsalResult, TableName,
    TransactionFilter, Triggers, Undo, find_like,
};
use weir_model::Flavor;

use crate::options;
use crate::undo::{Shop, grants_of_poor};

/// Undoes all changes of `shop.p` as an account that may read little.
fn undo_as_poor(shop: &Shop, ignore_cascades: bool) -> Result<RehearsalResult, FlashbackError> {
    let (mut options, _work) = options();
    options.ignore_cascades = ignore_cascades;
    let names = [TableName::read("shop.p", "")];
    let asked = MomentRequest::read(&shop.before);
    let prepared = FlashbackPlan::new(&shop.source_of_poor(), &names, &asked, options)?;
    let binary = find_like(prepared.source(), Some(&shop.server.binary().path))?;
    let triggers = Triggers::read(&prepared, false)?;
    let (mut undo, _) = Undo::read(&prepared, TransactionFilter::default())?;
    let private = prepared.start_private(&binary)?;
    let (_, rehearsed) = Rehearsal::new(&prepared, &private, triggers)?.perform(&mut undo, "")?;
    Ok(rehearsed)
}

pub(crate) fn children_that_are_not_seen_are_no_children_that_are_not_there(flavor: Flavor) {
    let mut shop = Shop::new(
        flavor,
        &[
            "CREATE DATABASE hr",
            "CREATE TABLE p (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE hr.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES shop.p (id) ON DELETE CASCADE)",
            "INSERT INTO p VALUES (1, 1), (2, 2)",
            "INSERT INTO hr.c VALUES (10, 1), (20, 2)",
        ],
    );
    shop.then(&grants_of_poor(flavor).each_ref().map(String::as_str));
    shop.then(&["UPDATE p SET v = 0"]);
    // No row can refer to this column.
    assert_eq!(
        undo_as_poor(&shop, false).unwrap(),
        RehearsalResult::default()
    );
    shop.then(&["DELETE FROM p WHERE id = 1"]);
    let error = undo_as_poor(&shop, false).unwrap_err().to_string();
    assert!(
        error.contains("shop.p id=1") && error.contains("GRANT PROCESS"),
        "{error}"
    );
    undo_as_poor(&shop, true).unwrap();
    // Who sees that there is one has to see it.
    shop.then(&["GRANT PROCESS ON *.* TO poor@localhost"]);
    assert!(undo_as_poor(&shop, false).is_err());
    shop.then(&["DROP TABLE hr.c"]);
    assert_eq!(
        undo_as_poor(&shop, false).unwrap(),
        RehearsalResult::default()
    );
}
