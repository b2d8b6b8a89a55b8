//! Permissions of a gate, in the three ways that commands are given more than reading.

use weir_model::Endpoint;
use weir_mysql::{Connection, Connector, Gate, Passage, Patience, Permissions};

/// A gate of this test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing may be changed.
    Reading,
    /// Tables of the schema `shop` may be changed.
    Schema,
    /// The global variable `max_connect_errors` may be set.
    Variable,
}

impl Role {
    pub(crate) const ALL: [Self; 3] = [Self::Reading, Self::Schema, Self::Variable];

    fn gate(self) -> Gate {
        let permissions = Permissions {
            writes_replicas: true,
            ..Permissions::default()
        };
        match self {
            Self::Reading => Gate::reading(),
            Self::Schema => Gate::new(Permissions {
                schema: Some("shop".to_owned()),
                ..permissions
            }),
            Self::Variable => Gate::new(Permissions {
                variables: ["max_connect_errors".to_owned()].into(),
                ..permissions
            }),
        }
    }
}

/// The gates of all roles, which have greeted one server.
#[derive(Debug)]
pub(crate) struct Gates {
    endpoint: Endpoint,
    gates: Vec<Gate>,
}

impl Gates {
    pub(crate) fn new(endpoint: &Endpoint) -> Self {
        let gates: Vec<_> = Role::ALL.map(Role::gate).into();
        for gate in &gates {
            let connector = Connector::new(endpoint.clone(), None, gate.clone()).unwrap();
            Connection::connect(&connector, false, Patience::Endless).unwrap();
        }
        Self {
            endpoint: endpoint.clone(),
            gates,
        }
    }

    /// The gate of this role lets a statement pass.
    pub(crate) fn passes(&self, role: Role, sql: &str) -> bool {
        let passage = self.gates[role as usize].admit(&self.endpoint.address, sql);
        passage.is_ok_and(|passage| passage == Passage::Sent)
    }
}
