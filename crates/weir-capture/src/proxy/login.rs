//! The beginning of a connection: what the server offers, less what could not be read on the way, and who logs in.

use mysql_common::constants::CapabilityFlags;
use weir_mysql::Compression;

use super::packets::Fields;
use crate::Login;

/// Capabilities that a greeting loses: bytes that would pass packed, and results without their columns.
const HIDDEN: [CapabilityFlags; 3] = [
    CapabilityFlags::CLIENT_COMPRESS,
    CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM,
    CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA,
];
/// `MariaDB`'s own: messages of progress within replies, and results without their columns
/// (`MARIADB_CLIENT_PROGRESS`, `MARIADB_CLIENT_CACHE_METADATA`).
const HIDDEN_OF_MARIADB: u32 = 1 | 1 << 4;
/// Bytes of a login before the account's name.
const FIXED_BYTES: usize = 32;
/// The collation stands there, behind the capabilities and the longest packet.
const COLLATION_AT: usize = 8;

/// Who logs in, and what both sides then know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LoginSeen {
    pub(crate) user: String,
    pub(crate) schema: String,
    pub(crate) capabilities: u32,
    pub(crate) collation: u16,
}

impl LoginSeen {
    pub(crate) fn has(&self, flag: CapabilityFlags) -> bool {
        self.capabilities & flag.bits() == flag.bits()
    }

    /// Compression of both sides, with a server of these capabilities.
    pub(crate) fn compression(&self, offered: u32) -> Option<Compression> {
        // A server takes zlib if a client names both.
        [Compression::Zlib, Compression::Zstd]
            .into_iter()
            .find(|one| {
                let flag = one.capability();
                self.has(flag) && offered & flag.bits() != 0
            })
    }

    /// Reads a client's answer to the greeting; `None` if it is none that is read here.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        let capabilities = Fields(payload).number(4)? as u32;
        let mut seen = Self {
            capabilities,
            ..Self::default()
        };
        if !seen.has(CapabilityFlags::CLIENT_PROTOCOL_41) {
            return None;
        }
        let fixed = fields.take(FIXED_BYTES)?;
        seen.collation = u16::from(fixed[COLLATION_AT]);
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        seen.user = words(fields.until_nul()?);
        if seen.has(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            fields.text()?;
        } else if seen.has(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
            let length = fields.number(1)?;
            fields.take(length as usize)?;
        } else {
            fields.until_nul()?;
        }
        if seen.has(CapabilityFlags::CLIENT_CONNECT_WITH_DB) {
            seen.schema = words(fields.until_nul().unwrap_or(fields.0));
        }
        Some(seen)
    }
}

impl From<&LoginSeen> for Login {
    fn from(seen: &LoginSeen) -> Self {
        Self {
            user: seen.user.clone(),
            schema: seen.schema.clone(),
            collation: Some(seen.collation),
        }
    }
}

/// Login that a `COM_CHANGE_USER` asks for, of its payload without the first byte.
pub(super) fn changed_login(body: &[u8]) -> Option<Login> {
    let mut fields = Fields(body);
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let user = words(fields.until_nul()?);
    let secret_bytes = fields.number(1)?;
    fields.take(usize::try_from(secret_bytes).ok()?)?;
    let schema = words(fields.until_nul().unwrap_or(fields.0));
    let collation = fields.number(2).map(|number| number as u16);
    Some(Login {
        user,
        schema,
        collation,
    })
}

/// Returns true if a client's first payload asks for encryption, and says no more.
pub(crate) fn asks_for_tls(payload: &[u8]) -> bool {
    let flags = Fields(payload).number(4).unwrap_or(0) as u32;
    payload.len() == FIXED_BYTES && flags & CapabilityFlags::CLIENT_SSL.bits() != 0
}

/// Capabilities that a greeting's payload offers.
pub(crate) fn capabilities(greeting: &[u8]) -> Option<u32> {
    let start = capabilities_at(greeting)?;
    Some(joined(greeting.get(start..start + 18)?))
}

fn joined(fixed: &[u8]) -> u32 {
    u32::from_le_bytes([fixed[0], fixed[1], fixed[5], fixed[6]])
}

/// Place of a greeting's capabilities: capabilities 2, collation 1, status 2, capabilities 2, length 1, and ten bytes, of
/// which the last four are MariaDB's own capabilities.
fn capabilities_at(greeting: &[u8]) -> Option<usize> {
    let mut fields = Fields(greeting);
    if fields.number(1)? != 10 {
        return None;
    }
    fields.until_nul()?;
    // Connection id 4, nonce 8, filler 1.
    Some(greeting.len() - fields.0.len() + 13)
}

/// Takes from a greeting's payload what could not be read on the way, and with `hides_tls` also the offer to encrypt;
/// the capabilities that are left.
pub(crate) fn hide(greeting: &mut [u8], hides_tls: bool) -> Option<u32> {
    let start = capabilities_at(greeting)?;
    let fixed = greeting.get_mut(start..start + 18)?;
    let mut hidden = HIDDEN.iter().fold(0, |all, flag| all | flag.bits());
    if hides_tls {
        hidden |= CapabilityFlags::CLIENT_SSL.bits();
    }
    let is_mariadb = fixed[0] & 1 == 0;
    for (at, shift) in [(0, 0), (1, 8), (5, 16), (6, 24)] {
        fixed[at] &= !(hidden >> shift) as u8;
    }
    if is_mariadb {
        fixed[14] &= !HIDDEN_OF_MARIADB as u8;
    }
    Some(joined(fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_loses_flags_and_nothing_else() {
        let mut greeting = b"\x0a8.4.0\0".to_vec();
        greeting.extend([0xFF; 13]);
        greeting.extend([0xFF; 18]);
        greeting.extend(b"rest of the nonce\0plugin\0");
        let mut hidden = greeting.clone();
        let left = hide(&mut hidden, true).unwrap();
        assert_eq!(left, !(1 << 5 | 1 << 11 | 1 << 25 | 1 << 26));
        let changed = greeting.iter().zip(&hidden).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 3);
        assert_eq!(hidden[7 + 13] & 0x20, 0);
        assert!(hide(&mut [9, 0], true).is_none());
        assert!(hide(&mut [], true).is_none());
    }

    #[test]
    fn logins_are_read_in_each_of_their_forms() {
        let flags = CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_CONNECT_WITH_DB;
        for (more, data) in [
            (
                CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA,
                &b"\x03abc"[..],
            ),
            (CapabilityFlags::CLIENT_SECURE_CONNECTION, b"\x03abc"),
            (CapabilityFlags::empty(), b"abc\0"),
        ] {
            let mut payload = (flags | more).bits().to_le_bytes().to_vec();
            payload.resize(FIXED_BYTES, 0);
            payload.extend(b"app\0");
            payload.extend(data);
            payload.extend(b"shop\0plugin\0");
            let seen = LoginSeen::read(&payload).unwrap();
            assert_eq!((&*seen.user, &*seen.schema), ("app", "shop"));
            for end in 0..payload.len() {
                let _ = LoginSeen::read(&payload[..end]);
            }
        }
    }
}
