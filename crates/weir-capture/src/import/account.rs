//! Accounts as logs write them.

/// The name in `app[app] @ localhost [127.0.0.1]`, of slow logs and of the log tables.
pub(super) fn user_name(text: &str) -> String {
    let name = text.split('[').next().unwrap_or_default();
    name.trim().to_owned()
}

/// Name and schema in `root@localhost on shop using Socket`, of general logs; `None` for a login that was refused.
pub(super) fn login(text: &str) -> Option<(String, String)> {
    if text.starts_with("Access denied") {
        return None;
    }
    let (user, rest) = text.split_once('@')?;
    let schema = rest.split_once(" on ").map_or("", |(_, after)| after);
    // MariaDB says `as anonymous on`; both may say how the connection came.
    let schema = schema.split(" using ").next().unwrap_or_default();
    Some((user.to_owned(), schema.trim().to_owned()))
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
            Some(("app".to_owned(), "shop".to_owned()))
        );
        assert_eq!(
            login("app@db1 on  using Socket"),
            Some(("app".to_owned(), String::new()))
        );
        assert_eq!(login("Access denied for user 'x'@'y'"), None);
    }
}
