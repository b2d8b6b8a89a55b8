use super::*;

fn said(flavor: Option<Flavor>, lines: &[(&str, Option<&str>)]) -> ClientOptions {
    let mut options = ClientOptions::default();
    for (name, value) in lines {
        options
            .apply(&setting("client", name, *value), flavor)
            .unwrap();
    }
    options
}

fn setting(group: &str, name: &str, value: Option<&str>) -> OptionFileSetting {
    OptionFileSetting {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        group: group.to_owned(),
        place: "my.cnf:1".to_owned(),
    }
}

/// As logins of `mysql` 9.7 and `mariadb` 10.11 with the same lines went.
#[test]
fn names_mean_what_they_mean_to_the_clients() {
    let given = |text: &str| Some(ClientPassword::Given(Secret::new(text)));
    let password = |flavor, lines: &[_]| said(Some(flavor), lines).password;
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        assert_eq!(
            password(flavor, &[("loose-password", Some("x"))]),
            given("x")
        );
        assert_eq!(password(flavor, &[("password", Some(""))]), given(""));
        let asked = [("password", Some("x")), ("password", None)];
        assert_eq!(password(flavor, &asked), Some(ClientPassword::Asked));
        let back = [("password", None), ("password", Some("x"))];
        assert_eq!(password(flavor, &back), given("x"));
        let off = [("password", Some("x")), ("skip-password", None)];
        assert_eq!(password(flavor, &off), given(""));
        assert_eq!(password(flavor, &[("password1", Some("x"))]), None);
    }
    assert_eq!(
        password(Flavor::Mariadb, &[("pass", Some("x"))]),
        given("x")
    );
    assert_eq!(password(Flavor::Mysql, &[("pass", Some("x"))]), None);
    // The pager's, too.
    assert_eq!(password(Flavor::Mariadb, &[("pa", Some("x"))]), None);
    assert_eq!(said(None, &[("us", Some("a"))]).user.as_deref(), Some("a"));
    let port = |value| said(None, &[("port", Some(value))]).port;
    assert_eq!(
        (port("3307"), port("0"), port("")),
        (Some(3307), None, None)
    );
}

#[test]
fn encryption_is_what_was_said_or_what_an_authority_asks_for() {
    let mode = |lines: &[_]| said(None, lines).encryption().mode;
    assert_eq!(mode(&[]), TlsMode::Disabled);
    assert_eq!(mode(&[("ssl-ca", Some("/ca.pem"))]), TlsMode::VerifyCa);
    let chosen = [("ssl-ca", Some("/ca.pem")), ("ssl-mode", Some("required"))];
    assert_eq!(mode(&chosen), TlsMode::Required);
    assert_eq!(mode(&[("ssl", None)]), TlsMode::Preferred);
    assert_eq!(
        mode(&[("ssl", Some("1")), ("skip-ssl", None)]),
        TlsMode::Disabled
    );
    assert_eq!(
        mode(&[("ssl-verify-server-cert", None)]),
        TlsMode::VerifyIdentity
    );
}

#[test]
fn what_does_not_fit_is_told_with_its_place_and_without_a_password() {
    let mut options = ClientOptions::default();
    let mut message = |name: &str, value: &str| {
        let applied = options.apply(&setting("client", name, Some(value)), None);
        applied.unwrap_err().to_string()
    };
    assert!(message("port", "abc").contains("my.cnf:1: port = `abc`: write a port"));
    let error = message("password", "caf\u{FFFD}");
    assert!(error.contains("UTF-8") && !error.contains("caf"), "{error}");
}

#[test]
fn the_schema_of_one_programs_prompt_is_not_where_tables_are_made() {
    let mut options = ClientOptions::default();
    let shop = |group| setting(group, "database", Some("shop"));
    options.apply(&shop("mysql"), None).unwrap();
    assert_eq!(options.database, None);
    options.apply(&shop("client"), None).unwrap();
    assert_eq!(options.database.as_deref(), Some("shop"));
}
