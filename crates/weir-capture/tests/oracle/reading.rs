//! Sessions of a capture, as a replay would follow them.

use std::collections::BTreeMap;
use std::path::Path;

use weir_capture::{CaptureReader, Command, CommandEnd, Happening, Login};

use crate::truth::Place;

/// A statement of a capture.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapturedStatement {
    pub(crate) place: Place,
    pub(crate) text: Vec<u8>,
    pub(crate) is_unusable: bool,
    pub(crate) ended: CommandEnd,
    /// When it began, microseconds since 1970.
    pub(crate) began_us: i64,
}

#[derive(Debug, Default)]
struct SessionReader {
    place: Place,
    statements: Vec<CapturedStatement>,
    /// The last command was a statement, whose end comes next.
    is_statement: bool,
}

impl SessionReader {
    fn moved(&mut self, login: &Login) {
        self.place = Place {
            user: Some(login.user.clone()),
            schema: Some(login.schema.clone()),
        };
    }

    fn take(&mut self, at_us: i64, happening: Happening) {
        match happening {
            Happening::Opened(login) => self.moved(&login),
            Happening::Closed => {}
            Happening::Ended(ended) => {
                if let Some(last) = self.statements.last_mut().filter(|_| self.is_statement) {
                    last.ended = ended;
                }
            }
            Happening::Started(started) => {
                self.is_statement = started.command == Command::Query;
                let text = started.text();
                match (started.command, started.login) {
                    (_, Some(login)) => self.moved(&login),
                    (Command::UseSchema, _) => {
                        self.place.schema = Some(String::from_utf8(text).unwrap());
                    }
                    (Command::Query, _) => {
                        let used = text.strip_prefix(b"USE ");
                        let used = used.map(|name| String::from_utf8_lossy(name).into_owned());
                        self.statements.push(CapturedStatement {
                            place: self.place.clone(),
                            text,
                            is_unusable: started.is_unusable,
                            ended: CommandEnd::default(),
                            began_us: at_us,
                        });
                        self.place.schema = used.or(self.place.schema.take());
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The statements of each session.
pub(crate) fn sessions(capture: &Path) -> Vec<Vec<CapturedStatement>> {
    let mut reader = CaptureReader::open(capture).unwrap();
    let began_us = reader.head().began_unix_us;
    let mut sessions: BTreeMap<u32, SessionReader> = BTreeMap::new();
    while let Some(record) = reader.next_record().unwrap() {
        let session = sessions.entry(record.session).or_default();
        session.take(began_us + record.at_us.cast_signed(), record.happening);
    }
    sessions
        .into_values()
        .map(|session| session.statements)
        .collect()
}
