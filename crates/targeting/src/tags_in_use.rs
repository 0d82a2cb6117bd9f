//! The tags and tag groups that channels have, with how many have them: what there is to choose from when an audience is written.

use std::cmp::Reverse;

use audience::index::Index;
use audience::tally::TagCount;
use base::Result;
use boxed::boxed;
use model::ids::AppId;
use model::tag::TagGroup;

use crate::Targeting;

/// The tags of a group that some channel has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagsInUse {
    /// Those that most channels have, the most first.
    pub tags: Vec<TagCount>,
    /// How many there are in all.
    pub n_all: usize,
}

/// The tag groups with a tag that some channel has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupsInUse {
    /// The first ones by name.
    pub groups: Vec<GroupInUse>,
    /// How many there are in all.
    pub n_all: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInUse {
    pub group: TagGroup,
    /// How many of its tags some channel has.
    pub n_tags: usize,
}

#[boxed]
impl Targeting {
    /// The tags of a group that begin with a text, in letters of either case.
    pub async fn tags_in_use(&self, app: AppId, group: TagGroup, prefix: String, at_most: usize) -> Result<TagsInUse> {
        let index = self.0.index.current(app).await?;
        self.0.index.evaluate(move || tags_in_use(&index, &group, &prefix, at_most)).await
    }

    /// The groups that begin with a text, in letters of either case.
    pub async fn groups_in_use(&self, app: AppId, prefix: String, at_most: usize) -> Result<GroupsInUse> {
        let index = self.0.index.current(app).await?;
        self.0.index.evaluate(move || groups_in_use(&index, &prefix, at_most)).await
    }
}

fn tags_in_use(index: &Index, group: &TagGroup, prefix: &str, at_most: usize) -> TagsInUse {
    let mut tags = index.held_tags(group.as_str(), |tag| begins_with(tag, prefix));
    let n_all = tags.len();
    let rank = |count: &TagCount| (Reverse(count.n_channels), count.tag.clone());
    // There may be millions, of which a few are shown.
    if n_all > at_most {
        tags.select_nth_unstable_by_key(at_most, rank);
        tags.truncate(at_most);
    }
    tags.sort_unstable_by_key(rank);
    TagsInUse { tags, n_all }
}

fn groups_in_use(index: &Index, prefix: &str, at_most: usize) -> GroupsInUse {
    let named = index.groups().into_iter().filter(|group| begins_with(group, prefix));
    // Groups of the service itself are no names of tag groups.
    let groups = named.filter_map(|group| TagGroup::new(&group).ok());
    let counted = groups.map(|group| GroupInUse { n_tags: index.held_tags(group.as_str(), |_| true).len(), group });
    let mut groups: Vec<GroupInUse> = counted.filter(|group| group.n_tags > 0).collect();
    groups.sort_unstable_by(|left, right| left.group.cmp(&right.group));
    let n_all = groups.len();
    groups.truncate(at_most);
    GroupsInUse { groups, n_all }
}

/// Whether a text begins with another, in letters of either case.
fn begins_with(text: &str, prefix: &str) -> bool {
    let mut letters = text.chars().flat_map(char::to_lowercase);
    prefix.chars().flat_map(char::to_lowercase).all(|letter| letters.next() == Some(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_does_not_matter() {
        for (text, prefix) in [("News", ""), ("News", "nE"), ("ÉTÉ", "été"), ("news", "news")] {
            assert!(begins_with(text, prefix), "{text} {prefix}");
        }
        for (text, prefix) in [("", "n"), ("new", "news"), ("old news", "news")] {
            assert!(!begins_with(text, prefix), "{text} {prefix}");
        }
    }
}
