//! A new instance that follows another.

use super::{DataSource, Instance, InstanceInfo, Instances};
use weir_model::variables::DOUBLEWRITE;
use weir_model::{Replication, option_variable, set_options};

use crate::replication::{Role, attach};
use crate::{ServerError, free_port};

impl Instances {
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
