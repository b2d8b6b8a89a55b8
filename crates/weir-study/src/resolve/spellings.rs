//! A server variable has one spelling in a study: of two the server would take whichever comes later.

use std::collections::BTreeMap;

use weir_model::option_variable;

use super::Resolver;
use crate::StudyError;
use crate::file::LevelList;
use crate::target::Target;

impl Resolver<'_> {
    pub(super) fn check_spellings(&self) -> Result<(), StudyError> {
        let mut seen: BTreeMap<String, (String, String)> = BTreeMap::new();
        for (place, name) in self.names()? {
            if !matches!(Target::of(&name), Target::Variable(_)) {
                continue;
            }
            let key = format!("{place}.{name}");
            let first = seen.entry(option_variable(&name));
            let (other, at) = first.or_insert_with(|| (name.clone(), key.clone()));
            if *other != name {
                let why = format!("`{at}` sets the same variable; keep one spelling");
                return Err(self.error(&key, &name, why));
            }
        }
        Ok(())
    }

    /// Where names of server variables stand, with the names as they are written.
    fn names(&self) -> Result<Vec<(String, String)>, StudyError> {
        let config = self.file.server.config.keys();
        let mut names: Vec<_> = config
            .map(|name| ("server.config".to_owned(), name.clone()))
            .collect();
        let searched = self.file.search.as_ref();
        let searched = searched.and_then(|search| search.factor.clone());
        names.extend(searched.map(|name| ("search.factor".to_owned(), name)));
        for (factor, list) in &self.lists()? {
            let place = format!("factors.{factor}");
            let own = || ("factors".to_owned(), factor.clone());
            match list {
                LevelList::Range(_) => names.push(own()),
                LevelList::List(_) => {
                    let levels = self.levels(factor, list)?;
                    let settings = levels.into_iter().flat_map(|level| level.settings);
                    names.extend(settings.map(|(name, _)| {
                        if name == *factor {
                            own()
                        } else {
                            (place.clone(), name)
                        }
                    }));
                }
            }
        }
        Ok(names)
    }
}
