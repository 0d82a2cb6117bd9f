//! What somebody has filled in, as a call of the API.

use serde_json::{Map, Value, json};

use super::content::Content;
use super::timing::{Timing, When};
use super::{more, recovered};
use crate::error::{Error, Result};
use crate::form::{Fields, encoded};
use crate::parts::conditions::Conditions;

/// The choices of when nothing is sent any more, in seconds.
pub(crate) const EXPIRY: [(&str, &str); 5] =
    [("", "28 days"), ("3600", "an hour"), ("14400", "4 hours"), ("86400", "a day"), ("604800", "a week")];

/// Fields that say what to do with the form, and not what the message is.
const STEERING: [&str; 8] = ["do", "once", "expected", "number", "draft", "version", "schedule", "seen"];

pub(crate) struct Written {
    pub(super) conditions: Conditions,
    pub(super) content: Content,
    pub(super) timing: Timing,
    pub(super) variant: Variant,
    pub(super) name: Option<String>,
    /// The named user for whom the preview is filled in.
    pub(super) person: Option<String>,
    expires: Option<u64>,
    more: String,
}

/// The other message of a comparison, and who gets none.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) title: Option<String>,
    pub(super) text: Option<String>,
    /// How many percent get nothing.
    pub(super) control: Option<u32>,
}

/// What is sent to the API.
#[derive(Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) kind: &'static str,
    pub(crate) body: Value,
}

impl Written {
    pub(crate) fn read(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).map(str::to_owned);
        Self {
            conditions: Conditions::read(fields),
            content: Content::read(fields),
            timing: Timing::read(fields),
            variant: Variant {
                title: text("b_title"),
                text: text("b_text"),
                control: fields.text("control").and_then(|percent| percent.parse().ok()),
            },
            name: text("name"),
            person: text("person"),
            expires: fields.text("expires").and_then(|seconds| seconds.parse().ok()),
            more: fields.exact("more").unwrap_or_default().to_owned(),
        }
    }

    /// The fields of its form that say what the message is, as the body of a form.
    pub(super) fn fields(&self, form: &Fields) -> String {
        let form = self.conditions.laid_over(form);
        let own = form.pairs().filter(|(name, _)| !STEERING.contains(name));
        encoded(own)
    }

    /// The fields that show a push which was written elsewhere: what they have no place for is JSON, and nothing is lost.
    pub(crate) fn fields_of(push: &Map<String, Value>) -> Option<Vec<(String, String)>> {
        let mut fields = Conditions::of(push.get("audience")?).fields();
        fields.extend(recovered::fields_of(push));
        fields.extend(push.get("name").and_then(Value::as_str).map(|name| ("name".to_owned(), name.to_owned())));
        let expiry = push.get("options").and_then(|options| options.get("expiry")).map(Value::to_string);
        let expiry = expiry.filter(|seconds| EXPIRY.iter().any(|(choice, _)| choice == seconds));
        fields.extend(expiry.map(|seconds| ("expires".to_owned(), seconds)));
        let form = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let base = Self::read(&Fields::parse(&form)).sketch();
        let rest = more::difference(push, base.as_object()?)?;
        if !rest.is_empty() {
            fields.push(("more".to_owned(), serde_json::to_string_pretty(&rest).ok()?));
        }
        Some(fields)
    }

    /// Whether several messages, or a message and none, are compared.
    pub(crate) fn compares(&self) -> bool {
        self.variant.text.is_some() || self.variant.control.is_some()
    }

    /// Whether its texts are filled in for everybody who gets it.
    pub(crate) fn is_personalized(&self) -> bool {
        let other = self.variant.text.iter().chain(&self.variant.title);
        Value::from(self.content.parts()).to_string().contains("{{")
            || other.into_iter().any(|text| text.contains("{{"))
    }

    /// The push as far as it is written, for everybody if it is not known for whom.
    pub(crate) fn sketch(&self) -> Value {
        let audience = self.conditions.audience().unwrap_or(json!("all"));
        let rest = more::read(&self.more).unwrap_or_default();
        self.push_for(audience, rest)
    }

    /// As [`Written::sketch`], of the other message of a comparison.
    pub(crate) fn other_sketch(&self) -> Option<Value> {
        let notification = self.content.notification_with(self.other_title(), self.variant.text.as_deref()?);
        let options = json!({"personalization": self.is_personalized()});
        Some(json!({"audience": "all", "device_types": "all", "notification": notification, "options": options}))
    }

    /// The push as far as it is written, with whom it is for.
    pub(crate) fn addressed(&self) -> Result<Value> {
        Ok(self.push_for(self.conditions.audience()?, more::read(&self.more)?))
    }

    /// The push, as `POST /api/push` takes it.
    pub(crate) fn push(&self) -> Result<Value> {
        let rest = more::read(&self.more)?;
        if !rest.contains_key("notification") {
            self.content.check()?;
        }
        Ok(self.push_for(self.conditions.audience()?, rest))
    }

    /// The call that sends, schedules or tries it; complete, or as far as it is written.
    pub(crate) fn document(&self, is_complete: bool) -> Result<Document> {
        let push = if is_complete { self.push()? } else { self.addressed()? };
        let schedule = self.timing.schedule()?;
        if self.compares() {
            return Ok(Document { kind: "experiment", body: self.experiment(&push, schedule.as_ref())? });
        }
        let Some(schedule) = schedule else { return Ok(Document { kind: "push", body: push }) };
        let mut body = json!({"schedule": schedule, "push": push});
        if let Some(name) = &self.name {
            body["name"] = json!(name);
        }
        Ok(Document { kind: "schedule", body })
    }

    /// As [`Written::document`], for a draft. What is not complete has no audience, so that nobody can send it.
    pub(crate) fn unfinished(&self) -> Document {
        self.document(false).unwrap_or_else(|_| {
            let mut push = self.push_for(Value::Null, more::read(&self.more).unwrap_or_default());
            if let Some(push) = push.as_object_mut() {
                push.remove("audience");
            }
            Document { kind: "push", body: push }
        })
    }

    /// Whether there is something that would be a pity to lose.
    pub(crate) fn is_begun(&self) -> bool {
        let content = self.content.parts();
        !content.is_empty() || !self.conditions.rows.is_empty() || self.name.is_some() || !self.more.trim().is_empty()
    }

    fn push_for(&self, audience: Value, rest: Map<String, Value>) -> Value {
        let mut push = Map::from_iter([("audience".to_owned(), audience), ("device_types".to_owned(), json!("all"))]);
        push.extend(self.content.parts());
        push.extend(self.name.as_ref().map(|name| ("name".to_owned(), json!(name))));
        let mut options = Map::new();
        options.extend(self.expires.map(|seconds| ("expiry".to_owned(), json!(seconds))));
        if self.is_personalized() {
            options.insert("personalization".to_owned(), json!(true));
        }
        if !options.is_empty() {
            push.insert("options".to_owned(), options.into());
        }
        more::lay_over(&mut push, rest);
        push.into()
    }

    fn experiment(&self, push: &Value, schedule: Option<&Value>) -> Result<Value> {
        if ["localizations", "message"].iter().any(|key| push.get(key).is_some()) {
            let sentence = "What is compared has one language and no message for the inbox: leave those out.";
            return Err(Error::invalid("b_text", sentence));
        }
        if self.timing.when == When::Best || self.timing.repeats() {
            let sentence = "What is compared is sent once: now, or at a time.";
            return Err(Error::invalid("b_text", sentence));
        }
        let own = ["notification", "in_app", "options"];
        let own = own.iter().filter_map(|key| Some(((*key).to_owned(), push.get(key)?.clone())));
        let first: Map<String, Value> = own.collect();
        let mut variants = vec![first.clone()];
        if let Some(text) = &self.variant.text {
            let mut second = first;
            let notification = self.content.notification_with(self.other_title(), text);
            second.insert("notification".to_owned(), notification.into());
            variants.push(second);
        }
        let variant = |push: Map<String, Value>| match schedule {
            Some(schedule) => json!({"push": push, "schedule": schedule}),
            None => json!({"push": push}),
        };
        let variants: Vec<Value> = variants.into_iter().map(variant).collect();
        let mut experiment =
            json!({"audience": push["audience"], "device_types": push["device_types"], "variants": variants});
        if let Some(percent) = self.variant.control {
            experiment["control"] = json!(f64::from(percent) / 100.0);
        }
        if let Some(name) = &self.name {
            experiment["name"] = json!(name);
        }
        Ok(experiment)
    }

    /// The other message has the same title, unless it has one of its own.
    fn other_title(&self) -> Option<&str> {
        self.variant.title.as_deref().or(self.content.title.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(form: &str) -> Result<Document> {
        Written::read(&Fields::parse(form)).document(true)
    }

    #[test]
    fn what_is_filled_in_becomes_a_push() {
        let form = "who=some&kind0=tag&value0=news&title=Hi&text=There&url=https%3A%2F%2Fa.example&expires=3600\
                    &more=%7B%22notification%22%3A%7B%22ios%22%3A%7B%22badge%22%3A1%7D%7D%7D";
        let expected = json!({
            "audience": {"tag": "news"}, "device_types": "all", "options": {"expiry": 3600},
            "notification": {"alert": "There", "actions": {"open": {"type": "url", "content": "https://a.example"}},
                             "ios": {"title": "Hi", "badge": 1}, "android": {"title": "Hi"}, "amazon": {"title": "Hi"},
                             "web": {"title": "Hi"}},
        });
        assert_eq!(document(form).unwrap(), Document { kind: "push", body: expected });
        let later = document("who=all&text=x&name=n&when=local&at=2030-01-31T12:00").unwrap();
        assert_eq!(
            (later.kind, &later.body["schedule"]),
            ("schedule", &json!({"local_scheduled_time": "2030-01-31T12:00:00"}))
        );
        for incomplete in ["who=all&when=at&text=x", "who=all", "who=all&text=x&more=%7B"] {
            assert!(document(incomplete).is_err(), "{incomplete}");
        }
        assert!(Written::read(&Fields::parse("who=all")).document(false).is_ok());
    }

    #[test]
    fn two_texts_or_a_control_group_are_an_experiment() {
        let made = document("who=all&title=T&text=a&b_text=b&control=20&name=n").unwrap();
        assert_eq!((made.kind, &made.body["control"], &made.body["name"]), ("experiment", &json!(0.2), &json!("n")));
        let text = |n: usize| made.body["variants"][n]["push"]["notification"].clone();
        assert_eq!(
            (&text(0)["alert"], &text(1)["alert"], &text(1)["ios"]["title"]),
            (&json!("a"), &json!("b"), &json!("T"))
        );
        assert_eq!(document("who=all&text=a&control=50").unwrap().body["variants"].as_array().unwrap().len(), 1);
        assert!(document("who=all&text=a&b_text=b&lang0=de&ltext0=c").is_err());
        assert!(document("who=all&text=a&b_text=b&when=at&at=2030-01-31T12:00&repeat=daily").is_err());
    }

    #[test]
    fn a_push_of_others_is_shown_and_nothing_is_lost() {
        for push in [
            json!({"audience": {"tag": "a"}, "device_types": ["ios"], "notification": {"alert": "x", "ios": {"badge": 1}}}),
            json!({"audience": "all", "device_types": "all", "message": {"title": "t", "body": "b"}, "name": "n"}),
            json!({"audience": "all", "device_types": "all", "notification": {"ios": {"alert": "only"}}}),
        ] {
            let fields = Written::fields_of(push.as_object().unwrap()).unwrap();
            let form = encoded(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            let written = Written::read(&Fields::parse(&form));
            assert_eq!(written.document(false).unwrap().body, push);
        }
        assert_eq!(Written::fields_of(json!({"audience": "all"}).as_object().unwrap()), None);
    }
}
