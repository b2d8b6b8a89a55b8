//! Figures that no drive can have are refused with their key.

use super::{DriveProfile, ProfileError};

/// Key, value, whether it is possible, and what it must be.
pub(super) type Check = (&'static str, f64, bool, &'static str);

impl DriveProfile {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        let checks = self.timing_checks().into_iter();
        for (key, value, possible, why) in checks.chain(self.section_checks()) {
            if !value.is_finite() || !possible {
                return Err(ProfileError::Value {
                    name: self.name.clone(),
                    key,
                    value,
                    why,
                });
            }
        }
        Ok(())
    }

    fn timing_checks(&self) -> Vec<Check> {
        let (read, write) = (&self.read, &self.write);
        let positive = [
            ("read.latency_us", read.latency_us),
            ("read.iops_max", read.iops_max),
            ("read.bandwidth_mb_per_s", read.bandwidth_mb_per_s),
            ("write.latency_us", write.latency_us),
            ("write.iops_max", write.iops_max),
            ("write.bandwidth_mb_per_s", write.bandwidth_mb_per_s),
            // Left out, it is no limit.
            (
                "write.iops_max_random",
                write.iops_max_random.unwrap_or(1.0),
            ),
            ("flush.latency_us", self.flush.latency_us),
            ("capacity", self.capacity.0 as f64),
        ];
        let positive =
            positive.map(|(key, value)| (key, value, value > 0.0, "must be a number above 0"));
        let factor = write.amplification_random;
        let mut checks = positive.to_vec();
        checks.push((
            "write.amplification_random",
            factor,
            factor >= 1.0,
            "must be at least 1",
        ));
        checks.extend(ascending("read.percentiles_us", &read.percentiles_us));
        checks.extend(ascending("write.percentiles_us", &write.percentiles_us));
        checks.extend(ascending(
            "flush.percentiles_us",
            &self.flush.percentiles_us,
        ));
        checks
    }

    fn section_checks(&self) -> Vec<Check> {
        let mut checks = self.atomicity.checks().to_vec();
        if let Some(cost) = &self.block_cost {
            checks.extend(cost.checks());
        }
        if let Some(flash) = &self.flash {
            checks.extend(flash.checks(self.write.amplification_random));
        }
        if let Some(nand) = &self.nand {
            checks.extend(nand.checks());
        }
        if let Some(slc) = &self.slc {
            checks.extend(slc.checks());
        }
        if let Some(endurance) = &self.endurance {
            checks.extend(endurance.checks());
        }
        if let Some(disks) = &self.disks {
            checks.extend(disks.checks());
        }
        if let Some(throttle) = &self.throttle {
            let keys = ["throttle.iops.base", "throttle.iops.per_gib"];
            checks.extend(throttle.iops.checks(keys));
            let keys = ["throttle.mb_per_s.base", "throttle.mb_per_s.per_gib"];
            checks.extend(throttle.mb_per_s.checks(keys));
        }
        if let Some(cache) = &self.cache {
            checks.extend(cache.checks());
        }
        checks.extend(self.provisioning_checks());
        checks
    }

    fn provisioning_checks(&self) -> Vec<Check> {
        let Some(provisioning) = &self.provisioning else {
            return Vec::new();
        };
        let logical = provisioning.logical_capacity;
        let (warning, critical) = (provisioning.warning_above, provisioning.critical_above);
        vec![
            (
                "provisioning.logical_capacity",
                logical.0 as f64,
                logical >= self.capacity && self.compression != super::Compression::None,
                "must be at least the capacity, on a drive that compresses",
            ),
            (
                "provisioning.warning_above",
                warning,
                warning > 0.0 && warning <= critical && critical <= 1.0,
                "must be a share above 0, and at most provisioning.critical_above, which is at most 1",
            ),
        ]
    }
}

fn ascending(key: &'static str, percentiles_us: &[(f64, f64)]) -> Vec<Check> {
    let before = std::iter::once(&(0.0, 0.0)).chain(percentiles_us);
    let possible = |(&(percent, latency_us), before): (&(f64, f64), &(f64, f64))| {
        let ascends = percent > before.0 && percent < 100.0 && latency_us > before.1;
        let why = "percentiles and their latencies must ascend and stay below 100 %";
        (key, percent, ascends, why)
    };
    percentiles_us.iter().zip(before).map(possible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(sections: &str) -> Result<DriveProfile, String> {
        let text = format!(
            "title = \"T\"\ncapacity = \"1G\"\nflush = {{ latency_us = 20 }}
             read = {{ latency_us = 90, iops_max = 20_000, bandwidth_mb_per_s = 500 }}
             [write]\nlatency_us = 20\niops_max = 20_000\nbandwidth_mb_per_s = 400
             buffer = \"1M\"\ncache = \"volatile\"\n{sections}"
        );
        DriveProfile::parse("t", &text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_section_that_is_left_out_is_not_written_either() {
        let profile = parse("").unwrap();
        assert!(profile.flash.is_none() && profile.write.amplification_random <= 1.0);
        let json = serde_json::to_string(&profile).unwrap();
        assert!(
            !json.contains("flash") && !json.contains("percentiles"),
            "{json}"
        );
    }

    #[test]
    fn impossible_media_are_refused_with_their_key() {
        let refused = [
            ("[flash]\nover_provisioning = 0", "flash.over_provisioning"),
            ("[flash]\nover_provisioning = 0.1\nfill = 2", "flash.fill"),
            (
                "amplification_random = 3\n[flash]\nover_provisioning = 0.1",
                "write.amplification_random",
            ),
            (
                "[disks]\ncount = 3\nmirrored = true\nseek_us = 1\nrotation_us = 1",
                "disks.count",
            ),
            ("[atomicity]\nunit = 1000", "atomicity.unit"),
            ("[block_cost]\nsaving_min = 1", "block_cost.saving_min"),
            (
                "[slc]\ncapacity = 1\ncapacity_when_full = 2\nbandwidth_mb_per_s = 1\nfold_mb_per_s = 1",
                "slc.capacity_when_full",
            ),
            (
                "[provisioning]\nlogical_capacity = \"2G\"\nwarning_above = 0.8\ncritical_above = 0.9",
                "provisioning.logical_capacity",
            ),
            (
                "[cache]\ndrive = \"d\"\ncapacity = \"1K\"\nwrites = \"back\"",
                "cache.capacity",
            ),
            (
                "[throttle]\niops = { base = 0 }\nmb_per_s = { base = 1 }",
                "throttle.iops.base",
            ),
        ];
        for (section, key) in refused {
            let error = parse(section).unwrap_err();
            assert!(error.contains(key), "{error}");
        }
        assert!(parse("[flash]\nover_provisioning = 0.1").is_ok());
    }
}
