//! The miss-ratio curve of a string of references: misses of a list of least recent use, at every
//! size at once.
//!
//! A reference hits if fewer different pages were used since the last use of its page than the pool
//! holds (Mattson, Gecsei, Slutz and Traiger 1970, "Evaluation techniques for storage
//! hierarchies"). [`StackDistances`] counts those pages in a tree of sums; [`Sample`] makes a long
//! string short.

mod distances;
mod sample;
mod sums;

pub use self::distances::{MissCurve, StackDistances};
pub use self::sample::{Estimate, Sample, sampled_curve, sampled_pool};
