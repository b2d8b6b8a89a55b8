//! No example, default or README shows a drive that no independent figure confirms.

use std::fs;

use super::root;

/// Pages that quote what runs printed with such a drive, or that speak of a drive's rules and not of its speed.
const QUOTES: [&str; 4] = [
    "cookbook.md",
    "crash-lab.md",
    "drive-recording.md",
    "predict.md",
];

#[test]
fn examples_and_defaults_are_of_validated_drives() {
    let doubtful: Vec<String> = weir_drive::profiles::list(Some(&root().join("drives")))
        .unwrap()
        .into_iter()
        .filter(|profile| !profile.validation().holds())
        .map(|profile| profile.name)
        .collect();
    assert!(!doubtful.is_empty(), "then this test and its words may go");
    let mut texts = vec![(
        "README.md".to_owned(),
        fs::read_to_string(root().join("README.md")).unwrap(),
    )];
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_page = path.extension().is_some_and(|ending| ending == "md");
        if is_page && !QUOTES.contains(&name.as_str()) {
            texts.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    let demo = fs::read_to_string(root().join("studies/first-look.toml")).unwrap();
    texts.push(("first-look.toml".to_owned(), format!("```\n{demo}")));
    let mut wrong = Vec::new();
    for (name, text) in &texts {
        let mut is_example = false;
        for line in text.lines() {
            is_example ^= line.starts_with("```");
            let shown = doubtful.iter().find(|drive| line.contains(drive.as_str()));
            if let Some(drive) = shown.filter(|_| is_example) {
                wrong.push(format!("{name}: {drive}: {line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
