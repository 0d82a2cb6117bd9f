//! Filters of events.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use model::device_type::DeviceType;
use model::event::{EventSubset, RecordKind, device_type_name};
use model::predicate::Predicate;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use serde_json::Value;
use uuid::Uuid;

/// Events that any one of its clauses accepts. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventFilter {
    clauses: Arc<[EventClause]>,
    kinds: Arc<BTreeSet<RecordKind>>,
    subset: Option<EventSubset>,
}

/// Events that fulfill all of its conditions; one that is absent is fulfilled.
#[derive(Clone, Debug, Default)]
pub struct EventClause {
    pub kinds: Option<BTreeSet<RecordKind>>,
    /// The ordinals of channels.
    pub channels: Option<RoaringBitmap>,
    /// As events have them: `IOS`.
    pub device_types: Option<BTreeSet<String>>,
    pub named_users: Option<BTreeSet<String>>,
    /// Ids of pushes, or of groups.
    pub pushes: Option<BTreeSet<Uuid>>,
    /// How late they may have been recorded after they occurred.
    pub latency: Option<Duration>,
    /// All of them hold for the event as it is shown.
    pub predicates: Vec<Predicate>,
}

/// The requirements that clauses which accept everything else of an event have of the whole of it.
pub(super) enum WholeTest<'f> {
    /// One of them has none.
    Passed,
    /// The predicates of each, of which those of one have to hold.
    AnyOf(Vec<&'f [Predicate]>),
}

impl EventFilter {
    /// Every event there is.
    pub fn everything() -> Self {
        Self::any_of(vec![EventClause::default()])
    }

    /// Events of some types, without those that customers never see.
    pub fn of_kinds(kinds: impl IntoIterator<Item = RecordKind>) -> Self {
        Self::any_of(vec![EventClause { kinds: Some(kinds.into_iter().collect()), ..EventClause::default() }])
    }

    pub fn any_of(clauses: Vec<EventClause>) -> Self {
        let is_public = |kind: &RecordKind| kind.public_name().is_some();
        let all = RecordKind::NUMBERED.into_iter().map(|(_, kind)| kind).filter(is_public);
        let is_wanted = |kind: &RecordKind| clauses.iter().any(|clause| clause.accepts_kind(*kind));
        let kinds = all.filter(is_wanted).collect();
        Self { clauses: clauses.into(), kinds: Arc::new(kinds), subset: None }
    }

    /// The events of a part only.
    pub fn within(self, subset: Option<EventSubset>) -> Self {
        Self { subset, ..self }
    }

    /// All types that can be among the events.
    pub(super) fn kinds(&self) -> &BTreeSet<RecordKind> {
        &self.kinds
    }

    /// The clauses that may accept events of a type.
    pub(super) fn accepting(&self, kind: RecordKind) -> Vec<&EventClause> {
        self.clauses.iter().filter(|clause| clause.accepts_kind(kind)).collect()
    }

    /// Whether an event is in the part that is wanted. The number is that of its channel, or else its own.
    pub(super) fn is_in_subset(&self, number: u32) -> bool {
        self.subset.is_none_or(|subset| subset.has(number))
    }

    /// The channels that at least one of the clauses accepts.
    pub(super) fn among(&self, all: &RoaringBitmap, clauses: &[&EventClause]) -> RoaringBitmap {
        // A clause without channels accepts all of them.
        let mut of_clauses = clauses.iter().map(|clause| clause.channels.as_ref());
        let wanted = of_clauses.try_fold(RoaringBitmap::new(), |wanted, channels| Some(wanted | (all & channels?)));
        let wanted = wanted.unwrap_or_else(|| all.clone());
        match self.subset {
            Some(subset) => wanted.into_iter().filter(|number| subset.has(*number)).collect(),
            None => wanted,
        }
    }
}

impl EventClause {
    pub(super) fn accepts_kind(&self, kind: RecordKind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// `mentioned` are the ids of the push that an event names, and of its group.
    pub(super) fn accepts_pushes(&self, mentioned: impl IntoIterator<Item = Uuid>) -> bool {
        self.pushes.as_ref().is_none_or(|pushes| mentioned.into_iter().any(|id| pushes.contains(&id)))
    }

    pub(super) fn accepts_latency(&self, occurred: UtcMillis, recorded: UtcMillis) -> bool {
        self.latency.is_none_or(|latency| recorded.minus(latency) <= occurred)
    }

    /// Whether an event about no channel can be accepted.
    pub(super) fn accepts_no_channel(&self) -> bool {
        self.channels.is_none() && self.device_types.is_none() && self.named_users.is_none()
    }

    pub(super) fn accepts_device(&self, device_type: &DeviceType, named_user: Option<&str>) -> bool {
        self.device_types.as_ref().is_none_or(|types| types.contains(device_type_name(device_type)))
            && self.named_users.as_ref().is_none_or(|users| named_user.is_some_and(|user| users.contains(user)))
    }
}

impl<'f> WholeTest<'f> {
    /// `None` if no clause accepts the event.
    pub(super) fn of(clauses: impl Iterator<Item = &'f EventClause>) -> Option<Self> {
        let mut tests = Vec::new();
        for clause in clauses {
            if clause.predicates.is_empty() {
                return Some(Self::Passed);
            }
            tests.push(clause.predicates.as_slice());
        }
        (!tests.is_empty()).then_some(Self::AnyOf(tests))
    }

    /// Whether an event passes that is written as JSON.
    pub(super) fn passes(&self, event: &[u8]) -> Result<bool> {
        match self {
            Self::Passed => Ok(true),
            Self::AnyOf(tests) => {
                let event: Value = serde_json::from_slice(event).map_err(Error::internal)?;
                Ok(tests.iter().any(|all| all.iter().all(|predicate| predicate.holds(&event))))
            }
        }
    }
}
