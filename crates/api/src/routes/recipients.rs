//! Everybody whom a push concerned, and what became of it for each: as a listing and as CSV.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures_util::stream;
use model::csv_cell::CsvFile;
use model::ids::{AppId, ChannelId, ChannelKind, NamedUserId, Ordinal, PushId, PushKind};
use schemars::JsonSchema;
use sending::{Recipient, RecipientsPage, RecipientsQuery, RecipientsStart, Standing, WantedRecipients};
use serde::Serialize;

use super::lists::csv;
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::links::Links;
use crate::page_size::PageSize;
use crate::path_vars::PathId;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushRecipients")]
pub(super) struct Page {
    recipients: Vec<RecipientRecord>,
    /// The page may be short, and even empty, although there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PushRecipient")]
pub(super) struct RecipientRecord {
    channel_id: ChannelId,
    device_type: String,
    /// Whose the channel is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    named_user_id: Option<NamedUserId>,
    outcome: &'static str,
    /// One of our names for reasons, or the words of a provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// When, to the minute: it was then or at most 60 seconds later.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The device has told that it received the message.
    received: bool,
    /// The notification was tapped.
    opened: bool,
    /// The app was opened soon after, without a tap on the notification.
    influenced: bool,
    /// Whether the message in the inbox was read; not there without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<bool>,
}

/// The words for what can be asked for.
pub(super) fn outcomes() -> Vec<(&'static str, WantedRecipients)> {
    let mut words: Vec<_> =
        Standing::ALL.into_iter().map(|standing| (standing.name(), WantedRecipients::With(standing))).collect();
    words.extend([
        ("received", WantedRecipients::Received),
        ("opened", WantedRecipients::Opened),
        ("influenced", WantedRecipients::Influenced),
        ("read", WantedRecipients::Read),
    ]);
    words
}

pub(super) async fn list(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(push): PathId<PushKind>,
    links: Links,
    mut params: Params,
) -> Result<Answer> {
    let (start, at_most) = (params.id::<ChannelKind>("start"), params.limit(PageSize::RECIPIENTS));
    let outcome = params.choice("outcome", &outcomes());
    params.finish()?;
    let wanted = outcome.unwrap_or(WantedRecipients::All);
    let start = start.map_or(RecipientsStart::First, RecipientsStart::Channel);
    let query = RecipientsQuery { wanted, start, at_most };
    let RecipientsPage { recipients, next, .. } = edge.engine.sending().recipients(app.id, push, query).await?;
    let next_page = next.map(|next| {
        let outcome = outcomes().into_iter().find(|(_, named)| *named == wanted);
        let outcome = outcome.map_or_else(String::new, |(word, _)| format!("&outcome={word}"));
        links.to(&format!("/api/push/{push}/recipients?start={next}&limit={at_most}{outcome}"))
    });
    let recipients = recipients.into_iter().map(RecipientRecord::from).collect();
    let answer = Answer::ok(Page { recipients, next_page: next_page.clone() })?.data_attribute("recipients");
    Ok(answer.next_page(next_page.as_deref()))
}

/// All of them as CSV, read page by page while they are sent.
pub(super) async fn download(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    PathId(push): PathId<PushKind>,
    mut params: Params,
) -> Result<Response> {
    let outcome = params.choice("outcome", &outcomes());
    params.finish()?;
    let permit = edge.admit_transfer(app.id)?;
    let wanted = outcome.unwrap_or(WantedRecipients::All);
    let at_most = *PageSize::RECIPIENTS.range().end();
    let query = RecipientsQuery { wanted, start: RecipientsStart::First, at_most };
    let first = edge.engine.sending().recipients(app.id, push, query).await?;
    let rest = Rest { edge, app: app.id, push, query };
    let pages = stream::unfold(Some((first, rest, permit)), |open| async {
        let (page, rest, permit) = open?;
        let mut lines = String::new();
        if rest.query.start == RecipientsStart::First {
            lines
                .push_str("channel_id,device_type,named_user_id,outcome,reason,at,opened,influenced,read,received\r\n");
        }
        page.recipients.into_iter().for_each(|recipient| RecipientRecord::from(recipient).write_csv(&mut lines));
        // By its place: the channel may be erased before the page is read.
        let open = match page.next_ordinal {
            None => Ok(None),
            Some(start) => rest.next(start).await.map(|(page, rest)| Some((page, rest, permit))),
        };
        match open {
            Ok(open) => Some((Ok(lines), open)),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a download of recipients broke off");
                Some((Err(std::io::Error::other(error)), None))
            }
        }
    });
    Ok(csv(Body::from_stream(pages)))
}

/// What it takes to read on.
struct Rest {
    edge: Edge,
    app: AppId,
    push: PushId,
    query: RecipientsQuery,
}

impl Rest {
    async fn next(mut self, start: Ordinal) -> std::result::Result<(RecipientsPage, Self), engine::Error> {
        self.query.start = RecipientsStart::Ordinal(start);
        let page = self.edge.engine.sending().recipients(self.app, self.push, self.query).await?;
        Ok((page, self))
    }
}

impl RecipientRecord {
    /// Users choose their ids, and push services of browsers their reasons.
    fn write_csv(&self, lines: &mut String) {
        let quoted = |text: &str| CsvFile::ForPeople.quoted(text);
        let user = self.named_user_id.as_ref().map(|user| quoted(user.as_str())).unwrap_or_default();
        let reason = self.reason.as_deref().map(quoted).unwrap_or_default();
        let at = self.at.as_deref().unwrap_or_default();
        let read = self.read.map(|read| read.to_string()).unwrap_or_default();
        let Self { channel_id, device_type, outcome, received, opened, influenced, .. } = self;
        lines.push_str(&format!(
            "{channel_id},{device_type},{user},{outcome},{reason},{at},{opened},{influenced},{read},{received}\r\n"
        ));
    }
}

impl From<Recipient> for RecipientRecord {
    fn from(recipient: Recipient) -> Self {
        let Recipient { channel, device_type, named_user, standing, reason, at, response } = recipient;
        Self {
            channel_id: channel,
            device_type: device_type.to_string(),
            named_user_id: named_user,
            outcome: standing.name(),
            reason: (!reason.is_empty()).then_some(reason),
            at: at.map(|at| at.to_api()),
            received: response.received,
            opened: response.opened,
            influenced: response.influenced,
            read: response.read,
        }
    }
}
