//! A power-cut test that a study quotes, and what it shows.

use serde::{Deserialize, Serialize};

use crate::variables::FLUSH_METHOD;
use crate::{Bytes, DriveProfile, FlushMethod, ServerVariables, ServerVersion};

/// A power-cut test of an emulated drive without doublewrite, made before the study: what `weir crash-test`
/// prints for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrashTest {
    /// The drive.
    pub drive: String,
    /// The server: `mysql 9.7.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Bytes of its pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Bytes>,
    /// Value of `innodb_flush_method`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_method: Option<String>,
    /// The largest write that the drive was taken not to tear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic: Option<Bytes>,
    /// Crash states that were tried.
    pub states: u64,
    /// Of these, the states in which a page was torn or a transaction lost.
    pub lost: u64,
    /// Folder or page where the test can be looked at.
    pub source: String,
}

/// The server and the drive whose pages are in question.
#[derive(Debug, Clone, Copy)]
pub struct PagesInQuestion<'a> {
    /// The emulated drive, with its settings.
    pub drive: &'a DriveProfile,
    /// The server's version, as far as it is known.
    pub version: Option<ServerVersion>,
    /// Known variables of the server.
    pub variables: &'a ServerVariables<'a>,
}

impl CrashTest {
    /// Returns true if it cut the drive `name`: the tested one, or one of its profile with settings that a power cut
    /// does not depend on. An example is `scaleflux-csd2000+flash.fill=0.78`.
    pub fn is_of_drive(&self, name: &str) -> bool {
        let variant = name.strip_prefix(self.drive.as_str());
        let is_alike = |settings: &str| {
            let mut keys = settings.split(['+', ',']).map(str::trim);
            settings.is_empty()
                || settings.starts_with('+')
                    && keys.all(|key| key.is_empty() || key.starts_with("flash."))
        };
        variant.is_some_and(is_alike)
    }

    /// Returns the reason that it is no proof for this server without doublewrite while the drive keeps its rules;
    /// `None`: it is a proof. It was an emulated drive that was cut: of a real one of that name it shows nothing.
    pub fn objection(&self, to: &PagesInQuestion<'_>) -> Option<String> {
        if self.states == 0 || self.lost > 0 {
            return Some(format!(
                "{} of {} states were lost in it",
                self.lost, self.states
            ));
        }
        self.other_server(to).or_else(|| self.other_rules(to))
    }

    fn other_server(&self, to: &PagesInQuestion<'_>) -> Option<String> {
        let flavor = to.variables.flavor();
        let found = match to.version {
            Some(version) => format!("{flavor} {version}"),
            None => flavor.to_string(),
        };
        let Some(tested) = &self.server else {
            return Some("it does not say of which server it was".to_owned());
        };
        let is_same = match to.version {
            Some(_) => *tested == found,
            None => tested.split_whitespace().next() == Some(found.as_str()),
        };
        if !is_same {
            return Some(format!("it was of {tested}, this is {found}"));
        }
        let page = to.variables.page_size();
        if self.page != Some(page) {
            let tested = self
                .page
                .map_or("unknown size".to_owned(), |page| page.to_string());
            return Some(format!("it was of pages of {tested}, these are {page}"));
        }
        let method = |value: &str| FlushMethod::parse(value);
        let tested = self.flush_method.as_deref();
        match to.variables.flush_method() {
            Some(found) if tested.and_then(method) != Some(found) => Some(format!(
                "it was made with {FLUSH_METHOD} = {}, here it is {}",
                tested.unwrap_or("unknown"),
                to.variables.get(FLUSH_METHOD).unwrap_or_default()
            )),
            _ => None,
        }
    }

    fn other_rules(&self, to: &PagesInQuestion<'_>) -> Option<String> {
        let unit = to.drive.atomicity.unit;
        (self.atomic != Some(unit)).then(|| {
            let tested = self
                .atomic
                .map_or("unknown size".to_owned(), |unit| unit.to_string());
            format!("it took writes of {tested} to be untorn, the profile says {unit}")
        })
    }
}
