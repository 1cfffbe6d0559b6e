//! Follows `docs/pack-authoring.md` to the letter.
