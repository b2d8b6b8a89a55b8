//! Verdicts of a device that each break one promise.

use serde_json::{Value, json};
use weir_drive::powercut::PowercutVerdict;
use weir_model::Atomicity;

use super::*;

const PAGE: Bytes = Bytes(16_384);

fn device() -> Value {
    json!({
        "devices": [{"name": "nvme0n1", "model": "M", "serial": "S", "firmware": "F"}],
        "layers": [], "file_system": "ext4", "mount_options": [], "kernel": "6.18", "guest": false,
        "substitute": null,
    })
}

/// Direct writes of a page with a flush and without, in one cut; the last is without.
fn cut(number: u64) -> Value {
    let lane = |durability: &str| {
        json!({
            "lane": {"direct": true, "durability": durability, "page": 16_384},
            "acknowledged": 1_000, "was_written": true, "lost": 0, "out_of_order": 0, "torn": 0,
            "smallest_piece": null, "damaged": 0,
        })
    };
    json!({
        "run": format!("{number:032x}"), "kind": "power", "storage": device(),
        "lanes": [lane("fsync"), lane("completion")],
    })
}

/// So many cuts without a finding, of which `change` changes the last.
pub(crate) fn evidence(cuts: u64, change: impl Fn(&mut Value)) -> CutEvidence {
    let mut cuts: Vec<_> = (0..cuts).map(cut).collect();
    change(cuts.last_mut().unwrap());
    let verdict = json!({"format": 1, "cuts": cuts});
    CutEvidence {
        verdict: serde_json::from_value(verdict).unwrap(),
        storage: serde_json::from_value(device()).unwrap(),
    }
}

fn against(change: impl Fn(&mut Value)) -> Vec<String> {
    own_objections(&evidence(20, change).verdict, PAGE)
}

#[test]
fn one_cut_that_breaks_a_promise_is_enough() {
    assert!(against(|_| ()).is_empty());
    for (finding, words) in [
        ("lost", "lost acknowledged writes"),
        ("out_of_order", "out of order"),
        ("torn", "were torn in 1 cut"),
        ("damaged", "nothing had written"),
    ] {
        let [found] = against(|cut| cut["lanes"][0][finding] = 1.into())
            .try_into()
            .unwrap();
        assert!(found.contains(words), "{found}");
    }
    // A write that was not flushed may be lost.
    assert!(against(|cut| cut["lanes"][1]["lost"] = 1.into()).is_empty());
}

#[test]
fn cuts_of_a_stand_in_or_of_other_pages_show_nothing() {
    let emulated = evidence(20, |_| ()).verdict;
    let mut emulated = serde_json::to_value(&emulated).unwrap();
    for cut in emulated["cuts"].as_array_mut().unwrap() {
        cut["storage"]["substitute"] = "emulated".into();
    }
    let emulated: PowercutVerdict = serde_json::from_value(emulated).unwrap();
    let [found] = own_objections(&emulated, PAGE).try_into().unwrap();
    assert!(found.contains("Weir emulates"), "{found}");
    let [other_page] = own_objections(&evidence(20, |_| ()).verdict, Bytes(4096))
        .try_into()
        .unwrap();
    assert!(
        other_page.contains("direct writes of 4K met 0 cuts"),
        "{other_page}"
    );
    // One of another kind or device begins the count anew.
    let [few] = against(|cut| cut["storage"]["devices"][0]["firmware"] = "G".into())
        .try_into()
        .unwrap();
    assert!(few.contains("met 1 cuts"), "{few}");
}

#[test]
fn only_cuts_of_the_power_show_that_unflushed_writes_survive() {
    let rules = |cache| DeviceRules {
        cache,
        cache_size: Bytes(1 << 20),
        atomicity: Atomicity {
            unit: PAGE,
            ..Atomicity::default()
        },
    };
    let shows = |evidence: &CutEvidence| {
        shows_rules(&evidence.verdict, &rules(CacheRule::PowerProtected), PAGE)
    };
    assert!(shows(&evidence(20, |_| ())).is_empty());
    let [lost] = shows(&evidence(20, |cut| cut["lanes"][1]["lost"] = 1.into()))
        .try_into()
        .unwrap();
    assert!(lost.contains("volatile cache"), "{lost}");
    let mut reset = serde_json::to_value(&evidence(20, |_| ()).verdict).unwrap();
    for cut in reset["cuts"].as_array_mut().unwrap() {
        cut["kind"] = "reset".into();
    }
    let reset: PowercutVerdict = serde_json::from_value(reset).unwrap();
    assert_eq!(
        shows_rules(&reset, &rules(CacheRule::PowerProtected), PAGE).len(),
        1
    );
    let own = evidence(20, |_| ());
    assert_eq!(
        own.words(PAGE),
        "20 power cuts of M (serial S, firmware F): 0 in 20 cuts (below 14 % at 95 %) of pages of 16K torn"
    );
}
