//! The types that the engine gives its own settings.
//!
//! Spec: P-50, settings.

const TABLE: &str = include_str!("../../data/setting_types.txt");

/// The type of a setting, or of what an override of it (`name.web`) overrides; `None` for one that the
/// engine does not define by itself.
pub(crate) fn of(setting: &str) -> Option<&'static str> {
    let (folder, name) = setting.rsplit_once('/')?;
    let plain = name.split('.').next().unwrap_or(name);
    let setting = format!("{folder}/{plain}");
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines
        .find_map(|line| line.split_once(':').filter(|(known, _)| *known == setting))
        .map(|(_, kind)| kind)
}
