//! Reading statements of a look: counted, and told where the server refuses one.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_model::{Endpoint, Flavor, ServerVersion};
use weir_mysql::{FromRow, Gate};

use super::finding::Unseen;
use crate::{ServerError, Session};

const ACTION: &str = "look at the server";
/// A server that stalls answers late, and a look is for stalls.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connection that only reads.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) endpoint: Endpoint,
    pub(super) gate: Gate,
    pub(super) flavor: Flavor,
    pub(super) version: ServerVersion,
    session: Session,
    grants: Vec<String>,
    /// Statements that were sent.
    pub(super) statements: u64,
    /// Parts that could not be seen.
    pub(super) unseen: Vec<Unseen>,
}

impl Reader {
    pub(super) fn open(
        endpoint: &Endpoint,
        gate: &Gate,
        (flavor, version): (Flavor, ServerVersion),
    ) -> Result<Self, ServerError> {
        let mut reader = Self {
            endpoint: endpoint.clone(),
            gate: gate.clone(),
            flavor,
            version,
            session: Session::open_patient(endpoint, gate, PATIENCE)?,
            grants: Vec::new(),
            statements: 0,
            unseen: Vec::new(),
        };
        // Before a window begins: the digests have no mark of it.
        reader.grants = reader.rows("SHOW GRANTS")?;
        Ok(reader)
    }

    /// All rows of a query.
    pub(super) fn rows<T: FromRow>(&mut self, query: &str) -> Result<Vec<T>, ServerError> {
        self.statements += 1;
        self.session.rows(ACTION, query)
    }

    /// All rows of a query, by column names.
    pub(super) fn named_rows(
        &mut self,
        query: &str,
    ) -> Result<Vec<BTreeMap<String, String>>, ServerError> {
        self.statements += 1;
        self.session.named_rows(ACTION, query)
    }

    /// Names and values of a query with two columns.
    pub(super) fn pairs(&mut self, query: &str) -> Result<BTreeMap<String, String>, ServerError> {
        let rows: Vec<(String, Option<Vec<u8>>)> = self.rows(query)?;
        let text = |value: Option<Vec<u8>>| {
            String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
        };
        Ok(rows
            .into_iter()
            .map(|(name, value)| (name, text(value)))
            .collect())
    }

    /// Returns true if the account has a privilege on all schemas. A role's privileges are not seen.
    pub(super) fn is_granted(&self, privilege: &str) -> bool {
        self.grants.iter().any(|grant| {
            let of_all = grant.split_once(" ON *.* ");
            of_all.is_some_and(|(privileges, _)| {
                privileges.contains("ALL PRIVILEGES") || privileges.contains(privilege)
            })
        })
    }

    /// The version with which the server greets.
    pub(super) fn greeting(&self) -> String {
        self.session.greeting().to_owned()
    }

    /// The answer, or a note on what is not seen without it. A connection that is lost ends the look.
    pub(super) fn if_permitted<T>(
        &mut self,
        what: &str,
        remedy: &str,
        answer: Result<T, ServerError>,
    ) -> Result<Option<T>, ServerError> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(ServerError::Query { source, .. }) if !source.is_lost() => {
                self.note(what, source.words(), remedy);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes a part that only `performance_schema` shows, where it is off.
    pub(super) fn note_schema_off(&mut self, what: &str) {
        self.note(
            what,
            "performance_schema = OFF",
            "performance_schema = ON in the option file, and a restart",
        );
    }

    /// Notes a part that cannot be seen, together with others of the same reason.
    pub(super) fn note(&mut self, what: &str, why: impl Into<String>, remedy: &str) {
        let why = why.into();
        let same = |known: &&mut Unseen| known.why == why && known.remedy == remedy;
        match self.unseen.iter_mut().find(same) {
            Some(known) if known.what.split(", ").any(|known| known == what) => {}
            Some(known) => known.what = format!("{}, {what}", known.what),
            None => self.unseen.push(Unseen {
                what: what.to_owned(),
                why,
                remedy: remedy.to_owned(),
            }),
        }
    }

    /// True for `MySQL` from this version on.
    pub(super) fn is_mysql_from(&self, version: (u32, u32, u32)) -> bool {
        let (major, minor, patch) = version;
        self.flavor == Flavor::Mysql && self.version >= ServerVersion::new(major, minor, patch)
    }
}
