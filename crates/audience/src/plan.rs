//! Plans: set algebra over terms. An audience becomes a plan when its names are looked up.

use model::ids::TermId;
use roaring::RoaringBitmap;

/// A description of a set of channels, always a part of everyone.
///
/// Any plan evaluates to the right set; one that went through [`Plan::normalize`] does so without detours.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    Everyone,
    Nobody,
    Term(TermId),
    /// Channels named one by one. Those that are not part of everyone do not count.
    Set(RoaringBitmap),
    /// The channels in all of the parts; everyone when there are no parts.
    And(Vec<Plan>),
    /// The channels in any of the parts; nobody when there are no parts.
    Or(Vec<Plan>),
    /// Everyone else.
    Not(Box<Plan>),
}

impl Plan {
    /// The same set in normal form: `Everyone` and `Nobody` only stand alone, an `And` or `Or` has two parts or more
    /// and none of its own kind among them, an `Or` has one `Set` at most, a `Set` is not empty, and no `Not` is
    /// directly inside another.
    pub fn normalize(self) -> Self {
        match self {
            Plan::Everyone | Plan::Nobody | Plan::Term(_) => self,
            Plan::Set(set) => from_set(set),
            Plan::And(parts) => all_of(parts),
            Plan::Or(parts) => any_of(parts),
            Plan::Not(inner) => match inner.normalize() {
                Plan::Everyone => Plan::Nobody,
                Plan::Nobody => Plan::Everyone,
                Plan::Not(twice) => *twice,
                other @ (Plan::Term(_) | Plan::Set(_) | Plan::And(_) | Plan::Or(_)) => Plan::Not(Box::new(other)),
            },
        }
    }
}

fn from_set(set: RoaringBitmap) -> Plan {
    if set.is_empty() { Plan::Nobody } else { Plan::Set(set) }
}

fn all_of(parts: Vec<Plan>) -> Plan {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        match part.normalize() {
            Plan::Everyone => {}
            Plan::Nobody => return Plan::Nobody,
            Plan::And(inner) => kept.extend(inner),
            other @ (Plan::Term(_) | Plan::Set(_) | Plan::Or(_) | Plan::Not(_)) => kept.push(other),
        }
    }
    joined(kept, Plan::Everyone, Plan::And)
}

fn any_of(parts: Vec<Plan>) -> Plan {
    let mut kept = Vec::with_capacity(parts.len());
    // Thousands of channels named one by one become one set.
    let mut named = RoaringBitmap::new();
    for part in parts {
        match part.normalize() {
            Plan::Everyone => return Plan::Everyone,
            Plan::Nobody => {}
            Plan::Set(set) => named |= set,
            Plan::Or(inner) => {
                for plan in inner {
                    if let Plan::Set(set) = plan {
                        named |= set;
                    } else {
                        kept.push(plan);
                    }
                }
            }
            other @ (Plan::Term(_) | Plan::And(_) | Plan::Not(_)) => kept.push(other),
        }
    }
    if !named.is_empty() {
        kept.push(Plan::Set(named));
    }
    joined(kept, Plan::Nobody, Plan::Or)
}

fn joined(mut parts: Vec<Plan>, none: Plan, several: fn(Vec<Plan>) -> Plan) -> Plan {
    if parts.len() > 1 { several(parts) } else { parts.pop().unwrap_or(none) }
}
