//! Places of a script's modules: the usual ones, its own folder, and those that Weir brings along.

use std::path::{Path, PathBuf};

/// Modules of Weir's own, for machines without sysbench: its eleven tests and what they share.
const OWN: [(&str, &str); 12] = [
    ("bulk_insert", include_str!("../modules/bulk_insert.lua")),
    ("oltp_common", include_str!("../modules/oltp_common.lua")),
    ("oltp_delete", include_str!("../modules/oltp_delete.lua")),
    ("oltp_insert", include_str!("../modules/oltp_insert.lua")),
    (
        "oltp_point_select",
        include_str!("../modules/oltp_point_select.lua"),
    ),
    (
        "oltp_read_only",
        include_str!("../modules/oltp_read_only.lua"),
    ),
    (
        "oltp_read_write",
        include_str!("../modules/oltp_read_write.lua"),
    ),
    (
        "oltp_update_index",
        include_str!("../modules/oltp_update_index.lua"),
    ),
    (
        "oltp_update_non_index",
        include_str!("../modules/oltp_update_non_index.lua"),
    ),
    (
        "oltp_write_only",
        include_str!("../modules/oltp_write_only.lua"),
    ),
    (
        "select_random_points",
        include_str!("../modules/select_random_points.lua"),
    ),
    (
        "select_random_ranges",
        include_str!("../modules/select_random_ranges.lua"),
    ),
];

/// Folders in which sysbench's scripts are installed.
const INSTALLED: [&str; 2] = ["/usr/local/share/sysbench", "/usr/share/sysbench"];

/// `package.path` and `package.cpath` of a script of this name. `LUA_PATH` and `LUA_CPATH` take their place;
/// `;;` in them stands for the default.
pub(crate) fn paths(script: &str) -> (String, String) {
    let given = |variable: &str, default: String| match std::env::var(variable) {
        Ok(path) => path.replace(";;", &format!(";{default};")),
        Err(_) => default,
    };
    let mut path = given("LUA_PATH", default_path());
    // sysbench does not look beside the script, so this comes last.
    let folder = Path::new(script).parent();
    if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
        path = format!("{path};{}/?.lua", folder.display());
    }
    (path, given("LUA_CPATH", default_cpath()))
}

fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

fn default_path() -> String {
    let mut places = vec![
        "./?.lua".to_owned(),
        "./?/init.lua".to_owned(),
        "./src/lua/?.lua".to_owned(),
    ];
    if let Some(home) = home() {
        for version in ["lua/5.1", "lua"] {
            let folder = home.join(".luarocks/share").join(version);
            places.push(format!("{}/?.lua", folder.display()));
            places.push(format!("{}/?/init.lua", folder.display()));
        }
    }
    places.push("/usr/local/share/lua/5.1/?.lua".to_owned());
    places.push("/usr/share/lua/5.1/?.lua".to_owned());
    let installed = INSTALLED.iter().find(|folder| Path::new(folder).is_dir());
    places.extend(installed.map(|folder| format!("{folder}/?.lua")));
    places.join(";")
}

fn default_cpath() -> String {
    let mut places = vec!["./?.so".to_owned()];
    if let Some(home) = home() {
        for version in ["lua/5.1", "lua"] {
            let folder = home.join(".luarocks/lib").join(version);
            places.push(format!("{}/?.so", folder.display()));
        }
    }
    places.push("/usr/local/lib/lua/5.1/?.so".to_owned());
    places.push("/usr/lib/lua/5.1/?.so".to_owned());
    places.join(";")
}

/// The text of one of Weir's own modules.
pub(crate) fn own(name: &str) -> Option<&'static str> {
    let found = OWN.iter().find(|(own, _)| *own == name);
    found.map(|(_, text)| *text)
}

/// The text of a module as `require` would find it.
pub(super) fn text(name: &str) -> Option<Vec<u8>> {
    let found = find(name, "").and_then(|path| std::fs::read(path).ok());
    found.or_else(|| own(name).map(|text| text.as_bytes().to_vec()))
}

/// The file that `require` of a script of this name would find for a module.
pub(crate) fn find(name: &str, script: &str) -> Option<PathBuf> {
    first(&paths(script).0, name)
}

/// Returns true if `require` would find a library for a module.
pub(crate) fn is_c_module(name: &str) -> bool {
    first(&paths("").1, name).is_some()
}

fn first(places: &str, name: &str) -> Option<PathBuf> {
    let file = name.replace('.', "/");
    let mut places = places.split(';').filter(|place| !place.is_empty());
    places.find_map(|place| {
        let path = PathBuf::from(place.replace('?', &file));
        path.is_file().then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_folder_is_searched_last() {
        let (path, _) = paths("suite/orders.lua");
        assert!(
            path.starts_with("./?.lua;./?/init.lua;./src/lua/?.lua;"),
            "{path}"
        );
        assert!(path.ends_with(";suite/?.lua"), "{path}");
        assert!(!paths("orders.lua").0.ends_with("//?.lua"));
    }

    #[test]
    fn sysbenchs_tests_are_found_where_sysbench_is_not_installed() {
        for name in ["oltp_common", "oltp_read_write", "bulk_insert"] {
            assert!(own(name).is_some() && text(name).is_some(), "{name}");
        }
        assert!(text("no_such_module").is_none());
    }
}
