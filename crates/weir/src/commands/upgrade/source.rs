//! The data of today's server as a snapshot, from whatever the user has.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use weir_model::Bytes;
use weir_process::short_name;
use weir_server::{
    Instance, Instances, ServerBinary, SnapshotInfo, Snapshots, UpgradeWay, cache_directory,
    space_occupied, state_directory,
};

use crate::commands::server::backup;

/// Data that the user names.
pub(in crate::commands) struct Source<'a> {
    from: &'a ServerBinary,
    snapshots: Snapshots,
    instances: Instances,
    kind: Kind,
    /// Bytes of the data; of a dump they are known when it is loaded, and these are its own.
    pub(super) size: Bytes,
}

enum Kind {
    Snapshot(SnapshotInfo),
    Instance(String),
    /// A backup's folder or a dump. The same has the same label of its snapshot, so that it is loaded once.
    Backup {
        path: PathBuf,
        label: String,
    },
}

impl<'a> Source<'a> {
    /// Finds a snapshot, a private server, a backup's folder or a dump.
    pub(in crate::commands) fn find(data: &str, from: &'a ServerBinary) -> anyhow::Result<Self> {
        let snapshots = Snapshots::open(&cache_directory())?;
        let instances = Instances::open()?;
        let path = Path::new(data);
        let (kind, size) = if let Ok(known) = snapshots.named(data) {
            let size = known.size;
            (Kind::Snapshot(known), size)
        } else if let Ok(info) = instances.info(data) {
            (Kind::Instance(info.instance.name), info.size)
        } else if path.exists() {
            of_backup(path, from, &snapshots)
                .with_context(|| format!("cannot read the backup `{data}`"))?
        } else {
            bail!(
                "no data `{data}`: it is no snapshot, private server, folder or dump; `weir server snapshot list` and \
                 `weir server list` show the first two"
            );
        };
        Ok(Self {
            from,
            snapshots,
            instances,
            kind,
            size,
        })
    }

    /// Tells the way of an upgrade to the server `to`, and returns the number of snapshots that it adds.
    pub(super) fn snapshots_to_make(&self, to: &ServerBinary) -> anyhow::Result<u64> {
        let made_by = match &self.kind {
            Kind::Snapshot(SnapshotInfo { key, .. }) => (key.flavor, key.version),
            _ => (self.from.flavor, self.from.version),
        };
        let way = UpgradeWay::find(made_by, to)?;
        let steps: Vec<_> = way.iter().flat_map(UpgradeWay::words).collect();
        if let Some(way) = &way {
            let why = way.obstacle().map(|why| format!("; not in place: {why}"));
            eprintln!("way: {}{}", steps.join(", "), why.unwrap_or_default());
        }
        let Kind::Snapshot(SnapshotInfo { key, .. }) = &self.kind else {
            return Ok(1 + u64::from(way.is_some()));
        };
        let upgraded = key.after(to.flavor, to.version, steps);
        Ok(u64::from(self.snapshots.find(&upgraded).is_none()))
    }

    /// Returns the size in words.
    pub(super) fn size_in_words(&self) -> String {
        match &self.kind {
            Kind::Backup { path, .. } if path.is_file() => format!("at least {}", self.size),
            _ => self.size.to_string(),
        }
    }

    /// Returns the folder of the private server that loads a backup, which ends when the snapshot is taken.
    pub(super) fn loaded_in(&self) -> Option<PathBuf> {
        matches!(self.kind, Kind::Backup { .. }).then(state_directory)
    }

    /// Finds or takes the snapshot. Returns its name.
    pub(in crate::commands) fn snapshot(self) -> anyhow::Result<String> {
        let taken = match self.kind {
            Kind::Snapshot(known) => known,
            Kind::Instance(name) => {
                let label = format!("{name}-{}", jiff::Zoned::now().strftime("%Y%m%d-%H%M%S"));
                self.instances
                    .take_snapshot(&name, &self.snapshots, &label)?
            }
            Kind::Backup { path, label } => {
                let (from, instances) = (self.from, &self.instances);
                eprintln!(
                    "data: the backup is copied and started with {} {}",
                    from.flavor, from.version
                );
                let name = format!("backup-{}", std::process::id());
                let instance = Instance::new(name.clone(), from).for_this_process();
                backup::open(&path)?.create(instances, from, &instance)?;
                let taken = instances.take_snapshot(&name, &self.snapshots, &label);
                instances.stop(&name, true)?;
                instances.remove(&name)?;
                taken?
            }
        };
        Ok(taken.name)
    }
}

/// A backup, or the snapshot that is there of it.
fn of_backup(
    path: &Path,
    from: &ServerBinary,
    snapshots: &Snapshots,
) -> anyhow::Result<(Kind, Bytes)> {
    let whole = path.canonicalize()?;
    let facts = whole.metadata()?;
    let written = facts.modified()?;
    let stem = whole.file_stem().unwrap_or_default().to_string_lossy();
    let made_of = format!(
        "{} {written:?} {} {}",
        whole.display(),
        from.flavor,
        from.version
    );
    let label = format!("{stem}-{}", short_name(made_of.as_bytes()));
    if let Ok(known) = snapshots.named(&label) {
        eprintln!("data: the snapshot `{label}` of this backup is there already");
        let size = known.size;
        return Ok((Kind::Snapshot(known), size));
    }
    let size = if facts.is_dir() {
        space_occupied(&whole)?
    } else {
        Bytes(facts.len())
    };
    let path = path.to_owned();
    Ok((Kind::Backup { path, label }, size))
}
