//! Marks on a line, and how many of them lie before a place: Fenwick's tree (1994, "A new data
//! structure for cumulative frequency tables").

/// Marks at places `0..len`.
#[derive(Debug)]
pub(super) struct Sums {
    tree: Vec<u32>,
}

impl Sums {
    pub(super) fn new(len: usize) -> Self {
        Self {
            tree: vec![0; len + 1],
        }
    }

    pub(super) fn set(&mut self, place: usize) {
        self.add(place, 1);
    }

    pub(super) fn clear(&mut self, place: usize) {
        self.add(place, u32::MAX);
    }

    /// Marks at places before `place`.
    pub(super) fn before(&self, place: usize) -> u32 {
        let mut index = place;
        let mut sum = 0_u32;
        while index > 0 {
            sum = sum.wrapping_add(self.tree[index]);
            index &= index - 1;
        }
        sum
    }

    fn add(&mut self, place: usize, value: u32) {
        let mut index = place + 1;
        while index < self.tree.len() {
            self.tree[index] = self.tree[index].wrapping_add(value);
            index += index & index.wrapping_neg();
        }
    }
}
