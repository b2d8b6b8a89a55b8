//! Swapping and page faults: `/proc/vmstat` (`proc_vmstat(5)`).

use weir_model::metrics;

use crate::probe_parts::Part;
use crate::proc_file::ProcFile;
use crate::{ProbeError, Readings};

const VMSTAT: &str = "/proc/vmstat";

/// Swapping and page faults.
#[derive(Debug)]
pub(super) struct VmStat(ProcFile);

impl Default for VmStat {
    fn default() -> Self {
        Self(ProcFile::new(VMSTAT))
    }
}

impl Part<()> for VmStat {
    fn name(&self) -> &'static str {
        VMSTAT
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        let page_bytes = rustix::param::page_size() as f64;
        parse(self.0.read()?, page_bytes, readings);
        Ok(())
    }
}

fn parse(vmstat: &str, page_bytes: f64, readings: &mut Readings) {
    for line in vmstat.lines() {
        let Some((name, value)) = line.split_once(' ') else {
            continue;
        };
        let (metric, factor) = match name {
            "pswpin" => (metrics::HOST_SWAP_IN, page_bytes),
            "pswpout" => (metrics::HOST_SWAP_OUT, page_bytes),
            "pgmajfault" => (metrics::HOST_MAJOR_FAULTS, 1.0),
            _ => continue,
        };
        if let Ok(value) = value.parse::<f64>() {
            readings.add(metric, value * factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_pages_are_bytes() {
        let mut readings = Readings::default();
        let text = "pgpgin 9\npswpin 3\npswpout 4\npgfault 88\npgmajfault 5\n";
        parse(text, 4096.0, &mut readings);
        assert_eq!(readings.value(metrics::HOST_SWAP_IN), Some(12_288.0));
        assert_eq!(readings.value(metrics::HOST_SWAP_OUT), Some(16_384.0));
        assert_eq!(readings.value(metrics::HOST_MAJOR_FAULTS), Some(5.0));
    }
}
