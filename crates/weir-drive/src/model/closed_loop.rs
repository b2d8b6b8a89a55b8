//! Clients that each wait for their operation, in virtual time: what the tests of the model ask with.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{DeviceModel, DriveProfile, FileKind, Nanoseconds, Op, OpKind, Scale};

use super::Model;

/// Requests of a closed loop of clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) kind: OpKind,
    pub(super) bytes: u64,
    pub(super) depth: usize,
    pub(super) sequential: bool,
    pub(super) compressed_fraction: f64,
    pub(super) operations: u64,
    /// Bytes over which random operations spread; 0: as many as they have.
    pub(super) span: u64,
}

/// Rates and latencies of the loop in its second half, after the write buffer has filled.
pub(super) struct LoopResult {
    pub(super) per_second: f64,
    pub(super) bytes_per_second: f64,
    pub(super) latency_us_mean: f64,
}

pub(super) fn run(profile: &DriveProfile, scale: Scale, job: Job) -> LoopResult {
    let operations = job.operations;
    let mut model = Model::new(profile, scale);
    let mut clients: BinaryHeap<Reverse<Nanoseconds>> =
        std::iter::repeat_n(Reverse(1000), job.depth).collect();
    let places = match job.span / job.bytes {
        0 => operations,
        places => places,
    };
    let (mut half_time, mut last_done, mut latency_ns) = (0, 0, 0);
    for number in 0..operations {
        let Reverse(now) = clients.pop().unwrap();
        let position = if job.sequential {
            number
        } else {
            // A step that is prime to the size visits every page, never the next one.
            (number * 7919) % operations * places / operations
        };
        let op = Op {
            kind: job.kind,
            file: 1,
            file_kind: FileKind::Data,
            offset: position * job.bytes,
            bytes: job.bytes,
            compressed_fraction: job.compressed_fraction,
        };
        let done = model.submit(&op, now);
        assert!(done >= now);
        if number == operations / 2 {
            half_time = now;
        }
        if number >= operations / 2 {
            latency_ns += done - now;
            last_done = last_done.max(now);
        }
        clients.push(Reverse(done));
    }
    let measured = (operations / 2) as f64;
    let per_second = measured / ((last_done - half_time) as f64 / 1e9);
    LoopResult {
        per_second,
        bytes_per_second: per_second * job.bytes as f64,
        latency_us_mean: latency_ns as f64 / measured / 1e3,
    }
}

pub(super) fn random(kind: OpKind, bytes: u64, depth: usize) -> Job {
    Job {
        kind,
        bytes,
        depth,
        sequential: false,
        compressed_fraction: 1.0,
        operations: 200_000,
        span: 0,
    }
}

impl Job {
    pub(super) fn sequential(self) -> Self {
        Self {
            sequential: true,
            ..self
        }
    }
}

#[track_caller]
pub(super) fn assert_near(what: &str, found: f64, wanted: f64) {
    assert!(
        (found / wanted - 1.0).abs() < 0.02,
        "{what}: found {found}, wanted {wanted}"
    );
}
