//! Types of `web/src/serve` beside results.

use weir_model::TypeScript;

use crate::api::{Results, Session, Studies};
use crate::api_error::ErrorBody;
use crate::live::Live;

#[test]
fn the_servers_types_are_those_of_its_json() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/serve/types.ts");
    let types = TypeScript::default()
        .with::<Results>()
        .with::<Studies>()
        .with::<Session>()
        .with::<ErrorBody>()
        .with::<Live>();
    let is_kept = types.is_kept_in(FILE).unwrap();
    assert!(
        is_kept,
        "web/src/serve/types.ts is out of date; run `make types`"
    );
}
