//! `physics.raycast`: what one ray meets first.

use didi_engine::Answer;

use super::Ray;
use crate::{
    methods::Context,
    params::{self, Params},
};

pub(crate) fn run(context: &Context, params: &Params) -> Answer {
    let ray: Ray = params::read(params)?;
    ray.check()?;
    ray.cast(context)
}
