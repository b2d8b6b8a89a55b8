use std::fs::Permissions;

use proptest::prelude::*;

use super::*;

fn write(directory: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

fn pairs(file: &OptionFile) -> Vec<(&str, &str, Option<&str>)> {
    let settings = file.settings.iter();
    settings
        .map(|setting| {
            let value = setting.value.as_deref();
            (setting.group.as_str(), setting.name.as_str(), value)
        })
        .collect()
}

/// The lines of one group, as `my_print_defaults` prints them.
fn printed(text: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), "my.cnf", text);
    let file = OptionFile::read(&path).unwrap();
    pairs(&file)
        .into_iter()
        .map(|(_, name, value)| match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        })
        .collect()
}

/// Each line beside what `my_print_defaults` of MySQL 9.7 and MariaDB 10.11 made of it.
#[test]
fn a_line_means_what_it_means_to_the_servers_programs() {
    for (line, expected) in [
        ("user=root # the administrator", "--user=root"),
        (
            r#"password = "a # is \"no\" comment""#,
            r#"--password=a # is "no" comment"#,
        ),
        ("ssl_ca='/x y/ca.pem'   # quoted", "--ssl-ca=/x y/ca.pem"),
        (r"path=C:\\data\sx\q", r"--path=C:\data x\q"),
        ("compress", "--compress"),
        ("password#x", "--password"),
        ("empty =", "--empty="),
        ("x=a#b", "--x=a"),
        ("a = = b", "--a== b"),
        ("=5", "--=5"),
        ("z='it''s'", "--z=it''s"),
        // Quotes are taken off only around the whole value.
        (r#"q="a"b"#, r#"--q="a"b"#),
        ("u='a#b", "--u='a#b"),
        ("v='a#b' # c", "--v=a#b"),
        ("w=a'b#c'd#e", "--w=a'b#c'd"),
        // Outside of quotes a backslash does not hide the quote behind it.
        (r"x=a\'b#c", "--x=a'b#c"),
        (r#"y="a\\" # c"#, r"--y=a\"),
        (r#"z="a\" # c"#, r#"--z="a" # c"#),
        (r"a=x\\", r"--a=x\"),
        (r"b=\q\", r"--b=\q\"),
        ("user=a;b", "--user=a;b"),
        ("  d  =  e  f  ", "--d=e  f"),
        ("password = \"x y\" \r", "--password=x y"),
        ("port\r", "--port"),
        ("nbsp=\u{a0}x\u{a0}", "--nbsp=\u{a0}x\u{a0}"),
    ] {
        assert_eq!(
            printed(&format!("[client]\n{line}\n")),
            [expected],
            "{line}"
        );
    }
    for line in ["", "  ", "# a", "  ; a", "\r"] {
        assert!(printed(&format!("[client]\n{line}\n")).is_empty(), "{line}");
    }
}

#[test]
fn a_group_ends_at_its_bracket_and_keeps_a_space_before_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let text = "[client] # x\r\na=1\n[client ]\nb=2\n[ client]\nc=3\n  [WEIR];\nd=4";
    let path = write(directory.path(), "my.cnf", text);
    let file = OptionFile::read(&path).unwrap();
    let groups: Vec<_> = file.settings.iter().map(|s| s.group.as_str()).collect();
    assert_eq!(groups, ["client", "client", " client", "weir"]);
}

#[test]
fn files_include_files_and_folders() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("conf.d");
    fs::create_dir(&folder).unwrap();
    fs::create_dir(folder.join("folder.cnf")).unwrap();
    for (name, port) in [
        ("b.cnf", 3),
        ("a.cnf", 2),
        (".cnf", 1),
        ("c.txt", 4),
        ("d.cnf~", 5),
    ] {
        write(&folder, name, format!("[client]\nport={port}"));
    }
    let one = write(directory.path(), "one.cnf", "[client]\nhost=h");
    let text = format!(
        "[weir]\n!include {}\n! includedir {} \nthreads=1\n!include {}/none\n!load x\n",
        one.display(),
        folder.display(),
        folder.display()
    );
    let path = write(directory.path(), "my.cnf", text);
    let file = OptionFile::read(&path).unwrap();
    let read: Vec<_> = pairs(&file).iter().map(|p| (p.0, p.2.unwrap())).collect();
    let expected = ["h", "1", "2", "3"].map(|value| ("client", value));
    assert_eq!(read, [&expected[..], &[("weir", "1")]].concat());
    let warnings = file.warnings.join("\n");
    assert!(warnings.contains("my.cnf:5: `") && warnings.contains("/none` is not there"));
    assert!(warnings.contains("my.cnf:6: `!load`"), "{warnings}");
}

#[test]
fn files_that_include_each_other_come_to_an_end() {
    let directory = tempfile::tempdir().unwrap();
    let circle = directory.path().join("circle.cnf");
    let text = format!("[client]\n!include {}\nport=1\n", circle.display());
    write(directory.path(), "circle.cnf", text);
    let file = OptionFile::read(&circle).unwrap();
    assert_eq!(file.settings.len(), DEPTH_MAX + 1);
    assert!(file.warnings[0].contains("too deeply"));
    let broad = tempfile::tempdir().unwrap();
    let text = format!("!includedir {}\n", broad.path().display()).repeat(5);
    let first = write(broad.path(), "a.cnf", text);
    let error = OptionFile::read(&first).unwrap_err().to_string();
    assert!(error.contains("more than 1000 files"), "{error}");
}

#[test]
fn what_is_wrong_with_a_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let message = |path: &Path| OptionFile::read(path).unwrap_err().to_string();
    assert!(message(&directory.path().join("none.cnf")).contains("none.cnf"));
    let broken = write(directory.path(), "broken.cnf", "\n[client");
    assert!(message(&broken).contains("broken.cnf:2: a group needs"));
    let early = write(directory.path(), "early.cnf", "user=a\n[client]\n");
    assert!(message(&early).contains("early.cnf:1: an option stands before the first group"));
    assert_eq!(
        OptionFile::read_without_groups(&early)
            .unwrap()
            .settings
            .len(),
        1
    );
    let folder = write(
        directory.path(),
        "folder.cnf",
        "[client]\n!includedir /none\n",
    );
    assert!(message(&folder).contains("folder.cnf:2: cannot read /none"));
    assert!(message(Path::new("/dev/zero")).contains("larger than any"));
}

#[test]
fn what_anybody_may_write_counts_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    let open = write(directory.path(), "open.cnf", "[client]\nuser=mallory\n");
    fs::set_permissions(&open, Permissions::from_mode(0o666)).unwrap();
    // The one that the user named stops, others are passed over.
    let error = OptionFile::read(&open).unwrap_err().to_string();
    assert!(error.contains("chmod o-w"), "{error}");
    let text = format!("!include {}\n", open.display());
    let path = write(directory.path(), "my.cnf", text);
    let mut file = OptionFile::read(&path).unwrap();
    file.add(&open).unwrap();
    file.add(&directory.path().join("none")).unwrap();
    assert_eq!((file.settings.len(), file.warnings.len()), (0, 2));
}

#[test]
fn a_byte_order_mark_and_other_encodings_stop_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let text = b"\xEF\xBB\xBF[client]\r\nuser=a\r\nprompt=caf\xE9\r\n";
    let file = OptionFile::read(&write(directory.path(), "my.cnf", text)).unwrap();
    assert_eq!(pairs(&file)[0], ("client", "user", Some("a")));
    assert!(file.warnings[0].contains("byte order mark"));
}

/// Written by `mysql_config_editor` 9.7 for `u ser`, `pa"ss #\x`, h.example and 3310.
const LOGIN_FILE: &str = "000000001906190a1d0b1e1f071e00101a1a081a0a1f021c10000000db88\
    acf3e04e127ede87458b5b83468f100000004bda4c2afdf52a95fbdb42a2\
    3877711620000000464580fe366a0fdf9dd3eb4c552f357457883be63594\
    b236ea5bfd92a0a5173920000000793e2c464d4dc680ac76d65d0d0f208f\
    0344ab57016c5d4b8be9ea93c89eebea10000000c50a70284e216fff4476\
    81eabe72805d";

#[test]
fn the_login_file_is_read() {
    let bytes: Vec<u8> = (0..LOGIN_FILE.len() / 2)
        .map(|at| u8::from_str_radix(&LOGIN_FILE[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), ".mylogin.cnf", &bytes);
    let mut file = OptionFile::default();
    file.add_login_file(&path).unwrap();
    let of = |name, value| ("client", name, Some(value));
    assert_eq!(
        pairs(&file),
        [
            of("user", "u ser"),
            of("password", r#"pa"ss #\x"#),
            of("host", "h.example"),
            of("port", "3310"),
        ]
    );
    // Cut anywhere, it is refused or shorter.
    for length in 0..bytes.len() {
        let _ = login_file::decrypt(&bytes[..length]);
    }
    let cut = write(directory.path(), "cut", &bytes[..bytes.len() - 1]);
    let error = file.add_login_file(&cut).unwrap_err().to_string();
    assert!(error.contains("mysql_config_editor"), "{error}");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let mut file = OptionFile::default();
    file.add_login_file(&path).unwrap();
    assert!(file.settings.is_empty() && file.warnings[0].contains("chmod 600"));
}

const PIECES: [&[u8]; 9] = [
    b"[client]",
    b"\n",
    b"=",
    b"'",
    b"\"",
    b"\\",
    b"#",
    b"!include ",
    b"\xEF\xBB\xBF",
];

proptest! {
    /// More of them: `PROPTEST_CASES=1000000 cargo nextest run -p weir-mysql any_bytes`.
    #[test]
    fn any_bytes_are_an_option_file_or_refused_in_one_line(
        pieces in prop::collection::vec(
            prop_oneof![
                any::<u8>().prop_map(|byte| vec![byte]),
                prop::sample::select(&PIECES).prop_map(<[u8]>::to_vec),
            ],
            0..200,
        )
    ) {
        let bytes = pieces.concat();
        let _ = login_file::decrypt(&bytes);
        let mut reader = Reader::new(true);
        if let Err(error) = reader.text(Path::new("my.cnf"), &bytes, DEPTH_MAX) {
            prop_assert_eq!(error.to_string().lines().count(), 1);
        }
        let lines = bytes.split(|byte| *byte == b'\n').count();
        prop_assert!(reader.read.settings.len() + reader.read.warnings.len() <= lines + 1);
    }
}
