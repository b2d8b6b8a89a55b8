//! Makes the connections of a run, several at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use weir_model::Address;

use crate::LoadError;
use crate::codec::{HandshakeError, Login, Session};
use crate::control::no_answer;
use crate::driver::{Blocking, Fresh, MysqlDriver, Statements};
use crate::plan::LoadPlan;
use crate::workload::{Script, seeded};

/// Connections that are set up at the same time. More would only queue in the server.
const PARALLEL_MAX: usize = 8;
/// The server's word that a statement exists as text only (`ER_UNSUPPORTED_PS`).
const UNSUPPORTED_AS_PREPARED: u16 = 1295;

/// Connects and prepares; one driver per connection, in the order of their numbers.
pub(crate) fn connect_all(
    plan: &LoadPlan,
    script: &Script,
    stop: &AtomicBool,
) -> Result<Vec<MysqlDriver>, LoadError> {
    let numbers: Vec<u32> = (0..plan.connections).collect();
    let share = numbers.len().div_ceil(PARALLEL_MAX);
    // One connection goes first: a wrong password is then one failed login, and with
    // caching_sha2_password the others find the cache filled.
    let first = connect(plan, script, numbers[0])?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = numbers[1..]
            .chunks(share)
            .map(|chunk| scope.spawn(move || connect_chunk(plan, script, chunk, stop)))
            .collect();
        let mut drivers = vec![first];
        for worker in workers {
            let part = worker
                .join()
                .expect("invariant: a worker that connects does not panic");
            drivers.extend(part?);
        }
        Ok(drivers)
    })
}

fn connect_chunk(
    plan: &LoadPlan,
    script: &Script,
    numbers: &[u32],
    stop: &AtomicBool,
) -> Result<Vec<MysqlDriver>, LoadError> {
    let mut drivers = Vec::with_capacity(numbers.len());
    for number in numbers {
        if stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted("connecting"));
        }
        drivers.push(connect(plan, script, *number)?);
    }
    Ok(drivers)
}

fn connect(plan: &LoadPlan, script: &Script, number: u32) -> Result<MysqlDriver, LoadError> {
    let fresh = open(plan, script)?;
    let rng = seeded(plan.seed, u64::from(number));
    Ok(MysqlDriver::new(number, fresh, script.slots, rng))
}

/// Connects, logs in and prepares.
pub(crate) fn open(plan: &LoadPlan, script: &Script) -> Result<Fresh, LoadError> {
    let endpoint = &plan.endpoint;
    let failed = |error: HandshakeError| failed(plan, &error);
    let stream = Blocking::connect(&endpoint.address, plan.setup_timeout)
        .map_err(|error| failed(error.into()))?;
    let login = Login {
        user: &endpoint.user,
        password: endpoint.password.reveal(),
        database: &endpoint.database,
        is_local: matches!(endpoint.address, Address::Socket(_)),
    };
    let mut session = Session::login(stream, login).map_err(failed)?;
    let statements = Statements::prepare(script, |sql, parameters| {
        prepare(&mut session, plan, sql, parameters)
    })?;
    let (stream, eof_deprecated) = session.into_parts().map_err(failed)?;
    let transport = stream
        .into_transport()
        .map_err(|error| failed(error.into()))?;
    Ok(Fresh {
        transport,
        eof_deprecated,
        statements,
    })
}

fn prepare(
    session: &mut Session<Blocking>,
    plan: &LoadPlan,
    sql: &str,
    parameters: usize,
) -> Result<Option<u32>, LoadError> {
    match session.prepare(sql) {
        Ok(statement) if usize::from(statement.parameters) == parameters => Ok(Some(statement.id)),
        Ok(statement) => Err(LoadError::Protocol {
            address: plan.endpoint.address.to_string(),
            why: format!(
                "`{sql}` was prepared with {} parameters",
                statement.parameters
            ),
        }),
        Err(HandshakeError::Refused(error))
            if parameters == 0 && error.code == UNSUPPORTED_AS_PREPARED =>
        {
            Ok(None)
        }
        Err(HandshakeError::Refused(error)) => Err(LoadError::Statement {
            address: plan.endpoint.address.to_string(),
            statement: sql.to_owned(),
            code: error.code,
            message: error.message,
        }),
        Err(error) => Err(failed(plan, &error)),
    }
}

fn failed(plan: &LoadPlan, error: &HandshakeError) -> LoadError {
    let address = plan.endpoint.address.to_string();
    match error {
        HandshakeError::Malformed(malformed) => LoadError::Protocol {
            address,
            why: malformed.to_string(),
        },
        HandshakeError::Stream(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            ) =>
        {
            LoadError::Connect {
                address,
                why: no_answer(plan.setup_timeout),
            }
        }
        error => LoadError::Connect {
            address,
            why: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests;
