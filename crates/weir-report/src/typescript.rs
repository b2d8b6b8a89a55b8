//! Types of the pages in `web/`.

use weir_model::TypeScript;

use crate::page::Page;
use crate::served::{ComparisonAnswer, RunPage, Runs};

#[test]
fn the_pages_types_are_those_of_its_json() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/types.ts");
    let types = TypeScript::default()
        .with::<Page<'static>>()
        .with::<Runs<'static>>()
        .with::<RunPage<'static>>()
        .with::<ComparisonAnswer<'static>>();
    let is_kept = types.is_kept_in(FILE).unwrap();
    assert!(is_kept, "web/src/types.ts is out of date; run `make types`");
}
