//! A new instance that follows another, and one that takes its place.

use std::time::Duration;

use super::{DataSource, Instance, InstanceInfo, InstanceState, Instances};
use weir_model::variables::DOUBLEWRITE;
use weir_model::{Replication, option_variable, set_options};

use crate::replication::{Promotion, Role, attach, promote};
use crate::{ServerError, free_port};

/// Time limit for a replica to apply the changes that it has received.
const APPLY_LIMIT: Duration = Duration::from_mins(10);

impl Instances {
    /// Makes the replica called `name` a primary, when it has applied all that it has received. Its old primary must
    /// not run: both would take writes.
    ///
    /// # Errors
    ///
    /// An instance that is no replica or does not run, a primary that runs, and what the server says.
    pub fn promote(&self, name: &str) -> Result<Promotion, ServerError> {
        let mut instance = self.instance(name)?;
        let refused = |why: String, remedy: String| ServerError::NotPromoted {
            name: name.to_owned(),
            why,
            remedy,
        };
        let Some(primary) = &instance.replica_of else {
            let why = "it follows no server".to_owned();
            return Err(refused(why, "name a replica".to_owned()));
        };
        let runs = |name: &str| {
            let info = self.info(name);
            info.is_ok_and(|info| matches!(info.state, InstanceState::Running { .. }))
        };
        if runs(primary) {
            let why = format!("its primary `{primary}` runs");
            return Err(refused(
                why,
                format!("end it with `weir server down {primary}`"),
            ));
        }
        if !runs(name) {
            let why = "it does not run".to_owned();
            return Err(refused(
                why,
                format!("start it with `weir server up {name}`"),
            ));
        }
        let folder = self.folder(name);
        let _lock = folder.lock()?;
        let promotion = promote(&instance.binary()?, &self.endpoint(name)?, APPLY_LIMIT)?;
        instance.role = instance
            .role
            .map(|(_, replication)| (Role::Primary, replication));
        instance.replica_of = None;
        instance.write(folder.path())?;
        Ok(promotion)
    }

    /// Makes `replica` a replica of the instance called `primary`, which is stopped while its data
    /// are copied, and listens on a port of the loopback from then on. The replica inherits the
    /// primary's variables, and its doublewrite buffer whatever else it is given.
    ///
    /// # Errors
    ///
    /// No such primary, a name that is taken, or a server that does not start or follow.
    pub fn create_replica(
        &self,
        primary: &str,
        mut replica: Instance,
        replication: Replication,
    ) -> Result<InstanceInfo, ServerError> {
        super::record::check_name(&replica.name)?;
        let mut source = self.instance(primary)?;
        let binary = source.binary()?;
        let followers = self.list()?;
        let followers = followers
            .iter()
            .filter(|info| info.instance.replica_of.as_deref() == Some(primary));
        let number = followers.count() as u32 + 1;

        let before = source.clone();
        source.role = match source.role {
            // A replica that is followed itself has all that it needs.
            part @ Some((Role::Replica(_), _) | (_, Replication::SemiSync)) => part,
            _ => Some((Role::Primary, replication)),
        };
        source.port = source.port.or(Some(free_port()?));
        let own = std::mem::take(&mut replica.variables);
        replica.variables.clone_from(&before.variables);
        set_options(&mut replica.variables, own);
        let is_doublewrite = |name: &String| option_variable(name) == DOUBLEWRITE;
        replica.variables.retain(|name, _| !is_doublewrite(name));
        let inherited = before.variables.iter();
        let inherited = inherited.filter(|(name, _)| is_doublewrite(name));
        replica
            .variables
            .extend(inherited.map(|(name, value)| (name.clone(), value.clone())));
        replica.role = Some((Role::Replica(number), replication));
        replica.replica_of = Some(primary.to_owned());

        self.while_stopped(primary, |this| {
            source.write(this.folder(primary).path())?;
            let made = this.create(&binary, &replica, &DataSource::Instance(primary));
            if made.is_err() {
                before.write(this.folder(primary).path())?;
            }
            made
        })?;
        let port = source.port.unwrap_or_default();
        let attached = self
            .endpoint(primary)
            .and_then(|primary| attach(&binary, &primary, port, &self.endpoint(&replica.name)?));
        if let Err(error) = attached {
            self.stop(&replica.name, true)?;
            self.remove(&replica.name)?;
            return Err(error);
        }
        self.info(&replica.name)
    }
}
