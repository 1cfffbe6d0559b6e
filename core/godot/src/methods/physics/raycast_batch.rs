//! `physics.raycastBatch`: what many rays meet, all of them checked before the first is cast.

use didi_engine::Answer;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ray, Space};
use crate::{
    methods::Context,
    params::{self, Params},
    refuse,
};

/// Most rays of one call.
const MAX_RAYS: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    rays: Vec<Ray>,
}

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let Args { rays } = params::read(params)?;
    let Some(first) = rays.first().filter(|_| rays.len() <= MAX_RAYS) else {
        return Err(refuse::invalid("rays", format!("1 to {MAX_RAYS} rays are taken")));
    };
    let dimension = first.from.dimension();
    for (index, ray) in rays.iter().enumerate() {
        let at = |error: didi_wire::BridgeError| error.with("field", "rays").with("index", index);
        ray.check().map_err(at)?;
        if ray.from.dimension() != dimension {
            return Err(at(refuse::invalid("rays", "all rays have one dimension")));
        }
    }
    let mut space = Space::of(context.kind, dimension)?;
    let mut results: Vec<Value> = vec![];
    for (index, ray) in rays.iter().enumerate() {
        let mut result = ray.cast(context, &mut space);
        result["index"] = index.into();
        results.push(result);
    }
    Ok(json!({
        "hit_count": results.iter().filter(|result| result["hit"] == true).count(),
        "requested_rays": rays.len(),
        "dimension": dimension,
        "results": results,
    }))
}
