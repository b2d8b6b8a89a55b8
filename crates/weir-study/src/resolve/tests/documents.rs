//! Studies that stand in documents are studies.

use super::replays::Capture;
use super::*;

/// A whole study is the first example of the guide; the others replace keys of its sections.
#[test]
fn every_example_of_the_guide_is_a_study() {
    let guide = include_str!("../../../../../docs/studies.md");
    let guide = guide.replace("./shop.toml", "../../workloads/shop.toml");
    let blocks = guide.split("```toml\n").skip(1);
    let examples: Vec<&str> = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    let whole: toml::Table = toml::from_str(examples[0]).unwrap();
    assert!(examples.len() > 8);
    for example in examples {
        let changes: toml::Table = toml::from_str(example).unwrap();
        let mut study = whole.clone();
        if changes.contains_key("search") || changes.contains_key("design") {
            study["repeat"].as_table_mut().unwrap().remove("runs");
        }
        study.extend(changes);
        let found = resolved(&toml::to_string(&study).unwrap());
        assert!(found.is_ok(), "{}\n{example}", found.unwrap_err());
    }
}

/// Whole studies on other pages, which a reader copies. The capture and the workload that they name are real ones.
#[test]
fn whole_studies_of_other_pages_are_studies() {
    let pages = [
        include_str!("../../../../../README.md"),
        include_str!("../../../../../docs/an-index.md"),
        include_str!("../../../../../docs/ci.md"),
        include_str!("../../../../../docs/cookbook.md"),
        include_str!("../../../../../docs/events.md"),
        include_str!("../../../../../docs/replay.md"),
        include_str!("../../../../../docs/study-reference.md"),
    ];
    let capture = Capture::new();
    for page in pages {
        let mut found = 0;
        for block in page.split("```toml\n[study]\n").skip(1) {
            found += 1;
            // The capture of the test has 20 s.
            let example = format!("[study]\n{}", block.split("```").next().unwrap())
                .replace("tuesday.weircap", &capture.path().display().to_string())
                .replace("\"shop.toml\"", "\"../../workloads/shop.toml\"")
                .replace("warmup = \"30s\"", "warmup = \"3s\"")
                .replace("warmup = \"5m\"", "warmup = \"3s\"");
            let resolved = resolved(&example);
            assert!(resolved.is_ok(), "{}\n{example}", resolved.unwrap_err());
        }
        assert!(found > 0, "{}", page.lines().next().unwrap());
    }
}
