//! Runs that need no server: threads, limits, hooks, reports.

use crate::beside::Bench;

const SLEEPS: &str = "ffi.cdef('int usleep(unsigned);') function event() ffi.C.usleep(1000) end";

#[test]
fn a_run_without_a_database_has_sysbenchs_report() {
    let bench = Bench::new();
    bench.script("x.lua", SLEEPS);
    for words in [
        "x.lua --events=5 run",
        "x.lua --events=6 --threads=3 --rand-seed=7 run",
        "x.lua --threads=2 --time=3 --report-interval=2 run",
        "x.lua --events=5 --percentile=0 run",
        "x.lua --events=5 --verbosity=0 run",
    ] {
        let run = bench.same(words);
        assert_eq!(run.code, Some(0), "{words}");
    }
    let run = bench.ours("x.lua --threads=4 --time=1 --report-interval=1 run");
    let events = run.number("total number of events:");
    assert!((200..=4_000).contains(&events), "{events}");
    assert!(
        run.stdout.contains("[ 1s ] thds: 4 eps: "),
        "{}",
        run.stdout
    );
}

#[test]
fn a_rate_is_kept() {
    let bench = Bench::new();
    bench.script("x.lua", SLEEPS);
    let run = bench.ours("x.lua --threads=4 --time=2 --rate=100 run");
    let events = run.number("total number of events:");
    // Five standard deviations of a Poisson count around 200; a busy machine may leave some for the end.
    assert!((90..=270).contains(&events), "{events}");
}

#[test]
fn functions_are_called_in_sysbenchs_order() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "print('body', sysbench.tid, sysbench.opt == nil)
         function init() print('init', sysbench.opt.threads) end
         function thread_init(id) print('thread_init', id, sysbench.tid) end
         function event(id) print('event', id) end
         function thread_done(id) print('thread_done', id) end
         function done() print('done') end",
    );
    bench.same("x.lua --events=2 run");
    bench.script(
        "x.lua",
        "function event() error('not called') end
         ffi.cdef('bool sb_more_events(int); void sb_event_start(int); void sb_event_stop(int);')
         function thread_run(id)
           print('own loop', id)
           while ffi.C.sb_more_events(id) do ffi.C.sb_event_start(id) print('.') ffi.C.sb_event_stop(id) end
         end",
    );
    let run = bench.same("x.lua --events=3 run");
    assert!(
        run.stdout
            .contains("total number of events:              3\n")
    );
}

#[test]
fn hooks_replace_the_report() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "ffi.cdef('int usleep(unsigned);') function event() ffi.C.usleep(1000) end
         local names = { 'threads_running', 'time_total', 'time_interval', 'events', 'reads', 'writes', 'other',
           'errors', 'reconnects', 'latency_min', 'latency_max', 'latency_avg', 'latency_sum', 'latency_pct' }
         function sysbench.hooks.report_cumulative(stat)
           for _, name in ipairs(names) do print(name, type(stat[name])) end
           print(stat.threads_running, stat.events, stat.latency_pct > 0.0009 and stat.latency_pct < 0.1)
         end",
    );
    bench.same("x.lua --events=5 run");
    for (hook, function) in [
        ("report_cumulative", "report_csv"),
        ("report_cumulative", "report_json"),
        ("report_cumulative", "report_default"),
        ("report_intermediate", "report_csv"),
        ("report_intermediate", "report_json"),
        ("report_intermediate", "report_default"),
    ] {
        let text = format!("{SLEEPS} sysbench.hooks.{hook} = sysbench.{function}");
        bench.script("x.lua", &text);
        bench.same("x.lua --time=3 --report-interval=2 run");
    }
}

#[test]
fn an_event_is_tried_again_until_it_succeeds() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "local tries = 0
         function sysbench.hooks.before_restart_event(err) print('again', err.errcode) end
         function event()
           tries = tries + 1
           if tries % 3 ~= 0 then error({ errcode = sysbench.error.RESTART_EVENT }) end
         end",
    );
    let run = bench.same("x.lua --events=2 run");
    assert_eq!(run.stdout.matches("again\t1").count(), 4);
}

#[test]
fn an_own_count_of_errors_is_reported() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "ffi.cdef('void sb_counter_inc(int, sb_counter_type);')
         function thread_init() sysbench.sql.driver() end
         function event() ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR) end",
    );
    let run = bench.ours("x.lua --events=7 run");
    assert!(
        run.stdout
            .contains("ignored errors:                      7 "),
        "{}",
        run.stdout
    );
}

#[test]
fn a_histogram_is_printed_as_sysbench_does() {
    let bench = Bench::new();
    bench.script(
        "x.lua",
        "function event() end
         function done()
           local h = sysbench.histogram.new(1024, 0.001, 100000)
           for value = 1, 50 do h:update(value) end
           h:print()
         end",
    );
    bench.same("x.lua --events=1 run");
}

#[test]
fn a_thread_that_does_not_end_is_named_and_with_forced_shutdown_ended() {
    let bench = Bench::new();
    bench.script("x.lua", "function event() while true do end end");
    let run = bench.ours("x.lua --time=1 --forced-shutdown=1 run");
    assert_eq!(run.code, Some(2), "{run:?}");
    let line = "FATAL: 1 threads are still in an event 3 s after the end of the run";
    assert!(run.stdout.contains(line), "{run:?}");
}
