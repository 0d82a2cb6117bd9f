//! The ten seconds before a message is sent, in which it can be taken back. It is a schedule until then, so nothing has been
//! sent, and it is sent whether or not anybody looks at this page.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use maud::html;
use model::ids::ScheduleId;
use model::time::UtcMillis;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tenancy::KEY_WAS_USED;

use super::Written;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::query;
use crate::pages::messages::Pushes;
use crate::visit::{MOST_FORM_BYTES, Visit};

/// For how many seconds a message can be taken back.
const UNDO_SECONDS: u64 = 10;

#[derive(Deserialize)]
struct Made {
    schedule_ids: Vec<ScheduleId>,
}

#[derive(Deserialize)]
struct Waiting {
    schedule: When,
    push: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct When {
    scheduled_time: Option<String>,
}

/// Has a message sent in ten seconds.
pub(super) async fn begin(visit: &Arc<Visit>, push: Value, once: &str) -> Result<Answer> {
    let mut schedule = json!({ "push": push });
    if let Some(name) = visit.form.text("name") {
        schedule["name"] = json!(name);
    }
    let at = |schedule: &mut Value, at: &str| schedule["schedule"] = json!({"scheduled_time": at});
    let made: Option<Made> = make(visit, "/api/schedules", &schedule, at, once).await?;
    let Some(made) = made else { return used_before(visit, "/messages", "Messages") };
    let id = made.schedule_ids.first().ok_or_else(|| Error::internal("a schedule without an id"))?;
    Answer::to(visit.to(&format!("/compose/sending/{id}")))
}

/// Makes something that begins when it can no longer be taken back. A second click with the same form would have it begin later: it
/// gets what the first has made, whatever has become of that. None if something else was made with the form.
pub(super) async fn make<T: DeserializeOwned>(
    visit: &Visit,
    path: &str,
    body: &Value,
    put_time: fn(&mut Value, &str),
    once: &str,
) -> Result<Option<T>> {
    let at = visit.console.engine.clock().now().plus(Duration::from_secs(UNDO_SECONDS));
    // The API knows whole seconds; none of the wait is to be lost.
    let at = UtcMillis(at.0 + 999).whole_second();
    let mut timed = body.clone();
    put_time(&mut timed, &at.to_api());
    match visit.post_asked_once::<T>(path, timed, body, once).await {
        Err(Error::Refused { sentence, .. }) if sentence == KEY_WAS_USED => Ok(None),
        made => made.map(Some),
    }
}

/// The answer to a form that made something which cannot be shown. Whether that was sent or taken back is not known here. What was
/// written is not shown again, as if it were still to be sent.
pub(super) fn used_before(visit: &Visit, below: &str, page: &str) -> Result<Answer> {
    let sentence = "This form was used before, so nothing was sent now.";
    let body = html! {
        div.notice.bad role="alert" {
            p { (sentence) " What it made is under " a href=(visit.to(below)) { (page) } ", unless it was taken back." }
        }
    };
    let refused = Error::Refused { status: StatusCode::CONFLICT, sentence: sentence.to_owned() };
    Ok(Answer::page("Nothing was sent", body)?.refused(&refused))
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    if let Some(message) = sent(&visit, id).await? {
        return Answer::to(message);
    }
    let waiting: Option<Waiting> = visit.find(&format!("/api/schedules/{id}")).await?;
    let Some(waiting) = waiting else { return taken_back(&visit) };
    // What was written comes along, for those who take it back to change it.
    let fields = waiting.push.as_ref().and_then(Written::fields_of).unwrap_or_default();
    let fits = form_bytes(&fields) <= MOST_FORM_BYTES;
    let body = html! {
        div.notice role="status" {
            p { "It is sent at " (time(waiting.schedule.scheduled_time.as_deref().unwrap_or_default())) "." }
            form method="post" action=(visit.path) {
                @if fits { @for (name, value) in &fields { input type="hidden" name=(name) value=(value); } }
                button { "Undo" }
            }
        }
        p.quiet { "This page goes on to the message by itself." }
        @if !fits { p.quiet { "It is too long for a form: if you take it back, it is not shown again." } }
    };
    Answer::page("Sending in a moment", body)
}

/// Takes it back, and shows Compose with what was written, so that no address has to carry it. The answer can be loaded again.
pub(crate) async fn undo(visit: Arc<Visit>) -> Result<Answer> {
    let id: ScheduleId = visit.id("schedule")?;
    match visit.change(Method::DELETE, &format!("/api/schedules/{id}"), None).await {
        // Sent meanwhile, or taken back already: there is a message, or there is none.
        Ok(()) | Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error),
    }
    match sent(&visit, id).await? {
        Some(message) => Answer::to(message),
        None if Written::read(&visit.form).is_begun() => super::again(&visit).await,
        None => taken_back(&visit),
    }
}

/// The page of the message, once it is sent.
async fn sent(visit: &Visit, id: ScheduleId) -> Result<Option<String>> {
    let origin = query([("origin", id.to_string().as_str())]);
    let Pushes { pushes, .. } = visit.get(&format!("/api/pushes{origin}")).await?;
    Ok(pushes.first().map(|push| visit.to(&format!("/messages/{}", push.push_id))))
}

fn taken_back(visit: &Visit) -> Result<Answer> {
    let body = html! {
        p { "The message was taken back; nothing was sent." }
        p { a href=(visit.to("/compose")) { "Compose another" } }
    };
    Answer::page("Taken back", body)
}

/// How long a form with these fields is at most, whatever browser sends it. One that is too long would be refused, and the message
/// would go out.
fn form_bytes(fields: &[(String, String)]) -> usize {
    let written = |byte: u8| match byte {
        b' ' | b'*' | b'-' | b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => 1_usize,
        // The end of a line is sent as two characters.
        b'\n' | b'\r' => 6,
        _ => 3,
    };
    let texts = fields.iter().flat_map(|(name, value)| [name, value]);
    texts.map(|text| 1 + text.bytes().map(written).sum::<usize>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_not_longer_than_expected() {
        let fields = [("text".to_owned(), "\u{44f} & b".to_owned()), ("inbox_body".to_owned(), "a\nb".to_owned())];
        let as_sent = "text=%D1%8F+%26+b&inbox_body=a%0D%0Ab";
        assert_eq!(form_bytes(&fields), as_sent.len() + 1);
    }
}
