//! Changes of an instance's state: a snapshot taken, a snapshot restored, other settings.

use std::collections::BTreeMap;
use std::fs;

use weir_model::{ServerVariables, set_options};
use weir_process::PathError;

use super::{InstanceInfo, InstanceState, Instances};
use crate::data_directory::write_settings;
use crate::{ServerError, SnapshotInfo, SnapshotKey, Snapshots, check_variables, known_variables};

/// Number of the way in which instances are kept.
const FORMAT: u32 = 1;

impl Instances {
    /// Keeps the data of an instance as the snapshot called `label`; a running one is stopped for
    /// it and started again.
    ///
    /// # Errors
    ///
    /// No instance of this name, a label that is taken, or a server that does not start again.
    pub fn take_snapshot(
        &self,
        name: &str,
        snapshots: &Snapshots,
        label: &str,
    ) -> Result<SnapshotInfo, ServerError> {
        let instance = self.instance(name)?;
        let variables = ServerVariables::written(instance.flavor, &instance.variables);
        let key = SnapshotKey {
            flavor: instance.flavor,
            version: instance.version,
            workload: label.to_owned(),
            tables: 0,
            rows: 0,
            seed: 0,
            page_bytes: variables.page_size().0 as u32,
            format: FORMAT,
            made_by: Vec::new(),
        };
        if snapshots.find(&key).is_some() {
            return Err(ServerError::SnapshotExists { name: key.name() });
        }
        self.while_stopped(name, |this| {
            let data = this.folder(name).data();
            write_settings(&data, &instance.variables)?;
            snapshots.store(&key, &data)
        })?;
        snapshots.named(&key.name())
    }

    /// Brings an instance's data back to a snapshot; a running one is stopped for it and started
    /// again. If that fails, it keeps the data that it had.
    ///
    /// # Errors
    ///
    /// No such instance or snapshot, or a server that does not start.
    pub fn restore(
        &self,
        name: &str,
        snapshots: &Snapshots,
        key: &SnapshotKey,
    ) -> Result<InstanceInfo, ServerError> {
        let mut instance = self.instance(name)?;
        self.while_stopped(name, |this| {
            let folder = this.folder(name);
            let (data, before) = (folder.data(), folder.storage().join("data-before"));
            fs::rename(&data, &before).map_err(PathError::on("move", &data))?;
            let restored = snapshots.restore(key, &data);
            if let Err(error) = restored {
                let _ = fs::remove_dir_all(&data);
                fs::rename(&before, &data).map_err(PathError::on("move", &before))?;
                return Err(error);
            }
            instance.snapshot = Some(key.name());
            instance.write(folder.path())?;
            Ok(fs::remove_dir_all(&before).map_err(PathError::on("remove", &before))?)
        })?;
        self.info(name)
    }

    /// Gives an instance other variables; a running one is started again with them. If it does not
    /// start, it gets its former ones back.
    ///
    /// # Errors
    ///
    /// No instance of this name, a variable that the server does not know, or a server that does not start.
    pub fn set_variables(
        &self,
        name: &str,
        changed: &BTreeMap<String, String>,
    ) -> Result<InstanceInfo, ServerError> {
        let before = self.instance(name)?;
        let binary = before.binary()?;
        let changed = crate::translate(binary.flavor, binary.version, changed)?;
        let names: Vec<_> = changed.keys().map(String::as_str).collect();
        check_variables(&known_variables(&binary)?, &names)?;
        let mut after = before.clone();
        set_options(&mut after.variables, changed);
        let folder = self.folder(name);
        let started = self.while_stopped(name, |_| Ok(after.write(folder.path())?));
        if let Err(error) = started {
            before.write(folder.path())?;
            let _ = self.start(name);
            return Err(error);
        }
        self.info(name)
    }

    /// Does `work` on a stopped instance, which runs again afterwards if it ran before, also when
    /// `work` failed.
    ///
    /// # Errors
    ///
    /// No instance of this name, the error of `work`, or a server that does not start again.
    pub fn while_stopped<T>(
        &self,
        name: &str,
        work: impl FnOnce(&Self) -> Result<T, ServerError>,
    ) -> Result<T, ServerError> {
        let runs = matches!(self.info(name)?.state, InstanceState::Running { .. });
        self.stop(name, false)?;
        let done = {
            let _lock = self.folder(name).lock()?;
            work(self)
        };
        if runs {
            let started = self.start(name);
            return done.and_then(|value| started.map(|_| value));
        }
        done
    }
}
