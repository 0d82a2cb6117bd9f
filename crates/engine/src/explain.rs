//! Explaining an audience: who is in it, what each part of it does, and what in it is probably a typing mistake. Nothing is
//! sent.

mod near;

use audience::index::Index;
use audience::plan::Plan;
use model::ids::AppId;
use model::payload::device_types::DeviceTypes;
use model::platform::DeviceType;
use model::problem::Problems;
use model::selector::{Audience, Selector};
use model::term::{Reach, Term};

use crate::plan::Planner;
use crate::push::unsupported;
use crate::resolve::{device_types, open_types};
use crate::{Engine, Result};

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Channels in the audience, of the device types asked for.
    pub matched: u64,
    pub platforms: Vec<PlatformCount>,
    /// The audience taken apart; `None` for everybody.
    pub clause: Option<Clause>,
    pub warnings: Vec<Warning>,
}

/// What becomes of the audience on one platform. The last three add up to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformCount {
    pub device_type: DeviceType,
    pub matched: u64,
    /// Would see a notification.
    pub reachable: u64,
    /// Have an address but are not opted in.
    pub opted_out: u64,
    pub without_address: u64,
}

/// One selector and its effect next to its neighbors.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub path: String,
    pub selector: Selector,
    /// Channels it selects by itself.
    pub matched: u64,
    pub effect: Effect,
    pub clauses: Vec<Clause>,
}

/// What a member of AND or OR does to what the members before it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The whole audience, or what is inside NOT.
    Whole,
    /// A member of AND: how many stay and how many it takes away.
    Keeps { kept: u64, dropped: u64 },
    /// A member of OR: how many it adds to those before it.
    Adds { added: u64 },
}

/// A name that nobody has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub path: String,
    pub message: String,
    /// Names that somebody has and that are written almost like it, the nearest first.
    pub near: Vec<String>,
}

impl Engine {
    /// Explains an audience as a push accepted now would resolve it.
    pub async fn explain(&self, app: AppId, audience: Audience, types: DeviceTypes) -> Result<Explanation> {
        if let Audience::Selector(selector) = &audience
            && let Some(problems) =
                Problems::from_vec(unsupported(selector, "audience".to_owned()).into_iter().collect())
        {
            return Err(problems.into());
        }
        self.ready_atlas_to_plan(app, &audience).await?;
        let index = self.current_index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .read(move |tx| {
                let open_types = open_types(&types, &index);
                let mut planner = Planner::new(tx, app, &index, now, open_types);
                let mut warnings = Vec::new();
                let (clause, plan) = match &audience {
                    Audience::All(_) | Audience::Triggered(_) | Audience::CreateAndSend(_) => {
                        (None, planner.audience(&audience)?)
                    }
                    Audience::Selector(selector) => {
                        near::warn(&mut planner, selector, "audience", &mut warnings)?;
                        let (clause, plan) = explain(&mut planner, selector, "audience".to_owned())?;
                        (Some(clause), plan.normalize())
                    }
                };
                let platforms = count_platforms(&planner, &plan, device_types(&types, &index));
                let matched = platforms.iter().map(|platform| platform.matched).sum();
                Ok(Explanation { matched, platforms, clause, warnings })
            })
            .await
    }
}

fn count_platforms(planner: &Planner<'_, '_>, audience: &Plan, types: Vec<DeviceType>) -> Vec<PlatformCount> {
    let counted = types.into_iter().map(|device_type| {
        let of_type = [audience.clone(), planner.term(&Term::DeviceType(device_type.clone()))];
        let count = |more: Vec<Plan>| count(planner.index, Plan::And([of_type.to_vec(), more].concat()));
        let addressed = planner.term(&Term::Reach(Reach::Addressed));
        let matched = count(Vec::new());
        let with_address = count(vec![addressed]);
        let reachable = count(vec![planner.term(&Term::Reach(Reach::Alert))]);
        PlatformCount {
            device_type,
            matched,
            reachable,
            opted_out: with_address - reachable,
            without_address: matched - with_address,
        }
    });
    counted.filter(|platform| platform.matched > 0).collect()
}

/// A selector taken apart, and its plan. Every name is looked up once, whatever it is nested in.
fn explain(planner: &mut Planner<'_, '_>, selector: &Selector, path: String) -> Result<(Clause, Plan)> {
    let (clauses, plan) = match selector {
        Selector::And { spelling, members } => {
            explain_members(planner, members, &format!("{path}.{}", spelling.as_str()), Plan::And, |before, after| {
                Effect::Keeps { kept: after, dropped: before - after }
            })?
        }
        Selector::Or { spelling, members } => {
            explain_members(planner, members, &format!("{path}.{}", spelling.as_str()), Plan::Or, |before, after| {
                Effect::Adds { added: after - before }
            })?
        }
        Selector::Not { spelling, member, in_array } => {
            let place = if *in_array { "[0]" } else { "" };
            let n_unknown = planner.unknown_places.len();
            let (clause, plan) = explain(planner, member, format!("{path}.{}{place}", spelling.as_str()))?;
            (vec![clause], planner.opposite(plan, n_unknown))
        }
        Selector::Atomic(_) => (Vec::new(), planner.selector(selector)?),
    };
    let matched = count(planner.index, plan.clone());
    Ok((Clause { path, selector: selector.clone(), matched, effect: Effect::Whole, clauses }, plan))
}

/// Members in their order: what the first n make of the set, and what one more changes about it.
fn explain_members(
    planner: &mut Planner<'_, '_>,
    members: &[Selector],
    path: &str,
    combine: fn(Vec<Plan>) -> Plan,
    effect: impl Fn(u64, u64) -> Effect,
) -> Result<(Vec<Clause>, Plan)> {
    let mut parts = Vec::with_capacity(members.len());
    let mut before = count(planner.index, combine(Vec::new()));
    let mut clauses = Vec::with_capacity(members.len());
    for (i, member) in members.iter().enumerate() {
        let (clause, plan) = explain(planner, member, format!("{path}[{i}]"))?;
        parts.push(plan);
        let after = count(planner.index, combine(parts.clone()));
        clauses.push(Clause { effect: effect(before, after), ..clause });
        before = after;
    }
    Ok((clauses, combine(parts)))
}

fn count(index: &Index, plan: Plan) -> u64 {
    index.count(&plan.normalize())
}
