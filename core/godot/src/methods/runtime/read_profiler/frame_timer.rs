//! How long the parts of each frame take, by what the engine signals on its way through one.
//!
//! The tree signals the begin of a tick of physics and of the processing of a frame, the rendering server the begin
//! and the end of drawing. What a part costs is the time to the next of them.

use std::{
    cell::RefCell,
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

use didi_wire::BridgeError;
use godot::{
    classes::{Engine, RenderingServer},
    prelude::*,
};

use crate::node_path;

/// Most frames that are kept.
const MAX_FRAMES: usize = 20_000;

/// One frame, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Frame {
    /// From the end of the frame before to the end of this one.
    pub(super) whole: f64,
    pub(super) physics: f64,
    pub(super) process: f64,
    pub(super) draw: f64,
    /// What the graphics device took for the frame before, where it says so.
    pub(super) gpu: f64,
}

/// Where the engine is in its frame.
#[derive(Default)]
struct Marks {
    physics: Option<Instant>,
    process: Option<Instant>,
    pre_draw: Option<Instant>,
    post_draw: Option<Instant>,
}

/// A timer of frames; it listens for as long as it lives.
pub(super) struct FrameTimer {
    marks: Rc<RefCell<Marks>>,
    listening: Vec<(Gd<Object>, &'static str, Callable)>,
    frames: Vec<Frame>,
    ended: Instant,
    first_tick: u64,
    viewport: Rid,
}

impl FrameTimer {
    /// Times frames as they are.
    pub(super) fn watching() -> Result<Self, BridgeError> {
        Self::stalling(Duration::ZERO)
    }

    /// Makes the processing of every frame longer by a known time, too.
    pub(super) fn stalling(stall: Duration) -> Result<Self, BridgeError> {
        let tree: Gd<Object> = node_path::scene_tree()?.upcast();
        let server: Gd<Object> = RenderingServer::singleton().upcast();
        let viewport = node_path::window()?.get_viewport_rid();
        RenderingServer::singleton().viewport_set_measure_render_time(viewport, true);
        let marks: Rc<RefCell<Marks>> = Rc::default();
        let mut timer = FrameTimer {
            marks: Rc::clone(&marks),
            listening: vec![],
            frames: vec![],
            ended: Instant::now(),
            first_tick: Engine::singleton().get_physics_frames(),
            viewport,
        };
        let of = |set: fn(&mut Marks)| {
            let marks = Rc::clone(&marks);
            move || set(&mut marks.borrow_mut())
        };
        timer.listen(
            &tree,
            "physics_frame",
            of(|marks| {
                // Of several ticks in a frame the first begins the part.
                marks.physics.get_or_insert_with(Instant::now);
            }),
        );
        let begins = of(|marks| marks.process = Some(Instant::now()));
        timer.listen(&tree, "process_frame", move || {
            begins();
            if !stall.is_zero() {
                thread::sleep(stall);
            }
        });
        timer.listen(&server, "frame_pre_draw", of(|marks| marks.pre_draw = Some(Instant::now())));
        timer.listen(
            &server,
            "frame_post_draw",
            of(|marks| marks.post_draw = Some(Instant::now())),
        );
        Ok(timer)
    }

    fn listen(&mut self, object: &Gd<Object>, signal: &'static str, heard: impl Fn() + 'static) {
        let callable = Callable::from_fn("didi_frame_timer", move |_: &[&Variant]| heard());
        let mut object = object.clone();
        object.connect(signal, &callable);
        self.listening.push((object, signal, callable));
    }

    /// Comes at the end of every frame. The first one began before the timer did, and is left out.
    pub(super) fn frame_ended(&mut self) {
        let now = Instant::now();
        let marks = std::mem::take(&mut *self.marks.borrow_mut());
        let begun = std::mem::replace(&mut self.ended, now);
        let Some(process) = marks.process.filter(|process| *process >= begun) else { return };
        let millis = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1000.0;
        let physics = marks.physics.map_or(0.0, |physics| millis(physics, process));
        let draw = marks.pre_draw.zip(marks.post_draw).map_or(0.0, |(from, to)| millis(from, to));
        let process = millis(process, marks.pre_draw.unwrap_or(now));
        let gpu = RenderingServer::singleton().viewport_get_measured_render_time_gpu(self.viewport);
        if self.frames.len() < MAX_FRAMES {
            self.frames.push(Frame { whole: millis(begun, now), physics, process, draw, gpu });
        }
    }

    pub(super) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Ticks of physics since it was made.
    pub(super) fn physics_ticks(&self) -> u64 {
        Engine::singleton().get_physics_frames() - self.first_tick
    }
}

impl Drop for FrameTimer {
    fn drop(&mut self) {
        for (mut object, signal, callable) in self.listening.drain(..) {
            if object.is_instance_valid() && object.is_connected(signal, &callable) {
                object.disconnect(signal, &callable);
            }
        }
        RenderingServer::singleton().viewport_set_measure_render_time(self.viewport, false);
    }
}
