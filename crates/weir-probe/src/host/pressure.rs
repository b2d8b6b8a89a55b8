//! Pressure stall information: for how long tasks waited for cores, block devices and memory
//! (kernel, `Documentation/accounting/psi.rst`).

use weir_model::{Metric, metrics};

use crate::probe_parts::Part;
use crate::proc_file::ProcFile;
use crate::{ProbeError, Readings};

/// A file of /proc/pressure and what its lines `some` and `full` say. All tasks waiting for a core
/// has no meaning on a whole host, so that line is always zero and left out.
struct Resource {
    path: &'static str,
    some: Metric,
    full: Option<Metric>,
}

const RESOURCES: [Resource; 3] = [
    Resource {
        path: "/proc/pressure/cpu",
        some: metrics::HOST_PRESSURE_CPU_SOME,
        full: None,
    },
    Resource {
        path: "/proc/pressure/io",
        some: metrics::HOST_PRESSURE_IO_SOME,
        full: Some(metrics::HOST_PRESSURE_IO_FULL),
    },
    Resource {
        path: "/proc/pressure/memory",
        some: metrics::HOST_PRESSURE_MEMORY_SOME,
        full: Some(metrics::HOST_PRESSURE_MEMORY_FULL),
    },
];

/// Pressure of all three resources.
#[derive(Debug)]
pub(super) struct Pressure([ProcFile; 3]);

impl Default for Pressure {
    fn default() -> Self {
        Self(RESOURCES.map(|resource| ProcFile::new(resource.path)))
    }
}

impl Part<()> for Pressure {
    fn name(&self) -> &'static str {
        "/proc/pressure"
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        for (file, resource) in self.0.iter_mut().zip(&RESOURCES) {
            let text = file.read()?;
            let some = total_s(text, "some").ok_or_else(ProcFile::lacks(resource.path, "total"))?;
            readings.add(resource.some, some);
            if let (Some(metric), Some(full)) = (resource.full, total_s(text, "full")) {
                readings.add(metric, full);
            }
        }
        Ok(())
    }
}

/// `label avg10=0.00 avg60=0.00 avg300=0.00 total=123`, microseconds.
fn total_s(text: &str, label: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(label))?;
    let (_, total) = line.split_once("total=")?;
    Some(total.trim().parse::<f64>().ok()? / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_seconds() {
        let text = "some avg10=1.52 avg60=5.52 avg300=3.18 total=971433371\n\
                    full avg10=1.12 avg60=4.21 avg300=2.30 total=267178114\n";
        assert_eq!(total_s(text, "some"), Some(971.433_371));
        assert_eq!(total_s(text, "full"), Some(267.178_114));
        assert_eq!(total_s("some avg10=1.5\n", "some"), None);
    }
}
