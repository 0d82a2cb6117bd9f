//! Finding pushes by id, name and text.

use base::{Findings, Found, FoundKind, Result, SearchText};
use boxed::boxed;
use model::ids::{AppId, PushId};
use model::time::UtcMillis;
use store::Tx;
use store::pushes::{self, PushEntry, PushTexts};

use super::listing::complete;
use crate::Sending;

/// Pushes that a search looks at: the newest.
const MOST_LOOKED_AT: u32 = 1_000;

#[boxed]
impl Sending {
    pub async fn search(&self, app: AppId, text: SearchText) -> Result<Findings> {
        self.0.store.read(move |tx| search(tx, app, &text)).await
    }
}

fn search(tx: &mut Tx<'_>, app: AppId, text: &SearchText) -> Result<Findings> {
    let mut findings = Findings::default();
    let ever = UtcMillis(i64::MIN)..UtcMillis(i64::MAX);
    if let Ok(id) = text.as_str().parse::<PushId>() {
        let mut one = pushes::entries(tx, app, &ever, None, Some(id), 1)?;
        complete(tx, app, &mut one)?;
        one.into_iter().for_each(|entry| findings.add(found(entry, text)));
    }
    let mut newest = pushes::entries(tx, app, &ever, None, None, MOST_LOOKED_AT + 1)?;
    findings.is_cut = newest.len() > MOST_LOOKED_AT as usize;
    newest.truncate(MOST_LOOKED_AT as usize);
    complete(tx, app, &mut newest)?;
    for entry in newest {
        let PushTexts { name, title, alert } = &entry.texts;
        if [name, title, alert].into_iter().flatten().any(|known| text.is_in(known)) {
            findings.add(found(entry, text));
        }
    }
    Ok(findings)
}

fn found(entry: PushEntry, text: &SearchText) -> Found {
    let PushTexts { name, title, alert } = entry.texts;
    let texts = [name, title, alert];
    let shown = texts.iter().flatten().next().cloned();
    let matched =
        texts.into_iter().flatten().find(|known| text.is_in(known)).filter(|known| shown.as_ref() != Some(known));
    Found { kind: FoundKind::Push, id: entry.id.to_string(), title: shown, matched }
}
