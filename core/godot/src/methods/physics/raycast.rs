//! `physics.raycast`: what one ray meets first.

use didi_engine::Answer;

use super::{Ray, Space};
use crate::{
    methods::Context,
    params::{self, Params},
};

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let ray: Ray = params::read(params)?;
    ray.check()?;
    let mut space = Space::of(context.kind, ray.from.dimension())?;
    Ok(ray.cast(context, &mut space))
}
