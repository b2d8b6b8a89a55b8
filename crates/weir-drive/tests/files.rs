//! The mounted drive as a file system: what a database server relies on.

#![allow(clippy::unwrap_used)] // The helpers of a test fail as the test does.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};

use rustix::fs::{FallocateFlags, fallocate};
use support::{Drive, blocks, errno, open};

/// A page-aligned buffer of 16 KiB, as direct I/O wants it.
fn aligned_page(memory: &mut Vec<u8>, byte: u8) -> &mut [u8] {
    const PAGE: usize = 16_384;
    *memory = vec![byte; PAGE + 4096];
    let start = memory.as_ptr().align_offset(4096);
    &mut memory[start..start + PAGE]
}

#[test]
fn direct_io_of_a_database_page_and_of_a_log_block() {
    let drive = Drive::null();
    let file = drive.create("page.ibd", libc::O_DIRECT);
    let (mut written, mut read) = (Vec::new(), Vec::new());
    let page = aligned_page(&mut written, 0xab);
    assert_eq!(file.write_at(page, 16_384).unwrap(), 16_384);
    // A server's redo log writes blocks of 512 bytes.
    assert_eq!(file.write_at(&page[..512], 32_768).unwrap(), 512);
    file.sync_all().unwrap();
    file.sync_data().unwrap();
    let found = aligned_page(&mut read, 0);
    assert_eq!(file.read_at(found, 16_384).unwrap(), 16_384);
    assert_eq!(found, page);
    assert_eq!(file.read_at(found, 32_768).unwrap(), 512);
    assert_eq!(file.read_at(found, 0).unwrap(), 16_384);
    assert!(found.iter().all(|byte| *byte == 0));
    assert_eq!(file.metadata().unwrap().len(), 33_280);
}

#[test]
fn a_rename_replaces_and_an_open_file_survives_it() {
    let drive = Drive::null();
    let (old, new) = (drive.path("old"), drive.path("new"));
    fs::write(&old, "old").unwrap();
    fs::write(&new, "new").unwrap();
    let mut replaced = open(&new, 0);
    fs::rename(&old, &new).unwrap();
    assert_eq!(fs::read_to_string(&new).unwrap(), "old");
    assert!(!old.exists());
    let mut text = String::new();
    replaced.read_to_string(&mut text).unwrap();
    assert_eq!(text, "new");
    assert_eq!(replaced.metadata().unwrap().nlink(), 0);
}

#[test]
fn an_unlinked_file_lives_until_it_is_closed_and_then_frees_its_space() {
    let drive = Drive::null();
    let file = drive.create("temporary", 0);
    file.write_all_at(&vec![7; 1 << 20], 0).unwrap();
    fs::remove_file(drive.path("temporary")).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, 1 << 19).unwrap();
    assert_eq!(byte, [7]);
    assert!(drive.process.statistics().unwrap().used_bytes >= 1 << 20);
    drop(file);
    // The kernel forgets the inode after close(2) has returned.
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while drive.process.statistics().unwrap().used_bytes > 0 {
        assert!(std::time::Instant::now() < patience, "the space stays used");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn fallocate_allocates_punches_and_zeroes() {
    let drive = Drive::null();
    let file = drive.create("table.ibd", 0);
    fallocate(&file, FallocateFlags::empty(), 0, 1 << 20).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 1 << 20);
    assert!(blocks(&file) >= 2048);
    fallocate(&file, FallocateFlags::KEEP_SIZE, 1 << 20, 1 << 20).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 1 << 20);
    assert!(blocks(&file) >= 4096);

    file.write_all_at(&vec![1; 65_536], 0).unwrap();
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let before = blocks(&file);
    fallocate(&file, punch, 16_384, 16_384).unwrap();
    assert_eq!(blocks(&file), before - 32);
    fallocate(&file, FallocateFlags::ZERO_RANGE, 40_000, 1_000).unwrap();
    let mut found = vec![9; 65_536];
    file.read_exact_at(&mut found, 0).unwrap();
    for (position, byte) in found.iter().enumerate() {
        let zero = (16_384..32_768).contains(&position) || (40_000..41_000).contains(&position);
        assert_eq!(*byte, u8::from(!zero), "at {position}");
    }
    let collapse = fallocate(&file, FallocateFlags::COLLAPSE_RANGE, 0, 4096);
    assert_eq!(collapse, Err(rustix::io::Errno::OPNOTSUPP));
}

#[test]
fn truncation_and_holes() {
    let drive = Drive::null();
    let file = drive.create("sparse", 0);
    file.set_len(1 << 30).unwrap();
    assert_eq!(blocks(&file), 0);
    file.write_all_at(b"x", 1 << 29).unwrap();
    let data = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(0)).unwrap();
    assert!(data > 0 && data <= 1 << 29);
    file.set_len(3).unwrap();
    assert_eq!(fs::read(drive.path("sparse")).unwrap(), [0; 3]);
}

#[test]
fn hard_links_and_symbolic_links() {
    let drive = Drive::null();
    fs::write(drive.path("a"), "one").unwrap();
    fs::hard_link(drive.path("a"), drive.path("b")).unwrap();
    let (a, b) = (
        fs::metadata(drive.path("a")).unwrap(),
        fs::metadata(drive.path("b")).unwrap(),
    );
    assert_eq!((a.ino(), a.nlink()), (b.ino(), 2));
    open(&drive.path("b"), 0).write_all(b"two").unwrap();
    assert_eq!(fs::read_to_string(drive.path("a")).unwrap(), "two");
    fs::remove_file(drive.path("a")).unwrap();
    assert_eq!(fs::metadata(drive.path("b")).unwrap().nlink(), 1);
    symlink("b", drive.path("c")).unwrap();
    assert_eq!(fs::read_link(drive.path("c")).unwrap().to_str(), Some("b"));
    assert_eq!(fs::read_to_string(drive.path("c")).unwrap(), "two");
}

#[test]
fn appends_go_to_the_end_whoever_wrote_before() {
    let drive = Drive::null();
    let mut first = drive.create("log", libc::O_APPEND);
    let mut second = drive.create("log", libc::O_APPEND);
    for _ in 0..100 {
        first.write_all(b"a").unwrap();
        second.write_all(b"b").unwrap();
    }
    assert_eq!(
        fs::read_to_string(drive.path("log")).unwrap(),
        "ab".repeat(100)
    );
}

#[test]
#[allow(unsafe_code)] // mmap(2) is what is tested.
fn a_shared_mapping_and_the_file_are_one() {
    use rustix::mm::{MapFlags, MsyncFlags, ProtFlags, mmap, msync, munmap};
    let drive = Drive::null();
    let file = drive.create("mapped", 0);
    file.write_all_at(&[1; 8192], 0).unwrap();
    // SAFETY: a new mapping of 8 KiB, used within its length and unmapped once.
    unsafe {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let map = mmap(
            std::ptr::null_mut(),
            8192,
            protection,
            MapFlags::SHARED,
            &file,
            0,
        );
        let map = map.unwrap();
        let bytes = std::slice::from_raw_parts_mut(map.cast::<u8>(), 8192);
        assert!(bytes.iter().all(|byte| *byte == 1));
        bytes[5000] = 2;
        msync(map, 8192, MsyncFlags::SYNC).unwrap();
        munmap(map, 8192).unwrap();
    }
    let mut byte = [0];
    file.read_exact_at(&mut byte, 5000).unwrap();
    assert_eq!(byte, [2]);
}

/// A server that looks for atomic writes finds them only on request.
#[allow(unsafe_code)] // ioctl(2) is what is tested.
fn ask_for_atomic_writes(drive: &Drive) -> Result<(), Option<i32>> {
    use std::os::fd::AsRawFd;
    let file = drive.create("page.ibd", libc::O_DIRECT);
    let mut argument: libc::c_uint = 1;
    // SAFETY: the argument outlives the call and has the size that the number encodes.
    match unsafe { libc::ioctl(file.as_raw_fd(), 0x4004_9502, &raw mut argument) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().raw_os_error()),
    }
}

#[test]
fn atomic_writes_are_advertised_only_on_request() {
    let drive = Drive::null();
    assert_eq!(ask_for_atomic_writes(&drive), Err(Some(libc::ENOTTY)));
    let advertising = Drive::mount(|mut options| {
        options.settings = vec![("advertise".to_owned(), "true".to_owned())];
        options
    });
    assert_eq!(ask_for_atomic_writes(&advertising.unwrap()), Ok(()));
}

#[test]
fn large_directories_are_listed_whole() {
    let drive = Drive::null();
    let folder = drive.path("many");
    fs::create_dir(&folder).unwrap();
    for number in 0..3000 {
        fs::File::create(folder.join(format!("t{number}"))).unwrap();
    }
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3000);
    assert_eq!(errno(fs::remove_dir(&folder)), libc::ENOTEMPTY);
    fs::remove_dir_all(&folder).unwrap();
    assert!(!folder.exists());
}

#[test]
fn permissions_and_times_are_kept() {
    let drive = Drive::null();
    let file = drive.create("private", 0);
    file.set_permissions(fs::Permissions::from_mode(0o640))
        .unwrap();
    let metadata = file.metadata().unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o640);
    assert_eq!(metadata.uid(), rustix::process::geteuid().as_raw());
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1_234_567_890_123);
    file.set_modified(then).unwrap();
    assert_eq!(file.metadata().unwrap().modified().unwrap(), then);
    file.write_all_at(b"x", 0).unwrap();
    assert!(file.metadata().unwrap().modified().unwrap() > then);
}

#[test]
fn locks_are_the_kernels_and_end_with_their_holder() {
    use rustix::fs::{FlockOperation, fcntl_lock, flock};
    let drive = Drive::null();
    let first = drive.create("ibdata1", 0);
    let second = drive.create("ibdata1", 0);
    flock(&first, FlockOperation::LockExclusive).unwrap();
    let refused = flock(&second, FlockOperation::NonBlockingLockExclusive);
    assert_eq!(refused, Err(rustix::io::Errno::WOULDBLOCK));
    drop(first);
    flock(&second, FlockOperation::NonBlockingLockExclusive).unwrap();
    fcntl_lock(&second, FlockOperation::NonBlockingLockExclusive).unwrap();
}

#[test]
fn what_was_written_is_there_after_a_remount() {
    let drive = Drive::null();
    fs::create_dir(drive.path("sbtest")).unwrap();
    fs::write(drive.path("sbtest/t.ibd"), vec![3; 100_000]).unwrap();
    let Drive { process, folder } = drive;
    process.unmount().unwrap();
    let options = support::options(&folder, "null");
    let executable = std::path::Path::new(support::EXECUTABLE);
    let process = weir_drive::DriveProcess::mount(executable, &options).unwrap();
    let found = fs::read(process.mountpoint().join("sbtest/t.ibd")).unwrap();
    assert_eq!(found, vec![3; 100_000]);
    assert!(process.statistics().unwrap().used_bytes >= 100_000);
}
