//! Conditions on channels: those of some that are asked about for which they hold.

use audience::plan::Plan;
use base::Result;
use model::ids::Ordinal;
use model::pipeline::{Condition, Fact, Junction};
use model::selector::Selector;
use roaring::RoaringBitmap;
use store::channels;
use targeting::Planner;

/// Whom the audiences mean that conditions ask about. They may ask what devices tell, which is read channel by channel; so nothing
/// is read of channels that nobody asks about, and those of many events are asked about together.
#[derive(Default)]
pub(super) struct AskedAudiences {
    /// Channels that are going to be asked about.
    expected: RoaringBitmap,
    audiences: Vec<AskedAudience>,
}

struct AskedAudience {
    selector: Selector,
    asked: RoaringBitmap,
    /// Those of them that it means.
    meant: RoaringBitmap,
}

impl AskedAudiences {
    pub(super) fn expecting(expected: RoaringBitmap) -> Self {
        Self { expected, audiences: Vec::new() }
    }

    fn meant(
        &mut self,
        planner: &mut Planner<'_, '_>,
        selector: &Selector,
        channels: &RoaringBitmap,
    ) -> Result<RoaringBitmap> {
        let known = self.audiences.iter().position(|audience| audience.selector == *selector);
        let number = known.unwrap_or_else(|| {
            let (asked, meant) = (RoaringBitmap::new(), RoaringBitmap::new());
            self.audiences.push(AskedAudience { selector: selector.clone(), asked, meant });
            self.audiences.len() - 1
        });
        let audience = &mut self.audiences[number];
        let mut new = channels - &audience.asked;
        if !new.is_empty() {
            new |= &self.expected - &audience.asked;
            let meant = planner.meant_among(selector, &new)?;
            // What asks about an unknown push is looked up again, so that it is met again.
            if planner.unknown.has_push {
                return Ok(RoaringBitmap::new());
            }
            audience.asked |= new;
            audience.meant |= meant;
        }
        Ok(&audience.meant & channels)
    }
}

/// Whether any of some conditions asks about an audience.
pub(super) fn ask_about_audiences<'c>(mut conditions: impl Iterator<Item = &'c Condition>) -> bool {
    let is_audience = |(fact, _): &(Fact, bool)| matches!(fact, Fact::InAudience(_));
    conditions.any(|condition| condition.facts.iter().any(is_audience))
}

/// Those of some channels for which all conditions hold.
pub(super) fn all_hold(
    planner: &mut Planner<'_, '_>,
    audiences: &mut AskedAudiences,
    conditions: &[Condition],
    asked: &RoaringBitmap,
) -> Result<RoaringBitmap> {
    if asked.is_empty() {
        return Ok(RoaringBitmap::new());
    }
    let mut parts = vec![Plan::Set(asked.clone())];
    for condition in conditions {
        parts.push(holds(planner, audiences, condition, asked)?);
    }
    Ok(planner.index.resolve(&Plan::And(parts).normalize()))
}

/// The channels for which a condition holds, of some that are asked about.
///
/// A push that is not known any more makes it hold for nobody, negated or not.
fn holds(
    planner: &mut Planner<'_, '_>,
    audiences: &mut AskedAudiences,
    condition: &Condition,
    asked: &RoaringBitmap,
) -> Result<Plan> {
    let mut facts = Vec::with_capacity(condition.facts.len());
    for (fact, is_negated) in &condition.facts {
        let is_so = match fact {
            Fact::Tag { group, tag } => planner.tag(group, tag),
            Fact::Subscribed(list) => devices::subscribers(planner.index, &[list.as_str().to_owned()]),
            Fact::Push(past) => planner.past_push(past)?,
            Fact::HasNamedUser => {
                let with_user = channels::with_named_user(planner.tx, planner.app, asked.iter().map(Ordinal))?;
                Plan::Set(with_user.into_iter().map(|Ordinal(number)| number).collect())
            }
            Fact::InAudience(selector) => Plan::Set(audiences.meant(planner, selector, asked)?),
            Fact::InactiveSinceTriggered => Plan::Everyone,
        };
        facts.push(if *is_negated { Plan::Not(Box::new(is_so)) } else { is_so });
    }
    Ok(match condition.junction {
        _ if planner.unknown.has_push => Plan::Nobody,
        Junction::And => Plan::And(facts),
        Junction::Or => Plan::Or(facts),
    })
}
