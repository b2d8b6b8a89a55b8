//! The functions that scripts declare and call through FFI. The program exports their names.

#![allow(unsafe_code)] // exported names, and buffers of the caller's

use std::ffi::{CStr, c_char, c_int, c_uint};

use crate::lua::host::{Counter, Host, RandomKind};
use crate::lua::state_data::ask;

/// Keeps the names through link-time optimisation: nothing in Rust calls them.
#[used]
static KEPT: Exports = Exports {
    more_events: sb_more_events,
    events: [sb_event_start, sb_event_stop],
    count: sb_counter_inc,
    ranges: [
        sb_rand_default,
        sb_rand_uniform,
        sb_rand_gaussian,
        sb_rand_pareto,
        sb_rand_special,
        sb_rand_zipfian,
    ],
    unique: sb_rand_unique,
    bits: sb_rand_uniform_uint64,
    double: sb_rand_uniform_double,
    string: sb_rand_str,
    variable: sb_rand_varstr,
};

type Range = extern "C" fn(u32, u32) -> u32;

#[allow(dead_code, reason = "the linker reads it")]
struct Exports {
    more_events: extern "C" fn(c_int) -> bool,
    events: [extern "C" fn(c_int); 2],
    count: extern "C" fn(c_int, c_uint),
    ranges: [Range; 6],
    unique: extern "C" fn() -> u32,
    bits: extern "C" fn() -> u64,
    double: extern "C" fn() -> f64,
    string: unsafe extern "C" fn(*const c_char, *mut c_char),
    variable: unsafe extern "C" fn(*mut c_char, u32, u32) -> u32,
}

/// Touches the table, so that the crate's other users link it, too.
pub(crate) fn keep() {
    std::hint::black_box(&raw const KEPT);
}

// SAFETY of all `no_mangle` names below: they are sysbench's, and no other library has them.

#[unsafe(no_mangle)]
extern "C" fn sb_more_events(_thread: c_int) -> bool {
    ask(false, |host| host.has_more_events())
}

#[unsafe(no_mangle)]
extern "C" fn sb_event_start(_thread: c_int) {
    ask((), |host| host.begin_event());
}

#[unsafe(no_mangle)]
extern "C" fn sb_event_stop(_thread: c_int) {
    ask((), |host| host.end_event());
}

/// The counters in the order of `sb_counter_type`.
#[unsafe(no_mangle)]
extern "C" fn sb_counter_inc(_thread: c_int, counter: c_uint) {
    let counter = match counter {
        0 => Counter::Other,
        1 => Counter::Read,
        2 => Counter::Write,
        3 => Counter::Event,
        4 => Counter::Error,
        5 => Counter::Reconnect,
        _ => return,
    };
    ask((), |host| host.count(counter));
}

fn draw(kind: RandomKind, low: u32, high: u32) -> u32 {
    ask(low, |host| host.random(kind, low, high.max(low)))
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_default(low: u32, high: u32) -> u32 {
    draw(RandomKind::Default, low, high)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_uniform(low: u32, high: u32) -> u32 {
    draw(RandomKind::Uniform, low, high)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_gaussian(low: u32, high: u32) -> u32 {
    draw(RandomKind::Gaussian, low, high)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_pareto(low: u32, high: u32) -> u32 {
    draw(RandomKind::Pareto, low, high)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_special(low: u32, high: u32) -> u32 {
    draw(RandomKind::Special, low, high)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_zipfian(low: u32, high: u32) -> u32 {
    draw(RandomKind::Zipfian, low, high)
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_unique() -> u32 {
    ask(0, |host| host.unique())
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_uniform_uint64() -> u64 {
    ask(0, |host| host.random_bits())
}

#[unsafe(no_mangle)]
extern "C" fn sb_rand_uniform_double() -> f64 {
    (sb_rand_uniform_uint64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// # Safety
///
/// `template` ends with a NUL, and `out` has room for as many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn sb_rand_str(template: *const c_char, out: *mut c_char) {
    // SAFETY: as the function asks of its caller.
    let template = unsafe { CStr::from_ptr(template) }.to_bytes();
    let text = ask(template.to_vec(), |host| random_string(host, template));
    // SAFETY: the text is as long as the template, and `out` has room for it and its NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len());
        *out.add(text.len()) = 0;
    }
}

/// # Safety
///
/// `out` has room for `max` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn sb_rand_varstr(out: *mut c_char, min: u32, max: u32) -> u32 {
    let text = ask(Vec::new(), |host| variable_string(host, min, max));
    // SAFETY: the text has no more than `max` bytes.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast(), text.len()) };
    text.len() as u32
}

/// `#` becomes a digit, `@` a small letter.
pub(crate) fn random_string(host: &mut dyn Host, template: &[u8]) -> Vec<u8> {
    let mut draw = |first: u8, last: u8| {
        host.random(RandomKind::Uniform, u32::from(first), u32::from(last)) as u8
    };
    let one = |byte: &u8| match byte {
        b'#' => draw(b'0', b'9'),
        b'@' => draw(b'a', b'z'),
        other => *other,
    };
    template.iter().map(one).collect()
}

/// Between `min` and `max` characters from `0` to `z`.
pub(crate) fn variable_string(host: &mut dyn Host, min: u32, max: u32) -> Vec<u8> {
    let length = host.random(RandomKind::Uniform, min, max.max(min));
    let (first, last) = (u32::from(b'0'), u32::from(b'z'));
    (0..length)
        .map(|_| host.random(RandomKind::Uniform, first, last) as u8)
        .collect()
}
