//! The audiences that are measured: twelve from one term to ten, and one of a hundred.

use anyhow::{Context, Result};
use audience::index::Index;
use audience::plan::Plan;
use model::ids::TermId;

use crate::population::{tag_name, value_name};

pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) tree: Tree,
}

/// Set algebra over terms, for an index or for a database.
#[derive(Clone)]
pub(crate) enum Tree {
    Term(TermId),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
}

impl Tree {
    pub(crate) fn plan(&self) -> Plan {
        self.literal_plan().normalize()
    }

    pub(crate) fn n_terms(&self) -> usize {
        match self {
            Tree::Term(_) => 1,
            Tree::And(parts) | Tree::Or(parts) => parts.iter().map(Tree::n_terms).sum(),
            Tree::Not(inner) => inner.n_terms(),
        }
    }

    fn literal_plan(&self) -> Plan {
        let plans = |parts: &[Tree]| parts.iter().map(Tree::literal_plan).collect();
        match self {
            Tree::Term(term) => Plan::Term(*term),
            Tree::And(parts) => Plan::And(plans(parts)),
            Tree::Or(parts) => Plan::Or(plans(parts)),
            Tree::Not(inner) => Plan::Not(Box::new(inner.literal_plan())),
        }
    }
}

/// The audiences over an index of the population, for any numbering of its terms.
pub(crate) fn all(index: &Index) -> Result<Vec<Shape>> {
    let tag = |rank: usize| term(index, "device", &tag_name(rank));
    let tags = |ranks: &[usize]| ranks.iter().map(|rank| tag(*rank)).collect::<Result<Vec<_>>>();
    let value = |group: &str, value: usize| term(index, group, &value_name(value));
    let opted_in = value("ua_opt_in", 0)?;
    let language = value("ua_locale_language", 1)?;
    let country = value("ua_locale_country", 2)?;
    let not = |tree: Tree| Tree::Not(Box::new(tree));
    let shape = |name, tree| Shape { name, tree };
    Ok(vec![
        shape("popular tag", tag(0)?),
        shape("rare tag", tag(5000)?),
        shape("popular tag and property", Tree::And(vec![tag(0)?, opted_in.clone()])),
        shape("tag and two properties", Tree::And(vec![tag(20)?, opted_in.clone(), language.clone()])),
        shape("rare tag and two properties", Tree::And(vec![tag(3000)?, opted_in.clone(), language.clone()])),
        shape("any of three tags", Tree::Or(tags(&[1, 4, 9])?)),
        shape("not one tag", not(tag(0)?)),
        shape("tag and property, not a tag", Tree::And(vec![tag(1)?, opted_in.clone(), not(tag(0)?)])),
        shape("any of ten rare tags", Tree::Or(tags(&[500, 800, 1000, 1500, 2000, 3000, 4000, 5000, 7000, 9000])?)),
        shape(
            "any of five tags, property, not a tag",
            Tree::And(vec![Tree::Or(tags(&[2, 3, 5, 8, 13])?), opted_in.clone(), not(tag(1)?)]),
        ),
        shape(
            "any of three pairs, one with not",
            Tree::Or(vec![
                Tree::And(vec![tag(2)?, language.clone()]),
                Tree::And(vec![tag(3)?, country.clone()]),
                Tree::And(vec![opted_in.clone(), not(tag(0)?)]),
            ]),
        ),
        shape(
            "ten terms, nested, with three nots",
            Tree::Or(vec![
                Tree::And(vec![Tree::Or(tags(&[0, 7, 70])?), opted_in.clone(), not(Tree::And(vec![tag(4)?, country]))]),
                Tree::And(vec![tag(2)?, language, not(Tree::Or(vec![tag(6)?, not(opted_in)]))]),
            ]),
        ),
        shape("any of a hundred popular tags", Tree::Or(tags(&(0..100).collect::<Vec<_>>())?)),
    ])
}

fn term(index: &Index, group: &str, tag: &str) -> Result<Tree> {
    let term = index.number_of(group, tag).with_context(|| format!("nobody has {tag} in {group}"))?;
    Ok(Tree::Term(term))
}
