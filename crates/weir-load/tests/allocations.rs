//! The path of a query allocates nothing, on either kind of reactor.
//!
//! A test program of its own, because the allocator is the whole program's.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use weir_load::{LoadPlan, NullServer, NullServerBehavior, PreparePlan, ReactorKind, prepare, run};
use weir_model::{Endpoint, Flavor, LoadSpec, OrderEntryWorkload, WorkloadName};
use weir_mysql::{Compression, Gate};
use weir_testing::LAZY_COMMITS;

const THREADS_MAX: usize = 64;

/// Counts the allocations of each thread.
struct Counting;

static THREADS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: [AtomicU64; THREADS_MAX] = [const { AtomicU64::new(0) }; THREADS_MAX];

thread_local! {
    static THREAD: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn count() {
    THREAD.with(|thread| {
        if thread.get() == usize::MAX {
            thread.set(THREADS.fetch_add(1, Ordering::Relaxed) % THREADS_MAX);
        }
        ALLOCATIONS[thread.get()].fetch_add(1, Ordering::Relaxed);
    });
}

#[allow(unsafe_code)] // what an allocator is
// SAFETY: every call is handed to the system's allocator as it is; counting neither allocates
// (a constant thread-local without a destructor, and atomics) nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of the thread that makes the second most; the null server's makes the most.
fn allocations_beside_the_server(reactor: ReactorKind, transactions: u64) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let server =
        NullServer::start(&directory.path().join("s"), NullServerBehavior::default()).unwrap();
    let (most, second) = most_allocations(&LoadPlan {
        reactor,
        max_events: Some(transactions),
        ..plan(server.endpoint())
    });
    assert!(
        most >= transactions * 20,
        "the null server's thread is counted: {most}"
    );
    second
}

fn plan(endpoint: Endpoint) -> LoadPlan {
    LoadPlan {
        load: LoadSpec {
            connections: 8,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(endpoint, WorkloadName::OltpReadWrite)
    }
}

/// Allocations of the two threads that make the most of them in a run.
fn most_allocations(plan: &LoadPlan) -> (u64, u64) {
    let before: Vec<_> = ALLOCATIONS
        .iter()
        .map(|n| n.load(Ordering::Relaxed))
        .collect();
    let outcome = run(plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(Some(outcome.counts.transactions), plan.max_events);
    assert_eq!(outcome.reactors, [plan.reactor]);
    let mut made: Vec<_> = ALLOCATIONS
        .iter()
        .zip(before)
        .map(|(after, before)| after.load(Ordering::Relaxed) - before)
        .collect();
    made.sort_unstable();
    (made[THREADS_MAX - 1], made[THREADS_MAX - 2])
}

/// On a real server, which is a process of its own: the null server does not compress.
fn compressed_queries_allocate_nothing_either() {
    let (server, _directory) = weir_testing::start_with(Flavor::Mysql, &LAZY_COMMITS);
    let tables = PreparePlan::new(server.endpoint(), WorkloadName::OltpReadWrite);
    prepare(
        &tables,
        &Gate::own(),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    for compression in [Compression::Zlib, Compression::Zstd] {
        for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
            let [few, many] = [100, 600].map(|transactions| {
                let plan = LoadPlan {
                    reactor,
                    max_events: Some(transactions),
                    load: LoadSpec {
                        compression: compression.into(),
                        ..plan(server.endpoint()).load
                    },
                    ..plan(server.endpoint())
                };
                most_allocations(&plan).0
            });
            assert_few(few, many, 10_000);
        }
    }
}

/// A workload whose statements depend on rows: on a real server, which sends some.
fn order_entry_allocates_nothing_either() {
    let (server, _directory) = weir_testing::start_with(Flavor::Mysql, &LAZY_COMMITS);
    let workload = OrderEntryWorkload {
        items: 200,
        customers: 30,
        ..OrderEntryWorkload::default()
    };
    let tables = PreparePlan::new(server.endpoint(), workload);
    prepare(
        &tables,
        &Gate::own(),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    for prepared_statements in [true, false] {
        // One connection has no deadlocks, whose messages are kept.
        let [few, many] = [100, 600].map(|transactions| {
            let load = LoadSpec {
                connections: 1,
                ..plan(server.endpoint()).load
            };
            most_allocations(&LoadPlan {
                reactor: ReactorKind::Epoll,
                max_events: Some(transactions),
                prepared_statements,
                load,
                ..LoadPlan::new(server.endpoint(), workload)
            })
            .0
        });
        assert_few(few, many, 11_500);
    }
}

/// Far less than an allocation a query: what remains depends on how long it takes, which tallies of intervals need.
#[track_caller]
fn assert_few(few: u64, many: u64, queries_more: u64) {
    assert!(many < few + queries_more / 8, "{few} and {many}");
}

#[test]
fn a_query_allocates_nothing() {
    for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
        let few = allocations_beside_the_server(reactor, 100);
        let many = allocations_beside_the_server(reactor, 1_100);
        assert_few(few, many, 20_000);
    }
    // In the same test: what else allocates would be counted.
    compressed_queries_allocate_nothing_either();
    order_entry_allocates_nothing_either();
}
