//! The attributes of devices and people: their types, and the values that most of them have.

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::{Value, json};

use super::to_segment;
use crate::error::Result;
use crate::form::query;
use crate::parts::json::brief;
use crate::parts::numbers::{count, grouped};
use crate::parts::pager::turning;
use crate::visit::Visit;

#[derive(Deserialize)]
struct Page {
    attributes: Vec<Attribute>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Attribute {
    name: String,
    types: Vec<String>,
    values: Vec<Counted>,
    sampled: u64,
    complete: bool,
}

#[derive(Deserialize)]
struct Counted {
    value: Value,
    count: u64,
}

const LIMIT: &str = "25";

pub(super) async fn section(visit: &Visit) -> Result<Markup> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let filter = query([wanted("prefix"), wanted("start"), ("limit", LIMIT)]);
    let page: Page = visit.get(&format!("/api/attributes{filter}")).await?;
    Ok(html! {
        form.filter method="get" action=(visit.to("/audience")) {
            input type="hidden" name="show" value="attributes";
            div.field {
                label for="prefix" { "Begins with" }
                input id="prefix" name="prefix" type="search" value=(wanted("prefix").1);
            }
            button { "Show" }
        }
        @if page.attributes.is_empty() {
            div.empty {
                @if wanted("prefix").1.is_empty() {
                    p { "No device and nobody has an attribute yet. Attributes are facts with a value, such as plan = gold, by which you \
                         choose whom a message reaches and fill in its text." }
                } @else { p { "No attribute begins so." } }
            }
        } @else { (table(visit, &page.attributes)) }
        (turning(visit, page.next_page.as_deref(), ["First", "Next"]))
    })
}

fn table(visit: &Visit, attributes: &[Attribute]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Attributes" {
            table {
                caption.hidden { "Attributes with their most frequent values, in the order of their names" }
                thead { tr { th scope="col" { "Attribute" } th scope="col" { "Type" } th scope="col" { "Most frequent values" } } }
                tbody {
                    @for attribute in attributes {
                        tr {
                            th.wide scope="row" { (attribute.name) }
                            td { (attribute.types.join(", ")) }
                            td.wide { (values(visit, attribute)) }
                        }
                    }
                }
            }
        }
    }
}

fn values(visit: &Visit, attribute: &Attribute) -> Markup {
    let looked_at = count(attribute.sampled, "value was looked at", "values were looked at");
    // Who may see values of people sees them; who may make segments makes one of those who have it.
    let may_make = visit.may(Role::Editor);
    html! {
        @if !visit.may(Role::Support) { p.quiet { "Values are for people with the role support." } }
        @else if attribute.values.is_empty() { p.quiet { "too long, or objects" } }
        @else {
            ul.links {
                @for Counted { value, count } in &attribute.values {
                    li {
                        @let shown = brief(value);
                        @if may_make && (value.is_string() || value.is_number()) {
                            @let criteria = json!({"attribute": attribute.name, "operator": "equals", "value": value});
                            a.chip href=(to_segment(visit, &format!("{} = {shown}", attribute.name), &criteria))
                                title="Make a segment" { (shown) }
                        } @else { span.chip { (shown) } }
                        " " span.quiet { (grouped(*count)) }
                    }
                }
            }
        }
        @if !attribute.complete { p.quiet { (looked_at) ", of more." } }
    }
}
