//! The designs of the five published studies, replayed: the rules find the defects of the reference's
//! cross-study table by themselves, where the design alone shows them.
//!
//! Not in a design: volatile caches behind `nobarrier` (study 2), commands that do not run, numbers
//! that stand in pictures only.

use std::collections::BTreeSet;
use std::path::Path;

use super::tests::of_design;

/// The study, the rules that its defects break, and rules that must stay silent on it.
///
/// One run per cell (R4) and a window shorter than a warm-up (R6) are in all of them, and none says
/// what anything costs (R17).
const STUDIES: [(&str, &[&str], &[&str]); 5] = [
    // Drive and doublewrite together, unequal safety, no power cut, a picked point.
    ("1-scaleflux", &["R1", "R2", "R3", "R12", "R13"], &["R9"]),
    // Picked points of the sweep, drives of other sizes.
    ("2-memory", &["R12", "R15"], &["R1", "R2", "R3", "R13"]),
    // Hardware, settings and network together, a picked point.
    ("3-tencent", &["R1", "R12", "R13"], &["R2", "R3", "R9"]),
    // Mean and p99 mixed, latency from closed loops, capacities that differ, picked points.
    ("4-optane", &["R7", "R8", "R12", "R15"], &["R1", "R2", "R3"]),
    // Two features together without each alone, doublewrite off on a vendor's word.
    ("5-alibaba", &["R1", "R2", "R3", "R13"], &["R7", "R9"]),
];

#[test]
fn the_rules_find_the_defects_of_the_published_designs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/published");
    for (name, wanted, silent) in STUDIES {
        let found = of_design(&folder.join(format!("{name}.toml")));
        let found: BTreeSet<_> = found.iter().map(String::as_str).collect();
        for rule in ["R4", "R6", "R17"].iter().chain(wanted) {
            assert!(found.contains(rule), "{name}: {rule} is not in {found:?}");
        }
        for rule in silent {
            assert!(!found.contains(rule), "{name}: {rule} is in {found:?}");
        }
    }
}
