//! Records of the log as an erasure or an export of a person needs them: whether they are about the person, and without the names.

use audience::codec;
use base::{Error, Result};
use model::event::{LiveContent, Many, RecordKind, Rejection, SharedPush};
use model::ids::Ordinal;
use model::payload::extra::TextExtra;
use model::privacy::Redaction;
use model::term::TermsRecord;

/// The body of a record that tells nothing, in place of one about a person who was erased. Its kind is [`RecordKind::Terms`].
pub fn empty_body() -> Result<Vec<u8>> {
    postcard::to_stdvec(&TermsRecord::default()).map_err(Error::internal)
}

/// The push of a record about many channels, if one of the given channels is among them.
pub fn push_to_one_of(body: &[u8], channels: &[Ordinal]) -> Result<Option<SharedPush>> {
    let (many, _): (Many, _) = postcard::take_from_bytes(body).map_err(Error::internal)?;
    let all = codec::decode(&many.ordinals).map_err(Error::internal)?;
    Ok(channels.iter().any(|channel| all.contains(channel.0)).then_some(many.push))
}

/// Whether a record about many channels is about none but the given ones: what it says may be made for them.
pub fn is_about_only(body: &[u8], channels: &[Ordinal]) -> Result<bool> {
    let (many, _): (Many, _) = postcard::take_from_bytes(body).map_err(Error::internal)?;
    let all = codec::decode(&many.ordinals).map_err(Error::internal)?;
    Ok(!all.is_empty() && all.iter().all(|number| channels.contains(&Ordinal(number))))
}

/// The body of a record about many channels without the identifiers of a person; `None` if it has none of them. Names may be in the
/// texts that follow the channels.
pub fn redact_many(kind: RecordKind, body: &[u8], redaction: &Redaction) -> Result<Option<Vec<u8>>> {
    if !redaction.may_be_in(body) {
        return Ok(None);
    }
    let (mut many, rest): (Many, _) = postcard::take_from_bytes(body).map_err(Error::internal)?;
    let mut is_found = false;
    for category in &mut many.push.categories {
        if let Some(cleaned) = redaction.text(category) {
            (*category, is_found) = (cleaned, true);
        }
    }
    let rest = match kind {
        RecordKind::SendRejected if !rest.is_empty() => {
            let mut rejection: Rejection = postcard::from_bytes(rest).map_err(Error::internal)?;
            if let Some(cleaned) = redaction.json(&rejection.reason) {
                (rejection.reason, is_found) = (cleaned, true);
            }
            postcard::to_stdvec(&rejection).map_err(Error::internal)?
        }
        RecordKind::RichDelivery if !rest.is_empty() => {
            let extra: TextExtra = postcard::from_bytes(rest).map_err(Error::internal)?;
            let cleaned = redaction.json(&serde_json::to_string(&extra).map_err(Error::internal)?);
            is_found |= cleaned.is_some();
            let cleaned: Option<TextExtra> = cleaned.and_then(|cleaned| serde_json::from_str(&cleaned).ok());
            postcard::to_stdvec(&cleaned.unwrap_or(extra)).map_err(Error::internal)?
        }
        RecordKind::Live if !rest.is_empty() => {
            let mut content: LiveContent = postcard::from_bytes(rest).map_err(Error::internal)?;
            if let Some(cleaned) = redaction.json(&content.message) {
                (content.message, is_found) = (cleaned, true);
            }
            postcard::to_stdvec(&content).map_err(Error::internal)?
        }
        _ => rest.to_vec(),
    };
    if !is_found {
        return Ok(None);
    }
    let mut cleaned = postcard::to_stdvec(&many).map_err(Error::internal)?;
    cleaned.extend(rest);
    Ok(Some(cleaned))
}

#[cfg(test)]
mod tests {
    use model::event::RejectionStatus;
    use model::ids::{Id, PushId};
    use model::privacy::Identifier;
    use model::time::UtcMillis;

    use super::*;

    const TOKEN: &str = "fe66489f304dc75b8d6e8200dff8a456e8daeacec428b427e9518741c92c6660";

    fn many() -> Many {
        let push_id: PushId = Id::random();
        let categories = vec!["spring".to_owned()];
        let push = SharedPush { push_id, group_id: None, variant_id: None, experiment_id: None, categories };
        let ordinals = codec::encode(&[1, 5].into_iter().collect());
        Many { push, occurred: UtcMillis(7), alerting: false, ordinals }
    }

    #[test]
    fn names_in_the_texts_of_a_push_to_many_are_replaced() {
        let redaction = Redaction::of(&Identifier::new(TOKEN));
        let many = many();
        let head = postcard::to_stdvec(&many).unwrap();
        let rejection = |reason: String| Rejection { status: RejectionStatus::BadDeviceToken, reason };
        let with = |rest: Vec<u8>| [head.clone(), rest].concat();
        let named = with(postcard::to_stdvec(&rejection(format!("no such token: {TOKEN}"))).unwrap());
        let cleaned = redact_many(RecordKind::SendRejected, &named, &redaction).unwrap().unwrap();
        let (shared, rest): (Many, _) = postcard::take_from_bytes(&cleaned).unwrap();
        assert_eq!(shared, many);
        let rejection: Rejection = postcard::from_bytes(rest).unwrap();
        assert_eq!(rejection.reason, format!("no such token: {}", "0".repeat(64)));
        assert_eq!(redact_many(RecordKind::SendRejected, &cleaned, &redaction).unwrap(), None);

        let extra = TextExtra::from([("token".to_owned(), TOKEN.to_owned())]);
        let named = with(postcard::to_stdvec(&extra).unwrap());
        let cleaned = redact_many(RecordKind::RichDelivery, &named, &redaction).unwrap().unwrap();
        assert!(!redaction.is_in(&cleaned));
        assert_eq!(push_to_one_of(&cleaned, &[Ordinal(5)]).unwrap(), Some(many.push));
        assert_eq!(redact_many(RecordKind::Send, &head, &redaction).unwrap(), None);

        let content = LiveContent { expires: None, message: format!(r#"{{"alert":"for {TOKEN}"}}"#) };
        let named = with(postcard::to_stdvec(&content).unwrap());
        let cleaned = redact_many(RecordKind::Live, &named, &redaction).unwrap().unwrap();
        assert!(!redaction.is_in(&cleaned));
        for (channels, is_theirs) in [(vec![1, 5, 9], true), (vec![1], false), (vec![], false)] {
            let channels: Vec<Ordinal> = channels.into_iter().map(Ordinal).collect();
            assert_eq!(is_about_only(&named, &channels).unwrap(), is_theirs, "{channels:?}");
        }
    }
}
