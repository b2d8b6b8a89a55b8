//! A workload's options, in the load engine's own types.

use weir_load::sysbench::UsageError;
use weir_load::{Distribution, Mix};
use weir_model::{LoadSettings, WorkloadName};
use weir_mysql::ClientConfig;

/// Statements and keys that `load` makes of `workload`. Names, defaults and limits of options are those of `weir load`.
pub fn settings(
    workload: WorkloadName,
    load: &LoadSettings,
) -> Result<(Mix, Distribution), UsageError> {
    let mut words = vec![workload.to_string(), "run".to_owned()];
    words.push(format!("--rand-type={}", load.distribution.as_str()));
    let options = load.options.iter();
    words.extend(options.map(|(name, value)| format!("--{name}={}", value.to_lowercase())));
    let plan = weir_load::sysbench::parse(&words, &ClientConfig::default())?.plan;
    Ok((plan.mix, plan.distribution))
}

#[cfg(test)]
mod tests {
    use weir_model::DistributionName;

    use super::*;

    fn load(options: &[(&str, &str)]) -> LoadSettings {
        let options = options
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        LoadSettings {
            distribution: DistributionName::Zipfian,
            options: options.collect(),
            ..LoadSettings::default()
        }
    }

    #[test]
    fn options_are_those_of_the_load_engine() {
        let options = load(&[
            ("range_size", "7"),
            ("skip_trx", "ON"),
            ("rand_zipfian_exp", "0.5"),
        ]);
        let (mix, distribution) = settings(WorkloadName::OltpReadOnly, &options).unwrap();
        assert_eq!((mix.range_size, mix.skip_transactions), (7, true));
        assert_eq!(distribution, Distribution::Zipfian { exponent: 0.5 });
    }

    #[test]
    fn a_misspelt_option_is_named_with_the_nearest() {
        let error = settings(WorkloadName::OltpReadOnly, &load(&[("range_sise", "7")]));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("range_size"), "{error}");
    }
}
