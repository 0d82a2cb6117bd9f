//! Plans that need nothing but the index: everybody who holds a term.

use audience::index::Index;
use audience::plan::Plan;
use model::term::Term;

/// The holders of a term; none, if it has no number yet.
pub fn term_plan(index: &Index, term: &Term) -> Plan {
    let (group, tag) = term.key();
    index.number_of(group, &tag).map_or(Plan::Nobody, Plan::Term)
}
