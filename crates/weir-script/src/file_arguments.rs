//! Options of the type `ARG_FILE`: a file of options, as if its lines stood in the place of its name.

use std::path::Path;

use crate::lua::{OptionKind, ScriptError, ScriptOption};
use weir_mysql::OptionFile;

use crate::given_options::is_same;
use crate::world::World;

/// Options as given, with those of files in their places. A file sets options of the script only; a warning names others.
pub(crate) fn with_files(
    world: &World,
    declared: &[ScriptOption],
) -> Result<Vec<(String, Option<String>)>, ScriptError> {
    let of_script = |name: &str| declared.iter().find(|option| is_same(&option.name, name));
    let mut all = Vec::new();
    for (name, value) in &world.plan.given {
        all.push((name.clone(), value.clone()));
        let is_file = of_script(name).is_some_and(|option| option.kind == OptionKind::File);
        let Some(path) = value.as_ref().filter(|path| is_file && !path.is_empty()) else {
            continue;
        };
        let file = OptionFile::read_without_groups(Path::new(path));
        let file = file.map_err(|error| {
            ScriptError::Value(format!("Invalid value for the '{name}' option: {error}"))
        })?;
        for setting in file.settings {
            // The file's reader has made names lower case.
            let mut options = declared.iter();
            let own = options.find(|own| is_same(&own.name.to_lowercase(), &setting.name));
            if let Some(own) = own {
                all.push((own.name.clone(), setting.value));
            } else {
                let (place, name) = (&setting.place, &setting.name);
                world.log.remark(&format!(
                    "WARNING: {place}: `{name}` is no option of the script and has no effect; give it on the command line"
                ));
            }
        }
    }
    Ok(all)
}
