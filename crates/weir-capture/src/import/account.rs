//! Accounts as logs write them.

use crate::Login;

/// The name in `app[app] @ localhost [127.0.0.1]`, of slow logs and of the log tables.
pub(super) fn user_name(text: &str) -> String {
    let name = text.split('[').next().unwrap_or_default();
    name.trim().to_owned()
}

/// Login in `root@localhost on shop using Socket`, of general logs; `None` for one that was refused.
pub(super) fn login(text: &str) -> Option<Login> {
    if text.starts_with("Access denied") {
        return None;
    }
    let (user, rest) = text.split_once('@')?;
    let schema = rest.split_once(" on ").map_or("", |(_, after)| after);
    // MariaDB says `as anonymous on`; both may say how the connection came.
    let schema = schema.split(" using ").next().unwrap_or_default();
    Some(Login::new(user, schema.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemas_are_found() {
        assert_eq!(user_name("app[app] @ localhost []"), "app");
        assert_eq!(user_name("[root] @ db1 [10.0.0.1]"), "");
        assert_eq!(
            login("app@db1 on shop using TCP/IP"),
            Some(Login::new("app", "shop"))
        );
        assert_eq!(
            login("app@db1 on  using Socket"),
            Some(Login::new("app", ""))
        );
        assert_eq!(login("Access denied for user 'x'@'y'"), None);
    }
}
