//! The emulated drives kept their model's time.

use weir_model::{Finding, StudyResult};

use super::warning;

/// Largest share of operations that may complete late (more than 10 us and 5 %).
const LATE_SHARE_MAX: f64 = 0.01;

pub(super) fn check(result: &StudyResult) -> Option<Finding> {
    let drives = result
        .runs
        .iter()
        .filter_map(|run| Some((run, run.drive.as_ref()?)));
    let (run, worst) = drives.max_by(|a, b| a.1.late_share.total_cmp(&b.1.late_share))?;
    (worst.late_share > LATE_SHARE_MAX).then(|| {
        let message = format!(
            "the emulated drive was late: in the worst run ({}) {:.1} % of the operations completed \
             more than 5 % after their time, 99 % within {:.0} us; the host is too slow or too busy \
             for this drive, so take latencies with care or use a smaller scale",
            result.plan.cells[run.record.cell].label(),
            worst.late_share * 100.0,
            worst.lateness_us_p99
        );
        warning("drive", message)
    })
}
