//! Output to standard error, in one place. The macros of this module stand in the way of the standard library's, which
//! panic where the reader is gone. A proxy must not end because its terminal was closed.

use std::fmt::Arguments;
use std::io::{self, Write as _};

/// Writes; where standard error is closed or full, the words are lost and the work goes on.
pub fn write(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// As the standard library's, but never panics.
#[macro_export]
macro_rules! eprint {
    ($($part:tt)*) => {
        $crate::stderr::write(format_args!($($part)*))
    };
}

/// As the standard library's, but never panics.
#[macro_export]
macro_rules! eprintln {
    () => {
        $crate::stderr::write(format_args!("\n"))
    };
    ($($part:tt)*) => {
        $crate::stderr::write(format_args!("{}\n", format_args!($($part)*)))
    };
}
