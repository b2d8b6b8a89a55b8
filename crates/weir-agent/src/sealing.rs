//! Passwords on the bus: sealed for one agent (X25519), never in a stream.

use nkeys::XKey;
use weir_model::Secret;

use crate::error::AgentError;
use crate::messages::SealedPassword;

/// Seals a password for the agent of this name and key, with a key that is thrown away.
pub(crate) fn seal(
    password: &Secret,
    agent: &str,
    recipient: &str,
) -> Result<SealedPassword, AgentError> {
    let failed = |error: nkeys::error::Error| AgentError::Message {
        agent: agent.to_owned(),
        why: format!("its key is none ({error})"),
    };
    let key = XKey::new();
    let recipient = XKey::from_public_key(recipient).map_err(failed)?;
    let bytes = key.seal(password.reveal().as_bytes(), &recipient);
    Ok(SealedPassword {
        bytes: bytes.map_err(failed)?,
        sealed_by: key.public_key(),
    })
}
