//! The inbox of a person, with what is read; senders take a message out of it, which takes it out of all inboxes.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::account::Role;
use model::ids::PushId;
use serde::Deserialize;

use super::{Who, nobody};
use crate::answer::Answer;
use crate::dates::time;
use crate::error::Result;
use crate::parts::numbers::count;
use crate::parts::states::badge_saying;
use crate::visit::Visit;

/// Devices of a person that are looked at; those of most people share an inbox.
const MOST_DEVICES: usize = 5;
const MOST_SHOWN: usize = 50;

#[derive(Deserialize)]
struct Listing {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
pub(super) struct Message {
    push_id: String,
    title: String,
    sent: String,
    expires: Option<String>,
    unread: bool,
}

/// What is in the inboxes of some devices, each message once.
pub(super) async fn of<'c>(visit: &Visit, channels: impl Iterator<Item = &'c str>) -> Result<Vec<Message>> {
    let mut all: Vec<Message> = Vec::new();
    for channel in channels.take(MOST_DEVICES) {
        let Some(Listing { messages }) = visit.find(&format!("/api/channels/{channel}/inbox")).await? else { continue };
        for message in messages {
            if !all.iter().any(|known| known.push_id == message.push_id) {
                all.push(message);
            }
        }
    }
    all.sort_by(|a, b| b.sent.cmp(&a.sent));
    Ok(all)
}

pub(super) fn section(visit: &Visit, who: Who<'_>, messages: &[Message]) -> Markup {
    let n_unread = messages.iter().filter(|message| message.unread).count() as u64;
    html! {
        section #inbox {
            h2 { "Inbox" }
            @if messages.is_empty() {
                p.quiet { "Empty. Messages with a part for the inbox appear here, until they expire or are deleted." }
            } @else {
                p.quiet { (count(messages.len() as u64, "message", "messages")) ", " (n_unread) " unread." }
                div.scroll tabindex="0" {
                    table {
                        caption.hidden { "Messages in the inbox, the newest first" }
                        thead { tr {
                            th scope="col" { "Message" } th scope="col" { "State" } th scope="col" { "Sent" } th scope="col" { "Expires" }
                            @if visit.may(Role::Sender) { th scope="col" { span.hidden { "Actions" } } }
                        } }
                        tbody { @for message in messages.iter().take(MOST_SHOWN) { (row(visit, who, message)) } }
                    }
                }
            }
        }
    }
}

fn row(visit: &Visit, who: Who<'_>, message: &Message) -> Markup {
    let (name, id) = who.field();
    html! {
        tr {
            td.wide { a href=(visit.to(&format!("/messages/{}", message.push_id))) { (message.title) } }
            td { @if message.unread { (badge_saying("pending", "unread")) } @else { (badge_saying("read", "read")) } }
            td { (time(&message.sent)) }
            td { @match &message.expires { Some(expires) => (time(expires)), None => span.quiet { "never" } } }
            @if visit.may(Role::Sender) {
                td {
                    details.ask id={ "take-" (message.push_id) } {
                        summary.small { "Delete…" }
                        form method="post" action=(visit.to(&format!("/people/inbox/{}/delete", message.push_id))) {
                            p { "“" (message.title) "” is taken out of the inboxes of everybody who got it, also of those who have not read it." }
                            input type="hidden" name=(name) value=(id);
                            button.small.danger { "Delete it everywhere" }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    let push: PushId = visit.id("push")?;
    let who = Who::named_in(&visit.form).ok_or_else(nobody)?;
    visit.change(Method::DELETE, &format!("/api/user/messages/{push}"), None).await?;
    Answer::to(format!("{}#inbox", who.page(&visit)))
}
