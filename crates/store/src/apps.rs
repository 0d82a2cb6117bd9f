//! Apps: the tenants, their credentials (hashed), and the numbers that are given out per app without gaps.

use model::app::{AppKey, Mode, UserRule, UserRules, WebOrigin};
use model::ids::{AppId, Ordinal, TermId};
use model::p256::PublicKey;
use model::time::UtcMillis;

use crate::{Constraint, Error, Result, Row, Signal, Tx, Value, accounts, app_numbers, inbox_users, server_tokens};

/// The number of rows that belong to no app; apps are counted from 1.
pub const OPERATOR: AppId = AppId(0);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    pub id: AppId,
    pub key: AppKey,
    pub name: String,
    pub mode: Mode,
    /// Who may say what about named users.
    pub user_rules: UserRules,
    /// Above how many devices somebody who uses the console needs the approval of a second person.
    pub approval_above: Option<u32>,
    /// The origins whose web pages may register browsers with the key alone.
    pub web_origins: Vec<WebOrigin>,
    /// Of those who sign who the user of a device is, beside the servers that have the key that we make.
    pub proof_public_key: Option<PublicKey>,
    pub created: UtcMillis,
    /// When the data that its devices download last changed, in whole seconds; 0 for an app that has none.
    pub data_changed: UtcMillis,
}

/// SHA-256 of each secret. The secrets are 128 random bits, so a fast hash is as good as a slow one.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretHashes {
    pub app: [u8; 32],
    pub master: [u8; 32],
}

/// The values of a new app.
pub struct NewApp {
    pub key: AppKey,
    pub name: String,
    pub mode: Mode,
    pub created: UtcMillis,
    pub secrets: SecretHashes,
}

/// Fails with a conflict of `app_by_key` when the key is taken.
pub fn insert(tx: &mut Tx<'_>, new: &NewApp) -> Result<App> {
    let sql = "update serial set value = value + 1 where name = 'app' returning value";
    let id = AppId(tx.query_one(sql, &[], |row| row.get(0))?);
    tx.execute(
        "insert into app (id, key, name, mode, created, app_secret_hash, master_secret_hash)
         values ($1, $2, $3, $4, $5, $6, $7)",
        &[
            id.into(),
            new.key.as_str().into(),
            new.name.as_str().into(),
            new.mode.word().into(),
            new.created.into(),
            new.secrets.app.to_vec().into(),
            new.secrets.master.to_vec().into(),
        ],
    )?;
    // Where apps are spread over servers, the row of an app that was not made after all may have stayed.
    tx.execute(
        "insert into app_numbers (app, next_ordinal, next_term, terms_retired, log_head, log_start, log_lost, log_bytes,
                                  next_message, messages_forgotten, sandbox_head)
         values ($1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0) on conflict (app) do nothing",
        &[id.into()],
    )?;
    tx.signal(Signal::Apps);
    tx.note_new_app(id);
    tx.note_object("app", new.key.as_str());
    Ok(App {
        id,
        key: new.key.clone(),
        name: new.name.clone(),
        mode: new.mode,
        user_rules: UserRules::default(),
        approval_above: None,
        web_origins: Vec::new(),
        proof_public_key: None,
        created: new.created,
        data_changed: UtcMillis::default(),
    })
}

pub fn by_key(tx: &mut Tx<'_>, key: &str) -> Result<Option<(App, SecretHashes)>> {
    let sql = "select id, key, name, mode, created, users_associate, users_tags, users_attributes, users_subscriptions,
                 approval_above, web_origins, proof_public_key, data_changed, app_secret_hash, master_secret_hash
               from app where key = $1";
    tx.query_opt(sql, &[key.into()], read_app)
}

pub fn by_id(tx: &mut Tx<'_>, app: AppId) -> Result<Option<(App, SecretHashes)>> {
    let sql = "select id, key, name, mode, created, users_associate, users_tags, users_attributes, users_subscriptions,
                 approval_above, web_origins, proof_public_key, data_changed, app_secret_hash, master_secret_hash
               from app where id = $1";
    tx.query_opt(sql, &[app.into()], read_app)
}

/// How many apps were ever made.
pub fn n_made(tx: &mut Tx<'_>) -> Result<i64> {
    tx.query_one("select value from serial where name = 'app'", &[], |row| row.get(0))
}

/// The keys of all apps.
pub(crate) fn keys(tx: &mut Tx<'_>) -> Result<Vec<(AppId, AppKey)>> {
    tx.query("select id, key from app order by id", &[], |row| Ok((row.next()?, read_key(row.next()?)?)))
}

pub fn list(tx: &mut Tx<'_>) -> Result<Vec<App>> {
    let sql = "select id, key, name, mode, created, users_associate, users_tags, users_attributes, users_subscriptions,
                 approval_above, web_origins, proof_public_key, data_changed, app_secret_hash, master_secret_hash
               from app order by id";
    tx.query(sql, &[], |row| Ok(read_app(row)?.0))
}

/// Writes the fields that the operator can change: the name, the mode, what devices and web pages may do, who signs
/// for users, and what needs approval.
pub fn change(tx: &mut Tx<'_>, app: &App) -> Result<()> {
    let UserRules { associate, tags, attributes, subscriptions } = app.user_rules;
    let rule = |rule: Option<UserRule>| Value::from(rule.map(|rule| rule.word().to_owned()));
    tx.write(
        "update app set name = $2, mode = $3, users_associate = $4, users_tags = $5, users_attributes = $6,
           users_subscriptions = $7, approval_above = $8, web_origins = $9, proof_public_key = $10
         where id = $1",
        &[
            app.id.into(),
            (&app.name).into(),
            app.mode.word().into(),
            rule(associate),
            rule(tags),
            rule(attributes),
            rule(subscriptions),
            app.approval_above.into(),
            written(&app.web_origins).into(),
            app.proof_public_key.as_ref().map(|key| key.point().to_vec()).into(),
        ],
    )?;
    tx.signal(Signal::Apps);
    Ok(())
}

/// Notes that the data for the devices of an app changes, and returns when. Each change is a second later than the one before at
/// least: devices compare these times, and take what is not newer for known. Changes of one app wait for each other here.
pub fn note_data_change(tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<UtcMillis> {
    let changed = tx.query_opt(
        "update app set data_changed = case when data_changed >= $2 then data_changed + 1000 else $2 end
         where id = $1 returning data_changed",
        &[app.into(), now.whole_second().into()],
        |row| row.get(0),
    )?;
    tx.signal(Signal::Apps);
    changed.ok_or(Error::Conflict(Constraint::AppGone))
}

pub fn set_secrets(tx: &mut Tx<'_>, app: AppId, secrets: &SecretHashes) -> Result<()> {
    tx.write(
        "update app set app_secret_hash = $2, master_secret_hash = $3 where id = $1",
        &[app.into(), secrets.app.to_vec().into(), secrets.master.to_vec().into()],
    )?;
    tx.signal(Signal::Apps);
    Ok(())
}

/// Takes the app's credentials away at once; [`erase_some`] removes its rows.
pub fn delete(tx: &mut Tx<'_>, app: AppId) -> Result<bool> {
    tx.execute("delete from app_numbers where app = $1", &[app.into()])?;
    accounts::remove_roles_in(tx, app)?;
    server_tokens::remove_of(tx, app)?;
    let n_deleted = tx.execute("delete from app where id = $1", &[app.into()])?;
    tx.note_deleted_app(app);
    tx.signal(Signal::Apps);
    Ok(n_deleted > 0)
}

/// Every table that holds rows of apps, with the columns that identify the rows of one app.
pub(crate) const OWNED_TABLES: &[(&str, &str)] = &[
    ("log", "position"),
    ("term", "id"),
    ("channel", "ordinal"),
    ("channel_key", "kind, value"),
    ("channel_secret", "ordinal"),
    ("sandbox", "position"),
    ("push", "id"),
    ("push_tally", "push, platform"),
    ("push_block", "push, platform, block"),
    ("push_outcome", "push, block, platform, outcome, reason, since"),
    ("push_response", "push, ordinal"),
    ("push_influence", "push, ordinal"),
    ("push_receipt", "push, ordinal"),
    ("push_mark", "push, kind, block"),
    ("push_origin", "push"),
    ("push_audience", "push, block"),
    ("push_cause", "push, block"),
    ("pipeline_timer", "pipeline, due, block"),
    ("pipeline_span", "pipeline, block, width, span"),
    ("pipeline_sent", "pipeline, block, slice, layer"),
    ("job", "id"),
    ("counter", "metric, hour, platform"),
    ("counter_day", "metric, day, platform"),
    ("push_counter", "push, metric, hour, platform"),
    ("group_counter", "grp, metric, hour, platform"),
    ("group_counter_day", "grp, metric, day, platform"),
    ("group_event", "grp, name, conversion"),
    ("face", "until, ordinal"),
    ("log_posting", "bucket, section"),
    ("follower", "id"),
    ("seen_event", "hour, id"),
    ("seen_upload", "hour, ordinal, first"),
    ("event_counter", "hour, name, conversion, push"),
    ("event_counter_day", "day, name, conversion"),
    ("session", "ordinal"),
    ("served_address", "slice"),
    ("refused_address", "ordinal"),
    ("signed_request", "slot, mark"),
    ("experiment_group", "experiment, push, block"),
    ("webhook", "id"),
    ("webhook_history", "webhook, n"),
    ("webhook_dead_letter", "webhook, event_offset"),
    ("document", "kind, id"),
    ("idempotency", "key"),
    ("former_secret", "secret"),
    ("named_user", "id"),
    ("pending_association", "channel"),
    ("contact", "id"),
    ("unknown_user", "ordinal"),
    ("attribute", "owner_kind, owner, name"),
    ("list_member", "list, generation, kind, identifier"),
    ("list_change", "list, generation, line"),
    ("bulk_row", "upload, ordinal"),
    ("journey_entrance", "journey, ordinal"),
    ("term_set", "term, slice"),
    ("live_presence", "node"),
    ("live_token", "kind, name, ordinal"),
    ("uninstalled", "at, ordinal"),
    ("last_place", "ordinal"),
    ("place_day", "place, day, block"),
    ("legacy_tag", "tag"),
    ("message", "number"),
    ("message_text", "number, text"),
    ("message_holders", "slice, number"),
    ("inbox_message", "ordinal, number"),
    ("inbox_user", "id"),
    ("inbox_channel", "ordinal"),
    ("audit", "at, id"),
    ("privacy_request", "id"),
    ("privacy_result", "request, n"),
];

/// Deletes up to `at_most` rows of an app that is gone. Returns whether anything may be left.
pub fn erase_some(tx: &mut Tx<'_>, app: AppId, at_most: u64) -> Result<bool> {
    // What this transaction has pending would otherwise be written after everything is gone.
    tx.write_pending()?;
    let mut left = at_most;
    for (table, key) in OWNED_TABLES {
        let delete = format!(
            "delete from {table} where app = $1
             and ({key}) in (select {key} from {table} where app = $1 order by {key} limit $2)"
        );
        let limit = i64::try_from(left).unwrap_or(i64::MAX);
        if *table == "inbox_user" {
            inbox_users::erase_logins(tx, app, limit)?;
        }
        left = left.saturating_sub(tx.execute(&delete, &[app.into(), limit.into()])?);
        if left == 0 {
            return Ok(true);
        }
    }
    // Where apps are spread over servers, it may have stayed although the numbers were deleted.
    if app_numbers::current(tx, app)?.is_none() {
        tx.execute("delete from app where id = $1", &[app.into()])?;
    }
    Ok(false)
}

/// Gives out the next ordinal of the app. Fails with [`Constraint::AppGone`] when the app is gone, as does
/// everything that takes one of its numbers.
pub fn take_ordinal(tx: &mut Tx<'_>, app: AppId) -> Result<Ordinal> {
    take_ordinals(tx, app, 1)
}

/// Gives out the next `n` ordinals of the app and returns the first of them.
pub fn take_ordinals(tx: &mut Tx<'_>, app: AppId, n: u32) -> Result<Ordinal> {
    let numbers = app_numbers::to_change(tx, app)?;
    let first = u32::try_from(numbers.next_ordinal).map_err(|_| Error::corrupt("the app has no ordinals left"))?;
    numbers.next_ordinal += i64::from(n);
    Ok(Ordinal(first))
}

/// Gives out the next term number of the app.
pub(crate) fn take_term(tx: &mut Tx<'_>, app: AppId) -> Result<TermId> {
    let numbers = app_numbers::to_change(tx, app)?;
    let next = u32::try_from(numbers.next_term).map_err(|_| Error::corrupt("the app has no numbers of terms left"))?;
    numbers.next_term += 1;
    Ok(TermId(next))
}

/// The error of a command whose app was deleted before it ran.
pub(crate) fn gone() -> Error {
    Error::Conflict(Constraint::AppGone)
}

fn read_app(row: &Row<'_>) -> Result<(App, SecretHashes)> {
    let app = App {
        id: row.next()?,
        key: read_key(row.next()?)?,
        name: row.next()?,
        mode: read_mode(row.next()?)?,
        created: row.next()?,
        user_rules: UserRules {
            associate: read_rule(row)?,
            tags: read_rule(row)?,
            attributes: read_rule(row)?,
            subscriptions: read_rule(row)?,
        },
        approval_above: read_count(row.next()?)?,
        web_origins: read_origins(row.next()?)?,
        proof_public_key: read_point(row.next()?)?,
        data_changed: row.next()?,
    };
    Ok((app, SecretHashes { app: read_hash(row.next()?)?, master: read_hash(row.next()?)? }))
}

pub(crate) fn read_key(text: &str) -> Result<AppKey> {
    AppKey::new(text).ok_or_else(|| Error::corrupt(format!("app key {text:?}")))
}

fn read_mode(name: &str) -> Result<Mode> {
    Mode::from_word(name).ok_or_else(|| Error::corrupt(format!("app mode {name:?}")))
}

fn read_rule(row: &Row<'_>) -> Result<Option<UserRule>> {
    let Some(word) = row.next::<Option<&str>>()? else { return Ok(None) };
    UserRule::from_word(word).map(Some).ok_or_else(|| Error::corrupt(format!("rule {word:?} of an app")))
}

fn read_count(number: Option<i64>) -> Result<Option<u32>> {
    let count = number.map(u32::try_from).transpose();
    count.map_err(|_| Error::corrupt("a limit of an app is no count"))
}

/// With a space between them; `None` for none.
fn written(origins: &[WebOrigin]) -> Option<String> {
    let words: Vec<&str> = origins.iter().map(WebOrigin::as_str).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn read_origins(words: Option<&str>) -> Result<Vec<WebOrigin>> {
    let origins = words.unwrap_or_default().split_whitespace().map(str::parse).collect::<Result<_, _>>();
    origins.map_err(|_| Error::corrupt("an origin of an app"))
}

fn read_point(bytes: Option<&[u8]>) -> Result<Option<PublicKey>> {
    let key = |bytes| PublicKey::of_point(bytes).ok_or_else(|| Error::corrupt("a public key of an app"));
    bytes.map(key).transpose()
}

pub(crate) fn read_hash(bytes: &[u8]) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| Error::corrupt("a secret hash is not 32 bytes long"))
}
