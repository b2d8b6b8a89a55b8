//! Runs that several agents share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use weir_agent::bus::CONDUCTOR;
use weir_load::{LoadEnd, LoadPlan, Progress, run};
use weir_model::{ArrivalKind, Rate};
use weir_mysql::Gate;

use super::{World, null_server, plan};

/// Reports that the bus has taken so far and those of them that it keeps, looked at while `work` is done.
fn reports_during(world: &World, work: impl FnOnce()) -> Vec<(u64, u64)> {
    let join = world.join_file(CONDUCTOR);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let context = jetstream::new(weir_agent::bus::connect(&join).await.unwrap());
                let mut seen = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok(stream) = context.get_stream(join.subjects().result_stream()).await {
                        let state = &stream.cached_info().state;
                        seen.push((state.last_sequence, state.messages));
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                seen
            })
        });
        work();
        is_over.store(true, Ordering::Relaxed);
        looking.join().unwrap()
    })
}

#[test]
fn the_bus_keeps_no_report_that_was_merged() {
    let mut world = World::new(2);
    world.start_agent("agent-1", super::VERSION);
    world.start_agent("agent-2", super::VERSION);
    let crew = world.crew_of(2);
    let server = null_server(Duration::from_millis(2));
    let mut often = plan(&server, 4, 3);
    often.interval = Duration::from_millis(50);
    let never = AtomicBool::new(false);
    let seen = reports_during(&world, || {
        crew.run(&often, 2, false, &never, &mut |_| ()).unwrap();
    });
    // At its end all go: what counts is before.
    let (all, _) = *seen.last().unwrap();
    let mut before = seen.iter().filter(|(taken, _)| *taken < all);
    assert!(
        before.any(|(taken, kept)| *taken > 30 && kept * 2 < *taken),
        "{seen:?}"
    );
}

#[test]
fn four_agents_do_what_one_process_does() {
    let mut world = World::new(4);
    for number in 1..=4 {
        world.start_agent(&format!("agent-{number}"), super::VERSION);
    }
    let crew = world.crew_of(4);
    let server = null_server(Duration::from_millis(2));
    let never = AtomicBool::new(false);

    // An open loop: as many as are due, shared out, and counted once.
    let mut open = plan(&server, 18, 3);
    open.load.idle_connections = 5;
    open.load.pace = Some(Rate {
        per_s: 800.0,
        arrivals: ArrivalKind::Constant,
        ramp: None,
    })
    .into();
    let (mut seconds, mut began) = (Vec::new(), None);
    let before = server.executed();
    let conducted = crew
        .run(&open, 4, false, &never, &mut |progress| match progress {
            Progress::Interval(interval) => seconds.push(interval.record.transactions),
            Progress::Began(at) => began = Some(at),
            _ => {}
        })
        .unwrap();
    let outcome = &conducted.outcome;
    assert_eq!(outcome.measured_from, began);
    assert_eq!(outcome.idle_connections, 5);
    let open_loop = outcome.open_loop.as_ref().unwrap();
    assert!((2_390..=2_410).contains(&open_loop.due), "{open_loop:?}");
    assert_eq!(seconds.len(), 3, "{seconds:?}");
    assert_eq!(outcome.late_frames, 0);
    assert_eq!(seconds.iter().sum::<u64>(), outcome.counts.transactions);
    let whole = outcome.counts_whole_run.transactions;
    let of_agents: u64 = conducted
        .shares
        .iter()
        .map(|share| share.transactions)
        .sum();
    assert_eq!(of_agents, whole);
    // What the server answered, but for what preceded the load: variables, tables, idle connections.
    let answered = server.executed() - before;
    assert!(
        (whole..whole + 600).contains(&answered),
        "{whole} of {answered}"
    );
    let connections: Vec<_> = conducted
        .shares
        .iter()
        .map(|share| share.connections)
        .collect();
    assert_eq!(connections, [5, 5, 4, 4]);
    for share in &conducted.shares {
        // All agents have this host's clock: the true offset is 0.
        let ahead_us = share.clock_ahead_s.abs() * 1e6;
        assert!(ahead_us <= share.clock_error_us, "{share:?}");
        assert!(share.clock_error_us < 1e6 && share.cpu_s > 0.0, "{share:?}");
    }

    // A number of transactions is shared out, too, and the run ends by itself.
    let mut counted = plan(&server, 9, 0);
    counted.max_events = Some(1_003);
    let done = crew.run(&counted, 4, false, &never, &mut |_| ()).unwrap();
    assert_eq!(done.outcome.counts_whole_run.transactions, 1_003);

    // From the agents of one zone.
    let mut zone = plan(&server, 4, 1);
    zone.load.agent_label = "zone=a".to_owned();
    let done = crew.run(&zone, 2, false, &never, &mut |_| ()).unwrap();
    let names: Vec<_> = done
        .shares
        .iter()
        .map(|share| share.name.as_str())
        .collect();
    assert_eq!(names, ["agent-1", "agent-3"]);
    for share in &done.shares {
        // One clock: it did not move.
        let (moved_us, error_us) = (
            share.clock_moved_us.unwrap(),
            share.clock_moved_error_us.unwrap(),
        );
        assert!(moved_us.abs() <= error_us, "{share:?}");
    }
    let few = crew.run(&zone, 3, false, &never, &mut |_| ());
    assert!(
        few.unwrap_err()
            .to_string()
            .contains("agents = 3: 2 are there")
    );

    // The same in one process.
    let alone = run(&counted, &Gate::own(), &never, &mut |_| ()).unwrap();
    assert_eq!(alone.counts_whole_run.transactions, 1_003);

    // Stopped from outside: what was counted is a result.
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let stopped = crew.run(&plan(&server, 8, 600), 2, false, &stop, &mut |progress| {
        if matches!(progress, Progress::Interval(_)) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let stopped = stopped.unwrap();
    assert_eq!(stopped.outcome.end(), Some(LoadEnd::Stopped));
    assert!(stopped.outcome.counts.transactions > 0);
    assert_eq!(stopped.shares.len(), 2);
    assert!(began.elapsed() < Duration::from_mins(1));
}

#[test]
fn what_agents_cannot_do_is_refused_before_anything_begins() {
    let mut world = World::new(3);
    world.start_agent("agent-1", super::VERSION);
    let crew = world.crew_of(1);
    let server = null_server(Duration::ZERO);
    let never = AtomicBool::new(false);
    let refused = |plan: &LoadPlan, agents: u32| {
        let refused = crew.run(plan, agents, false, &never, &mut |_| ());
        refused.unwrap_err().to_string()
    };
    let line = refused(&plan(&server, 4, 1), 2);
    assert!(line.starts_with("agents = 2: 1 are there"), "{line}");
    let line = refused(&plan(&server, 101, 1), 1);
    assert!(
        line.contains("101 connections are more than it allows (100)"),
        "{line}"
    );
    let mut far = plan(&server, 4, 1);
    far.endpoint.address = weir_model::Address::Tcp("8.8.8.8".to_owned(), 3306);
    let line = refused(&far, 1);
    assert!(
        line.contains("it does not connect to 8.8.8.8:3306"),
        "{line}"
    );
    let mut closed = plan(&server, 4, 1);
    closed.endpoint.address = weir_model::Address::Tcp("127.0.0.1".to_owned(), 1);
    let line = refused(&closed, 1);
    assert!(line.starts_with("agent agent-1: "), "{line}");
    // An agent that refused is there for the next run.
    let done = crew.run(&plan(&server, 4, 1), 1, false, &never, &mut |_| ());
    assert!(done.unwrap().outcome.counts.transactions > 0);

    world.start_agent("agent-2", "another-version");
    let crew = world.crew_of(2);
    let refused = crew.run(&plan(&server, 4, 1), 2, false, &never, &mut |_| ());
    let line = refused.unwrap_err().to_string();
    assert!(
        line.contains("agent-2")
            && line.contains("another-version")
            && line.contains(super::VERSION),
        "{line}"
    );

    // A second process under the same name: orders would reach both.
    world.start_agent("agent-1", super::VERSION);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match crew.members() {
            Err(error) => {
                assert!(error.to_string().contains("two processes"), "{error}");
                break;
            }
            Ok(_) => assert!(Instant::now() < deadline, "two agents of one name"),
        }
    }
}
