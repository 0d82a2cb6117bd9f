//! The model: what a store is supposed to do, on plain maps.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::app::{Mode, UserRules};
use model::device_type::DeviceType;
use model::ids::{AppId, Offset, Ordinal, PushId, TermId};
use model::time::UtcMillis;
use store::apps::{App, NewApp, SecretHashes};
use store::blocks::BlockProgress;
use store::channels::{Channel, Key};
use store::documents::Document;
use store::idempotency::Kept;
use store::jobs::{ClaimedJob, JobId};
use store::log::Record;
use store::pushes::{PushRow, Tally};
use store::sandbox::{KEPT, SandboxDelivery};

use super::operation::{self, Answer, Circumstances, DEVICE_TYPES, Operation};
use crate::sample;

#[derive(Clone, Default)]
pub(super) struct Model {
    pub(super) last_app: i64,
    pub(super) apps: BTreeMap<AppId, AppState>,
    pub(super) log: BTreeMap<(AppId, Offset), Record>,
    pub(super) terms: BTreeMap<(AppId, TermId), (String, String)>,
    pub(super) channels: BTreeMap<(AppId, Ordinal), Channel>,
    pub(super) keys: BTreeMap<(AppId, Key), Ordinal>,
    pub(super) jobs: BTreeMap<(AppId, JobId), StoredJob>,
    pub(super) documents: BTreeMap<(AppId, String), Document>,
    pub(super) pushes: BTreeMap<(AppId, PushId), PushRow>,
    pub(super) tallies: BTreeMap<(AppId, PushId, DeviceType), Tally>,
    pub(super) blocks: BTreeMap<(AppId, PushId, u32), BlockProgress>,
    pub(super) totals: BTreeMap<(AppId, DeviceType), i64>,
    pub(super) kept: BTreeMap<(AppId, String), (UtcMillis, Kept)>,
    pub(super) sandbox: BTreeMap<(AppId, i64), SandboxDelivery>,
}

#[derive(Clone)]
pub(super) struct AppState {
    pub(super) app: App,
    pub(super) secrets: SecretHashes,
    pub(super) log_head: i64,
    pub(super) next_ordinal: u32,
    pub(super) next_term: u32,
    pub(super) sandbox_head: i64,
}

#[derive(Clone)]
pub(super) struct StoredJob {
    pub(super) due: UtcMillis,
    pub(super) leased: bool,
    pub(super) attempt: i64,
    pub(super) payload: Vec<u8>,
}

type Outcome<T = Answer> = Result<T, String>;

impl Model {
    /// One transaction: everything, or nothing and the name of the conflict.
    pub(super) fn run(&mut self, operations: &[Operation], circumstances: &Circumstances) -> Outcome<Vec<Answer>> {
        let mut after = self.clone();
        let answers = operations.iter().map(|operation| after.apply(operation, circumstances)).collect();
        after.forget_unwritten(self);
        if Outcome::is_ok(&answers) {
            *self = after;
        }
        answers
    }

    /// What a transaction, or all those that share a commit, append is written at its end, and no longer for an app that was
    /// deleted meanwhile.
    pub(super) fn forget_unwritten(&mut self, before: &Self) {
        let Self { apps, log, .. } = self;
        log.retain(|(app, offset), _| apps.contains_key(app) || before.log.contains_key(&(*app, *offset)));
    }

    pub(super) fn claim(&mut self, now: UtcMillis, lease_until: UtcMillis, at_most: u32) -> Vec<ClaimedJob> {
        let due = self.jobs.iter().filter(|(_, job)| job.due <= now);
        let mut due: Vec<_> = due.map(|((app, id), job)| (job.due, *app, *id)).collect();
        due.sort();
        due.truncate(at_most as usize);
        let claim = due.into_iter().map(|(_, app, id)| {
            let job = self.jobs.get_mut(&(app, id)).unwrap();
            *job = StoredJob { due: lease_until, leased: true, attempt: job.attempt + 1, ..job.clone() };
            ClaimedJob {
                app,
                id,
                kind: "sample".to_owned(),
                failures: 0,
                attempt: job.attempt,
                payload: job.payload.clone(),
                previous_holder: None,
            }
        });
        claim.collect()
    }

    fn apply(&mut self, operation: &Operation, circumstances: &Circumstances) -> Outcome {
        let now = circumstances.now;
        match operation {
            Operation::CreateApp { n } => return self.create_app(sample::app(*n)),
            Operation::ChangeApp { app, n } => {
                if let Some(state) = self.apps.get_mut(app) {
                    state.app.name = format!("changed {n}");
                    state.app.mode = Mode::Production;
                    state.app.approval_above = Some(u32::from(*n));
                    state.secrets = operation::secrets(*n);
                }
            }
            Operation::DeleteApp { app } => return Ok(Answer::Was(self.apps.remove(app).is_some())),
            Operation::EraseApp { app, .. } => self.erase(*app),
            Operation::Append { app, n: 0 } => {
                return Ok(Answer::Number(self.apps.get(app).map_or(0, |state| state.log_head)));
            }
            Operation::Append { app, n } => {
                let state = found(self.apps.get_mut(app))?;
                for _ in 0..*n {
                    state.log_head += 1;
                    let (new, offset) = (sample::record([*n]), Offset(state.log_head));
                    let record = Record { offset, at: now, kind: new.kind, ordinal: new.ordinal, body: new.body };
                    self.log.insert((*app, offset), record);
                }
                return Ok(Answer::Number(state.log_head));
            }
            Operation::NumberTerm { app, tag } => {
                let state = found(self.apps.get_mut(app))?;
                let term = operation::term(*tag);
                let name = (term.key().0.to_owned(), term.key().1.into_owned());
                if self.terms.iter().any(|((of, _), known)| of == app && *known == name) {
                    return Err("term_by_name".to_owned());
                }
                let id = TermId(state.next_term);
                state.next_term += 1;
                self.terms.insert((*app, id), name);
                return Ok(Answer::Number(i64::from(id.0)));
            }
            Operation::Register { app, n, traits } => {
                let state = found(self.apps.get_mut(app))?;
                let channel = operation::channel(Ordinal(state.next_ordinal), *n, *traits);
                state.next_ordinal += 1;
                let ordinal = channel.ordinal;
                self.store_channel(*app, channel)?;
                return Ok(Answer::Number(i64::from(ordinal.0)));
            }
            Operation::UpdateChannel { app, ordinal, n, traits } => {
                let channel = operation::channel(Ordinal(*ordinal), *n, *traits);
                // A channel keeps its id.
                if self.channels.get(&(*app, channel.ordinal)).is_some_and(|stored| stored.id == channel.id) {
                    self.store_channel(*app, channel)?;
                }
            }
            Operation::SetKeys { app, ordinal, keys } => {
                let keys = keys.iter().copied().map(operation::key).collect();
                return Ok(Answer::Robbed(self.set_keys(*app, Ordinal(*ordinal), keys)));
            }
            Operation::Enqueue { app, n, due_in } => {
                let new = sample::job(*n, circumstances.in_ms(*due_in).0);
                let job = StoredJob { due: new.due, leased: false, attempt: 0, payload: new.payload };
                self.jobs.entry((*app, new.id)).or_insert(job);
            }
            Operation::Claim { lease, at_most } => {
                return Ok(Answer::Claimed(self.claim(now, circumstances.in_ms(*lease), *at_most)));
            }
            Operation::Renew { held, lease } => {
                self.with_held(circumstances.job(*held), |mut job| {
                    job.get_mut().due = circumstances.in_ms(*lease);
                })?;
            }
            Operation::Postpone { held, delay } => {
                self.with_held(circumstances.job(*held), |mut job| {
                    job.get_mut().due = circumstances.in_ms(*delay);
                    job.get_mut().leased = false;
                })?;
            }
            Operation::Settle { held } => {
                self.with_held(circumstances.job(*held), |job| drop(job.remove()))?;
            }
            Operation::ReleaseAll => {
                let mut n_released = 0;
                for job in self.jobs.values_mut().filter(|job| job.leased) {
                    (job.due, job.leased) = (now, false);
                    n_released += 1;
                }
                return Ok(Answer::Number(n_released));
            }
            Operation::Put { app, n, body } => {
                let id = n.to_string();
                let new = Document { id: id.clone(), created: now, modified: now, body: body.to_string() };
                let document = self.documents.entry((*app, id)).or_insert_with(|| new.clone());
                *document = Document { created: document.created, ..new };
            }
            Operation::Remove { app, n } => {
                return Ok(Answer::Was(self.documents.remove(&(*app, n.to_string())).is_some()));
            }
            Operation::Accept { app, n } => {
                insert(&mut self.pushes, (*app, sample::id(*n)), sample::push(*n), "push_pkey")?;
            }
            Operation::SetState { app, n, state } => {
                if let Some(push) = self.pushes.get_mut(&(*app, sample::id(*n))) {
                    push.state = *state;
                }
            }
            Operation::AddTally { app, n, device_type, count, reason } => {
                let more = operation::tally(*count, *reason);
                let key = (*app, sample::id(*n), DEVICE_TYPES[*device_type].clone());
                let tally = self.tallies.entry(key).or_default();
                tally.targeted += more.targeted;
                tally.delivered += more.delivered;
                tally.gone += more.gone;
                tally.failed += more.failed;
                tally.expired += more.expired;
                tally.reason = more.reason.or(tally.reason.take());
            }
            Operation::AddBlock { app, n, number } => {
                let key = (*app, sample::id(*n), *number);
                insert(&mut self.blocks, key, sample::progress(), "push_block_pkey")?;
            }
            Operation::SaveBlock { app, n, number, tries, settled } => {
                if let Some(progress) = self.blocks.get_mut(&(*app, sample::id(*n), *number)) {
                    *progress = operation::progress(*tries, *settled);
                }
            }
            Operation::Count { app, device_type, n, .. } => {
                *self.totals.entry((*app, DEVICE_TYPES[*device_type].clone())).or_default() +=
                    i64::try_from(*n).unwrap();
            }
            Operation::Keep { app, key, n } => {
                insert(&mut self.kept, (*app, key.to_string()), (now, operation::kept(*n)), "idempotency_pkey")?;
            }
            Operation::Forget { age } => {
                let n_before = self.kept.len();
                self.kept.retain(|_, (created, _)| *created >= circumstances.in_ms(-age));
                return Ok(Answer::Number(i64::try_from(n_before - self.kept.len()).unwrap()));
            }
            Operation::Deliver { n: 0, .. } => {}
            Operation::Deliver { app, push, n } => {
                let state = found(self.apps.get_mut(app))?;
                for channel in 0..*n {
                    state.sandbox_head += 1;
                    self.sandbox.insert((*app, state.sandbox_head), sample::delivery(*push, channel));
                }
                let oldest = state.sandbox_head - KEPT;
                self.sandbox.retain(|(of, position), _| of != app || *position > oldest);
            }
        }
        Ok(Answer::Done)
    }

    fn create_app(&mut self, new: NewApp) -> Outcome {
        if self.apps.values().any(|state| state.app.key == new.key) {
            return Err("app_by_key".to_owned());
        }
        self.last_app += 1;
        let id = AppId(self.last_app);
        let app = App {
            id,
            key: new.key,
            name: new.name,
            mode: new.mode,
            user_rules: UserRules::default(),
            approval_above: None,
            web_origins: Vec::new(),
            proof_public_key: None,
            created: new.created,
            data_changed: UtcMillis::default(),
        };
        let secrets = new.secrets;
        let state = AppState { app, secrets, log_head: 0, next_ordinal: 0, next_term: 0, sandbox_head: 0 };
        self.apps.insert(id, state);
        Ok(Answer::Number(id.0))
    }

    fn erase(&mut self, app: AppId) {
        self.log.retain(|(of, _), _| *of != app);
        self.terms.retain(|(of, _), _| *of != app);
        self.channels.retain(|(of, _), _| *of != app);
        self.keys.retain(|(of, _), _| *of != app);
        self.jobs.retain(|(of, _), _| *of != app);
        self.documents.retain(|(of, _), _| *of != app);
        self.pushes.retain(|(of, _), _| *of != app);
        self.tallies.retain(|(of, ..), _| *of != app);
        self.blocks.retain(|(of, ..), _| *of != app);
        self.totals.retain(|(of, _), _| *of != app);
        self.kept.retain(|(of, _), _| *of != app);
        self.sandbox.retain(|(of, _), _| *of != app);
    }

    fn store_channel(&mut self, app: AppId, channel: Channel) -> Outcome<()> {
        let mut others = self.channels.iter().filter(|((of, ordinal), _)| *of == app && *ordinal != channel.ordinal);
        if others.any(|(_, other)| other.id == channel.id) {
            return Err("channel_by_id".to_owned());
        }
        self.channels.insert((app, channel.ordinal), channel);
        Ok(())
    }

    fn set_keys(&mut self, app: AppId, ordinal: Ordinal, keys: Vec<Key>) -> Vec<(Ordinal, Key)> {
        self.keys.retain(|(of, key), holder| *of != app || *holder != ordinal || keys.contains(key));
        let mut former = Vec::new();
        for key in keys {
            let previous = self.keys.insert((app, key.clone()), ordinal);
            former.extend(previous.filter(|previous| *previous != ordinal).map(|previous| (previous, key)));
        }
        former
    }

    /// Does something to a job. A conflict if the claim no longer holds.
    fn with_held(
        &mut self,
        claimed: Option<&ClaimedJob>,
        change: impl FnOnce(std::collections::btree_map::OccupiedEntry<'_, (AppId, JobId), StoredJob>),
    ) -> Outcome<()> {
        let Some(claimed) = claimed else { return Ok(()) };
        match self.jobs.entry((claimed.app, claimed.id)) {
            Entry::Occupied(job) if job.get().leased && job.get().attempt == claimed.attempt => {
                change(job);
                Ok(())
            }
            Entry::Occupied(_) | Entry::Vacant(_) => Err("the lease was lost".to_owned()),
        }
    }
}

fn found<T>(state: Option<T>) -> Outcome<T> {
    state.ok_or_else(|| "the app was deleted".to_owned())
}

fn insert<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V, conflict: &str) -> Outcome<()> {
    match map.entry(key) {
        Entry::Occupied(_) => Err(conflict.to_owned()),
        Entry::Vacant(place) => {
            place.insert(value);
            Ok(())
        }
    }
}
