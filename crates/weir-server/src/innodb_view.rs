//! InnoDB's dictionary as tables of `information_schema`.
//!
//! MySQL 8.0.3's release notes, "InnoDB `INFORMATION_SCHEMA` Views"; MariaDB Knowledge Base, "`INNODB_SYS_TABLES`".

use weir_model::{Flavor, ServerVersion};

/// Name of a view such as `TABLES` on the server that greets its clients with this version.
pub(crate) fn innodb_view(greeting: &str, what: &str) -> String {
    let is_new = ServerVersion::from_greeting(greeting).is_none_or(|(flavor, version)| {
        flavor == Flavor::Mysql && version >= ServerVersion::new(8, 0, 3)
    });
    let prefix = if is_new { "INNODB_" } else { "INNODB_SYS_" };
    format!("information_schema.{prefix}{what}")
}

#[cfg(test)]
mod tests {
    use super::innodb_view;

    #[test]
    fn each_server_has_its_name() {
        let tables = |greeting| innodb_view(greeting, "TABLES");
        for old in ["5.7.22", "5.5.5-10.2.11-MariaDB", "11.8.6-MariaDB-deb13"] {
            assert_eq!(tables(old), "information_schema.INNODB_SYS_TABLES", "{old}");
        }
        for new in ["8.0.12", "9.7.4-0ubuntu1", "26.4.0"] {
            assert_eq!(tables(new), "information_schema.INNODB_TABLES", "{new}");
        }
    }
}
