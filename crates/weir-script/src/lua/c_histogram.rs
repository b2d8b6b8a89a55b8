//! The functions `sb_histogram_*` that modules declare and call through FFI, and the list of the script's options.

#![allow(unsafe_code)] // exported names

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use crate::lua::output;

/// Characters of the longest bar.
const BAR: f64 = 40.0;

/// A histogram of logarithmic buckets; what lies outside counts in the first or the last.
#[derive(Debug)]
struct Histogram {
    buckets: usize,
    base: f64,
    step: f64,
    counts: BTreeMap<usize, u64>,
}

/// The options of the script, as help lists them.
static OPTIONS: Mutex<String> = Mutex::new(String::new());

#[used]
static KEPT: Exports = Exports {
    new: sb_histogram_new,
    uses: [sb_histogram_delete, sb_histogram_print],
    update: sb_histogram_update,
    options: sb_print_test_options,
};

#[allow(dead_code, reason = "the linker reads it")]
struct Exports {
    new: extern "C" fn(usize, f64, f64) -> *mut Histogram,
    uses: [unsafe extern "C" fn(*mut Histogram); 2],
    update: unsafe extern "C" fn(*mut Histogram, f64),
    options: extern "C" fn(),
}

/// Touches the table, so that the crate's other users link it, too.
pub(crate) fn keep() {
    std::hint::black_box(&raw const KEPT);
}

/// Keeps the list of the script's options.
pub(crate) fn set_options(list: String) {
    *OPTIONS.lock().unwrap_or_else(PoisonError::into_inner) = list;
}

// SAFETY of all `no_mangle` names below: they are sysbench's, and no other library has them.
// Safety of all functions below: pointers are those that `sb_histogram_new` has returned and that were not deleted.

#[unsafe(no_mangle)]
extern "C" fn sb_histogram_new(size: usize, min: f64, max: f64) -> *mut Histogram {
    let base = min.ln();
    Box::into_raw(Box::new(Histogram {
        buckets: size.max(1),
        base,
        step: (max.ln() - base) / size.saturating_sub(1).max(1) as f64,
        counts: BTreeMap::new(),
    }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sb_histogram_delete(histogram: *mut Histogram) {
    if !histogram.is_null() {
        // SAFETY: as the file asks of its callers.
        drop(unsafe { Box::from_raw(histogram) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sb_histogram_update(histogram: *mut Histogram, value: f64) {
    // SAFETY: as the file asks of its callers.
    if let Some(histogram) = unsafe { histogram.as_mut() } {
        // A value below zero becomes the first bucket.
        let bucket = ((value.ln() - histogram.base) / histogram.step).round() as usize;
        let bucket = bucket.min(histogram.buckets - 1);
        *histogram.counts.entry(bucket).or_default() += 1;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sb_histogram_print(histogram: *mut Histogram) {
    // SAFETY: as the file asks of its callers.
    if let Some(histogram) = unsafe { histogram.as_ref() } {
        output::print(&histogram.text());
    }
}

#[unsafe(no_mangle)]
extern "C" fn sb_print_test_options() {
    output::print(&OPTIONS.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Histogram {
    fn text(&self) -> String {
        let most = self.counts.values().copied().max().unwrap_or(0);
        let mut text = "       value  ------------- distribution ------------- count\n".to_owned();
        for (bucket, count) in &self.counts {
            let value = (self.base + *bucket as f64 * self.step).exp();
            let bar = "*".repeat((*count as f64 / most as f64 * BAR).round() as usize);
            let _ = writeln!(text, "{value:12.3} |{bar:<40} {count}");
        }
        text
    }
}
