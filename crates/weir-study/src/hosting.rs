//! Features that a run lacks whose server is on the host of an agent.

use std::path::Path;

use weir_model::{DataSource, EventKind, Node, RunSpec, WorkloadSpec};
use weir_workload::Workload;

/// Returns the reason that the server of `spec` cannot be on another host, with the remedy; `None`:
/// it can.
pub fn refused_on_agent(spec: &RunSpec) -> Option<&'static str> {
    let node = spec.primary();
    if !spec.topology.replicas().is_empty() {
        return Some("a server on another host has no replicas yet; leave out replicas");
    }
    if !spec.timeline.iter().all(|event| is_of_load(&event.kind)) {
        return Some(
            "a server on another host has events of the kinds mark, statement, hold, rate, and ddl without copy or \
             tool; leave out the others",
        );
    }
    if spec.load.replay.is_some() {
        return Some("a capture is not sent to a server on another host yet; leave out replay");
    }
    if matches!(spec.workload, WorkloadSpec::Lua(_)) {
        return Some("scripts run on this host only; name another workload");
    }
    if reads_lines(&spec.workload) {
        return Some("the text file is on this host; name a workload without one");
    }
    if matches!(spec.data.source, DataSource::Snapshot { .. }) {
        return Some(
            "snapshots by name are on this host; name a workload, whose tables the agent makes",
        );
    }
    if !spec.data.before.is_empty() {
        return Some("data on another host are not changed before the run yet; leave out before");
    }
    if node.server.binary.is_some() {
        return Some(
            "a program's path is of this host; name a flavour or a version, such as `mysql 8.4`",
        );
    }
    if is_file(node) {
        return Some("a drive profile's file is on this host; name a drive of `weir drive list`");
    }
    None
}

/// Returns true if an event needs no more than the rights of the load's account.
fn is_of_load(event: &EventKind) -> bool {
    match event {
        EventKind::Mark | EventKind::Rate { .. } | EventKind::Hold { .. } => true,
        EventKind::Statement(statement) | EventKind::Ddl(statement) => {
            statement.copy.is_none() && statement.tool.is_none()
        }
        EventKind::Set { .. }
        | EventKind::Kill { .. }
        | EventKind::Failover { .. }
        | EventKind::Restart { .. }
        | EventKind::Drive { .. }
        | EventKind::Pool { .. } => false,
    }
}

fn reads_lines(workload: &WorkloadSpec) -> bool {
    let takes_book = || Workload::try_from(workload).is_ok_and(|named| named.book().is_some());
    workload.has_text() || takes_book()
}

/// Returns true if its drive is given by the path of a profile.
fn is_file(node: &Node) -> bool {
    let drive = node.drive.as_ref();
    drive.is_some_and(|drive| {
        drive.profile.contains('/')
            || Path::new(&drive.profile).extension() == Some("toml".as_ref())
    })
}
