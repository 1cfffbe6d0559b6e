//! Names that are close to one that is not there.
//!
//! Spec: P-24, refusals and remedies.

use didi_plugin_api::near::distance;

/// Names suggested.
const MAX_NEAR: usize = 5;

/// The closest names, best first; none that is far off.
pub(super) fn to<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let wanted = name.to_lowercase();
    let letters = wanted.chars().count();
    // Two letters that changed places are two apart.
    let limit = if letters < 4 { 1 } else { (letters / 3).max(2) };
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|one| {
            let other = one.to_lowercase();
            let far = distance(&wanted, &other);
            // A part of a longer name is a guess, too, after all that is spelled alike.
            let part = wanted.len() > 3 && (other.starts_with(&wanted) || other.ends_with(&wanted));
            if far <= limit { Some((far, one)) } else { part.then_some((limit + far, one)) }
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MAX_NEAR).map(|(_, one)| one.to_owned()).collect()
}
