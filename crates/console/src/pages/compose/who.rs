//! The fields of the form that say who gets a message: conditions to click together, and the same as JSON.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::conditions::{Conditions, Kind};
use crate::error::Result;
use crate::parts::fields::choice;
use crate::parts::json::brief;
use crate::parts::numbers::count;
use crate::visit::Visit;

/// What a field is completed with: the name of the list, and each value with a word about it.
pub(super) struct Known(Vec<(Kind, Vec<(String, String)>)>);

#[derive(Deserialize)]
struct Segments {
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    id: String,
    display_name: String,
}

#[derive(Deserialize)]
struct Tags {
    terms: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    tag: String,
    channels: u64,
}

#[derive(Deserialize)]
struct Lists {
    lists: Vec<List>,
}

#[derive(Deserialize)]
struct List {
    name: String,
    channel_count: u64,
}

#[derive(Deserialize)]
struct Attributes {
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    name: String,
    values: Vec<Frequent>,
}

#[derive(Deserialize)]
struct Frequent {
    value: Value,
}

#[derive(Deserialize)]
struct Subscriptions {
    subscription_lists: Vec<Subscription>,
}

#[derive(Deserialize)]
struct Subscription {
    list_id: String,
}

impl Known {
    /// What there is to choose from, for the kinds of conditions that the form has.
    pub(super) async fn of(visit: &Visit, conditions: &Conditions) -> Result<Self> {
        let mut known = Vec::new();
        for kind in [Kind::Tag, Kind::Attribute, Kind::Segment, Kind::List, Kind::Subscription] {
            if conditions.rows.iter().any(|row| row.kind == kind) {
                known.push((kind, values(visit, kind).await?));
            }
        }
        Ok(Self(known))
    }

    fn has(&self, kind: Kind) -> bool {
        self.0.iter().any(|(known, _)| *known == kind)
    }
}

async fn values(visit: &Visit, kind: Kind) -> Result<Vec<(String, String)>> {
    let devices = |n| count(n, "device", "devices");
    Ok(match kind {
        Kind::Tag => {
            let Tags { terms } = visit.get("/api/audience/terms").await?;
            terms.into_iter().map(|Tag { tag, channels }| (tag, devices(channels))).collect()
        }
        Kind::Attribute => {
            let Attributes { attributes } = visit.get("/api/attributes").await?;
            let equal = |Attribute { name, values }: Attribute| {
                values.into_iter().map(move |known| (format!("{name} equals {}", brief(&known.value)), String::new()))
            };
            attributes.into_iter().flat_map(equal).collect()
        }
        Kind::Segment => {
            let Segments { segments } = visit.get("/api/segments").await?;
            segments.into_iter().map(|segment| (segment.id, segment.display_name)).collect()
        }
        Kind::List => {
            let Lists { lists } = visit.get("/api/lists").await?;
            lists.into_iter().map(|list| (list.name, devices(list.channel_count))).collect()
        }
        Kind::Subscription => {
            let Subscriptions { subscription_lists } = visit.get("/api/subscription_lists").await?;
            subscription_lists.into_iter().map(|list| (list.list_id, String::new())).collect()
        }
        Kind::GroupTag | Kind::Place | Kind::NamedUser | Kind::Channel | Kind::PastPush | Kind::Json => Vec::new(),
    })
}

pub(super) fn show(conditions: &Conditions, known: &Known) -> Markup {
    let Conditions { is_everybody, join, rows } = conditions;
    html! {
        fieldset {
            legend { "1 Who" }
            label.check { input type="radio" name="who" value="all" checked[*is_everybody]; "Everybody" }
            label.check { input type="radio" name="who" value="some" checked[!*is_everybody]; "People who fulfil conditions" }
            @for (n, row) in rows.iter().enumerate() {
                div.condition role="group" aria-label={ "Condition " (n + 1) } {
                    select name={ "not" (n) } aria-label="Is or is not" {
                        option value="" selected[!row.is_negated] { "is" }
                        option value="not" selected[row.is_negated] { "is not" }
                    }
                    select name={ "kind" (n) } aria-label="Kind" {
                        @for kind in Kind::ALL { option value=(kind.word()) selected[kind == row.kind] { (kind.label()) } }
                    }
                    input name={ "value" (n) } value=(row.value) aria-label="Value" placeholder=(row.kind.example())
                        list=[known.has(row.kind).then(|| format!("known-{}", row.kind.word()))];
                    button.small name="do" value={ "remove-" (n) } formnovalidate aria-label={ "Remove condition " (n + 1) } { "×" }
                }
            }
            @for (kind, values) in &known.0 {
                datalist id={ "known-" (kind.word()) } { @for (value, words) in values { option value=(value) { (words) } } }
            }
            (as_json(conditions))
            div.actions {
                (choice("join", "Together", &[("and", "all of them"), ("or", "any of them")], join.word()))
                button.small name="do" value="add" formnovalidate { "Add a condition" }
            }
        }
    }
}

/// The same as JSON, for audiences that no rows can say; both ways, nothing is lost.
fn as_json(conditions: &Conditions) -> Markup {
    let shown = conditions.audience().ok().and_then(|audience| serde_json::to_string_pretty(&audience).ok());
    html! {
        details {
            summary { "As JSON" }
            div.field {
                label for="json" { "Audience as the API takes it" }
                textarea id="json" name="json" rows="4" spellcheck="false" { (shown.unwrap_or_default()) }
            }
            button.small name="do" value="take" formnovalidate { "Take this over" }
        }
    }
}
