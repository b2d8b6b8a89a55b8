//! The C library's standard output, on which scripts print.

#![allow(unsafe_code)] // the C library's own buffers

use std::sync::Once;

unsafe extern "C" {
    /// stdio(3).
    static mut stdout: *mut libc::FILE;
}

/// Lines go out when they end, so that they stand where they belong among the program's own.
pub(crate) fn by_lines() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: setvbuf(3) with a buffer of its own, before anything is printed.
        unsafe { libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, 1 << 16) };
    });
}

/// Prints where scripts print.
pub(crate) fn print(text: &str) {
    // SAFETY: fwrite(3) of so many bytes.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
}

/// Sends what scripts have printed, down to a line's beginning: before the program prints.
pub fn flush_output() {
    // SAFETY: fflush(3) of all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
