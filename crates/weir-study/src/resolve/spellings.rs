//! A server variable has one spelling in each combination of levels: of two the server would take whichever comes
//! later. Levels of one factor never meet, so each may have its own.

use std::collections::BTreeMap;

use weir_model::option_variable;

use super::Resolver;
use crate::StudyError;
use crate::file::LevelList;
use crate::target::Target;

/// The name of a server variable, as it is written.
struct Spelling {
    name: String,
    /// Key at which it stands: `factors.arm.log_bin`.
    key: String,
    /// The factor and the number of its level, if it is of one.
    level: Option<(String, usize)>,
}

impl Spelling {
    fn new(place: &str, name: String, level: Option<(String, usize)>) -> Self {
        let key = format!("{place}.{name}");
        Self { name, key, level }
    }

    /// A combination of levels has both.
    fn meets(&self, other: &Self) -> bool {
        match (&self.level, &other.level) {
            (Some((factor, number)), Some((other, others))) => factor != other || number == others,
            _ => true,
        }
    }
}

impl Resolver<'_> {
    pub(super) fn check_spellings(&self) -> Result<(), StudyError> {
        let mut seen: BTreeMap<String, Vec<Spelling>> = BTreeMap::new();
        for spelling in self.names()? {
            if !matches!(Target::parse(&spelling.name), Target::Variable(_)) {
                continue;
            }
            let before = seen.entry(option_variable(&spelling.name)).or_default();
            let differs = |other: &&Spelling| other.name != spelling.name && spelling.meets(other);
            if let Some(other) = before.iter().find(differs) {
                let why = format!("`{}` sets the same variable; keep one spelling", other.key);
                return Err(self.error(&spelling.key, &spelling.name, why));
            }
            before.push(spelling);
        }
        Ok(())
    }

    /// The names of server variables of the study.
    fn names(&self) -> Result<Vec<Spelling>, StudyError> {
        let config = self.file.server.config.keys();
        let config = config.map(|name| Spelling::new("server.config", name.clone(), None));
        let mut names: Vec<_> = config.collect();
        let searched = self.file.search.as_ref();
        let searched = searched.and_then(|search| search.factor.clone());
        names.extend(searched.map(|name| Spelling::new("search.factor", name, None)));
        for (factor, list) in &self.lists()? {
            let LevelList::List(_) = list else {
                names.push(Spelling::new("factors", factor.clone(), None));
                continue;
            };
            let place = format!("factors.{factor}");
            for (number, level) in self.levels(factor, list)?.into_iter().enumerate() {
                names.extend(level.settings.into_iter().map(|(name, _)| {
                    let place = if name == *factor { "factors" } else { &place };
                    Spelling::new(place, name, Some((factor.clone(), number)))
                }));
            }
        }
        Ok(names)
    }
}
