//! One person: a named user with all devices, or one device. What is known about them, what happened to them, and why they did not
//! get a message.

mod cards;
pub(crate) mod changing;
pub(crate) mod inbox;
pub(crate) mod privacy;
pub(crate) mod records;
mod timeline;
mod why;

use std::sync::Arc;

use maud::{Markup, html};
use model::account::Role;
use model::ids::ChannelId;

use self::records::{Channel, NamedUser, OneChannel, OneUser, Timeline};
use self::why::Reasons;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::{Fields, encode, query};
use crate::parts::copy;
use crate::parts::devices::{channel_page, platform, user_page};
use crate::parts::numbers::count;
use crate::visit::Visit;

/// Whom a page is about, as calls name them.
#[derive(Clone, Copy)]
pub(crate) enum Who<'w> {
    User(&'w str),
    Channel(&'w str),
}

impl<'w> Who<'w> {
    /// The parameter of calls, and of forms of this page.
    pub(crate) const fn field(self) -> (&'static str, &'w str) {
        match self {
            Who::User(id) => ("named_user_id", id),
            Who::Channel(id) => ("channel_id", id),
        }
    }

    fn timeline(self) -> String {
        match self {
            Who::User(id) => format!("/api/named_users/{}/timeline", encode(id)),
            Who::Channel(id) => format!("/api/channels/{id}/timeline"),
        }
    }

    /// The page about them.
    fn page(self, visit: &Visit) -> String {
        match self {
            Who::User(id) => user_page(visit, id),
            Who::Channel(id) => channel_page(visit, id),
        }
    }

    /// The person whom a form or a query names.
    pub(crate) fn named_in(fields: &'w Fields) -> Option<Self> {
        let field = |name: &str| fields.exact(name).filter(|id| !id.is_empty());
        field("named_user_id").map(Who::User).or_else(|| field("channel_id").map(Who::Channel))
    }
}

pub(crate) async fn user(visit: Arc<Visit>) -> Result<Answer> {
    let Some(id) = visit.query.exact("id").filter(|id| !id.is_empty()) else { return Answer::to(visit.to("/people")) };
    let known: Option<OneUser> = visit.find(&format!("/api/named_users{}", query([("id", id)]))).await?;
    let known = known.map(|one| one.named_user);
    let who = Who::User(id);
    let (timeline, reasons) = (entries(&visit, who).await?, Reasons::of(&visit, who).await?);
    // Of somebody who was deleted, the past is kept for a while.
    if known.is_none() && timeline.entries.is_empty() && timeline.before.is_none() {
        return Err(Error::NotFound(format!("There is no named user {id} in this app.")));
    }
    let channels = known.as_ref().map_or(&[][..], |user| user.channels.as_slice());
    let installed = channels.iter().filter(|channel| channel.installed).map(|channel| channel.channel_id.as_str());
    let messages = inbox::of(&visit, installed).await?;
    let body = html! {
        @match &known {
            Some(user) => (summary(user)),
            None => div.notice { p { "This user is not known any more; what happened to them is kept for a while." } },
        }
        @if visit.may(Role::Admin) { (privacy::buttons(&visit, who)) }
        @if let Some(user) = &known { (cards::of_user(&visit, user)) }
        @if known.is_some() && visit.may(Role::Sender) { (changing::section(&visit, who)) }
        (reasons.section(&visit, who))
        (inbox::section(&visit, who, &messages))
        (timeline::section(&visit, &timeline, channels))
    };
    Answer::page(id, body)
}

pub(crate) async fn channel(visit: Arc<Visit>) -> Result<Answer> {
    let id = visit.id::<ChannelId>("channel")?.to_string();
    let OneChannel { channel } = visit.get(&format!("/api/channels/{id}")).await?;
    let who = Who::Channel(&id);
    let (timeline, reasons) = (entries(&visit, who).await?, Reasons::of(&visit, who).await?);
    let messages = inbox::of(&visit, std::iter::once(id.as_str())).await?;
    let body = html! {
        p.line {
            "Channel " (copy::inline(&id, "the id of the channel"))
            @if let Some(user) = &channel.named_user_id { " · device of " a href=(user_page(&visit, user)) { (user) } }
            @else { " · device of nobody known" }
        }
        @if visit.may(Role::Admin) { (privacy::buttons(&visit, who)) }
        (cards::of_channel(&channel))
        @if channel.installed && visit.may(Role::Sender) { (changing::section(&visit, who)) }
        (reasons.section(&visit, who))
        (inbox::section(&visit, who, &messages))
        (timeline::section(&visit, &timeline, std::slice::from_ref(&channel)))
    };
    Answer::page(title(&channel), body)
}

fn nobody() -> Error {
    Error::NotFound("Nobody is named; find somebody under People.".to_owned())
}

async fn entries(visit: &Visit, who: Who<'_>) -> Result<Timeline> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let page = query([wanted("kind"), wanted("before"), ("limit", "50")]);
    let found: Option<Timeline> = visit.find(&format!("{}{page}", who.timeline())).await?;
    Ok(found.unwrap_or_default())
}

fn summary(user: &NamedUser) -> Markup {
    let n_devices = user.channels.iter().filter(|channel| channel.installed).count() as u64;
    html! {
        p.line {
            (count(n_devices, "device", "devices"))
            @if let Some(seen) = user.last_seen() { " · last seen " (time(seen)) }
            " · known since " (time(&user.created))
        }
    }
}

fn title(channel: &Channel) -> String {
    format!("{} device", platform(channel.kind()))
}
