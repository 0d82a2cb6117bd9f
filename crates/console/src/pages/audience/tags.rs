//! The tags of a group with how many devices have each, by the beginning of their names.

use maud::{Markup, html};
use model::account::Role;
use serde::Deserialize;
use serde_json::json;

use super::to_segment;
use crate::error::Result;
use crate::form::query;
use crate::parts::fields::choice;
use crate::parts::numbers::{count, grouped};
use crate::visit::Visit;

#[derive(Deserialize)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    group: String,
    tags: u64,
    read_only: bool,
}

#[derive(Deserialize)]
struct Tags {
    group: String,
    terms: Vec<Tag>,
    total: u64,
}

#[derive(Deserialize)]
struct Tag {
    tag: String,
    channels: u64,
}

const LIMIT: &str = "100";
/// Of tags that devices have by themselves.
const DEVICE: &str = "device";

pub(super) async fn section(visit: &Visit) -> Result<Markup> {
    let wanted = |name: &'static str| (name, visit.query.text(name).unwrap_or_default());
    let Groups { groups } = visit.get("/api/audience/groups?limit=1000").await?;
    let filter = query([wanted("group"), wanted("prefix"), ("limit", LIMIT)]);
    let found: Tags = visit.get(&format!("/api/audience/terms{filter}")).await?;
    let n_shown = found.terms.len() as u64;
    Ok(html! {
        form.filter method="get" action=(visit.to("/audience")) {
            input type="hidden" name="show" value="tags";
            (choice("group", "Tag group", &choices(&groups, &found.group), &found.group))
            div.field {
                label for="prefix" { "Begins with" }
                input id="prefix" name="prefix" type="search" value=(wanted("prefix").1);
            }
            button { "Show" }
        }
        @if found.terms.is_empty() {
            div.empty {
                @if wanted("prefix").1.is_empty() {
                    p { "No device has a tag of this group yet. Tags are words by which you choose whom a message reaches, such as news. \
                         Apps set them on their devices, and servers on people." }
                } @else { p { "No tag of the group begins so." } }
            }
        } @else {
            (table(visit, &found))
            @if found.total > n_shown { p.quiet { "And " (count(found.total - n_shown, "other tag", "other tags")) " that fewer devices have." } }
        }
    })
}

/// The groups that there are, with the one that is shown even if it is empty.
fn choices<'g>(groups: &'g [Group], shown: &'g str) -> Vec<(&'g str, &'g str)> {
    let known = groups.iter().filter(|group| group.tags > 0).map(|group| group.group.as_str());
    let mut names: Vec<&str> = [DEVICE, shown].into_iter().chain(known).collect();
    names.sort_unstable();
    names.dedup();
    let is_read_only = |name: &str| groups.iter().any(|group| group.group == name && group.read_only);
    // What people set themselves comes first.
    names.sort_by_key(|name| (*name != DEVICE, is_read_only(name)));
    names.into_iter().map(|name| (name, name)).collect()
}

fn table(visit: &Visit, found: &Tags) -> Markup {
    let may_make = visit.may(Role::Editor);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Tags" {
            table {
                caption.hidden { "Tags of the group " (found.group) " with the devices that have them, the most first" }
                thead {
                    tr {
                        th scope="col" { "Tag" } th.number scope="col" { "Devices" }
                        @if may_make { th scope="col" { span.hidden { "Segment" } } }
                    }
                }
                tbody {
                    @for Tag { tag, channels } in &found.terms {
                        tr {
                            th.wide scope="row" { (tag) }
                            td.number { (grouped(*channels)) }
                            @if may_make {
                                td {
                                    a href=(to_segment(visit, tag, &criteria(&found.group, tag))) {
                                        "Make a segment" span.hidden { " of " (tag) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn criteria(group: &str, tag: &str) -> serde_json::Value {
    if group == DEVICE { json!({"tag": tag}) } else { json!({"tag": tag, "group": group}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_that_people_set_come_first() {
        let group = |name: &str, read_only| Group { group: name.to_owned(), tags: 1, read_only };
        let groups = [group("timezone", true), group("loyalty", false), group("device", false)];
        let names: Vec<&str> = choices(&groups, "empty").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["device", "empty", "loyalty", "timezone"]);
    }
}
