//! Settings about what sends pushes by itself.

use std::ops::RangeInclusive;

use clap::Args;
use engine::PipelineLimits;

use super::{HEADING, number_in};

/// How many pipelines each app may have.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct PipelineSettings {
    /// How many pipelines an app may have
    #[arg(long, value_name = "NUMBER", default_value_t = PipelineLimits::DEFAULT.total, value_parser = number_in(SOME))]
    pipelines: usize,

    /// How many of these may be enabled at once
    #[arg(long, value_name = "NUMBER", default_value_t = PipelineLimits::DEFAULT.active, value_parser = number_in(SOME))]
    enabled_pipelines: usize,
}

/// All pipelines of an app are read when one of them changes.
const SOME: RangeInclusive<usize> = 1..=10_000;

impl PipelineSettings {
    pub(crate) const fn limits(&self) -> PipelineLimits {
        PipelineLimits { total: self.pipelines, active: self.enabled_pipelines }
    }
}
