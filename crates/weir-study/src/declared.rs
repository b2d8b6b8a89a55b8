//! What a study declares to be judged by: published claims, negative controls and prices, as the
//! user writes them.

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_model::{Claim, NegativeControl};

use crate::file::Setting;

/// `[[claims]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimSection {
    source: String,
    says: String,
    value: f64,
    #[serde(default)]
    factor: Option<String>,
    #[serde(default)]
    level: Option<Setting>,
    #[serde(default)]
    baseline: Option<Setting>,
    #[serde(default)]
    metric: Option<String>,
    #[serde(default, rename = "where")]
    at: BTreeMap<String, Setting>,
}

impl ClaimSection {
    pub(crate) fn resolve(&self) -> Claim {
        Claim {
            source: self.source.clone(),
            says: self.says.clone(),
            value: self.value,
            factor: self.factor.clone(),
            level: self.level.as_ref().map(Setting::text),
            baseline: self.baseline.as_ref().map(Setting::text),
            metric: self.metric.clone(),
            at: texts(&self.at),
        }
    }
}

/// `[[negative_controls]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NegativeControlSection {
    factor: String,
    #[serde(default, rename = "where")]
    at: BTreeMap<String, Setting>,
}

impl NegativeControlSection {
    pub(crate) fn resolve(&self) -> NegativeControl {
        NegativeControl {
            factor: self.factor.clone(),
            at: texts(&self.at),
        }
    }
}

fn texts(settings: &BTreeMap<String, Setting>) -> BTreeMap<String, String> {
    let text = |(name, setting): (&String, &Setting)| (name.clone(), setting.text());
    settings.iter().map(text).collect()
}
