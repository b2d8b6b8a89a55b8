//! Schedules and emulated round trips on real servers.

use std::time::Duration;

use weir_load::LoadPlan;
use weir_model::{ArrivalKind, Flavor, LoadSpec, Rate, WorkloadName};

use super::{Bench, go};

weir_testing::on_both_flavors! {
    an_open_loop_keeps_its_schedule_on_a_real_server
    a_longer_way_to_the_server_is_in_every_latency
}

fn an_open_loop_keeps_its_schedule_on_a_real_server(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        load: LoadSpec {
            pace: Some(Rate {
                per_s: 100.0,
                arrivals: ArrivalKind::Constant,
                ramp: None,
            })
            .into(),
            ..bench.plan(WorkloadName::OltpReadWrite).load
        },
        ..bench.plan(WorkloadName::OltpReadWrite)
    };
    let outcome = go(&plan).unwrap();
    let open_loop = outcome.open_loop.as_ref().unwrap();
    assert!((99..=101).contains(&open_loop.due), "{open_loop:?}");
    let whole = outcome.counts_whole_run.transactions;
    // Those that were due by the end; deadlocks delay a transaction, they do not lose it.
    assert!(
        whole + open_loop.queue_length + 4 >= open_loop.due,
        "{outcome:?}"
    );
    assert!(whole <= open_loop.due + 4, "{outcome:?}");
}

fn a_longer_way_to_the_server_is_in_every_latency(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        load: LoadSpec {
            rtt: Duration::from_millis(4).into(),
            ..bench.plan(WorkloadName::OltpPointSelect).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let outcome = go(&plan).unwrap();
    assert!(outcome.latency.us_min >= 4_000.0, "{:?}", outcome.latency);
    assert!(outcome.counts.transactions > 0);
}
