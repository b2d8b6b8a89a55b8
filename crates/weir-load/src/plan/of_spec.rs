//! Plan of the load engine from a run's description.

use weir_model::{DataSource, Endpoint, EventKind, RunSpec};

use super::{LoadPlan, PreparePlan, reactors_for};
use weir_workload::Workload;

impl LoadPlan {
    /// The load of a run in one of its repetitions, on the server at `endpoint`; with the least of its
    /// warm-up. An error says what is wrong with the workload's file.
    ///
    /// # Errors
    ///
    /// The error of the workload's file, in words.
    pub fn of_spec(spec: &RunSpec, repetition: u32, endpoint: Endpoint) -> Result<Self, String> {
        let load = &spec.load;
        let mut plan = Self::new(endpoint, Workload::try_from(&spec.workload)?);
        let tls = &mut plan.endpoint.tls.mode;
        *tls = load.tls.max(*tls);
        if let DataSource::Sysbench { tables, rows } = spec.data.source {
            (plan.tables, plan.rows) = (tables, rows);
        }
        plan.reactors = reactors_for(load.connections);
        plan.load = load.clone();
        plan.seed = spec.seed_of(repetition);
        let events = || spec.timeline.iter();
        plan.short_intervals = !spec.timeline.is_empty();
        plan.reconnect = events().any(|event| event.kind.ends_server());
        let changes = events().filter_map(|event| match event.kind {
            EventKind::Rate { rate } => Some((event.at.0, rate)),
            _ => None,
        });
        plan.rate_changes = changes.collect();
        plan.rate_changes.sort_by_key(|(at, _)| *at);
        Ok(plan)
    }
}

impl PreparePlan {
    /// The tables of a run, on the server at `endpoint`. An error says what is wrong with the workload's
    /// file.
    ///
    /// # Errors
    ///
    /// The error of the workload's file, in words.
    pub fn of_spec(spec: &RunSpec, endpoint: Endpoint) -> Result<Self, String> {
        let mut plan = Self::new(endpoint, Workload::try_from(&spec.workload)?);
        // Rows are the same whichever of them are asked for.
        if let DataSource::Sysbench { tables, rows } = spec.data.source {
            (plan.tables.tables, plan.tables.rows) = (tables, rows);
            plan.tables
                .table_options
                .clone_from(&spec.data.table_options);
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use weir_model::{
        FileWorkload, Mix, Pace, ProtocolCompression, RateRamp, SysbenchWorkload, ThinkKind,
        ThinkTime, TlsMode, Warmup, WorkloadName, WorkloadSpec,
    };

    use super::*;
    use crate::testing::nowhere;

    fn seconds(seconds: u64) -> weir_model::Duration {
        weir_model::Duration::from_secs(seconds)
    }

    fn planned(change: impl FnOnce(&mut RunSpec)) -> LoadPlan {
        let mut spec = RunSpec::default();
        change(&mut spec);
        LoadPlan::of_spec(&spec, 2, nowhere()).unwrap()
    }

    #[test]
    fn a_default_run_is_a_default_load() {
        let usual = LoadPlan {
            seed: 2,
            ..LoadPlan::new(nowhere(), WorkloadName::OltpReadWrite)
        };
        assert_eq!(format!("{:?}", planned(|_| ())), format!("{usual:?}"));
    }

    #[test]
    fn every_setting_of_a_load_reaches_the_engine() {
        let think = ThinkTime {
            mean: seconds(1),
            kind: ThinkKind::Exponential,
        };
        let plan = planned(|spec| {
            spec.load.pace = think.into();
            spec.load.connections = 9;
            spec.load.warmup = Warmup::UntilSteady {
                at_least: seconds(3),
                at_most: seconds(9),
            };
            spec.load.connection_ramp = seconds(4);
            spec.load.idle_connections = 7;
            spec.load.compression = ProtocolCompression::Zstd;
            spec.load.tls = TlsMode::Required;
        });
        assert_eq!((plan.load.pace, plan.load.connections), (think.into(), 9));
        assert_eq!(plan.load.warmup.least().0, Duration::from_secs(3));
        assert_eq!(plan.load.connection_ramp.0, Duration::from_secs(4));
        assert_eq!(plan.load.idle_connections, 7);
        assert_eq!(plan.load.compression, ProtocolCompression::Zstd);
        assert_eq!(plan.endpoint.tls.mode, TlsMode::Required);
        let rate = weir_model::Rate {
            per_s: 100.0,
            arrivals: weir_model::ArrivalKind::Constant,
            ramp: Some(RateRamp {
                from_per_s: 1.0,
                length: seconds(5),
            }),
        };
        let open = planned(|spec| spec.load.pace = Pace::Open(rate));
        assert_eq!(open.load.pace.rate(), Some(rate));
    }

    #[test]
    fn workloads_come_with_their_statements_and_tables() {
        let mix = Mix {
            range_size: 7,
            ..Mix::default()
        };
        let plan = planned(|spec| {
            spec.workload = WorkloadSpec::Sysbench(SysbenchWorkload {
                shares: "oltp_insert:3,oltp_delete:1".parse().unwrap(),
                mix,
                distribution: weir_model::Distribution::Uniform,
                text_file: Some("book.txt".into()),
            });
            spec.data.source = DataSource::Sysbench { tables: 3, rows: 5 };
        });
        assert_eq!(plan.workload.to_string(), "oltp_insert:3,oltp_delete:1");
        assert_eq!((plan.tables, plan.rows), (3, 5));
        let WorkloadSpec::Sysbench(workload) = plan.workload.spec() else {
            panic!("{}", plan.workload);
        };
        assert_eq!(workload.mix, mix);
        assert_eq!(workload.text_file, Some("book.txt".into()));
    }

    #[test]
    fn a_file_is_taken_from_the_description() {
        let shop = include_str!("../../../../workloads/shop.toml");
        let plan = planned(|spec| {
            spec.workload = WorkloadSpec::File(FileWorkload {
                path: "/nowhere/shop.toml".into(),
                text: shop.into(),
                distribution: weir_model::Distribution::Uniform,
            });
        });
        let WorkloadSpec::File(file) = plan.workload.spec() else {
            panic!("{}", plan.workload);
        };
        assert_eq!(&*file.text, shop);
        let sizes = plan.workload.table_sizes();
        assert_eq!(
            (sizes[0].name.as_str(), sizes[0].rows),
            ("customer", 100_000)
        );
        assert!(!plan.workload.only_reads());
    }
}
