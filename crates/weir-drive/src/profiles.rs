//! Finding drive profiles: a path, or a name in a folder of them.
//!
//! A folder beside the user's work comes before the copies in the binary, so that a profile can be
//! edited without building anything.

use std::path::{Path, PathBuf};

use weir_model::{DriveProfile, nearest};

use crate::DriveError;

/// Name and text of each profile of the repository's folder.
macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../drives/", $name, ".toml")))),*]
    };
}

/// The variable that names the folder of profiles.
const FOLDER_VARIABLE: &str = "WEIR_DRIVES";

/// The profiles that every binary carries: name and text.
const EMBEDDED: &[(&str, &str)] = &embed![
    "alibaba-essd-pl1",
    "alibaba-essd-pl1-io-acceleration",
    "aws-gp3",
    "aws-io2",
    "azure-premium-ssd-v2",
    "consumer-tlc",
    "fusionio-iodrive-160-slc",
    "fusionio-iodrive-320-mlc",
    "gcp-hyperdisk-balanced",
    "intel-optane-p4800x",
    "intel-p3700-2tb",
    "intel-p3700-400gb",
    "intel-p4610",
    "intel-x25e-32gb",
    "kioxia-cm7-r",
    "micron-7450-max",
    "micron-7600-max",
    "null",
    "raid10-8x15k-bbu",
    "samsung-990-pro-2tb",
    "samsung-pm9a3",
    "scaleflux-csd2000",
    "scaleflux-csd3000",
    "solidigm-p5520",
    "wd-black-sn850x-1tb",
];

/// Loads the profile called `name_or_path`.
///
/// A name is looked for in `search_folder` if given, else in `$WEIR_DRIVES`, else in `./drives`
/// and in `drives` beside the executable or above it; at last among the embedded ones. Anything
/// with a slash or the ending `.toml` is a path.
///
/// A fast drive that the profile names in front of it is found the same way.
///
/// `NAME+KEY=VALUE+KEY=VALUE` is the profile with settings of its own, and called so.
///
/// # Errors
///
/// A name that is not found, or a file that is no profile.
pub fn load(name_or_path: &str, search_folder: Option<&Path>) -> Result<DriveProfile, DriveError> {
    let (shipped, settings) = split_settings(name_or_path);
    let mut profile = load_with_front(shipped, search_folder)?;
    for (key, value) in &settings {
        profile = profile.with(key, value)?;
    }
    if !settings.is_empty() {
        name_or_path.clone_into(&mut profile.name);
    }
    Ok(profile)
}

/// Splits a name into the part before the first `+`, and the settings after it; all of it where
/// none follows.
fn split_settings(name: &str) -> (&str, Vec<(&str, &str)>) {
    let split = || {
        let (shipped, settings) = name.split_once('+')?;
        let pairs = settings.split('+').map(|setting| setting.split_once('='));
        Some((shipped, pairs.collect::<Option<_>>()?))
    };
    split().unwrap_or((name, Vec::new()))
}

fn load_with_front(
    name_or_path: &str,
    search_folder: Option<&Path>,
) -> Result<DriveProfile, DriveError> {
    let profile = load_alone(name_or_path, search_folder)?;
    let Some(front) = profile.unknown_front() else {
        return Ok(profile);
    };
    let front = load_alone(front, search_folder)?;
    Ok(profile.with_front(front)?)
}

fn load_alone(
    name_or_path: &str,
    search_folder: Option<&Path>,
) -> Result<DriveProfile, DriveError> {
    let is_path = name_or_path.contains('/') || has_toml_ending(Path::new(name_or_path));
    if is_path {
        return read(Path::new(name_or_path));
    }
    let folders = folders(search_folder);
    let candidates = folders.iter().map(|folder| file_in(folder, name_or_path));
    if let Some(file) = candidates.into_iter().find(|file| file.is_file()) {
        return read(&file);
    }
    embedded_alone(name_or_path).ok_or_else(|| unknown(name_or_path, search_folder))
}

/// All profiles that [`load`] finds by name, in the order of their names.
///
/// A file that is not a valid profile is an error, so that a typo does not hide a drive.
///
/// # Errors
///
/// A folder that cannot be read, or a file that is no profile.
pub fn list(search_folder: Option<&Path>) -> Result<Vec<DriveProfile>, DriveError> {
    names(search_folder)
        .iter()
        .map(|name| load(name, search_folder))
        .collect()
}

fn embedded_alone(name: &str) -> Option<DriveProfile> {
    let &(name, text) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
    Some(DriveProfile::parse(name, text).expect("invariant: embedded profiles are valid"))
}

/// The embedded profile called `name`.
#[cfg(test)]
pub(crate) fn embedded(name: &str) -> Option<DriveProfile> {
    let profile = embedded_alone(name)?;
    let Some(front) = profile.unknown_front() else {
        return Some(profile);
    };
    let front = embedded_alone(front).unwrap();
    Some(profile.with_front(front).unwrap())
}

/// The names of the embedded profiles.
#[cfg(test)]
pub(crate) fn embedded_names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

fn read(file: &Path) -> Result<DriveProfile, DriveError> {
    let text = std::fs::read_to_string(file).map_err(DriveError::path("read", file))?;
    let name = file.file_stem().unwrap_or(file.as_os_str());
    Ok(DriveProfile::parse(&name.to_string_lossy(), &text)?)
}

fn folders(search_folder: Option<&Path>) -> Vec<PathBuf> {
    if let Some(folder) = search_folder {
        return vec![folder.to_owned()];
    }
    if let Some(folder) = std::env::var_os(FOLDER_VARIABLE) {
        return vec![folder.into()];
    }
    let executable = std::env::current_exe().unwrap_or_default();
    let above = executable.ancestors().skip(1);
    std::iter::once(PathBuf::from("drives"))
        .chain(above.map(|folder| folder.join("drives")))
        .filter(|folder| folder.is_dir())
        .collect()
}

fn names(search_folder: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> = EMBEDDED
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    for folder in folders(search_folder) {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let profiles = files
            .map(|file| file.path())
            .filter(|path| has_toml_ending(path));
        names.extend(profiles.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())));
    }
    names.sort();
    names.dedup();
    names
}

fn unknown(name: &str, search_folder: Option<&Path>) -> DriveError {
    let names = names(search_folder);
    let advice = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    let folder = match folders(search_folder).first() {
        Some(folder) => format!("`{}`", folder.display()),
        None => "the built-in profiles".to_owned(),
    };
    DriveError::UnknownProfile {
        name: name.to_owned(),
        folder,
        advice,
    }
}

fn file_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

fn has_toml_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_profile_is_valid_and_names_its_sources() {
        for name in embedded_names() {
            let profile = embedded(name).unwrap();
            assert!(!profile.sources.is_empty(), "{name} has no sources");
        }
    }

    #[test]
    fn every_profile_of_the_repository_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, EMBEDDED.len());
    }

    #[test]
    fn a_file_in_the_folder_comes_before_the_embedded_one() {
        let folder = tempfile::tempdir().unwrap();
        let null = EMBEDDED.iter().find(|(name, _)| *name == "null").unwrap();
        let text = null.1.replace("No drive at all", "Mine");
        std::fs::write(folder.path().join("null.toml"), &text).unwrap();
        std::fs::write(folder.path().join("mine.toml"), &text).unwrap();
        let found = load("null", Some(folder.path())).unwrap();
        assert!(found.title.starts_with("Mine"));
        let found = list(Some(folder.path())).unwrap();
        let names: Vec<_> = found.iter().map(|profile| profile.name.as_str()).collect();
        let mut wanted: Vec<_> = embedded_names().collect();
        wanted.push("mine");
        wanted.sort_unstable();
        assert_eq!(names, wanted);
        let path = folder.path().join("mine.toml");
        assert_eq!(load(path.to_str().unwrap(), None).unwrap().name, "mine");
    }

    #[test]
    fn settings_after_the_name_replace_figures_of_the_profile() {
        let name = "intel-p4610+compression=zlib4k+read.latency_us=200";
        let profile = load(name, None).unwrap();
        let shipped = load("intel-p4610", None).unwrap();
        assert_eq!(profile.name, name);
        assert!((profile.read.latency_us - 200.0).abs() < 1e-9);
        assert_eq!(profile.write, shipped.write);
        assert_ne!(profile.compression, shipped.compression);
        let error = load("intel-p4610+read.latencyus=200", None).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("latencyus") && error.contains("`latency_us`?"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    #[test]
    fn a_path_may_have_a_plus() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a+b.toml");
        std::fs::write(
            &path,
            EMBEDDED.iter().find(|(name, _)| *name == "null").unwrap().1,
        )
        .unwrap();
        assert_eq!(load(path.to_str().unwrap(), None).unwrap().name, "a+b");
    }

    #[test]
    fn the_fast_drive_in_front_is_found_beside_the_profile() {
        let folder = tempfile::tempdir().unwrap();
        let (_, text) = EMBEDDED
            .iter()
            .find(|(name, _)| *name == "alibaba-essd-pl1-io-acceleration")
            .unwrap();
        let write = |name: &str, front: &str| {
            let text = text.replace("\"intel-p4610\"", &format!("\"{front}\""));
            std::fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
            load(name, Some(folder.path())).map_err(|error| error.to_string())
        };
        let found = write("mine", "intel-p3700-2tb").unwrap().cache.unwrap();
        assert_eq!(found.profile().unwrap().name, "intel-p3700-2tb");
        let itself = write("snake", "snake").unwrap_err();
        assert!(itself.contains("which has no cache itself"), "{itself}");
        let absent = write("lost", "intel-p3700-3tb").unwrap_err();
        assert!(
            absent.contains("did you mean `intel-p3700-2tb`?"),
            "{absent}"
        );
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let error = load("intel-p4160", Some(folder.path()))
            .unwrap_err()
            .to_string();
        assert!(error.contains("did you mean `intel-p4610`?"), "{error}");
        assert!(error.contains(folder.path().to_str().unwrap()), "{error}");
        let error = load("zzz", Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains(", intel-p4610, "), "{error}");
        let error = load("./absent.toml", None).unwrap_err().to_string();
        assert!(error.contains("./absent.toml"), "{error}");
    }
}
