//! `aerogram push … --follow`: how far a push has got, until it is done. The push is sent by then, so that a server that is away
//! for a while is asked again: a script would take an error for a push that has to be sent once more.

use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use model::ids::PushId;

use super::steer::{Status, show};
use crate::client::{AttendedCalls, Client};
use crate::output;

/// A push of a few devices is done in less; one of millions takes a minute.
const LOOK_EVERY: Duration = Duration::from_millis(250);

const BAR: &str = "{msg} [{wide_bar}] {human_pos} of {human_len}, {per_sec}, {eta} left";

/// Draws a bar where somebody looks at standard error, and writes in the end what became of all devices. Answers whether nothing
/// arrived because it failed.
pub(super) async fn until_done(client: &Client, id: PushId, is_json: bool) -> Result<bool> {
    let style = ProgressStyle::with_template(BAR).context("The bar cannot be drawn")?.progress_chars("##-");
    let (bar, path) = (ProgressBar::new(0).with_style(style), format!("/api/push/{id}"));
    let mut calls = AttendedCalls::new(|text: &str| bar.suspend(|| output::note(format_args!("{text}"))));
    loop {
        let asked = calls.ask(|| client.get(&path)).await;
        let reply =
            asked.with_context(|| format!("It was sent; `aerogram push status {id}` shows how far it has got"))?;
        let Status { push } = reply.read()?;
        bar.set_length(push.total.targeted);
        bar.set_position(push.total.targeted.saturating_sub(push.total.pending));
        let failed = push.total.failed + push.total.gone + push.total.expired;
        let remark = if failed > 0 { format!("{}, {failed} not reached", push.state) } else { push.state.clone() };
        bar.set_message(remark);
        if matches!(push.state.as_str(), "done" | "canceled") {
            bar.finish_and_clear();
            if is_json {
                reply.print()?
            } else {
                show(&reply)?
            }
            return Ok(push.has_failed());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
