//! How far a misspelled name is from one that is known, for refusals that suggest the right one.
//!
//! Spec: P-24, refusals and remedies.

/// Letters of a name that are compared; what is longer is no typing error of the rest.
const MAX_LETTERS: usize = 64;

/// Letters to add, drop or change until one name is the other, 0 to 64.
///
/// Only the first 64 letters of each are compared. Case counts. Two letters that changed places are two apart.
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(MAX_LETTERS).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().take(MAX_LETTERS).enumerate() {
        let mut corner = std::mem::replace(&mut row[0], line + 1);
        for (column, compared) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *compared);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn the_fewest_edits_count() {
        for (one, other, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("Node2D", "node2D", 1),
            ("größe", "grosse", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(one, other), edits, "{one} {other}");
            assert_eq!(distance(other, one), edits, "{other} {one}");
        }
        assert_eq!(distance(&"x".repeat(1_000_000), "x"), 63);
    }
}
