//! A drive that a user without any privilege mounts, as the package fuse3 permits it.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use support::EXECUTABLE;

/// In a mount namespace of its own, where the device is everybody's as it is on most systems: mounts a
/// drive as `nobody`, writes and reads a file on it, unmounts by a signal.
const SCRIPT: &str = r#"
mknod fuse c 10 229 && chmod 666 fuse && mount --bind fuse /dev/fuse || exit 77
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_RUNTIME_DIR=$PWD/run"
$as_nobody ./drive-process drive mount intel-p4610 $PWD/mount --backing $PWD/backing > said &
for i in $(seq 200); do grep -q mounted said && break; sleep 0.05; done
$as_nobody sh -c 'echo a page > mount/t.ibd; cat mount/t.ibd; stat -c %U mount/t.ibd'
grep -c " $PWD/mount fuse.weir " /proc/mounts
kill $!
wait $!
echo "ended with $?, mounts: $(grep -c " $PWD/mount fuse.weir " /proc/mounts)"
"#;

#[test]
fn a_user_without_root_mounts_and_uses_a_drive() {
    if !rustix::process::geteuid().is_root() {
        // Then every test of this folder is that test.
        return;
    }
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let path = |name: &str| home.path().join(name);
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(EXECUTABLE, path("drive-process")).unwrap();
    for name in ["mount", "backing", "run"] {
        fs::create_dir(path(name)).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(path(name), Some(65_534), Some(65_534)).unwrap();
    }
    let script = Command::new("unshare")
        .args(["--mount", "sh", "-c", SCRIPT])
        .current_dir(home.path())
        .output()
        .unwrap();
    let (said, complained) = (
        String::from_utf8_lossy(&script.stdout).into_owned(),
        String::from_utf8_lossy(&script.stderr).into_owned(),
    );
    if script.status.code() == Some(77) || complained.starts_with("unshare:") {
        // A container that has no devices or namespaces to give.
        return;
    }
    assert_eq!(
        said, "a page\nnobody\n1\nended with 0, mounts: 0\n",
        "{complained}"
    );
}
