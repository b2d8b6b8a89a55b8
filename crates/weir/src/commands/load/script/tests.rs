//! Tests of options that a command line does not have: limits shorter than those that users have.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use weir_load::{NullServer, NullServerBehavior};
use weir_mysql::ClientConfig;
use weir_script::{Output, Script, execute};
use weir_sysbench::script_line;

use super::{Manner, Words, plan};

const SCRIPT: &str = "function prepare()
  local con = sysbench.sql.driver():connect()
  local statement = con:prepare('SELECT 1')
  while true do
    if not pcall(statement.execute, statement) then con:reconnect() end
  end
end";

/// Outside of a run, whose end would end the wait, a lost connection is tried again for as long as is allowed.
#[test]
fn a_command_waits_for_a_server_as_long_as_it_may_be_away() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("null.sock");
    let server = NullServer::start(&socket, NullServerBehavior::default()).unwrap();
    let on = format!("--mysql-socket={}", socket.display());
    let words = ["x.lua", &on, "prepare"];
    let line = script_line(&words, &ClientConfig::default()).unwrap();
    let script = Script {
        path: "x.lua".to_owned(),
        text: SCRIPT.as_bytes().to_vec(),
    };
    let said = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&said);
    let report = Words::new(&line.invocation, Manner::default(), None).unwrap();
    let mut plan = plan(line, script, &[], Manner::default());
    plan.away_max = Duration::from_millis(1_500);
    plan.output = Output::new(move |text| {
        let mut said = kept.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_str(text);
    });
    let code = std::thread::scope(|scope| {
        scope.spawn(move || {
            while server.executed() < 100 {
                std::thread::sleep(Duration::from_millis(5));
            }
            drop(server);
        });
        execute(plan, &[], &report, &AtomicBool::new(false)).unwrap()
    });
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(code, 1, "{said}");
    let place = format!("on socket '{}'", socket.display());
    let line = format!("FATAL: no connection to MySQL server {place} for 1 s (error 2002: ");
    assert_eq!(said.matches(&line).count(), 1, "{said}");
    assert!(
        said.contains("; start the server, and run again\n"),
        "{said}"
    );
    assert!(
        said.contains("FATAL: `prepare' function failed: x.lua:"),
        "{said}"
    );
}
