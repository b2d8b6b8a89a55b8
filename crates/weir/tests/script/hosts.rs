//! Lists of servers: connections of a script are dealt to them in turn.

use std::net::{Ipv4Addr, SocketAddr};

use weir_load::{NullServer, NullServerBehavior};
use weir_model::Address;

use crate::beside::Bench;

/// Connections, and statements of each.
const CONNECTIONS: u64 = 4;
const STATEMENTS: u64 = 10;

fn start(host: u8, port: u16) -> (NullServer, u16) {
    let address = SocketAddr::from((Ipv4Addr::new(127, 0, 0, host), port));
    let server = NullServer::start_at(address, NullServerBehavior::default()).unwrap();
    let Address::Tcp(_, port) = server.address() else {
        panic!("{:?}", server.address())
    };
    let port = *port;
    (server, port)
}

#[test]
fn connections_are_dealt_to_all_hosts() {
    let (first, port) = start(1, 0);
    let (second, _) = start(2, port);
    let bench = Bench::new();
    bench.script(
        "x.lua",
        &format!(
            "function thread_init() con = sysbench.sql.driver():connect() end
             function event() for _ = 1, {STATEMENTS} do con:query('SELECT 1') end return true end
             sysbench.cmdline.commands = {{ prepare = {{ function()
               thread_init() event() assert(#sysbench.opt.mysql_host == 2)
             end, sysbench.cmdline.PARALLEL_COMMAND }} }}"
        ),
    );
    let on = format!("--mysql-host=127.0.0.1,127.0.0.2 --mysql-port={port} --mysql-user=x");
    for words in [
        "--lua-threads=os run",
        "--lua-threads=reactor run",
        "prepare",
    ] {
        let before = [&first, &second].map(NullServer::executed);
        let run = bench.ours(&format!("x.lua {on} --threads={CONNECTIONS} {words}"));
        assert_eq!(run.code, Some(0), "{words} {run:?}");
        let after = [&first, &second].map(NullServer::executed);
        let executed = [after[0] - before[0], after[1] - before[1]];
        let of_each = CONNECTIONS / 2 * STATEMENTS;
        assert_eq!(executed, [of_each, of_each], "{words} {run:?}");
    }
}

/// One that is not there ends the run, and is named.
#[test]
fn a_host_of_several_that_is_not_there_is_named() {
    let (server, port) = start(1, 0);
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT 1') end",
    );
    let on = format!("--mysql-host=127.0.0.1,127.0.0.3 --mysql-port={port} --mysql-user=x");
    for driving in ["os", "reactor"] {
        let run = bench.ours(&format!(
            "x.lua {on} --threads=2 --lua-threads={driving} run"
        ));
        assert_eq!(run.code, Some(1), "{run:?}");
        let line = format!("on host '127.0.0.3', port {port}");
        assert!(run.stdout.contains(&line), "{run:?}");
    }
    assert_eq!(server.executed(), 0);
}
