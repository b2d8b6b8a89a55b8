//! Comparison of a storage's rules with those that another one was tested with.

use serde::Serialize;
use weir_model::{Atomicity, Bytes};

use crate::device_rules::{CacheRule, DeviceRules};

/// Known rules of a storage in a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KeptRules {
    /// Rule of its write cache; `None`: unknown.
    pub cache: Option<CacheRule>,
    /// Bytes that the cache can hold back; `None`: unknown.
    pub cache_size: Option<Bytes>,
    /// Units that are never torn.
    pub atomicity: Atomicity,
}

impl From<DeviceRules> for KeptRules {
    fn from(rules: DeviceRules) -> Self {
        Self {
            cache: Some(rules.cache),
            cache_size: Some(rules.cache_size),
            atomicity: rules.atomicity,
        }
    }
}

impl CacheRule {
    /// Returns the rank of the rule: the more survives the larger.
    fn rank(self) -> u8 {
        match self {
            Self::Lying => 0,
            Self::Volatile => 1,
            Self::PowerProtected => 2,
        }
    }

    /// In a reader's words.
    pub fn words(self) -> &'static str {
        match self {
            Self::PowerProtected => "power-loss protection",
            Self::Volatile => "a volatile cache",
            Self::Lying => "a cache that a power cut empties whatever was flushed",
        }
    }
}

impl KeptRules {
    /// Returns the rules that a test assumed and that it lacks, one line each; empty: it keeps all
    /// of them.
    pub fn lacks(&self, assumed: &DeviceRules) -> Vec<String> {
        let atomicity = self.lacks_atomicity(&assumed.atomicity);
        atomicity
            .into_iter()
            .chain(self.lacks_cache(assumed))
            .collect()
    }

    fn lacks_atomicity(&self, assumed: &Atomicity) -> Option<String> {
        let kept = &self.atomicity;
        if kept.unit < assumed.unit {
            return Some(format!(
                "the storage promises writes of {} untorn, the test assumed {}",
                kept.unit, assumed.unit
            ));
        }
        if kept.granularity < assumed.granularity {
            return Some(format!(
                "the storage's blocks are {}, the test assumed {}",
                kept.granularity, assumed.granularity
            ));
        }
        // Each place where the storage cuts a write must be one where the tested drive cut it, too.
        let [kept, assumed] = [kept, assumed].map(|of| of.boundary.unwrap_or(of.unit).0);
        let cuts_as_rarely = kept == 0 || assumed > 0 && kept.is_multiple_of(assumed);
        (!cuts_as_rarely).then(|| {
            let every = |bytes: u64| match bytes {
                0 => "nowhere".to_owned(),
                bytes => format!("at multiples of {}", Bytes(bytes)),
            };
            format!(
                "the storage may cut a write {}, the test assumed {}",
                every(kept),
                every(assumed)
            )
        })
    }

    fn lacks_cache(&self, assumed: &DeviceRules) -> Option<String> {
        let wanted = assumed.cache.words();
        let Some(cache) = self.cache else {
            return Some(format!(
                "nothing says what becomes of the storage's write cache, the test assumed {wanted}"
            ));
        };
        if cache.rank() < assumed.cache.rank() {
            let found = cache.words();
            return Some(format!(
                "the storage has {found}, the test assumed {wanted}"
            ));
        }
        // What is safe when it completes cannot be held back.
        if cache == CacheRule::PowerProtected {
            return None;
        }
        let most = assumed.cache_size;
        match self.cache_size {
            Some(size) if size <= most => None,
            Some(size) => Some(format!(
                "the storage's cache holds {size} back, the test assumed {most}"
            )),
            None => Some(format!(
                "nothing says how much the storage's cache holds back, the test assumed {most}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(cache: CacheRule, unit: u64, boundary: Option<u64>) -> DeviceRules {
        DeviceRules {
            cache,
            cache_size: Bytes(1 << 20),
            atomicity: Atomicity {
                unit: Bytes(unit),
                boundary: boundary.map(Bytes),
                ..Atomicity::default()
            },
        }
    }

    fn lacks(kept: DeviceRules, assumed: DeviceRules) -> Vec<String> {
        KeptRules::from(kept).lacks(&assumed)
    }

    #[test]
    fn a_drive_keeps_its_own_rules_and_weaker_ones() {
        use CacheRule::{Lying, PowerProtected, Volatile};
        let own = rules(PowerProtected, 16_384, None);
        assert!(lacks(own, own).is_empty());
        assert!(lacks(own, rules(Volatile, 4096, None)).is_empty());
        assert!(lacks(own, rules(Lying, 512, None)).is_empty());
    }

    #[test]
    fn each_rule_that_is_missing_is_named() {
        use CacheRule::{PowerProtected, Volatile};
        let assumed = rules(PowerProtected, 16_384, None);
        let [unit, cache] = lacks(rules(Volatile, 512, None), assumed)
            .try_into()
            .unwrap();
        assert_eq!(
            unit,
            "the storage promises writes of 512 untorn, the test assumed 16K"
        );
        assert!(cache.contains("volatile cache"), "{cache}");
        let no_boundary = rules(PowerProtected, 16_384, Some(0));
        let [boundary] = lacks(assumed, no_boundary).try_into().unwrap();
        assert!(boundary.contains("at multiples of 16K"), "{boundary}");
        assert!(lacks(no_boundary, assumed).is_empty());
    }

    #[test]
    fn what_nobody_says_is_not_taken_for_granted() {
        let assumed = rules(CacheRule::Volatile, 512, None);
        let unknown = |cache, cache_size| KeptRules {
            cache,
            cache_size,
            ..assumed.into()
        };
        let of = |cache, size| unknown(cache, size).lacks(&assumed);
        assert_eq!(of(None, None).len(), 1);
        assert_eq!(of(Some(CacheRule::Volatile), None).len(), 1);
        assert_eq!(of(Some(CacheRule::Volatile), Some(Bytes(2 << 20))).len(), 1);
        assert!(of(Some(CacheRule::Volatile), Some(Bytes(1 << 20))).is_empty());
        assert!(of(Some(CacheRule::PowerProtected), None).is_empty());
    }
}
