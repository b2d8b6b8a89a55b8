//! Consistency of the tables of order entry: the twelve conditions of clause 3.3.2 of the
//! specification.
//!
//! They hold when the tables are loaded and, if the server keeps its promises, after any number of
//! transactions and crashes.

mod conditions;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::LoadError;
use crate::plan::PreparePlan;
use conditions::Condition;
use weir_mysql::{ClientError, Connection, Connector, Gate, Patience};

/// Number of conditions.
pub const CONDITIONS: usize = conditions::ALL.len();

/// The server's word that a table does not exist (`ER_NO_SUCH_TABLE`).
const NO_SUCH_TABLE: u16 = 1146;

/// A condition that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionCheck {
    /// Number in the specification, from 1.
    pub number: usize,
    /// Text of the condition.
    pub says: &'static str,
    /// First place where it does not hold.
    pub broken: Option<Violation>,
}

/// Place where a condition does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rows that do not fit, and their values.
    pub place: String,
}

/// Checks all conditions in one snapshot of the tables, so that also tables under load can be checked.
/// `on_checked` is called after each.
///
/// # Errors
///
/// A table that is missing, no warehouse, a server that refuses or dies, or `stop`, which is looked for between
/// two conditions.
pub fn check_order_entry(
    plan: &PreparePlan,
    gate: &Gate,
    stop: &AtomicBool,
    on_checked: &mut dyn FnMut(&ConditionCheck),
) -> Result<(), LoadError> {
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    let mut control = Connection::connect(&connector, true, Patience::Endless)?;
    let named = |error| named(plan, error);
    control.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let warehouses = control.first::<u64>("SELECT COUNT(*) FROM warehouse");
    if warehouses.map_err(named)? == Some(0) {
        return Err(LoadError::Table {
            table: format!("{}.warehouse", plan.endpoint.database),
            why: "has no warehouse".to_owned(),
        });
    }
    let checked = check_conditions(&mut control, &mut |checked| {
        on_checked(checked);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    match checked.map_err(named)? {
        ControlFlow::Continue(()) => Ok(control.run("ROLLBACK").map(drop)?),
        ControlFlow::Break(()) => Err(LoadError::Interrupted("checking the tables")),
    }
}

/// Checks all conditions in the schema of `connection`. `on_checked` is called after each, and says whether to go on.
///
/// # Errors
///
/// A table that is missing, a server that refuses or dies.
pub fn check_conditions(
    connection: &mut Connection,
    on_checked: &mut dyn FnMut(&ConditionCheck) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, ClientError> {
    for (number, Condition { says, query }) in (1..).zip(&conditions::ALL) {
        let place = connection.first::<String>(*query)?;
        let checked = ConditionCheck {
            number,
            says,
            broken: place.map(|place| Violation { place }),
        };
        if on_checked(&checked).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Says which tables are missing in words of their own.
fn named(plan: &PreparePlan, error: ClientError) -> LoadError {
    match error {
        ClientError::Statement {
            code: NO_SUCH_TABLE,
            message,
            ..
        } => LoadError::Table {
            table: format!("{}.*", plan.endpoint.database),
            why: message.to_lowercase(),
        },
        error => error.into(),
    }
}
