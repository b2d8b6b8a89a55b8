//! The authority of a server's certificate on its way to an agent: the text, since the file is on another host.

use std::fs;

use serde::{Deserialize, Serialize};
use weir_model::Tls;
use weir_process::{WorkDirectory, runtime_directory};

/// The text of an authority's certificate, PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AuthorityMessage(Option<String>);

/// The file of an authority, as long as it is wanted.
#[derive(Debug)]
pub(crate) struct AuthorityFile {
    _folder: WorkDirectory,
}

impl AuthorityMessage {
    /// That of `tls`. Where its file cannot be read here, it may be on the agents' hosts.
    pub(crate) fn new(tls: &Tls) -> Self {
        let file = tls.authority.as_ref();
        Self(file.and_then(|file| fs::read_to_string(file).ok()))
    }

    /// Writes the text to a file of this host, which `tls` names from then on; an error says why not.
    pub(crate) fn arrive(self, tls: &mut Tls) -> Result<Option<AuthorityFile>, String> {
        let Some(text) = self.0 else {
            return Ok(None);
        };
        let failed =
            |error: &dyn std::fmt::Display| format!("the authority's certificate: {error}");
        let runtime = runtime_directory().map_err(|error| failed(&error))?;
        let folder =
            WorkDirectory::create(&runtime, "authority").map_err(|error| failed(&error))?;
        let file = folder.path().join("authority.pem");
        fs::write(&file, text).map_err(|error| failed(&error))?;
        tls.authority = Some(file);
        Ok(Some(AuthorityFile { _folder: folder }))
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
