//! Audiences as SQL, as an expert in the database would write it.

use model::ids::TermId;

use super::shapes::Tree;

/// Stands for a term that every channel has.
pub(crate) const EVERYONE: i64 = -1;

/// For a table `member (term, ordinal)`: begins with the rarest set and looks the rest up for each of its channels.
pub(crate) struct OverMembers<'a> {
    /// How many channels have a term.
    pub(crate) size: &'a dyn Fn(TermId) -> u64,
}

impl OverMembers<'_> {
    pub(crate) fn count(&self, tree: &Tree) -> String {
        format!("select count(*) from ({})", self.all(tree))
    }

    /// The ordinals, each once.
    pub(crate) fn all(&self, tree: &Tree) -> String {
        match tree {
            Tree::Term(term) => format!("select ordinal from member where term = {}", term.0),
            Tree::Or(parts) => parts.iter().map(|part| self.all(part)).collect::<Vec<_>>().join(" union "),
            Tree::And(parts) => {
                let Some(first) = (0..parts.len()).min_by_key(|part| self.most(&parts[*part])) else {
                    return everyone("1");
                };
                let others = parts.iter().enumerate().filter(|(part, _)| *part != first);
                let conditions: Vec<_> = others.map(|(_, part)| condition(part)).collect();
                format!("select c.ordinal from ({}) c where {}", self.all(&parts[first]), conditions.join(" and "))
            }
            Tree::Not(inner) => everyone(&format!("not {}", condition(inner))),
        }
    }

    /// An upper bound of the number of channels in it.
    fn most(&self, tree: &Tree) -> u64 {
        match tree {
            Tree::Term(term) => (self.size)(*term),
            Tree::And(parts) => parts.iter().map(|part| self.most(part)).min().unwrap_or(u64::MAX),
            Tree::Or(parts) => parts.iter().map(|part| self.most(part)).fold(0, u64::saturating_add),
            Tree::Not(_) => u64::MAX,
        }
    }
}

fn everyone(condition: &str) -> String {
    format!("select c.ordinal from member c where c.term = {EVERYONE} and {condition}")
}

fn condition(tree: &Tree) -> String {
    let joined = |parts: &[Tree], word: &str| {
        let parts: Vec<_> = parts.iter().map(condition).collect();
        format!("({})", parts.join(word))
    };
    match tree {
        Tree::Term(term) => {
            format!("exists (select 1 from member m where m.term = {} and m.ordinal = c.ordinal)", term.0)
        }
        Tree::And(parts) => joined(parts, " and "),
        Tree::Or(parts) => joined(parts, " or "),
        Tree::Not(inner) => format!("not {}", condition(inner)),
    }
}

/// For a table with an array of tokens per channel: one containment or overlap for adjacent terms, and the rest is left to the
/// planner.
pub(crate) fn over_tokens(tree: &Tree) -> String {
    match tree {
        Tree::Term(_) => side_by_side(std::slice::from_ref(tree), "@>", " and "),
        Tree::And(parts) => side_by_side(parts, "@>", " and "),
        Tree::Or(parts) => side_by_side(parts, "&&", " or "),
        Tree::Not(inner) => format!("not {}", over_tokens(inner)),
    }
}

pub(crate) fn token(term: TermId) -> String {
    format!("t{}", term.0)
}

fn side_by_side(parts: &[Tree], operator: &str, word: &str) -> String {
    let mut tokens = Vec::new();
    let mut conditions = Vec::new();
    for part in parts {
        match part {
            Tree::Term(term) => tokens.push(token(*term)),
            Tree::And(_) | Tree::Or(_) | Tree::Not(_) => conditions.push(over_tokens(part)),
        }
    }
    if !tokens.is_empty() {
        conditions.insert(0, format!("tokens {operator} cast('{{{}}}' as pg_catalog.text[])", tokens.join(",")));
    }
    format!("({})", conditions.join(word))
}
