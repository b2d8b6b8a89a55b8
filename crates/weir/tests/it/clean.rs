//! `weir clean`: what a killed study leaves is tested with `weir run`; here, what must stay.

use crate::harness::{Weir, World};

#[test]
fn nothing_to_clean_is_said_in_words_and_in_json() {
    let world = World::new();
    let output = Weir::in_world(&world).args(["clean"]).succeeds();
    assert_eq!(output.stdout, "nothing was left behind\n");
    let output = Weir::in_world(&world).args(["clean", "--json"]).succeeds();
    assert_eq!(output.stdout, "[]\n");
}

#[test]
fn a_directory_that_others_may_enter_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let shared = world.runtime.path().join("weir");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = Weir::in_world(&world).args(["clean"]).fails();
    assert!(
        error.contains("belongs to another user or others may enter"),
        "{error}"
    );
}
