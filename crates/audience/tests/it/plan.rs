//! The normal form of plans.

use audience::plan::Plan::{self, And, Everyone, Nobody, Not, Or, Set};
use model::ids::TermId;
use proptest::prelude::*;
use roaring::RoaringBitmap;

use crate::arbitrary;

fn term(number: u32) -> Plan {
    Plan::Term(TermId(number))
}

fn not(plan: Plan) -> Plan {
    Not(Box::new(plan))
}

#[test]
fn each_rule_of_the_normal_form() {
    let set = |ordinals: &[u32]| Set(ordinals.iter().collect::<RoaringBitmap>());
    for (plan, normal) in [
        (And(vec![]), Everyone),
        (Or(vec![]), Nobody),
        (set(&[]), Nobody),
        (not(Everyone), Nobody),
        (not(Nobody), Everyone),
        (not(not(term(1))), term(1)),
        (not(not(not(term(1)))), not(term(1))),
        (And(vec![term(1)]), term(1)),
        (Or(vec![term(1)]), term(1)),
        (And(vec![term(1), Nobody, term(2)]), Nobody),
        (And(vec![term(1), Everyone]), term(1)),
        (Or(vec![term(1), Everyone, term(2)]), Everyone),
        (Or(vec![term(1), Nobody]), term(1)),
        (And(vec![term(1), And(vec![term(2), term(3)])]), And(vec![term(1), term(2), term(3)])),
        (Or(vec![term(1), Or(vec![term(2), term(3)])]), Or(vec![term(1), term(2), term(3)])),
        (And(vec![term(1), Or(vec![term(2), term(3)])]), And(vec![term(1), Or(vec![term(2), term(3)])])),
        (Or(vec![set(&[1]), set(&[]), Or(vec![set(&[2]), term(1)])]), Or(vec![term(1), set(&[1, 2])])),
        (And(vec![term(1), not(not(And(vec![term(2), term(3)])))]), And(vec![term(1), term(2), term(3)])),
    ] {
        assert_eq!(plan.clone().normalize(), normal, "{plan:?}");
    }
}

proptest! {
    #[test]
    fn the_normal_form_is_reached_at_once(plan in arbitrary::plan()) {
        let normal = plan.normalize();
        prop_assert!(matches!(normal, Everyone | Nobody) || is_normal(&normal), "{:?}", normal);
        prop_assert_eq!(normal.clone().normalize(), normal);
    }
}

fn is_normal(plan: &Plan) -> bool {
    match plan {
        Everyone | Nobody => false,
        Plan::Term(_) => true,
        Set(set) => !set.is_empty(),
        And(parts) => parts.len() > 1 && parts.iter().all(|part| !matches!(part, And(_)) && is_normal(part)),
        Or(parts) => {
            parts.len() > 1
                && parts.iter().filter(|part| matches!(part, Set(_))).count() < 2
                && parts.iter().all(|part| !matches!(part, Or(_)) && is_normal(part))
        }
        Not(inner) => !matches!(**inner, Not(_)) && is_normal(inner),
    }
}
