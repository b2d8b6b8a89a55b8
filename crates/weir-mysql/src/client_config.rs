//! Sources of a login for the servers' clients: their option files, in their order, and the environment.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use weir_model::{Flavor, Secret};

use crate::client_options::{ClientOptions, ClientPassword, groups};
use crate::option_file::{OptionFile, OptionFileError, OptionFileSetting};

/// Environment variable that holds the password, whatever option files say.
pub const PASSWORD_VARIABLE: &str = "WEIR_MYSQL_PASSWORD";
/// The group of option files that is Weir's own.
pub const OWN_GROUP: &str = "weir";
/// Files for all users of this host, as the distributions' packages have them.
const GLOBAL_FILES: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];
const OWN_FILE: &str = ".my.cnf";
const LOGIN_FILE: &str = ".mylogin.cnf";

/// Dialogue with the user.
#[derive(Clone, Copy)]
pub struct Dialogue {
    /// Tells what is to be known and stops nothing.
    pub warn: fn(&str),
    /// Asks for a password.
    pub ask: fn() -> io::Result<Secret>,
}

impl Default for Dialogue {
    /// Without a terminal: warnings are dropped, and the password is empty.
    fn default() -> Self {
        Self {
            warn: |_| {},
            ask: || Ok(Secret::default()),
        }
    }
}

impl fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dialogue")
    }
}

/// Configuration beside a URL or a command line.
#[derive(Debug, Clone, Default)]
pub struct ClientConfig {
    /// The value of [`PASSWORD_VARIABLE`], or what was typed.
    pub password: Option<Secret>,
    /// Option files that are read before an extra one; none need exist.
    pub global_files: Vec<PathBuf>,
    /// The user's option file, which need not exist.
    pub option_file: Option<PathBuf>,
    /// The file of MySQL's `mysql_config_editor`, which need not exist.
    pub login_file: Option<PathBuf>,
    /// Groups whose names end so are read, too.
    pub group_suffix: Option<String>,
    /// Options of the environment, where files have none.
    pub environment: ClientOptions,
    /// Dialogue with the user.
    pub dialogue: Dialogue,
}

/// Choice of option files.
#[derive(Debug, Clone, Copy)]
pub enum FileChoice<'a> {
    /// Those that clients read by themselves, and perhaps another one.
    Usual(Option<&'a Path>),
    /// This one alone.
    Only(&'a Path),
    /// None but the login file.
    None,
}

/// Settings of the option files and the environment.
#[derive(Debug)]
pub struct ClientSettings {
    /// Of a login.
    pub login: ClientOptions,
    /// The lines of [`OWN_GROUP`].
    pub own: Vec<OptionFileSetting>,
}

impl ClientConfig {
    /// Returns the settings that the servers' clients would find; `variable` looks into the
    /// environment.
    ///
    /// # Errors
    ///
    /// A variable whose value does not fit.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, OptionFileError> {
        let text = |name: &str| variable(name)?.into_string().ok();
        let path = |name: &str| variable(name).map(PathBuf::from);
        let home = path("HOME");
        let mut global_files: Vec<_> = GLOBAL_FILES.iter().map(PathBuf::from).collect();
        global_files.extend(path("MYSQL_HOME").map(|folder| folder.join("my.cnf")));
        let mut environment = ClientOptions::default();
        for (name, option) in [
            ("MYSQL_HOST", "host"),
            ("MYSQL_TCP_PORT", "port"),
            ("MYSQL_UNIX_PORT", "socket"),
        ] {
            let Some(value) = text(name) else { continue };
            let set = environment.set(option, Some(&value));
            set.map_err(|why| OptionFileError {
                place: format!("environment variable {name}"),
                why: format!("`{value}`: {why}"),
            })?;
        }
        let password = text("MYSQL_PWD").map(Secret::new);
        environment.password = password.map(ClientPassword::Given);
        Ok(Self {
            password: text(PASSWORD_VARIABLE).map(Secret::new),
            global_files,
            option_file: home.as_ref().map(|home| home.join(OWN_FILE)),
            login_file: path("MYSQL_TEST_LOGIN_FILE")
                .or_else(|| home.map(|home| home.join(LOGIN_FILE))),
            group_suffix: text("MYSQL_GROUP_SUFFIX"),
            environment,
            dialogue: Dialogue::default(),
        })
    }

    /// Reads what the clients of `flavor` read; of both flavours, where it is not known.
    ///
    /// # Errors
    ///
    /// A file that cannot be used, a value that does not fit its option.
    pub fn read(
        &self,
        choice: FileChoice<'_>,
        flavor: Option<Flavor>,
    ) -> Result<ClientSettings, OptionFileError> {
        let files = self.files(choice, flavor)?;
        for warning in &files.warnings {
            (self.dialogue.warn)(warning);
        }
        let mut login = ClientOptions::default();
        let mut own = Vec::new();
        for setting in files.settings {
            if setting.group == OWN_GROUP {
                own.push(setting);
            } else if self.is_for_clients(&setting.group, flavor) {
                login.apply(&setting, flavor)?;
            }
        }
        Ok(ClientSettings {
            login: login.or(self.environment.clone()),
            own,
        })
    }

    fn files(
        &self,
        choice: FileChoice<'_>,
        flavor: Option<Flavor>,
    ) -> Result<OptionFile, OptionFileError> {
        let mut files = OptionFile::default();
        match choice {
            FileChoice::Usual(extra) => {
                for path in &self.global_files {
                    files.add(path)?;
                }
                if let Some(path) = extra {
                    files.append(OptionFile::read(path)?);
                }
                if let Some(path) = &self.option_file {
                    files.add(path)?;
                }
            }
            FileChoice::Only(path) => files.append(OptionFile::read(path)?),
            FileChoice::None => {}
        }
        if let Some(path) = self.login_file.as_deref()
            && flavor != Some(Flavor::Mariadb)
        {
            files.add_login_file(path)?;
        }
        Ok(files)
    }

    fn is_for_clients(&self, group: &str, flavor: Option<Flavor>) -> bool {
        let is_read = |name: &str| groups(flavor).contains(&name);
        let suffix = self.group_suffix.as_deref();
        is_read(group)
            || suffix
                .and_then(|suffix| group.strip_suffix(suffix))
                .is_some_and(is_read)
    }
}
