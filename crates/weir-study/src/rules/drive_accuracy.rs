//! The emulated drives kept their model's time: else their latencies are not the drives'.

use weir_model::{Finding, StudyResult};

use super::error;

pub(super) fn check(result: &StudyResult) -> Option<Finding> {
    let drives = result
        .runs
        .iter()
        .filter_map(|run| Some((run, run.drive.as_ref()?)));
    let (run, worst) = drives.max_by(|a, b| a.1.late_share.total_cmp(&b.1.late_share))?;
    (!worst.is_on_time()).then(|| {
        let message = format!(
            "the emulated drive was late: in the worst run ({}) {:.1} % of the operations completed \
             more than 10 us and 5 % after their time, 99 % within {:.0} us; the host is too slow or \
             too busy for this drive, so use a smaller scale, a slower drive or a calmer host",
            result.plan.cells[run.record.cell].label(),
            worst.late_share * 100.0,
            worst.lateness_us_p99
        );
        error("drive", message)
    })
}
