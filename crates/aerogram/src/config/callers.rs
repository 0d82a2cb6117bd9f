//! Settings about callers: how much they may have and try.

use api::Limits;
use clap::Args;

use super::{HEADING, number_in};

/// How much callers may have and try, whoever they are.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Callers {
    /// How many connections of callers the node keeps open
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::CONNECTIONS,
        value_parser = number_in(16_usize..=1_000_000)
    )]
    pub(crate) connections: usize,

    /// How many of these one address may have
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::CONNECTIONS_PER_ADDRESS,
        value_parser = number_in(1_usize..=1_000_000)
    )]
    pub(crate) connections_per_address: usize,

    /// After how many requests with wrong credentials in a minute an address is answered late
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = Limits::WRONG_CREDENTIALS_PER_MINUTE,
        value_parser = number_in(1_u32..=1_000_000)
    )]
    pub(crate) wrong_credentials_per_minute: u32,
}
