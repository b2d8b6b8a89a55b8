//! Statements that the test itself sent, and the server's answers.

use std::collections::HashMap;
use std::time::SystemTime;

use weir_testing::{Account, RawClient};

use crate::history::{Action, LOGINS};
use crate::texts::Text;

pub(crate) const PASSWORD: &str = "of-the-test";
const UTF8MB4: u8 = 45;

/// State of a session when it sent a statement; `None`: a log need not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) user: Option<String>,
    pub(crate) schema: Option<String>,
}

/// A statement that was sent.
#[derive(Debug, Clone)]
pub(crate) struct SentStatement {
    pub(crate) place: Place,
    pub(crate) text: Text,
    /// No server could read it.
    pub(crate) is_broken: bool,
    /// The next one stood in the same text.
    pub(crate) is_joined: bool,
    /// It was executed after it had been prepared, by the protocol or by SQL.
    pub(crate) is_prepared: bool,
    /// Rows or the error, and changed rows, if they are this statement's alone.
    pub(crate) reply: Option<(Result<usize, u16>, u64)>,
    /// Between these it began, microseconds since 1970.
    pub(crate) began_us: (i64, i64),
}

/// A connection and all that it sent while there were logs.
pub(crate) struct SessionTruth {
    pub(crate) number: usize,
    client: Option<RawClient>,
    login: usize,
    place: Place,
    pub(crate) sent: Vec<SentStatement>,
    prepared: HashMap<Vec<u8>, u32>,
}

fn now_us() -> i64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    since.as_micros() as i64
}

fn account(login: usize) -> Account<'static> {
    let (user, schema) = LOGINS[login];
    Account {
        user,
        password: PASSWORD,
        schema,
        collation: UTF8MB4,
    }
}

impl SessionTruth {
    pub(crate) fn connect(port: u16, number: usize, login: usize) -> Self {
        let client = RawClient::connect(port, account(login)).unwrap();
        let mut session = Self {
            number,
            client: Some(client),
            login,
            place: Place::default(),
            sent: Vec::new(),
            prepared: HashMap::new(),
        };
        session.moved(login);
        session
    }

    /// Sends a statement that no log has.
    pub(crate) fn set(&mut self, sql: &str) {
        self.client().query(sql.as_bytes()).unwrap();
    }

    fn moved(&mut self, login: usize) {
        self.login = login;
        let (user, schema) = LOGINS[login];
        self.place = Place {
            user: Some(user.to_owned()),
            schema: Some(schema.to_owned()),
        };
    }

    /// The first statement says which session it is.
    pub(crate) fn name(&mut self) {
        let text = Text::plain(&format!("SELECT 'session-{}'", self.number));
        self.text(&text);
    }

    /// Does what a step says.
    pub(crate) fn act(&mut self, action: &Action) {
        match action {
            Action::Text(text) => self.text(text),
            Action::Broken => self.broken(),
            Action::Several(first, second) => self.several(first, second),
            Action::Execute(text) => self.execute(text),
            Action::BySql(text) => self.by_sql(text),
            Action::Schema(schema) => {
                if self.client().use_schema(schema).is_ok() {
                    self.place.schema = Some((*schema).to_owned());
                }
            }
            Action::Use(schema) => {
                self.text(&Text::plain(&format!("USE {schema}")));
                if let Some(used) = self.sent.last_mut() {
                    // Logs that name the schema name it before or after.
                    used.place.schema = None;
                }
                self.place.schema = Some((*schema).to_owned());
            }
            Action::User(login) => {
                self.client().change_user(account(*login)).unwrap();
                self.prepared.clear();
                self.moved(*login);
            }
            Action::Reset => {
                self.client().reset().unwrap();
                self.prepared.clear();
            }
            Action::Ping => {
                self.client().ping().unwrap();
            }
            Action::Quit => self.client.take().unwrap().quit(),
        }
    }

    pub(crate) fn has_quit(&self) -> bool {
        self.client.is_none()
    }

    fn client(&mut self) -> &mut RawClient {
        self.client.as_mut().unwrap()
    }

    /// Notes a statement and how it was answered.
    fn note(&mut self, text: &Text, ask: impl FnOnce(&mut RawClient) -> Result<usize, u16>) {
        let began_us = now_us();
        let rows = ask(self.client.as_mut().unwrap());
        let sent = SentStatement {
            place: self.place.clone(),
            text: text.clone(),
            is_broken: false,
            is_joined: false,
            is_prepared: false,
            reply: Some((rows, self.client().affected)),
            began_us: (began_us, now_us()),
        };
        self.sent.push(sent);
    }

    fn text(&mut self, text: &Text) {
        self.note(text, |client| client.query(&text.sent()));
    }

    fn broken(&mut self) {
        self.text(&Text::plain("SELECT 'it's broken'"));
        if let Some(sent) = self.sent.last_mut() {
            sent.is_broken = true;
        }
    }

    fn several(&mut self, first: &Text, second: &Text) {
        let both = [first.sent(), second.sent()].join(&b';');
        let began_us = now_us();
        let answered = self.client().query(&both).is_ok();
        for (text, is_joined) in [(first, answered), (second, false)] {
            let sent = SentStatement {
                place: self.place.clone(),
                text: text.clone(),
                is_broken: false,
                is_joined,
                is_prepared: false,
                reply: None,
                began_us: (began_us, now_us()),
            };
            self.sent.push(sent);
            // The second is not tried when the first fails.
            if !answered {
                break;
            }
        }
    }

    fn execute(&mut self, text: &Text) {
        let sql = text.sent();
        let handle = match self.prepared.get(&sql) {
            Some(handle) => *handle,
            None => match self.client().prepare(&sql) {
                Ok(handle) => handle,
                // There is no schema.
                Err(_) => return,
            },
        };
        self.prepared.insert(sql, handle);
        self.note(text, |client| client.execute(handle, &text.values()));
        self.was_prepared();
    }

    fn was_prepared(&mut self) {
        if let Some(sent) = self.sent.last_mut() {
            sent.is_prepared = true;
        }
    }

    fn by_sql(&mut self, text: &Text) {
        let escaped = |bytes: &[u8]| {
            let mut all = b"'".to_vec();
            for byte in bytes {
                if matches!(byte, b'\'' | b'\\') {
                    all.push(b'\\');
                }
                all.push(*byte);
            }
            all.push(b'\'');
            all
        };
        let word = |bytes: Vec<u8>| crate::texts::Token::Word(bytes);
        let blank = || crate::texts::Token::Blank(" ");
        let value = escaped(text.values()[0]);
        let set = ["SET", "@v", "="].map(|part| word(part.as_bytes().to_vec()));
        let set = set
            .into_iter()
            .flat_map(|part| [part, blank()])
            .chain([word(value)]);
        self.text(&Text(set.collect()));
        let prepare = [b"PREPARE p FROM ".to_vec(), escaped(&text.sent())].concat();
        self.client().query(&prepare).unwrap();
        self.note(text, |client| client.query(b"EXECUTE p USING @v"));
        self.was_prepared();
        self.client().query(b"DEALLOCATE PREPARE p").unwrap();
    }
}
