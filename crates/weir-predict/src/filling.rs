//! A pool from the first second of a load on, page by page.

use crate::pool::{Access, Pool, PoolSettings};
use crate::random::Random;
use crate::Popularity;

/// Pages that are simulated at most.
const PAGES_MAX: f64 = 20_000.0;
const CHUNK: u32 = 200;
/// Seed.
const SEED: u64 = 1;

/// How a pool is filled.
#[derive(Debug, Clone)]
pub struct Filling {
    /// Settings at full size.
    pub settings: PoolSettings,
    /// Pages read before any of the data.
    pub own_pages: f64,
    /// When, in seconds from the load's begin, the page cleaner frees `depth` frames.
    pub ticks_s: Vec<f64>,
    /// Frames.
    pub depth: usize,
    /// From when to when is counted.
    pub counted_s: (f64, f64),
    /// seed
    pub seed: u64,
}

/// What came of it
#[derive(Debug, Clone, Copy)]
pub struct Filled {
    /// misses / reference
    pub miss_ratio: f64,
    /// per s
    pub references_per_s: f64,
    /// own pages left
    pub own_left: f64,
    /// young
    pub made_young: f64,
    /// filled at
    pub filled_s: f64,
}

struct Keys {
    up_to: Vec<f64>,
    groups: Vec<(u32, u64)>,
}

impl Keys {
    fn new(popularity: &Popularity, share: f64) -> (Self, u32) {
        let (mut up_to, mut groups, mut next, mut sum) = (Vec::new(), Vec::new(), 0, 0.0);
        for group in popularity.groups() {
            let pages = (group.pages * share).round().max(1.0);
            sum += group.pages * group.rate;
            up_to.push(sum);
            groups.push((next, pages as u64));
            next += pages as u32;
        }
        (Self { up_to, groups }, next)
    }

    fn draw(&self, random: &mut Random) -> u32 {
        let place = random.unit() * self.up_to.last().copied().unwrap_or(1.0);
        let group = self.up_to.partition_point(|up_to| *up_to < place);
        let (first, pages) = self.groups[group.min(self.groups.len() - 1)];
        first + random.below(pages) as u32
    }
}

impl Filling {
    /// references_per_s of a miss ratio
    pub fn run(&self, popularity: &Popularity, references_per_s: &dyn Fn(f64) -> f64) -> Filled {
        let share = (PAGES_MAX / popularity.pages()).min(1.0);
        let (keys, data) = Keys::new(popularity, share);
        let own = (self.own_pages * share).round() as u32;
        let mut random = Random::seeded(self.seed ^ SEED);
        let mut pool = Pool::new(self.settings.scaled(share), data + own);
        for page in data..data + own {
            pool.access(page, 0, false);
        }
        let began_s = 3.0;
        let mut now_s = began_s;
        let mut ticks = self.ticks_s.iter().peekable();
        let mut ratio = 1.0;
        let mut counting = false;
        let depth = (self.depth as f64 * share).round() as usize;
        let mut filled_s = f64::NAN;
        let mut chunk = 0;
        let mut missed = 0;
        let mut reference_s = 1.0 / (references_per_s(1.0) * share);
        while now_s - began_s < self.counted_s.1 {
            now_s += reference_s;
            if ticks.peek().is_some_and(|tick| **tick <= now_s - began_s) {
                ticks.next();
                pool.free(depth);
            }
            if !counting && now_s - began_s >= self.counted_s.0 {
                pool.forget_counts();
                counting = true;
            }
            let page = keys.draw(&mut random);
            if matches!(pool.access(page, (now_s * 1e3) as u32, false), Access::Miss { .. }) {
                missed += 1;
            }
            if filled_s.is_nan() && pool.is_full() {
                filled_s = now_s - began_s;
            }
            chunk += 1;
            if chunk == CHUNK {
                ratio = 0.7 * ratio + 0.3 * f64::from(missed) / f64::from(CHUNK);
                (chunk, missed) = (0, 0);
                reference_s = 1.0 / (references_per_s(ratio) * share);
            }
        }
        let counts = pool.counts();
        Filled {
            miss_ratio: counts.misses as f64 / counts.references as f64,
            references_per_s: counts.references as f64 / share / (self.counted_s.1 - self.counted_s.0),
            own_left: (data..data + own).filter(|page| pool.holds(*page)).count() as f64 / share,
            made_young: counts.made_young as f64,
            filled_s,
        }
    }
}
