//! What tokens and OAuth clients have in common: the form that limits one, and the table of those that there are.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::dates::time_or;
use crate::error::Error;
use crate::form::Fields;
use crate::pages::team::ROLES;
use crate::parts::fields::{Field, choice, problems};
use crate::parts::people::person;

const NEVER: &str = "never";
/// In seconds, the usual one first.
const ENDS: [(&str, &str); 4] =
    [("7776000", "In 90 days"), ("31536000", "In a year"), ("86400", "In a day"), (NEVER, "Never by itself")];
const FIELDS: [&str; 3] = ["name", "scopes", "addresses"];

/// What is shown of either.
#[derive(Deserialize)]
pub(super) struct Limits {
    pub(super) name: String,
    role: String,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    addresses: Vec<String>,
    created_by: String,
    expires: Option<String>,
    last_used: Option<String>,
}

/// A row of the table.
pub(super) struct Row<'r> {
    pub(super) limits: &'r Limits,
    /// By what it is told apart.
    pub(super) mark: Markup,
    /// Where a form ends it.
    pub(super) revoke: String,
}

/// The body of the call that makes one.
pub(super) fn body(form: &Fields) -> Map<String, Value> {
    let typed = |name: &str| form.text(name).unwrap_or_default();
    let mut body = Map::new();
    body.insert("name".to_owned(), json!(typed("name")));
    body.insert("role".to_owned(), json!(typed("role")));
    for name in ["scopes", "addresses"] {
        let words: Vec<&str> = typed(name).split([',', ' ', '\n', '\r']).filter(|word| !word.is_empty()).collect();
        if !words.is_empty() {
            body.insert(name.to_owned(), json!(words));
        }
    }
    if let Ok(seconds) = typed("ends").parse::<u32>() {
        body.insert("expires_in".to_owned(), json!(seconds));
    }
    body
}

/// The fields, as they were filled in.
pub(super) fn fields(form: &Fields, error: Option<&Error>) -> Markup {
    let typed = |name: &str| form.text(name).unwrap_or_default();
    html! {
        (problems(error, &FIELDS))
        (Field::text("name", "Name of the server").value(typed("name")).show(error))
        (choice("role", "Role", &ROLES, form.text("role").unwrap_or("sender")))
        (choice("ends", "Ends", &ENDS, form.text("ends").unwrap_or(ENDS[0].0)))
        (Field::text("addresses", "Only from these networks").optional().value(typed("addresses"))
            .hint("Such as 10.0.0.0/8; several with spaces between them. Empty for all.").show(error))
        (Field::text("scopes", "Only for these scopes").optional().value(typed("scopes"))
            .hint("Such as psh chn nu rpt. Empty for all.").show(error))
    }
}

pub(super) fn table(caption: &str, rows: &[Row<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption.hidden { (caption) }
                thead { tr {
                    th scope="col" { "Name" } th scope="col" { "May" } th scope="col" { "Last used" } th scope="col" { "Ends" }
                    th scope="col" { span.hidden { "Actions" } }
                } }
                tbody {
                    @for Row { limits, mark, revoke } in rows {
                        tr {
                            td { (limits.name) p.quiet { (mark) " by " (person(&limits.created_by)) } }
                            td { (limits.role)
                                @if !limits.scopes.is_empty() { p.quiet { "only " (limits.scopes.join(", ")) } }
                                @if !limits.addresses.is_empty() { p.quiet { "from " (limits.addresses.join(", ")) } } }
                            td { (time_or(limits.last_used.as_deref(), "never")) }
                            td { (time_or(limits.expires.as_deref(), "never")) }
                            td {
                                form method="post" action=(revoke) {
                                    button.small.danger aria-label={ "Revoke " (limits.name) } { "Revoke" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_the_call() {
        let made = |form: &str| Value::from(body(&Fields::parse(form)));
        assert_eq!(
            made("name=Shop&role=viewer&scopes=psh,+rpt&ends=86400"),
            json!({"name": "Shop", "role": "viewer", "scopes": ["psh", "rpt"], "expires_in": 86400})
        );
        assert_eq!(made("name=Shop&role=viewer&ends=never"), json!({"name": "Shop", "role": "viewer"}));
    }
}
