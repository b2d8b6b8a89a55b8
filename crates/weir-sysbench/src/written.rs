//! A load as the command line that makes it again.

use std::fmt::Display;
use std::time::Duration;

use weir_load::{LoadPlan, ReactorKind, ToleratedErrors, reactors_for};
use weir_model::{
    Distribution, LoadSpec, Mix, Pace, Rate, SysbenchWorkload, TlsMode, WorkloadSpec,
};
use weir_mysql::Compression;

use crate::own_options::load_options;
use crate::shell_word::shell_word;

/// The command line of `plan`, as one would type it into a shell; without the server's address and
/// account, which are not the load's.
///
/// [`parse`](crate::parse) makes an equal plan of its words but for the server. Intervals of parts of a
/// second and a seed of 0 have no option.
pub fn command_line(plan: &LoadPlan) -> String {
    let words = words(plan);
    let words = words.iter().map(|word| shell_word(word));
    format!("weir load {}", words.collect::<Vec<_>>().join(" "))
}

/// The words after `weir load`.
fn words(plan: &LoadPlan) -> Vec<String> {
    let mut options = Options::default();
    let workload = plan.workload.spec();
    if let WorkloadSpec::Lua(lua) = &workload {
        options.put("threads", plan.load.connections);
        for (name, value) in lua.run_options() {
            options.put(&name, value);
        }
    } else {
        options.tables(plan);
    }
    options.keys(workload.distribution(), plan.seed);
    if let WorkloadSpec::Sysbench(SysbenchWorkload { mix, text_file, .. }) = &workload {
        options.transactions(mix);
        if let Some(book) = text_file {
            options.put("text-file", book.display());
        }
    }
    if let WorkloadSpec::OrderEntry(order_entry) = &workload {
        for (name, value) in order_entry.unusual() {
            options.put(name, value);
        }
    }
    options.time(plan);
    options.load(&plan.load);
    options.connections(plan);
    options.errors(plan);
    let name = plan.workload.to_string();
    let name = std::iter::once(name);
    name.chain(options.0).chain(["run".to_owned()]).collect()
}

#[derive(Default)]
struct Options(Vec<String>);

impl Options {
    fn put(&mut self, name: &str, value: impl Display) {
        self.0.push(format!("--{name}={value}"));
    }

    /// Only where it is not as usual.
    fn differing<T: PartialEq + Display>(&mut self, name: &str, value: &T, usual: &T) {
        if value != usual {
            self.put(name, value);
        }
    }

    fn switch(&mut self, name: &str, is_on: bool, usual: bool) {
        if is_on != usual {
            self.put(name, if is_on { "on" } else { "off" });
        }
    }

    fn tables(&mut self, plan: &LoadPlan) {
        if plan.workload.is_on_sbtest() {
            self.put("tables", plan.tables);
        }
        self.put("table-size", plan.rows);
        self.put("threads", plan.load.connections);
        self.switch("auto_inc", plan.auto_increment, true);
    }

    fn keys(&mut self, distribution: Distribution, seed: u64) {
        match distribution {
            Distribution::Uniform => self.put("rand-type", "uniform"),
            Distribution::Gaussian { iterations } => {
                self.put("rand-type", "gaussian");
                self.differing("rand-spec-iter", &iterations, &12);
            }
            Distribution::Special {
                iterations,
                hot_rows_percent,
                hot_keys_percent,
            } => {
                self.put("rand-type", "special");
                self.differing("rand-spec-iter", &iterations, &12);
                self.differing("rand-spec-pct", &hot_rows_percent, &1);
                self.differing("rand-spec-res", &hot_keys_percent, &75);
            }
            Distribution::Pareto { h } => {
                self.put("rand-type", "pareto");
                self.differing("rand-pareto-h", &h, &0.2);
            }
            Distribution::Zipfian { exponent } => {
                self.put("rand-type", "zipfian");
                self.differing("rand-zipfian-exp", &exponent, &0.8);
            }
        }
        self.put("rand-seed", seed);
    }

    fn transactions(&mut self, mix: &Mix) {
        let usual = Mix::default();
        for (name, value, usual) in [
            ("range_size", mix.range_size, usual.range_size),
            ("point_selects", mix.point_selects, usual.point_selects),
            ("simple_ranges", mix.simple_ranges, usual.simple_ranges),
            ("sum_ranges", mix.sum_ranges, usual.sum_ranges),
            ("order_ranges", mix.order_ranges, usual.order_ranges),
            (
                "distinct_ranges",
                mix.distinct_ranges,
                usual.distinct_ranges,
            ),
            ("index_updates", mix.index_updates, usual.index_updates),
            (
                "non_index_updates",
                mix.non_index_updates,
                usual.non_index_updates,
            ),
            ("delete_inserts", mix.delete_inserts, usual.delete_inserts),
            ("text_selects", mix.text_selects, usual.text_selects),
            ("text_updates", mix.text_updates, usual.text_updates),
            ("random_points", mix.random_points, usual.random_points),
            ("number_of_ranges", mix.random_ranges, usual.random_ranges),
            ("delta", mix.random_range_delta, usual.random_range_delta),
        ] {
            self.differing(name, &value, &usual);
        }
        self.switch("range_selects", mix.range_selects, usual.range_selects);
        self.switch("skip_trx", mix.skip_transactions, usual.skip_transactions);
    }

    fn time(&mut self, plan: &LoadPlan) {
        self.put("warmup-time", plan.load.warmup.least().as_secs_f64());
        self.put("time", plan.load.measure.as_secs_f64());
        if let Some(events) = plan.max_events {
            self.put("events", events);
        }
        if plan.interval != Duration::from_secs(1) {
            self.put("report-interval", plan.interval.as_secs());
        }
        let checkpoints = plan.checkpoints.iter();
        let checkpoints: Vec<_> = checkpoints.map(|time| time.as_secs().to_string()).collect();
        if !checkpoints.is_empty() {
            self.put("report-checkpoints", checkpoints.join(","));
        }
    }

    /// Without the rate that a ramp ends at.
    fn load(&mut self, load: &LoadSpec) {
        if let Pace::Open(Rate {
            per_s, ramp: None, ..
        }) = load.pace
        {
            self.put("rate", per_s);
        }
        for option in load_options() {
            if let Some(value) = option.written(load) {
                self.put(&option.flag(), value);
            }
        }
    }

    fn connections(&mut self, plan: &LoadPlan) {
        let reactors = reactors_for(plan.load.connections);
        self.differing("reactors", &plan.reactors, &reactors);
        match plan.reactor {
            ReactorKind::Auto => {}
            ReactorKind::Epoll => self.put("reactor", "epoll"),
            ReactorKind::IoUring => self.put("reactor", "io_uring"),
        }
        if let Some(compression) = Compression::from_protocol(plan.load.compression) {
            self.put("mysql-compression", "on");
            if compression == Compression::Zstd {
                self.put("mysql-compression-algorithms", "zstd");
            }
        }
        // What a certificate is held against belongs to the server's address.
        match plan.endpoint.tls.mode {
            TlsMode::Disabled => {}
            TlsMode::Preferred => self.put("mysql-ssl", "preferred"),
            _ => self.put("mysql-ssl", "required"),
        }
        if !plan.prepared_statements {
            self.put("db-ps-mode", "disable");
        }
        let init_timeout_s = plan.init_timeout.as_secs();
        self.differing("thread-init-timeout", &init_timeout_s, &30);
    }

    fn errors(&mut self, plan: &LoadPlan) {
        match &plan.tolerated {
            usual if *usual == ToleratedErrors::default() => {}
            ToleratedErrors::All => self.put("mysql-ignore-errors", "all"),
            ToleratedErrors::Codes(codes) => {
                let codes: Vec<_> = codes.iter().map(u16::to_string).collect();
                self.put("mysql-ignore-errors", codes.join(","));
            }
        }
        self.switch("reconnect-on-loss", plan.reconnect, false);
        if let Some(every) = plan.reconnect_every {
            self.put("reconnect", every);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_model::{
        Address, Endpoint, LOAD_OPTIONS, LoadOption, LoadOptionKind, OrderEntryWorkload, Secret,
        Tls, WorkloadName, WorkloadShares,
    };
    use weir_mysql::ClientConfig;
    use weir_workload::Workload;

    use super::*;
    use crate::parse;

    /// Returns an endpoint where no server is.
    fn nowhere() -> Endpoint {
        Endpoint {
            address: Address::Socket("/nowhere".into()),
            user: "weir".to_owned(),
            password: Secret::new(""),
            database: "sbtest".to_owned(),
            tls: Tls::default(),
        }
    }

    /// The plan that the words of `plan` make, with the server of `plan`.
    fn read_back(plan: &LoadPlan) -> LoadPlan {
        let parsed = parse(&words(plan), &ClientConfig::default());
        LoadPlan {
            endpoint: plan.endpoint.clone(),
            ..parsed.unwrap().plan
        }
    }

    fn assert_reads_back(plan: &LoadPlan) {
        let (wanted, found) = (format!("{plan:?}"), format!("{:?}", read_back(plan)));
        assert_eq!(wanted, found, "{}", command_line(plan));
    }

    fn shares() -> impl Strategy<Value = WorkloadShares> {
        let names = prop::sample::subsequence(WorkloadName::ALL.to_vec(), 1..4);
        let mixed = (names, 1_u32..99).prop_map(|(names, weight)| {
            let names = names
                .iter()
                .filter(|name| **name != WorkloadName::BulkInsert);
            let words: Vec<_> = names.map(|name| format!("{name}:{weight}")).collect();
            let mixed = words.join(",").parse::<WorkloadShares>().ok()?;
            // One workload alone has no weight.
            mixed.to_string().parse().ok()
        });
        mixed.prop_map(|mixed| mixed.unwrap_or(WorkloadName::OltpInsert.into()))
    }

    fn distribution() -> impl Strategy<Value = Distribution> {
        prop_oneof![
            Just(Distribution::Uniform),
            (1_u32..50).prop_map(|iterations| Distribution::Gaussian { iterations }),
            (1_u32..50, 0_u32..100, 0_u32..100).prop_map(|(iterations, rows, keys)| {
                Distribution::Special {
                    iterations,
                    hot_rows_percent: rows,
                    hot_keys_percent: keys,
                }
            }),
            (0.01..0.99).prop_map(|h| Distribution::Pareto { h }),
            (0.01..3.0).prop_map(|exponent| Distribution::Zipfian { exponent }),
        ]
    }

    fn time(most_us: u64) -> impl Strategy<Value = Duration> {
        (0..most_us).prop_map(Duration::from_micros)
    }

    /// A value of an option of a load; the table says which there are.
    fn value(kind: LoadOptionKind) -> BoxedStrategy<String> {
        let length = || time(90_000_000).prop_map(weir_model::Duration);
        match kind {
            LoadOptionKind::Time => length().prop_map(|time| time.to_string()).boxed(),
            LoadOptionKind::Count => (0_u32..999).prop_map(|count| count.to_string()).boxed(),
            LoadOptionKind::Word(words) => {
                prop::sample::select(words).prop_map(str::to_owned).boxed()
            }
            LoadOptionKind::Rate => (0.001..1e6_f64).prop_map(|rate| rate.to_string()).boxed(),
            LoadOptionKind::Label => Just("zone=b".to_owned()).boxed(),
            LoadOptionKind::Ramp => (0.0..1e4, 0.001..1e6, length())
                .prop_map(|(from, to, length)| format!("{from}..{to}:{length}"))
                .boxed(),
        }
    }

    /// A load with a value for each option that goes with those before it.
    fn load() -> impl Strategy<Value = LoadSpec> {
        // `--tls` has files, and `--profile` is one: a study's profile is kept in its result.
        let by_value = |option: &&LoadOption| !["tls", "profile"].contains(&option.name);
        let options = LOAD_OPTIONS.iter().filter(by_value);
        let given: Vec<_> = options
            .map(|option| (Just(option), prop::option::of(value(option.kind))))
            .collect();
        given.prop_map(|given| {
            let mut load = LoadSpec::default();
            for (option, value) in given {
                if let Some(value) = value {
                    let _ = option.set(&mut load, &value);
                }
            }
            load
        })
    }

    fn mix() -> impl Strategy<Value = Mix> {
        let counts = prop::array::uniform13(0_u32..9);
        let switches = any::<[bool; 2]>();
        (counts, switches).prop_map(|(n, [range_selects, skip_transactions])| Mix {
            range_size: 1 + n[0],
            point_selects: n[1],
            simple_ranges: n[2],
            sum_ranges: n[3],
            order_ranges: n[4],
            distinct_ranges: n[5],
            range_selects,
            index_updates: n[6],
            non_index_updates: n[7],
            delete_inserts: n[8],
            text_selects: n[9],
            text_updates: n[10],
            skip_transactions,
            random_points: 1 + n[11],
            random_ranges: 1 + n[12],
            random_range_delta: n[0],
        })
    }

    prop_compose! {
        fn plan()(
            shares in shares(),
            mix in mix(),
            distribution in distribution(),
            (tables, rows, connections, reactors) in (1_u32..99, 1_u64..1_000_000, 1_u32..99, 1_u32..9),
            (warmup, measure) in (time(9_000_000), prop::option::of(time(9_000_000))),
            load in load(),
            (seed, max_events, reconnect_every) in (
                1_u64.., prop::option::of(1_u64..), prop::option::of(1_u64..)),
            tolerated in prop_oneof![
                Just(ToleratedErrors::All), Just(ToleratedErrors::default()),
                prop::collection::vec(any::<u16>(), 0..4).prop_map(ToleratedErrors::Codes)],
            [auto_increment, prepared_statements, reconnect, has_text] in any::<[bool; 4]>(),
            (interval_s, checkpoint_s, init_timeout_s) in (1_u64..9, 0_u64..9, 1_u64..99),
        ) -> LoadPlan {
        LoadPlan {
            tables, rows, reactors, seed, max_events, tolerated, auto_increment, prepared_statements,
            reconnect, reconnect_every,
            load: LoadSpec {
                connections,
                warmup: warmup.into(),
                // Nothing is measured for no time: without a limit there is none.
                measure: measure.unwrap_or_default().into(),
                ..load
            },
            interval: Duration::from_secs(interval_s),
            checkpoints: (checkpoint_s > 0).then(|| Duration::from_secs(checkpoint_s)).into_iter().collect(),
            init_timeout: Duration::from_secs(init_timeout_s),
            ..LoadPlan::new(nowhere(), SysbenchWorkload {
                shares, mix, distribution,
                text_file: has_text.then(|| "a book's text.txt".into()),
            })
        }
        }
    }

    proptest! {
        #[test]
        fn a_plan_is_what_its_command_line_makes(plan in plan()) {
            assert_reads_back(&plan);
        }
    }

    #[test]
    fn a_file_and_bulk_inserts_are_read_back_too() {
        let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/shop.toml");
        let tables = LoadPlan::new(nowhere(), Workload::read(shop).unwrap());
        assert_reads_back(&tables);
        let bulk = LoadPlan {
            tables: 3,
            load: LoadSpec {
                connections: 3,
                ..LoadSpec::default()
            },
            ..LoadPlan::new(nowhere(), WorkloadName::BulkInsert)
        };
        assert_reads_back(&bulk);
    }

    #[test]
    fn order_entry_is_read_back_with_its_options() {
        let options = OrderEntryWorkload {
            warehouses: 7,
            foreign_keys: true,
            fixed_warehouses: true,
            ..OrderEntryWorkload::default()
        };
        let plan = LoadPlan::new(nowhere(), options);
        assert_reads_back(&plan);
        let line = command_line(&plan);
        assert!(
            line.contains("order_entry ") && line.contains("--warehouses=7"),
            "{line}"
        );
    }

    #[test]
    fn a_measurement_of_a_part_of_a_second_is_a_command_that_runs() {
        let without_begin = SysbenchWorkload {
            mix: Mix {
                skip_transactions: true,
                ..Mix::default()
            },
            ..WorkloadName::OltpReadOnly.into()
        };
        let plan = LoadPlan {
            load: LoadSpec {
                measure: Duration::from_millis(200).into(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(nowhere(), without_begin)
        };
        let line = command_line(&plan);
        assert!(line.contains(" --time=0.2 "), "{line}");
        assert_reads_back(&plan);
    }
}
