//! An event's connections: its own, and one that looks at it and ends its statement.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use weir_model::{EventKind, TimelineEvent};
use weir_mysql::{ClientError, Connection, Connector, Patience, identifier};
use weir_server::literal;

/// Event of each connection of a run's events.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(Arc<Mutex<BTreeMap<u64, String>>>);

impl Names {
    fn note(&self, connection: u32, event: &str) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(u64::from(connection), event.to_owned());
    }

    pub(super) fn name(&self, connection: u64) -> Option<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&connection).cloned()
    }
}

/// Both connections of an event.
pub(super) struct Connections {
    pub(super) own: Connection,
    pub(super) watcher: Connection,
    /// Variables of its session, as the server says them.
    pub(super) session: BTreeMap<String, String>,
    pub(super) names: Names,
    connector: Arc<Connector>,
    patience: Patience,
}

impl Connections {
    /// Opens them, and sets what the event's session needs.
    pub(super) fn open(
        connector: &Arc<Connector>,
        patience: Patience,
        event: &TimelineEvent,
        names: &Names,
    ) -> Result<Self, ClientError> {
        let open = || Connection::connect(connector, true, patience);
        let mut own = open()?;
        let session = set_session(&mut own, event)?;
        names.note(own.id(), &event.name);
        Ok(Self {
            own,
            watcher: open()?,
            session,
            names: names.clone(),
            connector: Arc::clone(connector),
            patience,
        })
    }

    /// Opens them again if another event has ended the server since.
    pub(super) fn renew(&mut self, event: &TimelineEvent) -> Result<(), ClientError> {
        if self.own.ping().is_ok() && self.watcher.ping().is_ok() {
            return Ok(());
        }
        *self = Self::open(&self.connector, self.patience, event, &self.names)?;
        Ok(())
    }
}

/// Sets the variables of an event's session; what the server says of them then.
fn set_session(
    connection: &mut Connection,
    event: &TimelineEvent,
) -> Result<BTreeMap<String, String>, ClientError> {
    let (EventKind::Statement(statement) | EventKind::Ddl(statement)) = &event.kind else {
        return Ok(BTreeMap::new());
    };
    let mut said = BTreeMap::new();
    for (name, value) in &statement.session {
        let variable = identifier(name);
        connection.run(format!("SET SESSION {variable} = {}", literal(value)))?;
        let value = connection.first::<Option<String>>(format!("SELECT @@SESSION.{variable}"))?;
        said.insert(name.clone(), value.flatten().unwrap_or_default());
    }
    Ok(said)
}
