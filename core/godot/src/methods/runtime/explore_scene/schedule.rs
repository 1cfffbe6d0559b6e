//! Which action comes next: drawn from a seed, so that the same seed gives the same order.

/// A sequence of actions, each of them once before any comes again.
pub(super) struct Schedule {
    state: u64,
    count: usize,
    left: Vec<usize>,
}

impl Schedule {
    pub(super) fn new(seed: u64, count: usize) -> Self {
        Schedule { state: seed, count, left: vec![] }
    }

    /// The place of the next action.
    pub(super) fn next_action(&mut self) -> usize {
        if self.left.is_empty() {
            self.left = (0..self.count).collect();
        }
        let drawn = usize::try_from(self.draw() % self.left.len() as u64).unwrap_or(0);
        self.left.swap_remove(drawn)
    }

    /// `SplitMix64`: enough for an order, and the same everywhere.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn a_seed_gives_one_order_in_which_every_action_has_its_turn() {
        let order = |seed| {
            let mut schedule = Schedule::new(seed, 3);
            (0..30).map(|_| schedule.next_action()).collect::<Vec<_>>()
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
        for round in order(7).chunks(3) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2]);
        }
    }
}
