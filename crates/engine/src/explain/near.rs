//! Names in an audience that nobody has, and the names they were probably meant to be.

use model::ids::SegmentId;
use model::lifecycle::lifecycle_names;
use model::selector::{Atomic, Location, Selector};
use model::tag::{Tag, TagGroup};
use store::documents::{self, DocumentKind};
use strsim::normalized_damerau_levenshtein;

use super::{Warning, count};
use crate::locations::find_place;
use crate::plan::Planner;
use crate::{Error, Result};

/// Names less alike than this are different names rather than typing mistakes.
const LEAST_LIKENESS: f64 = 0.6;
const MOST_NEAR: usize = 3;

/// Notes every name in a selector that selects nobody because nobody has it.
pub(super) fn warn(
    planner: &mut Planner<'_, '_>,
    selector: &Selector,
    path: &str,
    warnings: &mut Vec<Warning>,
) -> Result<()> {
    match selector {
        Selector::And { spelling, members } | Selector::Or { spelling, members } => {
            for (i, member) in members.iter().enumerate() {
                warn(planner, member, &format!("{path}.{}[{i}]", spelling.as_str()), warnings)?;
            }
            Ok(())
        }
        Selector::Not { spelling, member, in_array } => {
            let place = if *in_array { "[0]" } else { "" };
            warn(planner, member, &format!("{path}.{}{place}", spelling.as_str()), warnings)
        }
        Selector::Atomic(atomic) => warn_of_atom(planner, atomic, path, warnings),
    }
}

fn warn_of_atom(planner: &mut Planner<'_, '_>, atomic: &Atomic, path: &str, warnings: &mut Vec<Warning>) -> Result<()> {
    match atomic {
        Atomic::Tag { tags, group, .. } => {
            let group = group.clone().unwrap_or_else(TagGroup::device);
            warnings.extend(tags.as_slice().iter().filter_map(|tag| unused_tag(planner, &group, tag, path)));
        }
        Atomic::Segment(ids) => {
            for id in ids.as_slice() {
                warnings.extend(unknown_segment(planner, *id, path)?);
                warnings.extend(unknown_places_in_segment(planner, *id, path)?);
            }
        }
        Atomic::StaticList(names) => {
            let uploaded = documents::list(planner.tx, planner.app, DocumentKind::List)?;
            let mut known: Vec<String> = uploaded.into_iter().map(|list| list.id).collect();
            known.extend(lifecycle_names().map(str::to_owned));
            let unknown = names.as_slice().iter().filter(|name| !known.contains(name));
            warnings.extend(unknown.map(|name| Warning {
                path: format!("{path}.static_list"),
                message: format!("There is no list '{name}'."),
                near: nearest(name, known.iter().map(String::as_str)),
            }));
        }
        Atomic::Location(location) => warnings.extend(unknown_place(location, path)?),
        Atomic::NamedUser(_)
        | Atomic::Alias(_)
        | Atomic::SubscriptionList { .. }
        | Atomic::Channel(_)
        | Atomic::IosChannel(_)
        | Atomic::AndroidChannel(_)
        | Atomic::AmazonChannel(_)
        | Atomic::WebChannel(_)
        | Atomic::OpenChannel(_)
        | Atomic::DeviceToken(_)
        | Atomic::Apid(_)
        | Atomic::Wns(_)
        | Atomic::Mpns(_)
        | Atomic::DevicePin(_)
        | Atomic::SmsId(_)
        | Atomic::SmsSender(_)
        | Atomic::Attribute(_)
        | Atomic::Activity(_) => {}
    }
    Ok(())
}

fn unknown_place(location: &Location, path: &str) -> Result<Option<Warning>> {
    let atlas = geo::atlas().map_err(Error::internal)?;
    let (key, name) = location.place.named_by();
    Ok(find_place(atlas, &location.place).is_none().then(|| Warning {
        path: format!("{path}.location.{key}"),
        message: format!("There is no place with the {key} '{name}'."),
        near: Vec::new(),
    }))
}

fn unused_tag(planner: &Planner<'_, '_>, group: &TagGroup, tag: &Tag, path: &str) -> Option<Warning> {
    let is_used = |tag: &Tag| count(planner.index, planner.tag(group, tag)) > 0;
    if is_used(tag) {
        return None;
    }
    let in_group = planner.index.tags(group.as_str());
    if in_group.is_empty() {
        let groups = planner.index.groups();
        let groups = groups.iter().map(String::as_str).filter(|known| !known.starts_with('@'));
        return Some(Warning {
            path: format!("{path}.group"),
            message: format!("Nobody has a tag in the group '{group}'."),
            near: nearest(group.as_str(), groups),
        });
    }
    let others = in_group.iter().map(String::as_str).filter(|known| *known != tag.as_str());
    let mut near = nearest(tag.as_str(), others);
    near.retain(|name| Tag::new(name).is_ok_and(|tag| is_used(&tag)));
    Some(Warning {
        path: format!("{path}.tag"),
        message: format!("Nobody has the tag '{tag}' in the group '{group}'."),
        near,
    })
}

fn unknown_segment(planner: &mut Planner<'_, '_>, id: SegmentId, path: &str) -> Result<Option<Warning>> {
    let known = documents::list(planner.tx, planner.app, DocumentKind::Segment)?;
    let id = id.to_string();
    if known.iter().any(|document| document.id == id) {
        return Ok(None);
    }
    let near = nearest(&id, known.iter().map(|document| document.id.as_str()));
    Ok(Some(Warning { path: format!("{path}.segment"), message: format!("There is no segment {id}."), near }))
}

/// The places of a segment were known when it was stored.
fn unknown_places_in_segment(planner: &mut Planner<'_, '_>, id: SegmentId, path: &str) -> Result<Option<Warning>> {
    let n_unknown = planner.unknown_places.len();
    planner.in_segments(&[id])?;
    let places = planner.unknown_places.split_off(n_unknown);
    Ok((!places.is_empty()).then(|| Warning {
        path: format!("{path}.segment"),
        message: format!("The segment names places that are not known any more: {}.", places.join(", ")),
        near: Vec::new(),
    }))
}

/// The known names most like a name, the nearest first.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut alike: Vec<(f64, &str)> = known
        .map(|known| (normalized_damerau_levenshtein(&lower, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    alike.sort_by(|(left, left_name), (right, right_name)| right.total_cmp(left).then(left_name.cmp(right_name)));
    alike.into_iter().take(MOST_NEAR).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_are_recognized_and_other_words_are_not() {
        let known = ["news", "sports", "weather", "News-daily"];
        assert_eq!(nearest("nwes", known.into_iter()), ["news"]);
        assert_eq!(nearest("SPORT", known.into_iter()), ["sports"]);
        assert_eq!(nearest("music", known.into_iter()), Vec::<String>::new());
    }
}
