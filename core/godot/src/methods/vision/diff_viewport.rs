//! `vision.diffViewport`: a new picture of a view beside an earlier one.
//!
//! The picture is taken on the main thread; the comparison and the picture of what differs are made beside it.

mod compare;

use didi_wire::BridgeError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::compare::{Comparison, compare, hamming};
use super::capture::{self, Look, store};
use crate::{
    methods::{Begun, Context},
    params::{self, Params},
    refuse,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    baseline_capture_id: String,
    #[serde(default)]
    threshold: u8,
    #[serde(flatten)]
    tolerance: Tolerance,
    #[serde(flatten)]
    look: Look,
}

/// How alike two pictures have to be to count as the same to the eye.
#[derive(Deserialize, Clone, Copy)]
struct Tolerance {
    min_ssim: Option<f64>,
    max_hamming_distance: Option<u32>,
}

pub(crate) fn run(context: &Context, params: &Params) -> Begun {
    let args: Args = params::read(params)?;
    // An engine that draws nothing has no earlier picture either, and says the nearer of the two.
    capture::check_display(context.kind)?;
    let Some(baseline) = store::find(&args.baseline_capture_id) else {
        let message = "there is no such capture any more";
        let error =
            BridgeError::new(404, "not_found", message).with("field", "baseline_capture_id");
        let reason = "takes one to compare with";
        return Err(refuse::next_call(error, "viewport_capture_frame", json!({}), reason));
    };
    let Args { threshold, tolerance, look, .. } = args;
    capture::take(context.kind, look, move |taken| {
        let (now, mut facts) = (taken.capture, taken.facts);
        facts.insert("baseline_capture_id".into(), baseline.id.as_str().into());
        let sizes = [&baseline, &now].map(|one| (one.width, one.height));
        capture::beside(
            move || {
                if sizes[0] != sizes[1] {
                    return Some(None);
                }
                let side = usize::try_from(now.width).ok()?;
                let compared = compare(&baseline.pixels, &now.pixels, side, threshold);
                let image = capture::encode(&compared.picture, now.width, now.height)?;
                Some(Some((compared, image)))
            },
            move |compared| {
                let (compared, image) = compared.ok_or_else(|| other_size(sizes))?;
                tell(&mut facts, &compared, tolerance);
                facts.insert("image".into(), image);
                Ok(facts.into())
            },
        )
    })
}

fn other_size([before, now]: [(i32, i32); 2]) -> BridgeError {
    let message = format!(
        "the earlier picture has {} x {} pixels and the new one {} x {}",
        before.0, before.1, now.0, now.1
    );
    let error = refuse::conflict("conflict", message);
    let reason = "takes one of the size that the view has now";
    refuse::next_call(error, "viewport_capture_frame", json!({}), reason)
}

fn tell(facts: &mut Map<String, Value>, compared: &Comparison, tolerance: Tolerance) {
    let distance = hamming(compared.hashes);
    let mut tell = |name: &str, value: Value| facts.insert(name.into(), value);
    tell("identical", (compared.changed == 0).into());
    tell("changed_pixels", compared.changed.into());
    tell("total_pixels", compared.total.into());
    tell("changed_ratio", compared.changed_ratio().into());
    tell("mean_absolute_error", compared.mean_absolute_error.into());
    tell("max_channel_delta", compared.max_delta.into());
    let bounds = compared.bounds.map(|bounds| {
        json!({ "x": bounds.x, "y": bounds.y, "width": bounds.width, "height": bounds.height })
    });
    tell("bounding_box", bounds.into());
    tell("ssim", compared.ssim.into());
    let hash = |hash: u64| format!("{hash:016x}");
    tell(
        "perceptual_hash",
        json!({
            "baseline": hash(compared.hashes[0]),
            "current": hash(compared.hashes[1]),
            "hamming_distance": distance,
        }),
    );
    if tolerance.min_ssim.is_some() || tolerance.max_hamming_distance.is_some() {
        let alike = tolerance.min_ssim.is_none_or(|least| compared.ssim >= least)
            && tolerance.max_hamming_distance.is_none_or(|most| distance <= most);
        tell("perceptually_identical", alike.into());
        tell(
            "perceptual_tolerance",
            json!({
                "min_ssim": tolerance.min_ssim,
                "max_hamming_distance": tolerance.max_hamming_distance,
            }),
        );
    }
}
