//! Times for people: the server writes them in UTC, and the browser shows them in the zone of whoever looks.

use maud::{Markup, html};
use model::schedule::WallTime;
use model::time::UtcMillis;

/// A time as the API writes it: `2024-05-01T08:00:00`, perhaps with a fraction and a `Z`.
pub(crate) fn time(text: &str) -> Markup {
    let Some(at) = UtcMillis::parse_api(text) else { return html! { (text) } };
    moment(at)
}

pub(crate) fn moment(at: UtcMillis) -> Markup {
    let iso = at.to_iso();
    html! { time datetime=(iso) title={ (at.to_report()) " UTC" } { (at.to_report()) " UTC" } }
}

/// A time that may be missing.
pub(crate) fn time_or(text: Option<&str>, missing: &str) -> Markup {
    match text {
        Some(text) => time(text),
        None => html! { span.quiet { (missing) } },
    }
}

/// A time by the clock of a zone, where only a text can stand: `2024-05-01 14:00`.
pub(crate) fn wall_time(text: &str, zone: &str) -> String {
    let wall = UtcMillis::parse_api(text).and_then(|at| WallTime::at_named(at, zone));
    let shown = wall.map_or_else(|| text.to_owned(), |wall| wall.to_string());
    shown.get(..16).unwrap_or(&shown).replace('T', " ")
}
