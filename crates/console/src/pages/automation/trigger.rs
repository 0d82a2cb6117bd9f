//! What sets an automation off, as rows of a form: a kind, and the fields that this kind has.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::form::Fields;
use crate::parts::conditions::{Known, List, tag_fields, value_choice};

const MOST_ROWS: usize = 20;

/// The kinds: the word of the API, and the words for people.
const KINDS: [(&str, &str); 12] = [
    ("first_open", "a device registers for the first time"),
    ("first_opt_in", "a device can be shown notifications for the first time"),
    ("open", "the app is opened"),
    ("tag_added", "a tag is added"),
    ("tag_removed", "a tag is removed"),
    ("subscription_added", "somebody subscribes to"),
    ("subscription_removed", "somebody unsubscribes from"),
    ("custom_event", "the custom event"),
    ("region_entered", "a region is entered"),
    ("region_exited", "a region is left"),
    (INACTIVE, "the app was not opened for so many days"),
    (JSON, "something else, as JSON"),
];
const INACTIVE: &str = "inactive";
const JSON: &str = "json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trigger {
    kind: &'static str,
    /// The group of a tag.
    of: String,
    value: String,
}

/// The two kinds of triggers that the API knows.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    Immediate(Value),
    Historical(Value),
}

impl Trigger {
    pub(super) fn new() -> Self {
        Self::plain(KINDS[0].0)
    }

    const fn plain(kind: &'static str) -> Self {
        Self { kind, of: String::new(), value: String::new() }
    }

    pub(super) fn read_all(fields: &Fields) -> Vec<Self> {
        (0..MOST_ROWS).map_while(|n| Self::read(fields, n)).collect()
    }

    fn read(fields: &Fields, n: usize) -> Option<Self> {
        let exact = |name: &str| fields.exact(&format!("{name}{n}"));
        let word = exact("trigger")?;
        let kind = KINDS.iter().find(|(known, _)| *known == word).map_or(KINDS[0].0, |(known, _)| known);
        // Fields of another kind are not those of the new one.
        if exact("was-trigger").is_some_and(|was| was != kind) {
            return Some(Self::plain(kind));
        }
        let text = |name: &str| exact(name).unwrap_or_default().to_owned();
        Some(Self { kind, of: text("trigger-of"), value: text("trigger-value") })
    }

    pub(super) fn fields(&self, n: usize) -> [(String, String); 3] {
        [("trigger", self.kind), ("trigger-of", &*self.of), ("trigger-value", &*self.value)]
            .map(|(name, value)| (format!("{name}{n}"), value.to_owned()))
    }

    /// The row of something that sets an automation off at once.
    pub(super) fn of_immediate(said: &Value) -> Self {
        let json = || Self { value: said.to_string(), ..Self::plain(JSON) };
        let found = KINDS.iter().find_map(|(kind, _)| Self::of_kind(kind, said));
        found.filter(|row| row.say() == Some(Said::Immediate(said.clone()))).unwrap_or_else(json)
    }

    /// The row of something that did not happen for long.
    pub(super) fn of_historical(said: &Value) -> Option<Self> {
        let row = Self { value: said["days"].to_string(), ..Self::plain(INACTIVE) };
        (row.say() == Some(Said::Historical(said.clone()))).then_some(row)
    }

    fn of_kind(kind: &'static str, said: &Value) -> Option<Self> {
        if said.as_str() == Some(kind) {
            return Some(Self::plain(kind));
        }
        let inner = said.as_object()?.get(kind)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Some(match kind {
            "custom_event" => Self { value: text(&inner["value"]["equals"]), ..Self::plain(kind) },
            _ if inner.is_object() => Self { kind, of: text(&inner["group"]), value: text(&inner["tag"]) },
            _ => Self { value: text(inner), ..Self::plain(kind) },
        })
    }

    /// As the API takes it; `None` if something is missing.
    pub(super) fn say(&self) -> Option<Said> {
        let (of, value) = (self.of.trim(), self.value.trim());
        let filled = || Some(value).filter(|value| !value.is_empty());
        Some(Said::Immediate(match self.kind {
            "tag_added" | "tag_removed" if of.is_empty() => json!({ self.kind: filled()? }),
            "tag_added" | "tag_removed" => json!({ self.kind: {"tag": filled()?, "group": of} }),
            "subscription_added" | "subscription_removed" => json!({ self.kind: filled()? }),
            "custom_event" => json!({"custom_event": {"key": "name", "value": {"equals": filled()?}}}),
            INACTIVE => {
                let days: u16 = value.parse().ok()?;
                return Some(Said::Historical(json!({"event": "open", "equals": 0, "days": days})));
            }
            JSON => serde_json::from_str(value).ok()?,
            word => json!(word),
        }))
    }

    /// What the row is chosen from.
    pub(super) fn lists(&self) -> Vec<List> {
        match self.kind {
            "tag_added" | "tag_removed" => vec![List::Groups, List::Tags(self.of.trim().to_owned())],
            "subscription_added" | "subscription_removed" => vec![List::Subscriptions],
            _ => Vec::new(),
        }
    }
}

pub(super) fn rows(triggers: &[Trigger], known: &Known) -> Markup {
    html! {
        div #triggers {
            @for (n, trigger) in triggers.iter().enumerate() {
                div.condition role="group" aria-label={ "Trigger " (n + 1) } {
                    select name={ "trigger" (n) } aria-label="What happens" {
                        @for (kind, words) in KINDS { option value=(kind) selected[kind == trigger.kind] { (words) } }
                    }
                    input type="hidden" name={ "was-trigger" (n) } value=(trigger.kind);
                    (fields(n, trigger, known))
                    noscript { button.small name="do" value="check" formnovalidate { "Show its fields" } }
                    @if triggers.len() > 1 {
                        button.small name="do" value={ "remove-trigger-" (n) } formnovalidate aria-label={ "Remove trigger " (n + 1) } { "×" }
                    }
                }
            }
            button.small name="do" value="add-trigger" formnovalidate { "Or when something else happens" }
        }
    }
}

fn fields(n: usize, trigger: &Trigger, known: &Known) -> Markup {
    let (of, name) = (format!("trigger-of{n}"), format!("trigger-value{n}"));
    let value = &trigger.value;
    match trigger.kind {
        "tag_added" | "tag_removed" => tag_fields(known, (&of, &trigger.of), (&name, value)),
        "subscription_added" | "subscription_removed" => {
            value_choice(known, &List::Subscriptions, &name, "Subscription list", value)
        }
        "custom_event" => {
            html! { input name=(name) value=(value) aria-label="Name of the event" placeholder="bought"; }
        }
        INACTIVE => html! { label.days { input type="number" name=(name) min="1" value=(value); "days" } },
        JSON => {
            html! { textarea.code name=(name) rows="2" aria-label="Trigger as JSON" spellcheck="false" { (value) } }
        }
        _ => html! {},
    }
}
