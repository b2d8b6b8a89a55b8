//! What passes between a client and its server, understood: commands and their replies in their order.

use std::collections::VecDeque;

use mysql_common::Value;
use mysql_common::constants::CapabilityFlags;

use super::login::{LoginSeen, hide};
use super::packets::{Cutter, Packet};
use super::parameters::{Prepared, query_text};
use super::replies::{Form, NotUnderstood, ReplyWatch};
use crate::{Command, Ended};

/// How much of a client's packet is kept: the longest statement that a capture keeps, and its first byte.
const CLIENT_BYTES: usize = (16 << 20) + 16;
/// And of a server's: whatever tells how a reply goes on.
const SERVER_BYTES: usize = 64;
/// Longest greeting.
const GREETING_BYTES_MAX: usize = 4 << 10;
/// Commands that a client may have sent without waiting.
const OUTSTANDING_MAX: usize = 100_000;
/// `MariaDB`'s number of the statement that was prepared last.
const LAST_PREPARED: u32 = u32::MAX;

/// What was seen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Seen {
    /// The login was let in.
    Opened { user: String, schema: String },
    /// A command began.
    Asked(OwnedAsked),
    /// The oldest command ended.
    Ended(Ended),
}

/// A command with its own text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnedAsked {
    pub(crate) command: Command,
    pub(crate) text: Option<Vec<u8>>,
    pub(crate) handle: u32,
    pub(crate) values: Vec<Value>,
    /// Parts of it could not be read.
    pub(crate) is_incomplete: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Greeting(Vec<u8>),
    Login,
    Commands,
    /// What passes is not understood any more, or is no conversation: only bytes are passed on.
    Blind,
}

/// A command that waits for its reply.
#[derive(Debug)]
struct Outstanding {
    form: Form,
    is_prepare: bool,
}

/// Watches one connection.
#[derive(Debug)]
pub(crate) struct Watch {
    stage: Stage,
    client: Cutter,
    server: Cutter,
    talk: Talk,
    /// The greeting does not offer encryption.
    hides_tls: bool,
}

#[derive(Debug, Default)]
struct Talk {
    login: LoginSeen,
    is_in: bool,
    prepared: Prepared,
    last_prepared: Option<u32>,
    outstanding: VecDeque<Outstanding>,
    reply: Option<ReplyWatch>,
    seen: Vec<Seen>,
}

impl Watch {
    pub(crate) fn new(hides_tls: bool) -> Self {
        Self {
            stage: Stage::Greeting(Vec::new()),
            client: Cutter::new(CLIENT_BYTES),
            server: Cutter::new(SERVER_BYTES),
            talk: Talk::default(),
            hides_tls,
        }
    }

    /// What was seen since the last call.
    pub(crate) fn take(&mut self) -> Vec<Seen> {
        std::mem::take(&mut self.talk.seen)
    }

    /// Whether what passes is not understood any more.
    pub(crate) fn is_blind(&self) -> bool {
        self.stage == Stage::Blind
    }

    /// What is to be passed on of the server's first bytes; `None`: as they are.
    pub(crate) fn greeting(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Stage::Greeting(held) = &mut self.stage else {
            return None;
        };
        held.extend_from_slice(bytes);
        let length = match held.first_chunk::<4>() {
            Some(&[a, b, c, _]) => usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16,
            None => return Some(Vec::new()),
        };
        if held.len() < length + 4 && length <= GREETING_BYTES_MAX {
            return Some(Vec::new());
        }
        let mut greeting = std::mem::take(held);
        let hides_tls = self.hides_tls;
        let payload = greeting.get_mut(4..4 + length);
        let version = payload.and_then(|payload| hide(payload, hides_tls));
        // An error in place of a greeting is passed on, too.
        self.stage = if version.is_some() {
            Stage::Login
        } else {
            Stage::Blind
        };
        Some(greeting)
    }

    /// Looks at what the client has sent.
    pub(crate) fn client_sent(&mut self, bytes: &[u8]) {
        let talk = &mut self.talk;
        let fed = match self.stage {
            Stage::Greeting(_) | Stage::Blind => return,
            Stage::Login => self.client.feed(bytes, |packet| talk.login_packet(packet)),
            Stage::Commands => self.client.feed(bytes, |packet| talk.command(packet)),
        };
        self.settle(fed);
    }

    /// Looks at what the server has sent, the greeting apart.
    pub(crate) fn server_sent(&mut self, bytes: &[u8]) {
        let talk = &mut self.talk;
        let fed = match self.stage {
            Stage::Greeting(_) | Stage::Blind => return,
            Stage::Login => self.server.feed(bytes, |packet| talk.login_reply(packet)),
            Stage::Commands => self.server.feed(bytes, |packet| talk.reply(packet)),
        };
        if self.stage == Stage::Login && self.talk.is_in {
            self.stage = Stage::Commands;
        }
        self.settle(fed);
    }

    fn settle(&mut self, fed: Result<(), NotUnderstood>) {
        if fed.is_err() {
            self.stage = Stage::Blind;
        }
    }
}

impl Talk {
    fn login_packet(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        if self.login == LoginSeen::default() {
            self.login = LoginSeen::read(packet.payload).ok_or(NotUnderstood)?;
        }
        // What follows are the account's secrets; nothing of it is looked at.
        Ok(())
    }

    fn login_reply(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        match packet.payload.first() {
            Some(0x00) if !self.is_in => {
                self.is_in = true;
                self.seen.push(Seen::Opened {
                    user: self.login.user.clone(),
                    schema: self.login.schema.clone(),
                });
                Ok(())
            }
            // It was refused, and the server closes.
            Some(0xFF) | None => Err(NotUnderstood),
            Some(_) => Ok(()),
        }
    }

    fn command(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        if packet.sequence != 0 {
            // A file that the server wants, or a dialogue.
            return Ok(());
        }
        let (&code, body) = packet.payload.split_first().ok_or(NotUnderstood)?;
        if self.outstanding.len() >= OUTSTANDING_MAX {
            return Err(NotUnderstood);
        }
        match code {
            // COM_QUIT has no reply; the connection closes.
            0x01 => {}
            0x02 => self.ask_text(Command::UseSchema, body, Form::One, packet),
            0x03 => {
                let text = query_text(body, &self.login).ok_or(NotUnderstood)?;
                self.ask_text(Command::Query, text, Form::Results, packet);
            }
            0x16 => self.ask_text(Command::Prepare, body, Form::Prepared, packet),
            0x17 => self.execute(body, packet),
            0x18 => self.prepared.add_piece(body),
            0x19 => self.close(body),
            // COM_STMT_RESET
            0x1A => {
                self.prepared.reset(handle(body));
                self.ask(Command::Other, Form::One);
            }
            // COM_RESET_CONNECTION, COM_CHANGE_USER
            0x1F => {
                self.prepared.forget_all();
                self.ask(Command::Reset, Form::One);
            }
            0x11 => {
                self.prepared.forget_all();
                self.ask(Command::Reset, Form::Dialogue);
            }
            // COM_FIELD_LIST, COM_STMT_FETCH
            0x04 | 0x1C => self.ask(Command::Other, Form::Rows),
            // COM_PROCESS_INFO, MariaDB's bulk execution
            0x0A | 0xFA => self.ask(Command::Other, Form::Results),
            // COM_REFRESH, COM_SHUTDOWN, COM_STATISTICS, COM_PROCESS_KILL, COM_DEBUG, COM_PING, COM_SET_OPTION
            0x07..=0x09 | 0x0C..=0x0E | 0x1B => self.ask(Command::Other, Form::One),
            // A replica, or what is not known here.
            _ => return Err(NotUnderstood),
        }
        Ok(())
    }

    fn ask_text(&mut self, command: Command, text: &[u8], form: Form, packet: Packet<'_>) {
        self.outstanding.push_back(Outstanding {
            form,
            is_prepare: command == Command::Prepare,
        });
        self.seen.push(Seen::Asked(OwnedAsked {
            command,
            text: Some(text.to_vec()),
            handle: 0,
            values: Vec::new(),
            is_incomplete: !packet.is_whole(),
        }));
    }

    fn ask(&mut self, command: Command, form: Form) {
        self.outstanding.push_back(Outstanding {
            form,
            is_prepare: false,
        });
        self.seen.push(Seen::Asked(OwnedAsked {
            command,
            text: None,
            handle: 0,
            values: Vec::new(),
            is_incomplete: false,
        }));
    }

    fn execute(&mut self, body: &[u8], packet: Packet<'_>) {
        let mut named = body.to_vec();
        if handle(body) == LAST_PREPARED
            && let Some(last) = self.last_prepared
        {
            named[..4].copy_from_slice(&last.to_le_bytes());
        }
        let (handle, values) = self.prepared.execution(&named, &self.login);
        self.outstanding.push_back(Outstanding {
            form: Form::Results,
            is_prepare: false,
        });
        self.seen.push(Seen::Asked(OwnedAsked {
            command: Command::Execute,
            text: None,
            handle,
            is_incomplete: values.is_none() || !packet.is_whole(),
            values: values.unwrap_or_default(),
        }));
    }

    fn close(&mut self, body: &[u8]) {
        let handle = handle(body);
        self.prepared.forget(handle);
        self.seen.push(Seen::Asked(OwnedAsked {
            command: Command::Close,
            text: None,
            handle,
            values: Vec::new(),
            is_incomplete: false,
        }));
    }

    fn reply(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        let Some(front) = self.outstanding.front() else {
            // What a server says unasked is its farewell.
            let is_farewell = packet.payload.first() == Some(&0xFF);
            return if is_farewell {
                Ok(())
            } else {
                Err(NotUnderstood)
            };
        };
        let has_eof = !self.login.has(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let reply = self
            .reply
            .get_or_insert_with(|| ReplyWatch::new(front.form, has_eof));
        let Some(ended) = reply.packet(packet)? else {
            return Ok(());
        };
        if front.is_prepare
            && let Some(handle) = ended.handle
        {
            self.prepared.add(handle, reply.parameters);
            self.last_prepared = Some(handle);
        }
        self.outstanding.pop_front();
        self.reply = None;
        self.seen.push(Seen::Ended(ended));
        Ok(())
    }
}

/// The number of a statement at the beginning of a command's body.
fn handle(body: &[u8]) -> u32 {
    body.first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let length = payload.len() as u32;
        let header = [
            length as u8,
            (length >> 8) as u8,
            (length >> 16) as u8,
            sequence,
        ];
        [&header[..], payload].concat()
    }

    fn greeting() -> Vec<u8> {
        let mut payload = b"\x0a9.0.0\0".to_vec();
        payload.extend([0; 13]);
        payload.extend([0xFF; 8]);
        payload.extend([0; 10]);
        payload.extend(b"another nonce\0plugin\0");
        packet(0, &payload)
    }

    fn login() -> Vec<u8> {
        let flags = CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_DEPRECATE_EOF;
        let mut payload = flags.bits().to_le_bytes().to_vec();
        payload.resize(32, 0);
        payload.extend(b"app\0\0");
        packet(1, &payload)
    }

    /// A login, a query with a row, and a prepared statement, in pieces of so many bytes.
    fn dialogue(size: usize) -> Vec<Seen> {
        let mut watch = Watch::new(true);
        for piece in greeting().chunks(size) {
            assert!(watch.greeting(piece).is_some());
        }
        let ok = packet(2, &[0, 0, 0, 2, 0, 0, 0]);
        let rows = [
            packet(1, &[1]),
            packet(2, b"\x03def"),
            packet(3, b"\x01a"),
            packet(4, &[0xFE, 0, 0, 2, 0, 0, 0]),
        ]
        .concat();
        let prepared = [
            packet(1, &[0, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
            packet(2, b"\x03def"),
        ]
        .concat();
        for (asked, answered) in [
            (login(), ok),
            (packet(0, b"\x03SELECT 1"), rows),
            (packet(0, b"\x16SELECT ?"), prepared),
            (packet(0, b"\x19\x07\0\0\0"), Vec::new()),
        ] {
            asked
                .chunks(size)
                .for_each(|piece| watch.client_sent(piece));
            answered
                .chunks(size)
                .for_each(|piece| watch.server_sent(piece));
        }
        assert!(!watch.is_blind());
        watch.take()
    }

    #[test]
    fn a_dialogue_is_understood_wherever_reads_end() {
        let whole = dialogue(usize::MAX);
        assert_eq!(whole.len(), 6, "{whole:?}");
        assert!(matches!(
            &whole[2],
            Seen::Ended(Ended { rows: Some(1), .. })
        ));
        assert!(matches!(
            &whole[4],
            Seen::Ended(Ended {
                handle: Some(7),
                ..
            })
        ));
        for size in 1..40 {
            assert_eq!(dialogue(size), whole, "{size}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            pieces in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..60)), 0..40)
        ) {
            let mut watch = Watch::new(false);
            watch.greeting(&greeting());
            watch.client_sent(&login());
            watch.server_sent(&packet(2, &[0, 0, 0, 2, 0, 0, 0]));
            for (is_client, bytes) in pieces {
                // Whole packets reach deeper than noise.
                let framed = packet(u8::from(!is_client), &bytes);
                if is_client {
                    watch.client_sent(&framed);
                } else {
                    watch.server_sent(&framed);
                }
                watch.take();
            }
        }
    }
}
