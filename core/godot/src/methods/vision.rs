//! Pictures of what an editor or a game shows.

mod capture;
pub(crate) mod capture_passes;
pub(crate) mod capture_viewport;
pub(crate) mod diff_viewport;
pub(crate) mod frustum_query;
pub(crate) mod set_camera_transform;
pub(crate) mod toggle_debug_draw;

use godot::builtin::Vector3;
use serde::Deserialize;

/// Three numbers that are all needed.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Triple {
    x: f32,
    y: f32,
    z: f32,
}

impl Triple {
    fn vector(self) -> Vector3 {
        Vector3::new(self.x, self.y, self.z)
    }

    /// Whether each is at most so large.
    fn is_within(self, limit: f32) -> bool {
        [self.x, self.y, self.z].iter().all(|one| one.abs() <= limit)
    }
}
