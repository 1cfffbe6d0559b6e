//! Pictures of what an editor or a game shows.

mod capture;
pub(crate) mod capture_viewport;
pub(crate) mod diff_viewport;
pub(crate) mod frustum_query;
pub(crate) mod set_camera_transform;
pub(crate) mod toggle_debug_draw;
