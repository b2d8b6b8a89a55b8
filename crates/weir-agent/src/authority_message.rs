//! The authority of a server's certificate on its way to an agent: the text, since the file is on another host.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use weir_model::Tls;
use weir_process::{PathError, ProcessError, WorkDirectory, runtime_directory};

/// The text of an authority's certificate, PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AuthorityMessage(Option<String>);

/// The file of an authority, as long as it is wanted.
#[derive(Debug)]
pub struct AuthorityFile {
    folder: WorkDirectory,
}

impl AuthorityFile {
    /// Writes the text of an authority's certificate (PEM) to a file of this host.
    ///
    /// # Errors
    ///
    /// A folder of the user's that cannot be made or written to.
    pub fn write(text: &str) -> Result<Self, ProcessError> {
        let folder = WorkDirectory::create(&runtime_directory()?, "authority")?;
        let file = Self { folder };
        fs::write(file.path(), text).map_err(PathError::on("write", &file.path()))?;
        Ok(file)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

impl AuthorityMessage {
    /// Creates the message for `tls`. Where its file cannot be read here, it may be on the agents'
    /// hosts.
    pub(crate) fn new(tls: &Tls) -> Self {
        let file = tls.authority.as_ref();
        Self(file.and_then(|file| fs::read_to_string(file).ok()))
    }

    /// Writes the text to a file of this host, which `tls` names from then on; an error says why not.
    pub(crate) fn arrive(self, tls: &mut Tls) -> Result<Option<AuthorityFile>, String> {
        let Some(text) = self.0 else {
            return Ok(None);
        };
        let file = AuthorityFile::write(&text);
        let file = file.map_err(|error| format!("the authority's certificate: {error}"))?;
        tls.authority = Some(file.path());
        Ok(Some(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_arrives_and_its_file_goes_with_its_owner() {
        let there = tempfile::NamedTempFile::new().unwrap();
        fs::write(there.path(), "-----BEGIN").unwrap();
        let tls = Tls {
            authority: Some(there.path().to_owned()),
            ..Tls::default()
        };
        let message = AuthorityMessage::new(&tls);
        drop(there);
        let mut arrived = tls.clone();
        let file = message.arrive(&mut arrived).unwrap();
        let path = arrived.authority.clone().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "-----BEGIN");
        drop(file);
        assert!(!path.exists());
        // Without the file the agent looks for one of this name.
        assert!(
            AuthorityMessage::new(&tls)
                .arrive(&mut arrived)
                .unwrap()
                .is_none()
        );
    }
}
