//! Connections that end: as asked, by a killed server, by one that comes back.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use weir_load::{LoadError, LoadPlan, ReactorKind, ToleratedErrors, run};
use weir_model::{Flavor, LoadSpec, WorkloadName};
use weir_mysql::{ClientError, Compression};
use weir_server::PrivateServer;

use super::{Bench, go, users_gate};

weir_testing::on_both_flavors! {
    connections_are_made_again_as_often_as_asked
    a_server_that_is_killed_ends_the_run
    a_restart_of_the_server_is_survived_when_asked_for
    a_restart_is_survived_on_io_uring_too
    a_restart_is_survived_compressed_too
    a_restart_is_survived_when_lost_connections_are_tolerated
    a_restart_is_survived_when_all_errors_are_tolerated
}

fn connections_are_made_again_as_often_as_asked(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let before = bench.counter("Connections");
    let aborted_before = bench.counter("Aborted_clients");
    let plan = LoadPlan {
        reconnect_every: Some(5),
        ..bench.plan(WorkloadName::OltpReadOnly)
    };
    let counts = go(&plan).unwrap().counts_whole_run;
    assert!(counts.reconnects >= 1, "{counts:?}");
    assert!(counts.reconnects <= counts.transactions / 5, "{counts:?}");
    // Those of the run, the one that checked before, and those that ask for the counter; a run may
    // end while a new connection is being made.
    let made = bench.counter("Connections") - before;
    let most = counts.reconnects + 2 * 4 + 2;
    assert!(
        (counts.reconnects + 4..=most).contains(&made),
        "{made}, {counts:?}"
    );
    // They leave with a word; those of the checks and those that the end of the run overtook do not.
    let aborted = bench.counter("Aborted_clients") - aborted_before;
    assert!(aborted <= 4 + 4, "{aborted}, {counts:?}");
}

fn a_server_that_is_killed_ends_the_run(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        interval: Duration::from_millis(100),
        load: LoadSpec {
            measure: Duration::from_mins(1).into(),
            ..bench.plan(WorkloadName::OltpWriteOnly).load
        },
        ..bench.plan(WorkloadName::OltpWriteOnly)
    };
    let Bench {
        server,
        directory: _directory,
    } = bench;
    let is_running = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            run(
                &plan,
                &users_gate(),
                &AtomicBool::new(false),
                &mut |interval| {
                    is_running.fetch_or(interval.record.transactions > 0, Ordering::Relaxed);
                },
            )
        });
        while !is_running.load(Ordering::Relaxed) && !load.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        server.kill();
        let killed = Instant::now();
        let error = load.join().unwrap().unwrap_err();
        assert!(
            matches!(error, LoadError::Client(ClientError::Lost { .. })),
            "{error}"
        );
        // Not when its minute is over.
        assert!(killed.elapsed() < Duration::from_secs(30));
    });
}

fn a_restart_of_the_server_is_survived_when_asked_for(flavor: Flavor) {
    survive_a_restart(flavor, |plan| plan.reconnect = true);
}

fn a_restart_is_survived_on_io_uring_too(flavor: Flavor) {
    survive_a_restart(flavor, |plan| {
        plan.reconnect = true;
        plan.reactor = ReactorKind::IoUring;
    });
}

fn a_restart_is_survived_compressed_too(flavor: Flavor) {
    survive_a_restart(flavor, |plan| {
        plan.reconnect = true;
        plan.load.compression = Compression::Zlib.into();
    });
}

fn a_restart_is_survived_when_lost_connections_are_tolerated(flavor: Flavor) {
    let codes = vec![1213, 1020, 1205, 2013, 2006];
    survive_a_restart(flavor, |plan| {
        plan.tolerated = ToleratedErrors::Codes(codes.clone());
    });
}

fn a_restart_is_survived_when_all_errors_are_tolerated(flavor: Flavor) {
    survive_a_restart(flavor, |plan| plan.tolerated = ToleratedErrors::All);
}

fn survive_a_restart(flavor: Flavor, change: impl Fn(&mut LoadPlan)) {
    let bench = Bench::loaded(flavor);
    let mut plan = LoadPlan {
        reactor: ReactorKind::Epoll,
        interval: Duration::from_millis(100),
        load: LoadSpec {
            measure: Duration::from_mins(1).into(),
            ..bench.plan(WorkloadName::OltpReadWrite).load
        },
        ..bench.plan(WorkloadName::OltpReadWrite)
    };
    change(&mut plan);
    let Bench { server, directory } = bench;
    let endpoint = server.endpoint();
    let stop = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    let reconnects = AtomicU64::new(0);
    let wait_for_more = || {
        let before = done.load(Ordering::Relaxed);
        let began = Instant::now();
        while done.load(Ordering::Relaxed) <= before + 10 {
            assert!(began.elapsed() < Duration::from_secs(30), "nothing is done");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            run(&plan, &users_gate(), &stop, &mut |interval| {
                done.fetch_add(interval.record.transactions, Ordering::Relaxed);
                reconnects.fetch_add(interval.reconnects, Ordering::Relaxed);
            })
        });
        wait_for_more();
        let killed = Instant::now();
        server.kill();
        let options = weir_testing::options(directory.path());
        let server = PrivateServer::start(&weir_testing::binary(flavor), &options).unwrap();
        assert_eq!(server.endpoint().address, endpoint.address);
        let down_s = killed.elapsed().as_secs_f64();
        // The first connections that are back may have done all that before the last is.
        while reconnects.load(Ordering::Relaxed) < 4 {
            wait_for_more();
        }
        stop.store(true, Ordering::Relaxed);
        let outcome = load.join().unwrap().unwrap();
        assert_eq!(outcome.counts.reconnects, 4, "{outcome:?}");
        assert_eq!(outcome.reactors, [plan.reactor]);
        let lost = outcome.errors.iter().filter(|error| error.code == 2013);
        let counted: u64 = lost.map(|error| error.count).sum();
        let expected = if plan.tolerated.survives_loss() { 4 } else { 0 };
        assert_eq!(counted, expected, "{:?}", outcome.errors);
        let [outage] = outcome.outages.as_slice() else {
            panic!("{:?}", outcome.outages);
        };
        // The server answers a little before its start has been noticed here.
        assert!(
            outage.length_s > 0.0 && outage.length_s < down_s + 30.0,
            "{outage:?}"
        );
        assert_eq!(outcome.unfinished, 0);
        drop(server);
    });
}
