//! The tasks of a reader: each is answered one link away from README or the list of documents, and its section begins with
//! its command.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::markdown::Page;
use super::root;

/// Lines from a heading to the command, at most: a sentence or two stand between them.
const LINES_MAX: usize = 12;

/// The files that a page links to.
fn linked(name: &str) -> BTreeSet<PathBuf> {
    let page = Page::read(root().join(name));
    let links = page.links();
    let files = links
        .iter()
        .map(|link| link.split('#').next().unwrap_or_default());
    let files = files.map(|file| page.beside(file));
    files.filter_map(|file| file.canonicalize().ok()).collect()
}

#[test]
fn each_task_of_a_reader_has_a_page_that_begins_with_its_command() {
    let tasks = Page::read(root().join("docs/contributing/reader-tasks.md"));
    let mut near = linked("README.md");
    near.append(&mut linked("docs/README.md"));
    let mut found = 0;
    for row in tasks.rows() {
        let [task, page, command] = row.as_slice() else {
            panic!("{row:?}")
        };
        let Some(command) = command
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix('`'))
        else {
            continue; // the head
        };
        found += 1;
        let (_, link) = page.split_once("](").unwrap();
        let (file, anchor) = link
            .trim_end_matches(')')
            .split_once('#')
            .unwrap_or((link.trim_end_matches(')'), ""));
        let file = tasks.beside(file).canonicalize().unwrap();
        assert!(
            near.contains(&file),
            "{task}: no link leads to {}",
            file.display()
        );
        let page = Page::read(file);
        assert!(
            anchor.is_empty() || page.has_heading(anchor),
            "{task}: {anchor}"
        );
        let mut first = page.lines_from(anchor).into_iter().take(LINES_MAX);
        assert!(
            first.any(|line| line.starts_with(command)),
            "{task}: {} does not begin with `{command}`",
            page.name()
        );
    }
    assert_eq!(found, 32);
}
