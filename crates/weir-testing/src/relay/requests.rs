//! The requests of a MySQL client, as a proxy reads them that knows the protocol.

use super::Fault;

/// `COM_QUERY`.
const QUERY: u8 = 0x03;
/// `COM_STMT_PREPARE`.
const PREPARE: u8 = 0x16;
const HEADER_BYTES: usize = 4;
/// `ER_UNKNOWN_COM_ERROR`.
const UNKNOWN_COMMAND: u16 = 1047;

/// Bytes of a client that are no whole packet yet.
#[derive(Debug, Default)]
pub(super) struct Requests(Vec<u8>);

impl Requests {
    /// Takes what the client says: what is passed on, and the answers to requests that `fault` refuses, which
    /// are not.
    pub(super) fn without_refused(&mut self, fault: Fault, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        self.0.extend_from_slice(bytes);
        let (mut passed, mut answers) = (Vec::new(), Vec::new());
        while let Some(packet) = self.next() {
            // Only a request has the number 0; what a client sends at its login has others.
            let request = packet.get(HEADER_BYTES..).unwrap_or_default();
            match refused(fault, request).filter(|_| packet[3] == 0) {
                Some(code) => answers.extend(refusal(code)),
                None => passed.extend(packet),
            }
        }
        (passed, answers)
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        let header = self.0.get(..HEADER_BYTES)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let whole = HEADER_BYTES + length;
        (self.0.len() >= whole).then(|| self.0.drain(..whole).collect())
    }
}

/// The error code by which a fault answers a request.
fn refused(fault: Fault, request: &[u8]) -> Option<u16> {
    match (fault, request) {
        (Fault::RefusePrepares, [PREPARE, ..]) => Some(UNKNOWN_COMMAND),
        (Fault::RefuseFiles(code), [QUERY, sql @ ..]) if sql.starts_with(b"LOAD DATA") => {
            Some(code)
        }
        _ => None,
    }
}

fn refusal(code: u16) -> Vec<u8> {
    let mut payload = vec![0xFF];
    payload.extend(code.to_le_bytes());
    payload.extend(b"#08S01Unknown command");
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[1], &payload].concat()
}
