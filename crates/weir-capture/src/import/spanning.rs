//! Strings and comments of statements that hold lines like those of a log.
//!
//! A log has no mark for the end of a string, so a stored log, or a text that is to be taken for one, reads like
//! entries. The statement's own quotes tell: a line that begins an entry while a string is open is the string's, if the
//! string ends as statements' strings do. If it does not, the statement was none that a server could read, and it ends
//! before the line.

use super::lines::Lines;
use crate::CaptureError;
use crate::sql::OpenText;

/// Lines and bytes that are looked at for the end of a string.
const LINES_MAX: usize = 10_000;
const BYTES_MAX: usize = 4 << 20;

/// Number of the next lines that belong to a text that is open before them; 0 if they are no part of it. `ends` returns
/// true if an entry may begin so many lines after the next one.
pub(super) fn lines_within(
    open: &OpenText,
    lines: &mut Lines,
    ends: fn(&mut Lines, usize) -> Result<bool, CaptureError>,
) -> Result<usize, CaptureError> {
    let (mut open, mut bytes) = (open.clone(), 0);
    for at in 0..LINES_MAX {
        if !open.is_open() && ends(lines, at)? {
            return Ok(at);
        }
        let Some(line) = lines.peek(at)? else {
            return Ok(if open.is_open() { 0 } else { at });
        };
        open.push(line);
        bytes += line.len();
        if open.is_odd() || bytes > BYTES_MAX {
            break;
        }
    }
    Ok(0)
}
