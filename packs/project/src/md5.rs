//! MD5, by which the engine tells whether an imported file has changed. Nothing is kept safe by it.
//!
//! Spec: P-50, the audit.

/// How far each round turns its word, four a group.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest in hex of parts put together.
pub(crate) fn hex<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut bytes: Vec<u8> = parts.into_iter().flatten().copied().collect();
    let bits = (bytes.len() as u64).wrapping_mul(8);
    bytes.push(0x80);
    // The last block ends with the length, in eight bytes.
    bytes.resize((bytes.len() + 8).next_multiple_of(64) - 8, 0);
    bytes.extend(bits.to_le_bytes());
    let constants = constants();
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in bytes.chunks_exact(64) {
        turn(&mut state, block, &constants);
    }
    let words = state.map(|word| u128::from(word.swap_bytes()));
    format!("{:032x}", words.iter().fold(0, |all, word| all << 32 | word))
}

/// The whole parts of sines, as the algorithm has them.
fn constants() -> [u32; 64] {
    std::array::from_fn(|index| {
        let sine = f64::from(u32::try_from(index + 1).unwrap_or(0)).sin().abs();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
        let whole = (sine * 4_294_967_296.0) as u32;
        whole
    })
}

fn turn(state: &mut [u32; 4], block: &[u8], constants: &[u32; 64]) {
    let word = |at: usize| {
        let four = &block[at * 4..at * 4 + 4];
        u32::from_le_bytes([four[0], four[1], four[2], four[3]])
    };
    let [mut a, mut b, mut c, mut d] = *state;
    for (index, constant) in constants.iter().enumerate() {
        let (mixed, at) = match index / 16 {
            0 => ((b & c) | (!b & d), index),
            1 => ((d & b) | (!d & c), (5 * index + 1) % 16),
            2 => (b ^ c ^ d, (3 * index + 5) % 16),
            _ => (c ^ (b | !d), (7 * index) % 16),
        };
        let sum = mixed.wrapping_add(a).wrapping_add(*constant).wrapping_add(word(at));
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(TURNS[index / 16][index % 4]));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d]) {
        *old = old.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests;
