//! What has just happened in an app: the newest events, with their details in place.

use std::sync::Arc;

use maud::{Markup, html};
use model::ids::ChannelId;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::parts::devices::{device, user_page};
use crate::parts::fields::{Field, choice, problems};
use crate::parts::happenings::{TYPES, name, sentence};
use crate::parts::json::folded;
use crate::parts::pager::back_and_forth;
use crate::visit::Visit;

#[derive(Default, Deserialize)]
struct Page {
    events: Vec<Value>,
    before: Option<String>,
}

/// The fields of an event that are told in words.
#[derive(Deserialize)]
struct Event {
    occurred: String,
    #[serde(rename = "type")]
    event_type: String,
    device: Option<Device>,
    user: Option<User>,
    #[serde(default)]
    body: Value,
}

#[derive(Deserialize)]
struct Device {
    channel: String,
    device_type: String,
    named_user_id: Option<String>,
}

#[derive(Deserialize)]
struct User {
    named_user_id: Option<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Result<Answer> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let filter = [wanted("types"), wanted("channel"), wanted("before"), ("limit", "50")];
    let (page, error) = match check(&visit) {
        Err(error) => (Page::default(), Some(error)),
        Ok(()) => match visit.get(&format!("/api/events/newest{}", query(filter))).await {
            Ok(page) => (page, None),
            Err(error @ Error::Invalid(_)) => (Page::default(), Some(error)),
            Err(other) => return Err(other),
        },
    };
    let types: Vec<(&str, &str)> = [("", "all")].into_iter().chain(TYPES).collect();
    let body = html! {
        form.filter method="get" {
            (choice("types", "What happened", &types, wanted("types").1))
            (Field::text("channel", "Channel").value(wanted("channel").1).optional().show(error.as_ref()))
            button { "Show" }
            @if ["types", "channel"].iter().any(|name| visit.query.text(name).is_some()) { a href=(visit.path) { "Show all" } }
        }
        (problems(error.as_ref(), &["channel"]))
        @if page.events.is_empty() { @if error.is_none() { (nothing(&visit, &page)) } }
        @else { ol.timeline.events { @for event in &page.events { (line(&visit, event)) } } }
        (back_and_forth(&visit, page.before.as_deref(), &[]))
    };
    let answer = Answer::page("Events", body)?;
    Ok(match &error {
        Some(error) => answer.refused(error),
        None => answer,
    })
}

fn check(visit: &Visit) -> Result<()> {
    let is_id = visit.query.text("channel").is_none_or(|channel| channel.parse::<ChannelId>().is_ok());
    if is_id {
        Ok(())
    } else {
        Err(Error::invalid("channel", "This is no id of a channel; find the device under People."))
    }
}

fn nothing(visit: &Visit, page: &Page) -> Markup {
    let is_filtered = ["types", "channel"].iter().any(|name| visit.query.text(name).is_some());
    html! {
        div.empty {
            @if page.before.is_some() { p { "Nothing in this part of the past; there is more before it." } }
            @else if is_filtered { p { "Nothing of this kind has happened, as far back as events are kept." } }
            @else {
                p { "Nothing has happened yet." }
                p { "Everything that devices do and that the service does with them is told here as it happens: what the stream \
                     of events and the webhooks tell, too." }
            }
        }
    }
}

fn line(visit: &Visit, event: &Value) -> Markup {
    // One that has another form is shown as it is.
    let Ok(known) = Event::deserialize(event) else {
        return html! { li { div.what { (folded("Event", event)) } } };
    };
    let of_device = known.device.as_ref().and_then(|device| device.named_user_id.as_deref());
    let user = of_device.or(known.user.as_ref().and_then(|user| user.named_user_id.as_deref()));
    html! {
        li {
            span.when { (time(&known.occurred)) }
            span.word { (name(&known.event_type)) }
            div.what {
                @if let Some(Device { channel, device_type, .. }) = &known.device { (device(visit, device_type, channel)) " " }
                @if let Some(user) = user { span.quiet { "of " a href=(user_page(visit, user)) { (user) } } " " }
                (sentence(visit, &known.event_type, &known.body))
                (folded("Details", event))
            }
        }
    }
}
