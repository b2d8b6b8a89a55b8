//! Declarations that a study is judged by: published claims, negative controls and prices, as the
//! user writes them.

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_model::{Bound, Claim, NegativeControl};

use crate::setting::Setting;

/// `[[claims]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimSection {
    source: String,
    says: String,
    value: PublishedValue,
    #[serde(default)]
    untestable: Option<String>,
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
            value: self.value.number,
            bound: self.value.bound,
            untestable: self.untestable.clone(),
            factor: self.factor.clone(),
            level: self.level.as_ref().map(Setting::text),
            baseline: self.baseline.as_ref().map(Setting::text),
            metric: self.metric.clone(),
            at: texts(&self.at),
        }
    }
}

/// `1.48`, `"> 1"` or `"< 1"`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Setting")]
struct PublishedValue {
    number: f64,
    bound: Bound,
}

impl TryFrom<Setting> for PublishedValue {
    type Error = String;

    fn try_from(setting: Setting) -> Result<Self, String> {
        let text = setting.text();
        let (bound, number) = if let Some(rest) = text.strip_prefix('>') {
            (Bound::Above, rest)
        } else if let Some(rest) = text.strip_prefix('<') {
            (Bound::Below, rest)
        } else {
            (Bound::Equal, text.as_str())
        };
        match number.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(Self { number, bound }),
            _ => Err(format!(
                "claimed value `{text}` is not a ratio above 0; write `1.48`, `\"> 1\"` or `\"< 1\"`"
            )),
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

/// Settings as option files have them.
pub(crate) fn texts(settings: &BTreeMap<String, Setting>) -> BTreeMap<String, String> {
    let text = |(name, setting): (&String, &Setting)| (name.clone(), setting.text());
    settings.iter().map(text).collect()
}
