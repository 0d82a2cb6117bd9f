//! At least one row for every table, written with the functions of the store and read with them. A row that
//! is in the files of releases is never changed here: what a later version writes otherwise is one more row.

mod people;
mod readers;

use std::collections::BTreeSet;

use model::app::UserRules;
use model::channel::{ChannelRef, ClaimedType, LiveChange, LiveKey, LiveKind, LiveState};
use model::device_type::DeviceType;
use model::event::{EventOffset, RecordKind, SharedPush};
use model::ids::{AppId, ContactId, MessageNumber, NamedUserId, Offset, Ordinal, PushId, TermId, WebhookId};
use model::inbox::{InboxUserId, MessageDetails, TextChoice};
use model::json;
use model::named_user::Association;
use model::origin::{Origin, Part as AudiencePart, Provenance};
use model::payload::Push;
use model::place::PlaceId;
use model::push_outcome::PushOutcome;
use model::tag::Tag;
use model::time::UtcMillis;
use store::addresses::{self, RefusedAddress};
use store::attributes::{self, Owner, Write};
use store::bulk_rows::{self, BulkValues};
use store::channels::{self, Channel};
use store::counters::{self, Grain, Metric, Pushes};
use store::documents::{self, DocumentKind};
use store::event_counters::{self, Conversion, Counted};
use store::experiment_groups::{self, Channels, GroupKey, NewGroup};
use store::faces::{self, EndedFace, EndingFace};
use store::idempotency::{self, Kept};
use store::jobs::{self, NewJob};
use store::last_places::{self, LastPlaces};
use store::list_changes::{self, ChangeOwner, ListChange};
use store::lists::{self, Member, Upload, UploadNumber};
use store::messages::{self, Message, TextHead};
use store::pipeline_sent::{self, SentKey};
use store::pipeline_spans::{self, SpanKey, Width};
use store::pipeline_timers::{self, TimerPart};
use store::postings::{self, Bucket, Section};
use store::privacy::{self, Request, RequestKind};
use store::push_marks::ResponseKind;
use store::push_outcomes::OutcomeSet;
use store::pushes::{self, PushRow, PushState, PushTexts, Tally};
use store::sandbox::{self, Filter};
use store::sessions::{self, LastOpening};
use store::term_sets::{self, Part};
use store::unknown_users::{self, UnknownUser};
use store::webhooks::{self, Attempt, DeadLetter, Entry, EntryKind, Position, Webhook};
use store::{
    Result, Store, Tx, apps, audit, blocks, contacts, followers, inbox_messages, inbox_users, journeys, legacy_tags,
    live_tokens, log, named_users, origins, place_days, push_audience, push_causes, push_marks, push_outcomes,
    push_received, push_responses, seen_events, seen_uploads, signed_requests, terms, uninstalled,
};

use people::fill_people;
use readers::{check_readers_of_the_log, fill_readers_of_the_log};

use crate::sample::{self, NOW, block, delivery, id, job, key, make_app, progress, push, record, term};

const APP: AppId = AppId(1);
const CHANNEL: Ordinal = Ordinal(0);
const NEWS: TermId = TermId(0);
const PLACE: PlaceId = PlaceId(7);
const MESSAGE: MessageNumber = MessageNumber(0);
const DAY: i32 = 19_675;
const MARK: signed_requests::Mark = [9; 16];
const GOLD: Upload<'static> = Upload { list: "tag-lists/gold", number: UploadNumber(2) };
const VIP: Upload<'static> = Upload { list: "vip", number: UploadNumber(3) };
const SPAN: SpanKey = SpanKey { block: 1, width: Width(std::time::Duration::from_secs(256)), number: 6_640_625 };
const FIRST_EVENT: EventOffset = EventOffset::new(Offset(1), 0);

pub(super) async fn fill(store: &Store) {
    assert_eq!(make_app(store, 1).await, APP);
    let fill = |tx: &mut Tx<'_>| {
        fill_channels(tx)?;
        fill_audience(tx)?;
        fill_pushes(tx)?;
        fill_automation(tx)?;
        fill_inboxes(tx)?;
        fill_people(tx)?;
        fill_readers_of_the_log(tx)
    };
    store.write(APP, fill).await.unwrap();
    let open_again = |tx: &mut Tx<'_>| sessions::set(tx, APP, CHANNEL, LastOpening { session: Some(id(20)), at: NOW });
    audit::on_behalf_of(audited(), store.write(APP, open_again)).await.unwrap();
}

fn audited() -> audit::Request {
    let wanted = audit::Wanted {
        credential: "master secret 01234567".into(),
        address: None,
        action: "event.upload",
        rows: audit::Rows::PerMinute,
        object: Vec::new(),
        request_id: None,
    };
    audit::Request::new(NOW, wanted)
}

pub(super) async fn check(store: &Store) {
    let check = |tx: &mut Tx<'_>| {
        let (app, secrets) = apps::by_id(tx, APP)?.unwrap();
        assert_eq!((app.key, app.user_rules), (sample::app(1).key, UserRules::default()));
        assert!(secrets == sample::app(1).secrets);
        check_channels(tx)?;
        check_audience(tx)?;
        check_pushes(tx)?;
        check_automation(tx)?;
        check_inboxes(tx)?;
        check_readers_of_the_log(tx)
    };
    store.read(check).await.unwrap();
    // Numbers go on where they were.
    let next = |tx: &mut Tx<'_>| Ok::<_, store::Error>((apps::take_ordinal(tx, APP)?, messages::take_number(tx, APP)?));
    assert_eq!(store.write(APP, next).await.unwrap(), (Ordinal(1), MessageNumber(1)));
    assert_eq!(make_app(store, 2).await, AppId(2));
}

fn jo() -> NamedUserId {
    NamedUserId::new("jo").unwrap()
}

fn contact() -> ContactId {
    ContactId::of_named_user(&[3; 16])
}

fn channel() -> Channel {
    let zone = Some("at".to_owned());
    Channel { country: zone, named_user: Some(jo()), terms: vec![NEWS], ..sample::channel(CHANNEL.0) }
}

fn waiting() -> ChannelRef {
    ChannelRef { id: id(5), claimed: Some(ClaimedType::Exactly(DeviceType::Ios)) }
}

fn unknown_user() -> UnknownUser {
    UnknownUser { terms: vec![NEWS], attributes: BTreeSet::from(["city".to_owned()]) }
}

fn refused() -> RefusedAddress {
    RefusedAddress { ordinal: CHANNEL, n: 2, since: NOW }
}

fn fill_channels(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(apps::take_ordinal(tx, APP)?, CHANNEL);
    channels::insert(tx, APP, &channel())?;
    channels::add_keys(tx, APP, CHANNEL, [&key("fcm", "it's an address")])?;
    sessions::set(tx, APP, CHANNEL, LastOpening { session: Some(id(20)), at: NOW })?;
    let face = EndedFace { ordinal: CHANNEL, until: Offset(1), body: Vec::new() };
    faces::insert(tx, APP, vec![EndingFace { face, left_user: Some(jo()) }])?;
    postings::insert(tx, APP, vec![Bucket { bucket: 0, section: Section::of(Offset(1)), body: vec![6] }])?;
    addresses::put_served(tx, APP, [(1, vec![4, 5])])?;
    addresses::put_refused(tx, APP, [refused()])?;
    seen_events::add(tx, APP, &[(472_222, id(21))])?;
    seen_uploads::add(tx, APP, CHANNEL, &[(472_222, id(22))], &BTreeSet::new())?;
    signed_requests::remember(tx, APP, NOW, &MARK)?;
    named_users::ensure(tx, APP, &jo(), NOW)?;
    named_users::put_pending(tx, APP, &waiting(), &jo(), NOW)?;
    contacts::keep(tx, APP, contact(), &jo())?;
    unknown_users::put(tx, APP, CHANNEL, &unknown_user())
}

fn check_channels(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(channels::by_id(tx, APP, channel().id)?, Some(channel()));
    assert_eq!(channels::by_key(tx, APP, &key("fcm", "it's an address"))?, Some(CHANNEL));
    assert_eq!(sessions::get(tx, APP, CHANNEL)?, Some(LastOpening { session: Some(id(20)), at: NOW }));
    assert_eq!(addresses::served(tx, APP, [1])?, [(1, vec![4, 5])]);
    assert_eq!(addresses::refused(tx, APP, [CHANNEL])?, [refused()]);
    assert_eq!(seen_events::known(tx, APP, &[(472_222, id(21))])?.len(), 1);
    assert_eq!(named_users::get(tx, APP, &jo())?.unwrap().created, NOW);
    let association = Association { channel: waiting(), named_user_id: jo() };
    assert_eq!(named_users::pending(tx, APP, waiting().id)?, Some(association));
    assert_eq!(unknown_users::get(tx, APP, CHANNEL)?, Some(unknown_user()));
    Ok(())
}

fn last_places() -> LastPlaces {
    LastPlaces { seen: NOW, terms: vec![NEWS] }
}

fn old_tag() -> Tag {
    Tag::new("old").unwrap()
}

fn list_change() -> ListChange {
    let owner = ChangeOwner::NamedUser(NamedUserId::new("jo").unwrap());
    ListChange { line: 2, owner, cells: "[]".to_owned() }
}

fn live_change() -> LiveChange {
    let state = LiveState::On { token: Some("8f3a".to_owned()) };
    let key = LiveKey { kind: LiveKind::Activity, name: "order-17".to_owned() };
    LiveChange { key, activity: Some("A1".to_owned()), state, at: 5 }
}

fn bulk_values() -> BulkValues {
    (CHANNEL, "{\"name\":\"Jo\"}".to_owned())
}

fn member() -> Member {
    Member { kind: "named_user".to_owned(), identifier: "jo".to_owned() }
}

fn fill_audience(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(terms::insert(tx, APP, &term("crew", "news"))?, NEWS);
    term_sets::put(tx, APP, NEWS, [(Part::Slice(1), vec![1, 2])])?;
    legacy_tags::insert(tx, APP, &old_tag())?;
    let city = Write { name: "city".to_owned(), value: Some("\"Graz\"".to_owned()), at: NOW, expires: None };
    attributes::write(tx, APP, &Owner::Channel(CHANNEL), &[city])?;
    lists::add(tx, APP, VIP, &[member()])?;
    list_changes::add(tx, APP, GOLD, &[list_change()])?;
    bulk_rows::put(tx, APP, id(60), &[bulk_values()])?;
    journeys::enter(tx, APP, id(61), &[CHANNEL], NOW)?;
    live_tokens::put(tx, APP, CHANNEL, &live_change(), NOW)?;
    uninstalled::add(tx, APP, NOW, CHANNEL, Some("AB12"), Some("jo"))?;
    last_places::put(tx, APP, CHANNEL, &last_places())?;
    place_days::put(tx, APP, PLACE, DAY, 0, vec![3])
}

fn check_audience(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(terms::find(tx, APP, &term("crew", "news"))?, Some(NEWS));
    assert_eq!(term_sets::around(tx, APP, NEWS, [1])?, [(Part::Slice(1), vec![1, 2])]);
    assert!(legacy_tags::exists(tx, APP, &old_tag())?);
    assert_eq!(attributes::of_owner(tx, APP, &Owner::Channel(CHANNEL))?["city"], "\"Graz\"");
    assert_eq!(lists::after(tx, APP, VIP, None, 10)?, [member()]);
    assert_eq!(last_places::get(tx, APP, CHANNEL)?, Some(last_places()));
    assert_eq!(place_days::get(tx, APP, PLACE, DAY, 0)?, Some(vec![3]));
    Ok(())
}

fn provenance() -> Provenance {
    let run = Some("2024-05-01".to_owned());
    Provenance { origin: Origin::Pipeline(id(40)), run, part: AudiencePart::Triggered }
}

fn tally() -> Tally {
    Tally { targeted: 5, delivered: 2, gone: 1, failed: 1, expired: 1, reason: Some("TooManyRequests".to_owned()) }
}

/// The counts of all pushes of the pipeline.
fn group() -> Pushes {
    Pushes::Group(provenance().origin.group().unwrap())
}

fn outcome() -> OutcomeSet {
    let (device_type, outcome, reason) = (DeviceType::Android, PushOutcome::Failed, "No such device.".to_owned());
    OutcomeSet { block: 0, device_type, outcome, reason, since: NOW, members: vec![7] }
}

fn fill_pushes(tx: &mut Tx<'_>) -> Result<()> {
    let (first, second): (PushId, PushId) = (id(1), id(2));
    pushes::insert(tx, APP, &push(1), &PushTexts::default())?;
    pushes::insert(tx, APP, &push(2), &PushTexts::default())?;
    pushes::share_payload(tx, APP, second, first)?;
    pushes::end_unsent(tx, APP, second, Offset(1), "Nobody is in the audience.", NOW)?;
    origins::insert(tx, APP, first, &provenance())?;
    push_audience::insert(tx, APP, first, 0, vec![4])?;
    push_causes::insert(tx, APP, first, 0, vec![5])?;
    blocks::insert(tx, APP, &block(1, 0), progress())?;
    push_outcomes::put(tx, APP, first, outcome())?;
    push_responses::add(tx, APP, first, CHANNEL)?;
    push_marks::influence(tx, APP, first, CHANNEL)?;
    push_received::add_row(tx, APP, first, CHANNEL)?;
    push_marks::put_set(tx, APP, first, ResponseKind::Opened, 0, vec![6])?;
    pushes::add_tally(tx, APP, first, &DeviceType::Android, &tally())?;
    sandbox::add(tx, APP, &[delivery(1, 0)])?;
    jobs::enqueue(tx, APP, NewJob { push: Some(first), ..job(1, 5) })?;
    counters::add(tx, APP, Metric::Sends, NOW, &DeviceType::Android, 7)?;
    counters::add_of_push(tx, APP, first, Metric::Sends, NOW, &DeviceType::Android, 7)?;
    let counted = Counted::at(NOW, "buy", Conversion::Direct, Some(first));
    event_counters::add(tx, APP, counted, event_counters::Sum { n: 2, millionths: 3.5e6 })
}

fn check_pushes(tx: &mut Tx<'_>) -> Result<()> {
    let (first, second): (PushId, PushId) = (id(1), id(2));
    assert_eq!(pushes::by_id(tx, APP, first)?, Some(push(1)));
    let ended = PushRow { state: PushState::Done, payload: push(1).payload, ..push(2) };
    assert_eq!(pushes::by_id(tx, APP, second)?, Some(ended));
    assert_eq!(pushes::reason(tx, APP, second)?.as_deref(), Some("Nobody is in the audience."));
    assert_eq!(pushes::aged(tx, APP, UtcMillis(NOW.0 + 1), 10)?.len(), 2);
    assert_eq!(origins::of(tx, APP, first)?, provenance());
    assert_eq!(push_audience::parts(tx, APP, first)?, [vec![4]]);
    assert_eq!(push_causes::of(tx, APP, first, 0)?, Some(vec![5]));
    assert_eq!(blocks::get(tx, APP, &block(1, 0))?, Some(progress()));
    assert!(push_responses::is_counted(tx, APP, first, CHANNEL)?);
    assert_eq!(pushes::tallies(tx, APP, first)?, [(DeviceType::Android, tally())]);
    assert_eq!(sandbox::newest(tx, APP, i64::MAX, Filter::default(), 10)?, [(1, delivery(1, 0))]);
    assert_eq!(jobs::due(tx, &store::Part::ALL, UtcMillis(5), 10)?.jobs[0].id, id(1));
    assert_eq!(sample::total(tx, APP, Metric::Sends, &DeviceType::Android)?, 7);
    let hours = 0..i64::MAX / 24;
    for (pushes, grain) in [(Pushes::One(first), Grain::Hour), (group(), Grain::Hour), (group(), Grain::Day)] {
        assert_eq!(counters::sums_of_pushes(tx, APP, pushes, &[Metric::Sends], &hours, grain)?[0].n, 7);
    }
    let sum = event_counters::Sum { n: 2, millionths: 3.5e6 };
    assert_eq!(event_counters::totals(tx, APP, &hours)?[0].sum, sum);
    for pushes in [Pushes::One(first), group()] {
        assert_eq!(event_counters::totals_of_pushes(tx, APP, pushes)?[0].sum, sum);
    }
    Ok(())
}

fn experiment_group() -> NewGroup {
    let channels = |set: &[u8], n| Channels { set: set.to_vec(), n };
    let key = GroupKey { experiment: id(30), push: id(31), block: 2 };
    NewGroup { key, variant: Some(1), since: NOW, members: channels(&[1, 2], 9), opened: channels(&[2], 4) }
}

fn timer() -> TimerPart {
    TimerPart { due: NOW, block: 1, members: vec![6], causes: Some(vec![7]) }
}

fn sent() -> SentKey {
    SentKey { pipeline: id(40), slice: -1, layer: 1, block: 2 }
}

fn answer() -> Kept {
    Kept { request: vec![0, 255], answer: "{\"ok\":true}".to_owned() }
}

fn fill_automation(tx: &mut Tx<'_>) -> Result<()> {
    documents::put(tx, APP, DocumentKind::Schedule, "s1", "{\"name\":\"Grüße\"}", NOW)?;
    idempotency::keep(tx, APP, "key", &answer(), NOW)?;
    experiment_groups::insert(tx, APP, &experiment_group())?;
    pipeline_timers::put(tx, APP, id(40), &timer())?;
    pipeline_spans::put(tx, APP, id(40), &SPAN, vec![8])?;
    pipeline_sent::put(tx, APP, &sent(), vec![9])
}

fn check_automation(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(documents::get(tx, APP, DocumentKind::Schedule, "s1")?.unwrap().body, "{\"name\":\"Grüße\"}");
    assert_eq!(idempotency::find(tx, APP, "key")?, Some(answer()));
    let group = experiment_group();
    assert_eq!(experiment_groups::get(tx, APP, &group.key)?, Some((group.members.set, group.opened.set)));
    assert_eq!(experiment_groups::totals(tx, APP, group.key.experiment)?[0].n_members, group.members.n);
    assert_eq!(pipeline_timers::at(tx, APP, id(40), NOW)?, [timer()]);
    assert_eq!(pipeline_spans::get(tx, APP, id(40), &SPAN)?, Some(vec![8]));
    assert_eq!(pipeline_sent::get(tx, APP, &sent())?, Some(vec![9]));
    Ok(())
}

fn inbox_user() -> InboxUserId {
    InboxUserId::new("user-00000000000000001").unwrap()
}

fn message() -> Message {
    let push = r#"{"audience":"all","device_types":["ios"],"message":{"title":"t","body":"b"}}"#;
    let push = json::parse(push.as_bytes(), Push::parse).unwrap();
    let shared_push = SharedPush { group_id: provenance().origin.group(), ..SharedPush::of(id(1)) };
    let (texts, ends) = (TextChoice::of(&push), UtcMillis(NOW.0 + 5));
    Message { number: MESSAGE, push: id(1), sent: NOW, expires: Some(ends), ends, shared_push, texts, slices: vec![1] }
}

fn head() -> TextHead {
    let (title, content_type) = ("Order".to_owned(), "text/html".to_owned());
    TextHead { title, content_type, details: MessageDetails::default(), size: 4 }
}

fn fill_inboxes(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(messages::take_number(tx, APP)?, MESSAGE);
    messages::insert(tx, APP, &message())?;
    messages::insert_text(tx, APP, MESSAGE, 0, &head(), b"body")?;
    messages::insert_holders(tx, APP, MESSAGE, [(3, vec![8, 9])])?;
    inbox_messages::insert(tx, APP, MESSAGE, [CHANNEL], 1000)?;
    inbox_users::insert(tx, APP, &inbox_user(), &[5; 32], NOW, vec![0])?;
    inbox_users::link(tx, APP, CHANNEL, &inbox_user())
}

fn check_inboxes(tx: &mut Tx<'_>) -> Result<()> {
    assert_eq!(messages::by_push(tx, APP, id(1))?, Some(message()));
    assert_eq!(messages::heads(tx, APP, [(MESSAGE, 0)])?, [((MESSAGE, 0), head())]);
    assert_eq!(messages::body(tx, APP, MESSAGE, 0)?, Some(b"body".to_vec()));
    assert_eq!(messages::held_within(tx, APP, 3)?, [(MESSAGE, vec![8, 9])]);
    assert_eq!(inbox_messages::held_by(tx, APP, [CHANNEL])?, [(MESSAGE, CHANNEL)]);
    assert_eq!(inbox_users::credentials(tx, &inbox_user())?.unwrap().password_hash, [5; 32]);
    assert_eq!(inbox_users::channels(tx, APP, &inbox_user())?[0].ordinal, CHANNEL);
    Ok(())
}
