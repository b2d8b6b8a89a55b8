//! The data of today's server as a snapshot, from whatever the user has.

use std::path::Path;

use anyhow::{Context, bail};
use weir_process::short_name;
use weir_server::{Instance, Instances, ServerBinary, Snapshots, cache_directory};

use crate::commands::server::backup;

/// Finds or takes the snapshot of what `data` names: a snapshot, a private server, a backup's folder or a dump. Returns its
/// name.
pub(in crate::commands) fn snapshot(data: &str, from: &ServerBinary) -> anyhow::Result<String> {
    let snapshots = Snapshots::open(&cache_directory())?;
    if let Ok(known) = snapshots.named(data) {
        return Ok(known.name);
    }
    let instances = Instances::open()?;
    if instances.instance(data).is_ok() {
        let label = format!("{data}-{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"));
        return Ok(instances.take_snapshot(data, &snapshots, &label)?.name);
    }
    let path = Path::new(data);
    if !path.exists() {
        bail!(
            "no data `{data}`: it is no snapshot, private server, folder or dump; `weir server snapshot list` and `weir \
             server list` show the first two"
        );
    }
    of_backup(path, from, &instances, &snapshots)
}

/// The backup runs as a private server, which ends when the snapshot is taken. The same backup has the same label, so that it
/// is loaded once.
fn of_backup(
    path: &Path,
    from: &ServerBinary,
    instances: &Instances,
    snapshots: &Snapshots,
) -> anyhow::Result<String> {
    let cannot = || format!("cannot read the backup `{}`", path.display());
    let whole = path.canonicalize().with_context(cannot)?;
    let written = whole
        .metadata()
        .and_then(|facts| facts.modified())
        .with_context(cannot)?;
    let stem = whole
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let made_of = format!(
        "{} {written:?} {} {}",
        whole.display(),
        from.flavor,
        from.version
    );
    let label = format!("{stem}-{}", short_name(made_of.as_bytes()));
    if let Ok(known) = snapshots.named(&label) {
        eprintln!("data: the snapshot `{label}` of this backup is there already");
        return Ok(known.name);
    }
    eprintln!(
        "data: the backup is copied and started with {} {}",
        from.flavor, from.version
    );
    let name = format!("backup-{}", std::process::id());
    let instance = Instance::new(name.clone(), from);
    backup::open(path)?.create(instances, from, &instance)?;
    let taken = instances.take_snapshot(&name, snapshots, &label);
    instances.stop(&name, true)?;
    instances.remove(&name)?;
    Ok(taken?.name)
}
