//! A tool of the user's, the real pt-online-schema-change, under a load that knows what each row has to be.

use std::cell::RefCell;

use weir_model::Flavor;
use weir_mysql::{Connection, Gate};
use weir_server::ddl::{AlterStatement, DdlError, OwnTool};
use weir_testing::connect;

use crate::copiers::{NEVER, THREADS, go_on, has_column, server};
use crate::ledger::{self, Ledger};

weir_testing::on_both_flavors! {
    the_real_tool_loses_no_change_and_when_it_is_ended_nothing_is_left
}

fn the_real_tool_loses_no_change_and_when_it_is_ended_nothing_is_left(flavor: Flavor) {
    let Some(program) = weir_testing::schema_change_tool("an ALTER by pt-online-schema-change")
    else {
        return;
    };
    let program = program.display();
    let (server, _directory) = server(flavor);
    let endpoint = server.endpoint();
    let mut control = connect(&endpoint);
    let change = "ALTER TABLE shop.ledger ADD COLUMN h INT NOT NULL DEFAULT 3";
    let alter = AlterStatement::read(change, "").unwrap();
    let gate = Gate::own();
    let run = |line: String, is_over: &dyn Fn() -> bool| {
        let tool = OwnTool::read(&line).unwrap();
        assert!(
            tool.version()
                .unwrap()
                .starts_with("pt-online-schema-change")
        );
        tool.run((&endpoint, &gate), &alter, is_over).unwrap()
    };

    // Ended while it copies: it leaves its triggers then, and Weir removes them.
    ledger::make(&mut control, THREADS);
    let load = Ledger::start(&endpoint, THREADS, 1);
    go_on(&load);
    let looking = RefCell::new(connect(&endpoint));
    let line = format!("{program} --chunk-size=100 --chunk-time=0 --sleep=60");
    // What others make in the meantime stays.
    let ended = run(line, &|| {
        let mut session = looking.borrow_mut();
        session
            .run("CREATE TABLE IF NOT EXISTS shop.theirs (id INT)")
            .unwrap();
        triggers(&mut session) == 3
    });
    assert!(matches!(ended.ended, Err(DdlError::Stopped)), "{ended:?}");
    let names: Vec<_> = ended
        .left
        .iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    assert!(ended.is_removed && names.len() >= 3, "{names:?}");
    assert!(
        names[0].starts_with("trigger pt_osc_shop_ledger"),
        "{names:?}"
    );
    assert_eq!(triggers(&mut control), 0);
    control.run("DROP TABLE shop.theirs").unwrap();
    go_on(&load);
    assert!(!has_column(&mut control));

    // Not ended: the same load goes on.
    let before = load.changes();
    let done = run(program.to_string(), NEVER);
    assert!(done.ended.is_ok(), "{done:?}");
    assert_eq!(done.left, Some(Vec::new()));
    assert!(!done.is_removed && load.changes() > before);
    go_on(&load);
    let expected = load.stop();
    assert!(has_column(&mut control));
    assert_eq!(ledger::rows(&mut control), expected);
    let tables: Vec<String> = control.rows("SHOW TABLES FROM shop").unwrap();
    assert_eq!(tables, ["ledger"]);

    // Its own words say why it failed.
    let again = run(program.to_string(), NEVER);
    let why = again.ended.unwrap_err().to_string();
    assert!(why.to_lowercase().contains("duplicate column"), "{why}");
    assert_eq!(again.left, Some(Vec::new()));
}

fn triggers(connection: &mut Connection) -> u64 {
    let count = "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop'";
    connection.first(count).unwrap().unwrap()
}
