//! Rows of those who read the log: webhooks, followers and the like.

use store::live_presence;
use store::nodes::Node;

use super::*;

fn webhook() -> Webhook {
    Webhook {
        id: id(50),
        created: NOW,
        modified: NOW,
        enabled: true,
        disabled_why: None,
        config: "sealed".to_owned(),
        changes: 0,
        position: Position { version: 0, done: FIRST_EVENT, held: None },
        tally: webhooks::Tally::default(),
        failing: None,
    }
}

fn history() -> [Entry; 2] {
    let event = Attempt {
        event: id(51),
        kind: RecordKind::Open,
        number: 1,
        millis: 20,
        status: Some(503),
        error: Some("busy".to_owned()),
    };
    let entry = |kind| Entry { at: NOW, offset: FIRST_EVENT, kind };
    [entry(EntryKind::Gap { n_missed: 3 }), entry(EntryKind::Request(event))]
}

fn dead_letter() -> DeadLetter {
    let (event, kind) = (id(51), RecordKind::Open);
    let (reason, body) = ("It answers 503.".to_owned(), b"{}".to_vec());
    DeadLetter { offset: FIRST_EVENT, event, kind, at: NOW, attempts: 9, reason, body }
}

pub(super) fn fill_readers_of_the_log(tx: &mut Tx<'_>) -> Result<()> {
    let hook: WebhookId = webhook().id;
    log::append(tx, APP, NOW, vec![record("first"), record("second")])?;
    followers::start(tx, APP, id(1), FIRST_EVENT)?;
    webhooks::insert(tx, APP, &webhook())?;
    webhooks::note(tx, APP, hook, &history())?;
    webhooks::keep_dead_letters(tx, APP, hook, &[dead_letter()], 10)?;
    let (kind, subject) = (RequestKind::Export, Some("{}".to_owned()));
    let [progress, receipt] = ["{}", "{}"].map(str::to_owned);
    let request =
        Request { id: id(61), kind, created: NOW, ended: Some(NOW), subject, person: None, progress, receipt };
    privacy::insert(tx, APP, &request)?;
    live_presence::put(tx, APP, Node::random(), vec![8], NOW)?;
    privacy::add_result(tx, APP, request.id, 0, b"{}".to_vec())
}

pub(super) fn check_readers_of_the_log(tx: &mut Tx<'_>) -> Result<()> {
    let hook: WebhookId = webhook().id;
    let bodies: Vec<Vec<u8>> = log::after(tx, APP, Offset(0), 10)?.into_iter().map(|record| record.body).collect();
    assert_eq!(bodies, [b"first".to_vec(), b"second".to_vec()]);
    assert_eq!((log::start(tx, APP)?, log::head(tx, APP)?, log::n_bytes(tx, APP)?), (Offset(1), Offset(2), 11));
    assert_eq!(followers::position(tx, APP, id(1))?, Some(FIRST_EVENT));
    let tally = webhooks::Tally { n_dead: 1, ..webhook().tally };
    assert_eq!(webhooks::get(tx, APP, hook)?, Some(Webhook { tally, ..webhook() }));
    let mut noted = webhooks::history(tx, APP, hook, 10)?;
    noted.sort_by_key(|entry| matches!(entry.kind, EntryKind::Request(_)));
    assert_eq!(noted, history());
    assert_eq!(webhooks::dead_letters(tx, APP, hook, EventOffset::START, 10)?, [dead_letter()]);
    Ok(())
}
