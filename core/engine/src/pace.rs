//! How long a frame of an editor waits, so that a command does not.
//!
//! An idle editor sleeps after each frame, 6.9 ms with the focus and 100 ms without, and a command that comes
//! meanwhile waits for the rest. While a client is attached the bridge takes that sleep over: the engine's own
//! is set short, and the frame waits for the next command instead, for as long as the engine would have slept.
//! A command ends the wait, so it is answered at once, and an editor with a silent client draws as many frames
//! as one without.
//!
//! The editor writes its sleep anew when the focus changes; such a value is the editor's own from then on. It
//! is written back when the last client goes.

use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// What the engine's own sleep is set to while the bridge waits in its place, in microseconds.
pub const SHORT_SLEEP_US: u32 = 1_000;

/// Longest wait of a frame, whatever the editor's own sleep is.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// What a frame sees of the engine.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// Whether a client is attached.
    pub attached: bool,
    /// Whether the engine sleeps between frames at all.
    pub saves_power: bool,
    /// The engine's sleep now, in microseconds.
    pub sleep_us: u32,
}

/// What a frame does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    /// The sleep to set, where it changes.
    pub set_sleep_us: Option<u32>,
    /// Until when commands are waited for.
    pub wait_until: Option<Instant>,
}

/// The sleep that the bridge has taken over.
#[derive(Debug, Default)]
pub struct Pace {
    /// The engine's own sleep, while it is replaced.
    own_us: Option<u32>,
    /// When the frame before ended.
    frame_ended: Option<Instant>,
}

impl Pace {
    /// Nothing taken over.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides for a frame that has begun.
    pub fn plan(&mut self, now: Instant, sight: Sight) -> Plan {
        if !sight.attached || !sight.saves_power {
            return Plan { set_sleep_us: self.give_back(sight.sleep_us), wait_until: None };
        }
        // Any other value than ours was written by the editor since.
        let rewritten = self.own_us.is_none() || sight.sleep_us != SHORT_SLEEP_US;
        if rewritten {
            self.own_us = Some(sight.sleep_us);
        }
        let own = Duration::from_micros(self.own_us.unwrap_or_default().into()).min(MAX_WAIT);
        let set = rewritten && sight.sleep_us > SHORT_SLEEP_US;
        Plan {
            set_sleep_us: set.then_some(SHORT_SLEEP_US),
            wait_until: Some(self.frame_ended.unwrap_or(now) + own),
        }
    }

    /// Whether the engine's sleep is replaced.
    pub fn has_taken_over(&self) -> bool {
        self.own_us.is_some()
    }

    /// Notes when a frame has ended.
    pub fn frame_ended(&mut self, now: Instant) {
        self.frame_ended = Some(now);
    }

    /// The sleep to write back when the bridge ends, where it was replaced.
    pub fn give_back(&mut self, sleep_us: u32) -> Option<u32> {
        self.own_us.take().filter(|own| *own != sleep_us && sleep_us == SHORT_SLEEP_US)
    }
}
