//! Input actions as settings: their events in JSON and back.

use didi_wire::BridgeError;
use godot::{
    classes::{
        InputEvent, InputEventJoypadButton, InputEventJoypadMotion, InputEventKey,
        InputEventMouseButton,
    },
    global::{Key, MouseButton},
    obj::EngineEnum,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{joypad, refuse};

/// The device that stands for all of them.
const ALL_DEVICES: i32 = -1;

/// An event as a caller sends it.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Event {
    Key {
        keycode: Option<i32>,
        physical_keycode: Option<i32>,
        unicode: Option<u32>,
        #[serde(default, alias = "shift")]
        shift_pressed: bool,
        #[serde(default, alias = "alt")]
        alt_pressed: bool,
        #[serde(default, alias = "ctrl")]
        ctrl_pressed: bool,
        #[serde(default, alias = "meta")]
        meta_pressed: bool,
        #[serde(default = "all_devices")]
        device: i32,
    },
    MouseButton {
        button_index: i32,
        #[serde(default = "all_devices")]
        device: i32,
    },
    JoypadButton {
        button_index: i32,
        #[serde(default = "all_devices")]
        device: i32,
    },
    JoypadMotion {
        axis: i32,
        axis_value: f32,
        #[serde(default = "all_devices")]
        device: i32,
    },
}

fn all_devices() -> i32 {
    ALL_DEVICES
}

/// Builds the event at a place of a list.
pub(super) fn build(event: &Event, at: usize) -> Result<Gd<InputEvent>, BridgeError> {
    let unknown = |what: &str| refuse::invalid("events", format!("event {at}: {what}"));
    Ok(match event {
        Event::Key {
            keycode,
            physical_keycode,
            unicode,
            shift_pressed,
            alt_pressed,
            ctrl_pressed,
            meta_pressed,
            device,
        } => {
            if keycode.is_none() && physical_keycode.is_none() && unicode.is_none() {
                return Err(unknown(
                    "one of `keycode`, `physical_keycode` and `unicode` is needed",
                ));
            }
            let key = |code: &Option<i32>| {
                Key::try_from_ord(code.unwrap_or(0)).ok_or_else(|| unknown("no such key"))
            };
            let mut event = InputEventKey::new_gd();
            event.set_keycode(key(keycode)?);
            event.set_physical_keycode(key(physical_keycode)?);
            event.set_unicode(unicode.unwrap_or(0));
            event.set_shift_pressed(*shift_pressed);
            event.set_alt_pressed(*alt_pressed);
            event.set_ctrl_pressed(*ctrl_pressed);
            event.set_meta_pressed(*meta_pressed);
            event.set_device(*device);
            event.upcast()
        }
        Event::MouseButton { button_index, device } => {
            let button = MouseButton::try_from_ord(*button_index);
            let mut event = InputEventMouseButton::new_gd();
            event.set_button_index(button.ok_or_else(|| unknown("no such mouse button"))?);
            event.set_device(*device);
            event.upcast()
        }
        Event::JoypadButton { button_index, device } => {
            let event = joypad::button(*button_index, *device);
            event.ok_or_else(|| unknown("no such button"))?.upcast()
        }
        Event::JoypadMotion { axis, axis_value, device } => {
            let event = joypad::motion(*axis, *axis_value, *device);
            event.ok_or_else(|| unknown("no such axis"))?.upcast()
        }
    })
}

/// An event of the engine as JSON.
pub(super) fn told(event: &Gd<InputEvent>) -> Value {
    let mut told = match event.clone().try_cast::<InputEventKey>() {
        Ok(key) => self::key(&key),
        Err(event) => other(event),
    };
    told["device"] = event.get_device().into();
    told["text"] = event.as_text().to_string().into();
    told
}

fn key(key: &Gd<InputEventKey>) -> Value {
    let (shift, alt) = (key.is_shift_pressed(), key.is_alt_pressed());
    let (ctrl, meta) = (key.is_ctrl_pressed(), key.is_meta_pressed());
    json!({
        "type": "key",
        "keycode": key.get_keycode().ord(),
        "physical_keycode": key.get_physical_keycode().ord(),
        "unicode": key.get_unicode(),
        "shift": shift, "shift_pressed": shift,
        "alt": alt, "alt_pressed": alt,
        "ctrl": ctrl, "ctrl_pressed": ctrl,
        "meta": meta, "meta_pressed": meta,
    })
}

fn other(event: Gd<InputEvent>) -> Value {
    let event = match event.try_cast::<InputEventMouseButton>() {
        Ok(button) => {
            return json!({ "type": "mouse_button", "button_index": button.get_button_index().ord() });
        }
        Err(event) => event,
    };
    let event = match event.try_cast::<InputEventJoypadButton>() {
        Ok(button) => {
            let index = button.get_button_index().ord();
            return json!({ "type": "joypad_button", "button_index": index });
        }
        Err(event) => event,
    };
    match event.try_cast::<InputEventJoypadMotion>() {
        Ok(motion) => json!({
            "type": "joypad_motion",
            "axis": motion.get_axis().ord(),
            "axis_value": motion.get_axis_value(),
        }),
        Err(event) => json!({ "type": "other", "class": event.get_class().to_string() }),
    }
}
