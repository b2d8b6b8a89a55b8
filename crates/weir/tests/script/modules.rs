//! sysbench's eleven tests: the installed ones, and Weir's own where there are none.

use weir_model::Flavor;

use crate::beside::Bench;

const TESTS: [&str; 10] = [
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
];
const INSTALLED: &str = "/usr/share/sysbench";

/// Two of the tests have one table only.
fn sizes(test: &str) -> &'static str {
    if test.starts_with("select_random") {
        "--table-size=1000"
    } else {
        "--tables=2 --table-size=1000"
    }
}

/// Two connections that write may meet in a deadlock, and an event that is tried again counts more statements.
fn threads(test: &str) -> u32 {
    if test.contains("select") || test.contains("read_only") {
        2
    } else {
        1
    }
}

/// The same counts of reads and other statements; a statement that changes nothing is an other one, and that
/// is chance.
fn assert_alike(ours: &crate::beside::Output, theirs: &crate::beside::Output, test: &str) {
    let ([read, write, other, events], theirs) = (ours.counts(), theirs.counts());
    assert_eq!([read, events], [theirs[0], theirs[3]], "{test}");
    assert_eq!(write + other, theirs[1] + theirs[2], "{test}");
}

fn installed_tests_count_as_under_sysbench(flavor: Flavor) {
    let (server, _directory) = weir_testing::start(flavor);
    let bench = Bench::on(&server.endpoint());
    for test in TESTS {
        let sizes = sizes(test);
        let path = format!("{INSTALLED}/{test}.lua");
        if !std::path::Path::new(&path).exists() {
            weir_testing::skipped(&path, "scripts/setup.sh --bench installs it");
            return;
        }
        let prepare = format!("{path} {sizes} --threads=2 --lua-threads=os prepare");
        let prepared = bench.ours(&prepare);
        assert_eq!(prepared.code, Some(0), "{prepared:?}");
        let threads = threads(test);
        let words = format!("{path} {sizes} --threads={threads} --events=40 --time=0");
        let theirs = bench.theirs(&format!("{words} run")).unwrap();
        for driving in ["os", "reactor"] {
            let ours = bench.ours(&format!("{words} --lua-threads={driving} run"));
            assert_eq!((ours.code, ours.stderr.as_str()), (Some(0), ""), "{ours:?}");
            assert_alike(&ours, &theirs, test);
        }
        let cleanup = bench.ours(&format!("{path} {sizes} --lua-threads=os cleanup"));
        assert_eq!(cleanup.code, Some(0), "{cleanup:?}");
    }
    let path = format!("{INSTALLED}/bulk_insert.lua");
    for command in ["prepare", "--events=200 --time=0 run", "cleanup"] {
        let done = bench.ours(&format!(
            "{path} --threads=2 --lua-threads=reactor {command}"
        ));
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

#[test]
fn installed_tests_count_as_under_sysbench_on_mysql() {
    installed_tests_count_as_under_sysbench(Flavor::Mysql);
}

#[test]
fn installed_tests_count_as_under_sysbench_on_mariadb() {
    installed_tests_count_as_under_sysbench(Flavor::Mariadb);
}

/// Weir's own modules count as sysbench's scripts; the path of the latter is hidden.
#[test]
fn own_tests_count_as_the_installed_ones() {
    let (server, _directory) = weir_testing::start(Flavor::Mysql);
    let mut bench = Bench::on(&server.endpoint());
    bench.hide_installed_modules();
    for test in TESTS {
        let sizes = sizes(test);
        let prepare = format!("{test} {sizes} --threads=2 --lua-threads=os prepare");
        let prepared = bench.ours(&prepare);
        assert_eq!(prepared.code, Some(0), "{prepared:?}");
        let threads = threads(test);
        let words = format!("{sizes} --threads={threads} --events=40 --time=0");
        let ours = bench.ours(&format!("{test} {words} --lua-threads=reactor run"));
        assert_eq!(ours.code, Some(0), "{ours:?}");
        let path = format!("{INSTALLED}/{test}.lua");
        if let Some(theirs) = bench.theirs(&format!("{path} {words} run")) {
            assert_alike(&ours, &theirs, test);
        }
        let cleanup = bench.ours(&format!("{test} {sizes} --lua-threads=os cleanup"));
        assert_eq!(cleanup.code, Some(0), "{cleanup:?}");
    }
    for command in ["prepare", "--events=200 --time=0 run", "cleanup"] {
        let done = bench.ours(&format!(
            "bulk_insert --threads=2 --lua-threads=os {command}"
        ));
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

#[test]
fn a_script_of_three_functions_stands_on_oltp_common() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    bench.script(
        "x.lua",
        "require('oltp_common')
         sysbench.cmdline.options.point_selects[2] = 3
         function prepare_statements() prepare_point_selects() prepare_begin() prepare_commit() end
         function event() begin() execute_point_selects() commit() end",
    );
    for words in [
        "x.lua --threads=2 --tables=2 --table-size=100 prepare",
        "x.lua --threads=2 --tables=2 --table-size=100 --events=10 run",
        "x.lua --tables=2 cleanup",
    ] {
        let ours = bench.ours(words);
        assert_eq!(ours.code, Some(0), "{ours:?}");
        if words.ends_with("run") {
            assert_eq!(ours.counts(), [30, 0, 20, 10]);
        }
    }
}
