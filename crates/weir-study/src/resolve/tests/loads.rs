//! Options of `weir load` in a study: as a key of all cells, and as a factor.

use weir_model::{
    ArrivalKind, DataSource, Distribution, FileWorkload, LOAD_OPTIONS, Pace, ProtocolCompression,
    RunSpec, ThinkKind, TlsMode, WorkloadSpec,
};

use super::*;

/// The workloads that come with Weir, as seen from this crate.
const SHOP: &str = "../../workloads/shop.toml";

/// A study on the data `data` with the load `load` and the factors `factors`.
fn study(data: &str, load: &str, factors: &str) -> String {
    format!(
        "[study]\ntitle = \"T\"\nquestion = \"Q?\"\n[server]\n[data]\n{data}\n[load]\nthreads = 2\n\
         warmup = \"1s\"\nmeasure = \"1s\"\n{load}\n[factors]\n{factors}\n"
    )
}

const SYSBENCH: &str = "workload = \"oltp_read_only\"\nrows = 10";

/// The runs of the cells of a study, in the order of the levels of its factor.
fn specs(data: &str, load: &str, factors: &str) -> Vec<std::sync::Arc<RunSpec>> {
    let plan = resolved(&study(data, load, factors)).unwrap();
    plan.cells.into_iter().map(|cell| cell.spec).collect()
}

/// Returns all cells with a key of `[load]`, and with the same as the second level of a factor.
fn both_ways(name: &str, usual: &str, value: &str) -> [std::sync::Arc<RunSpec>; 2] {
    let key = specs(SYSBENCH, &format!("{name} = {value}"), "");
    let factor = specs(SYSBENCH, "", &format!("{name} = [{usual}, {value}]"));
    assert_eq!(key.len(), 1);
    let [first, second] = factor.as_slice() else {
        panic!("two cells expected")
    };
    assert_eq!(
        *first.differences(second).into_iter().collect::<Vec<_>>(),
        [name]
    );
    [key[0].clone(), second.clone()]
}

#[test]
fn a_mix_is_a_workload() {
    let mix = "oltp_point_select:80,oltp_update_index:20";
    let [spec] = &specs(&format!("workload = \"{mix}\"\nrows = 10"), "", "")[..] else {
        panic!("one cell expected")
    };
    assert_eq!(spec.workload.to_string(), mix);
    let factor = format!("workload = [\"oltp_read_only\", \"{mix}\"]");
    let specs = specs(SYSBENCH, "", &factor);
    assert_eq!(specs[1].workload.to_string(), mix);
    assert_eq!(
        specs[0]
            .differences(&specs[1])
            .into_iter()
            .collect::<Vec<_>>(),
        ["workload"]
    );
}

#[test]
fn a_file_is_a_workload_with_its_own_tables() {
    let by_key = specs(
        &format!("workload = \"{SHOP}\""),
        "distribution = \"pareto\"",
        "",
    );
    let spec = &by_key[0];
    let WorkloadSpec::File(FileWorkload {
        path,
        text,
        distribution,
    }) = &spec.workload
    else {
        panic!("a file expected")
    };
    assert!(path.ends_with("shop.toml") && text.contains("A web shop"));
    assert_eq!(*distribution, Distribution::Pareto { h: 0.2 });
    assert_eq!(
        (spec.data.table_count(), spec.data.rows_total()),
        (3, 320_000)
    );
    let factor = format!("workload = [\"oltp_read_only\", \"{SHOP}\"]");
    let specs = specs(SYSBENCH, "", &factor);
    assert!(matches!(
        specs[0].data.source,
        DataSource::Sysbench { rows: 10, .. }
    ));
    assert!(matches!(specs[1].data.source, DataSource::File { .. }));
}

#[test]
fn options_of_tables_are_a_factor() {
    let options = "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8";
    let factor = format!("table_options = [\"\", \"{options}\"]");
    let specs = specs(SYSBENCH, "", &factor);
    let found = specs.iter().map(|spec| spec.data.table_options.as_str());
    assert_eq!(found.collect::<Vec<_>>(), ["", options]);
    let differing = specs[0].differences(&specs[1]);
    assert_eq!(differing, ["table_options".to_owned()].into());
}

#[test]
fn a_file_that_cannot_be_used_says_why() {
    let file = format!("workload = \"{SHOP}\"");
    for (data, why) in [
        ("workload = \"./nowhere.toml\"".to_owned(), "no such file"),
        (format!("{file}\nrows = 5"), "leave it out"),
        (
            format!("{file}\nscale = {{ data = \"1/2\" }}"),
            "does not shrink it",
        ),
        (
            format!("{file}\ntable_options = \"ROW_FORMAT=COMPRESSED\""),
            "makes its own",
        ),
        ("workload = \"oltp_read_only\"".to_owned(), "add `rows`"),
        (
            "workload = \"oltp_read_only:1,bulk_insert:1\"\nrows = 1".to_owned(),
            "use `weir load bulk_insert`",
        ),
    ] {
        let found = message(&study(&data, "", ""));
        assert!(found.contains(why), "{data}: {found}");
    }
}

#[test]
fn a_book_is_for_workloads_with_text() {
    let book = SHOP;
    let text = "workload = \"oltp_text_read_only\"\nrows = 10";
    let book_of = |spec: &RunSpec| match &spec.workload {
        WorkloadSpec::Sysbench(sysbench) => sysbench.text_file.clone(),
        WorkloadSpec::File(_) | WorkloadSpec::Lua(_) | WorkloadSpec::OrderEntry(_) => None,
    };
    let by_key = specs(&format!("{text}\ntext_file = \"{book}\""), "", "");
    assert_eq!(book_of(&by_key[0]), Some(book.into()));
    let books = specs(
        text,
        "",
        &format!("text_file = [\"{book}\", \"Cargo.toml\"]"),
    );
    assert_eq!(book_of(&books[1]), Some("Cargo.toml".into()));
    let found = message(&study(
        &format!("{SYSBENCH}\ntext_file = \"{book}\""),
        "",
        "",
    ));
    assert!(
        found.contains("no workload of the study takes lines"),
        "{found}"
    );
    let found = message(&study(
        &format!("{text}\ntext_file = \"nowhere.txt\""),
        "",
        "",
    ));
    assert!(found.contains("no such file"), "{found}");
}

/// Each option in the table of a load's options is a key of all cells, and a factor.
#[test]
fn every_option_of_a_load_is_a_key_and_a_factor() {
    for option in LOAD_OPTIONS {
        let value = option.kind.example();
        let name = option.name;
        // What belongs to a rate has one.
        let rate = match name {
            "rate_ramp" | "rate_arrivals" => "rate = 5000\n",
            _ => "",
        };
        let by_key = specs(SYSBENCH, &format!("{rate}{name} = \"{value}\""), "");
        let factor = format!("{name} = [\"{}\", \"{value}\"]", option.default);
        let by_factor = specs(SYSBENCH, rate, &factor);
        let written = Some(value);
        assert_eq!(
            option.written(&by_key[0].load).as_deref(),
            written,
            "{name}"
        );
        assert_eq!(option.written(&by_factor[0].load), None, "{name}");
        assert_eq!(
            option.written(&by_factor[1].load).as_deref(),
            written,
            "{name}"
        );
        let differing = by_factor[0].differences(&by_factor[1]);
        assert_eq!(differing.into_iter().collect::<Vec<_>>(), [name]);
    }
}

#[test]
fn think_time_is_a_pace() {
    for spec in both_ways("think_time", "\"0s\"", "\"10ms\"") {
        let think = spec.load.pace.closed_loop().think;
        assert_eq!(think.mean.to_string(), "10ms");
    }
    let exponential = specs(
        SYSBENCH,
        "think_time = \"1s\"\nthink_kind = \"exponential\"",
        "",
    );
    let think = exponential[0].load.pace.closed_loop().think;
    assert_eq!(think.kind, ThinkKind::Exponential);
    let kinds = specs(
        SYSBENCH,
        "think_time = \"1s\"",
        "think_kind = [\"constant\", \"exponential\"]",
    );
    assert_ne!(kinds[0].load.pace, kinds[1].load.pace);
}

#[test]
fn a_rate_may_rise_and_come_evenly() {
    let load = "rate_ramp = \"100..5000:60s\"\nrate_arrivals = \"constant\"";
    let Pace::Open(rate) = specs(SYSBENCH, load, "")[0].load.pace else {
        panic!("an open loop expected")
    };
    let ramp = rate.ramp.unwrap();
    assert_eq!((ramp.from_per_s, rate.per_s), (100.0, 5_000.0));
    assert_eq!(rate.arrivals, ArrivalKind::Constant);
    let ramps = specs(
        SYSBENCH,
        "rate = 500",
        "rate_ramp = [\"none\", \"10..500:5s\"]\nrate_arrivals = [\"poisson\", \"constant\"]",
    );
    let paces: Vec<_> = ramps.iter().map(|spec| spec.load.pace).collect();
    assert_eq!(paces[0], Pace::open(500.0));
    let Pace::Open(last) = paces[3] else {
        panic!("an open loop expected")
    };
    assert!(last.ramp.is_some() && last.arrivals == ArrivalKind::Constant);
}

#[test]
fn a_rate_and_think_time_exclude_each_other() {
    for (load, factors) in [
        ("rate = 5\nthink_time = \"1s\"", ""),
        ("think_time = \"1s\"", "rate = [\"closed\", 5]"),
        ("rate = 5", "think_time = [\"1s\"]"),
    ] {
        let found = message(&study(SYSBENCH, load, factors));
        assert!(found.contains("leave one of both out"), "{found}");
    }
    let found = message(&study(SYSBENCH, "rate_arrivals = \"constant\"", ""));
    assert!(found.contains("add `rate`"), "{found}");
    let search = "[search]\nfind = \"rate\"\nobjective = \"p99 <= 1ms\"\nrange = \"1..9\"";
    let thinks = study(SYSBENCH, "think_time = \"1s\"", &format!("{search}\n"));
    let found = message(&thinks.replace("[factors]\n", ""));
    assert!(found.contains("leave one of both out"), "{found}");
}

#[test]
fn connections_begin_stay_and_are_packed_and_encrypted_as_one_asks() {
    for spec in both_ways("threads_ramp", "\"0s\"", "\"4s\"") {
        assert_eq!(spec.load.connection_ramp.to_string(), "4s");
    }
    for spec in both_ways("idle_connections", "0", "500") {
        assert_eq!(spec.load.idle_connections, 500);
    }
    // They are connections of the server, too.
    let idle = specs(SYSBENCH, "idle_connections = 500", "");
    assert_eq!(idle[0].variable("max_connections"), Some("522"));
    for spec in both_ways("compression", "\"uncompressed\"", "\"zlib\"") {
        assert_eq!(spec.load.compression, ProtocolCompression::Zlib);
    }
    for spec in both_ways("tls", "\"disabled\"", "\"required\"") {
        assert_eq!(spec.load.tls, TlsMode::Required);
    }
    for (load, why) in [
        ("compression = \"lz4\"", "zlib or zstd"),
        ("tls = \"on\"", "required"),
        ("think_time = \"1\"", "length of time"),
        ("rate_ramp = \"1..2\"", "100..5000:60s"),
    ] {
        let found = message(&study(SYSBENCH, load, ""));
        assert!(found.contains(why), "{load}: {found}");
    }
}

#[test]
fn order_entry_is_a_workload_whose_options_are_keys_and_factors() {
    let data = "workload = \"order_entry\"\nwarehouses = 40\nforeign_keys = true\nscale = \"1/20\"";
    let by_key = specs(data, "fixed_warehouses = true", "");
    let WorkloadSpec::OrderEntry(options) = by_key[0].workload else {
        panic!("{:?}", by_key[0].workload)
    };
    assert_eq!(options.warehouses, 2, "scaled");
    assert!(options.foreign_keys && options.fixed_warehouses);
    assert!(!options.keying_and_think_time);
    assert_eq!(by_key[0].data.table_count(), 9);
    let DataSource::OrderEntry { sizes } = &by_key[0].data.source else {
        panic!("{:?}", by_key[0].data)
    };
    assert_eq!((&*sizes[5].name, sizes[5].rows), ("stock", 200_000));
    for (factor, name) in [
        ("warehouses = [1, 3]", "warehouses"),
        ("foreign_keys = [\"off\", \"on\"]", "foreign_keys"),
        ("items = [100000, 100]", "items"),
        ("fixed_warehouses = [false, true]", "fixed_warehouses"),
    ] {
        let specs = specs("workload = \"order_entry\"", "", factor);
        let differing = specs[0].differences(&specs[1]);
        assert_eq!(differing.into_iter().collect::<Vec<_>>(), [name]);
    }
    for (text, why) in [
        (
            study("workload = \"order_entry\"\nrows = 7", "", ""),
            "leave it out",
        ),
        (
            study(&format!("{SYSBENCH}\nwarehouses = 3"), "", ""),
            "no workload of the study is `order_entry`",
        ),
        (
            study("workload = \"order_entry\"\nwarehouses = 0", "", ""),
            "from 1 to",
        ),
        (
            study(
                "workload = \"order_entry\"",
                "keying_and_think_time = true\nrate = 7",
                "",
            ),
            "leave out rate and think time",
        ),
    ] {
        let found = message(&text);
        assert!(found.contains(why), "{found}");
    }
}
