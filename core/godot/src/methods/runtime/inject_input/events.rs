//! One event of a batch: read, built, and looked up again in the engine's input.

use didi_wire::BridgeError;
use godot::{
    classes::{
        Input, InputEvent, InputEventAction, InputEventKey, InputEventMouseButton,
        InputEventMouseMotion, InputMap,
    },
    global::{JoyAxis, JoyButton, Key, MouseButton},
    obj::EngineEnum,
    prelude::*,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{joypad, node_path, refuse};

/// The engine's notifications of the application's focus.
const FOCUS_IN: i32 = 2016;
const FOCUS_OUT: i32 = 2017;

/// A point in window pixels.
#[derive(Deserialize, Clone, Copy, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Point {
    x: f32,
    y: f32,
}

impl From<Point> for Vector2 {
    fn from(point: Point) -> Self {
        Vector2::new(point.x, point.y)
    }
}

/// What a caller sends.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Event {
    Action {
        action_name: String,
        pressed: bool,
        strength: Option<f32>,
    },
    Key {
        pressed: bool,
        keycode: Option<i32>,
        physical_keycode: Option<i32>,
        unicode: Option<u32>,
        #[serde(default)]
        echo: bool,
        #[serde(default)]
        shift_pressed: bool,
        #[serde(default)]
        alt_pressed: bool,
        #[serde(default)]
        ctrl_pressed: bool,
        #[serde(default)]
        meta_pressed: bool,
        #[serde(default)]
        device: i32,
    },
    MouseButton {
        button_index: i32,
        pressed: bool,
        position: Option<Point>,
        global_position: Option<Point>,
        #[serde(default)]
        double_click: bool,
        factor: Option<f32>,
        #[serde(default)]
        device: i32,
    },
    MouseMotion {
        position: Option<Point>,
        global_position: Option<Point>,
        relative: Option<Point>,
        #[serde(default)]
        device: i32,
    },
    JoypadButton {
        button_index: i32,
        pressed: bool,
        pressure: Option<f32>,
        #[serde(default)]
        device: i32,
    },
    JoypadMotion {
        axis: i32,
        axis_value: f32,
        #[serde(default)]
        device: i32,
    },
    WindowFocus {
        focused: bool,
    },
}

/// A batch that can go out.
pub(super) enum Built {
    Input(Vec<Gd<InputEvent>>),
    Focus(bool),
}

/// Builds a whole batch, or nothing.
pub(super) fn build(events: &[Event]) -> Result<Built, BridgeError> {
    check_actions(events)?;
    let focus = events.iter().find_map(|event| match event {
        Event::WindowFocus { focused } => Some(*focused),
        _ => None,
    });
    match focus {
        Some(_) if events.len() > 1 => {
            Err(refuse::invalid("events", "`window_focus` stands alone in its batch"))
        }
        Some(focused) => Ok(Built::Focus(focused)),
        None => {
            let built = events.iter().enumerate().map(|(at, event)| event.build(at));
            Ok(Built::Input(built.collect::<Result<_, _>>()?))
        }
    }
}

/// Every action has to be one of the game's.
fn check_actions(events: &[Event]) -> Result<(), BridgeError> {
    let map = InputMap::singleton();
    let undefined: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Action { action_name, .. } if !map.has_action(action_name.as_str()) => {
                Some(action_name.as_str())
            }
            _ => None,
        })
        .collect();
    if undefined.is_empty() {
        return Ok(());
    }
    let message = format!("the game has no input action `{}`", undefined.join("`, `"));
    let error = refuse::invalid("events", message)
        .with("reason", "undefined_input_action")
        .with("undefined_actions", json!(undefined));
    let arguments = json!({ "action": undefined[0] });
    Err(refuse::next_call(error, "project_set_input_action", arguments, "defines it"))
}

/// Tells the game that its window gained or lost the focus, without the system's doing.
pub(super) fn tell_focus(focused: bool) -> Result<(), BridgeError> {
    let what = if focused { FOCUS_IN } else { FOCUS_OUT };
    let root: Gd<Node> = node_path::window()?.upcast();
    root.clone().call("propagate_notification", &[what.to_variant()]);
    Ok(())
}

impl Event {
    /// The word for its type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Event::Action { .. } => "action",
            Event::Key { .. } => "key",
            Event::MouseButton { .. } => "mouse_button",
            Event::MouseMotion { .. } => "mouse_motion",
            Event::JoypadButton { .. } => "joypad_button",
            Event::JoypadMotion { .. } => "joypad_motion",
            Event::WindowFocus { .. } => "window_focus",
        }
    }

    fn build(&self, at: usize) -> Result<Gd<InputEvent>, BridgeError> {
        let unknown = |what: &str| refuse::invalid("events", format!("event {at}: {what}"));
        Ok(match self {
            Event::Action { action_name, pressed, strength } => {
                let mut event = InputEventAction::new_gd();
                event.set_action(action_name.as_str());
                event.set_pressed(*pressed);
                event.set_strength(strength.unwrap_or(if *pressed { 1.0 } else { 0.0 }));
                event.upcast()
            }
            Event::Key {
                pressed,
                keycode,
                physical_keycode,
                unicode,
                echo,
                shift_pressed,
                alt_pressed,
                ctrl_pressed,
                meta_pressed,
                device,
            } => {
                let key = |code: Option<i32>| {
                    code.map(|code| Key::try_from_ord(code).ok_or_else(|| unknown("no such key")))
                        .transpose()
                };
                let mut event = InputEventKey::new_gd();
                event.set_keycode(key(*keycode)?.unwrap_or(Key::NONE));
                event.set_physical_keycode(key(*physical_keycode)?.unwrap_or(Key::NONE));
                event.set_unicode(unicode.unwrap_or(0));
                event.set_pressed(*pressed);
                event.set_echo(*echo);
                event.set_shift_pressed(*shift_pressed);
                event.set_alt_pressed(*alt_pressed);
                event.set_ctrl_pressed(*ctrl_pressed);
                event.set_meta_pressed(*meta_pressed);
                event.set_device(*device);
                event.upcast()
            }
            Event::MouseButton {
                button_index,
                pressed,
                position,
                global_position,
                double_click,
                factor,
                device,
            } => {
                let button = MouseButton::try_from_ord(*button_index);
                let mut event = InputEventMouseButton::new_gd();
                event.set_button_index(button.ok_or_else(|| unknown("no such mouse button"))?);
                event.set_pressed(*pressed);
                event.set_double_click(*double_click);
                event.set_factor(factor.unwrap_or(1.0));
                let place: Vector2 = position.unwrap_or_default().into();
                event.set_position(place);
                event.set_global_position(global_position.map_or(place, Into::into));
                event.set_device(*device);
                event.upcast()
            }
            Event::MouseMotion { position, global_position, relative, device } => {
                let mut event = InputEventMouseMotion::new_gd();
                let place: Vector2 = position.unwrap_or_default().into();
                event.set_position(place);
                event.set_global_position(global_position.map_or(place, Into::into));
                event.set_relative(relative.unwrap_or_default().into());
                event.set_device(*device);
                event.upcast()
            }
            Event::JoypadButton { button_index, pressed, pressure, device } => {
                let event = joypad::button(*button_index, *device);
                let mut event = event.ok_or_else(|| unknown("no such button"))?;
                event.set_pressed(*pressed);
                event.set_pressure(pressure.unwrap_or(if *pressed { 1.0 } else { 0.0 }));
                event.upcast()
            }
            Event::JoypadMotion { axis, axis_value, device } => {
                let event = joypad::motion(*axis, *axis_value, *device);
                event.ok_or_else(|| unknown("no such axis"))?.upcast()
            }
            Event::WindowFocus { .. } => return Err(unknown("it stands alone in its batch")),
        })
    }

    /// What the engine's input holds for the event's control; nothing for what it does not keep.
    pub(super) fn observed(&self) -> Option<(String, Value)> {
        let input = Input::singleton();
        Some(match self {
            Event::Action { action_name, .. } => {
                let name = action_name.as_str();
                let held = json!({
                    "pressed": input.is_action_pressed(name),
                    "strength": input.get_action_strength(name),
                });
                (format!("action:{name}"), held)
            }
            Event::Key { keycode: Some(code), .. } => {
                let key = Key::try_from_ord(*code)?;
                (format!("key:{code}"), json!({ "pressed": input.is_key_pressed(key) }))
            }
            Event::Key { physical_keycode: Some(code), .. } => {
                let key = Key::try_from_ord(*code)?;
                let pressed = input.is_physical_key_pressed(key);
                (format!("physical_key:{code}"), json!({ "pressed": pressed }))
            }
            Event::MouseButton { button_index, .. } => {
                let button = MouseButton::try_from_ord(*button_index)?;
                let pressed = input.is_mouse_button_pressed(button);
                (format!("mouse_button:{button_index}"), json!({ "pressed": pressed }))
            }
            Event::JoypadButton { button_index, device, .. } => {
                let button = JoyButton::try_from_ord(*button_index)?;
                let pressed = input.is_joy_button_pressed(*device, button);
                (format!("joypad_button:{device}:{button_index}"), json!({ "pressed": pressed }))
            }
            Event::JoypadMotion { axis, device, .. } => {
                let value = input.get_joy_axis(*device, JoyAxis::try_from_ord(*axis)?);
                (format!("joypad_axis:{device}:{axis}"), json!({ "value": value }))
            }
            Event::Key { .. } | Event::MouseMotion { .. } | Event::WindowFocus { .. } => {
                return None;
            }
        })
    }
}
