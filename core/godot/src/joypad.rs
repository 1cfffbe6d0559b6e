//! Events of a joypad, which an input action of the project and input to a running game have in common.

use godot::{
    classes::{InputEventJoypadButton, InputEventJoypadMotion},
    global::{JoyAxis, JoyButton},
    obj::EngineEnum,
    prelude::*,
};

/// A button of a device; none where the engine knows no such button.
pub(crate) fn button(index: i32, device: i32) -> Option<Gd<InputEventJoypadButton>> {
    let button = JoyButton::try_from_ord(index)?;
    let mut event = InputEventJoypadButton::new_gd();
    event.set_button_index(button);
    event.set_device(device);
    Some(event)
}

/// An axis of a device and where it stands; none where the engine knows no such axis.
pub(crate) fn motion(axis: i32, value: f32, device: i32) -> Option<Gd<InputEventJoypadMotion>> {
    let axis = JoyAxis::try_from_ord(axis)?;
    let mut event = InputEventJoypadMotion::new_gd();
    event.set_axis(axis);
    event.set_axis_value(value);
    event.set_device(device);
    Some(event)
}
