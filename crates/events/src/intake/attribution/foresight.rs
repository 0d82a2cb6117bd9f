//! The questions about pushes that an upload is going to ask, announced together.

use std::collections::HashSet;

use live::foresee_receipt;
use model::device_event::{Content, Echo, InAppEnd, PushReceipt, ReceiptKind};
use model::ids::{Id, PushId};
use store::documents::{self, DocumentKind};
use store::{Tx, blocks, origins, push_responses, pushes};
use uuid::Uuid;

use super::super::Timed;
use super::{Attribution, MOST_IN_APP_LOOKED_UP, MOST_LOOKED_UP};

impl Attribution<'_> {
    /// Announces what is going to be asked about the pushes that events name.
    pub(in crate::intake) fn foresee(&self, tx: &mut Tx<'_>, events: &[Timed]) {
        let mut in_app = HashSet::new();
        for id in events.iter().flat_map(|timed| in_app_ids(&timed.event.content)) {
            if self.delivered(id.uuid()).is_none() && is_looked_up(&mut in_app, id.uuid(), MOST_IN_APP_LOOKED_UP) {
                self.foresee_stored(tx, id);
                blocks::foresee(tx, self.app, &self.block_of(id));
                documents::foresee_created(tx, self.app, DocumentKind::InAppMessage, &id.to_string());
            }
        }
        let mut looked_up = HashSet::new();
        for (content, echo) in events.iter().filter_map(|timed| Some((&timed.event.content, echo(timed)?))) {
            if let Some(tapped) = echo.tapped {
                self.foresee_tapped(tx, &mut looked_up, tapped.id, content);
            }
            if let Some(received) = echo.received
                && self.delivered(received.id).is_none()
                && is_looked_up(&mut looked_up, received.id, MOST_LOOKED_UP)
            {
                self.foresee_stored(tx, Id::from_uuid(received.id));
            }
        }
    }

    fn foresee_tapped(&self, tx: &mut Tx<'_>, looked_up: &mut HashSet<Uuid>, id: Uuid, content: &Content) {
        let received = self.received(id);
        let push = received.unwrap_or(Id::from_uuid(id));
        if received.is_none() {
            if !is_looked_up(looked_up, id, MOST_LOOKED_UP) {
                return;
            }
            self.foresee_stored(tx, push);
            blocks::foresee(tx, self.app, &self.block_of(push));
        }
        if matches!(content, Content::Opened(_) | Content::Button(_)) || is_receipt(content, ReceiptKind::Clicked) {
            push_responses::foresee(tx, self.app, push, self.ordinal);
        }
        if is_receipt(content, ReceiptKind::Received) {
            foresee_receipt(tx, self.app, push, self.ordinal);
        }
        // What the button does is read from the push.
        if matches!(content, Content::Button(_)) || is_receipt(content, ReceiptKind::Clicked) {
            pushes::foresee(tx, self.app, push);
        }
    }

    fn foresee_stored(&self, tx: &mut Tx<'_>, push: PushId) {
        pushes::foresee(tx, self.app, push);
        origins::foresee(tx, self.app, push);
    }
}

fn is_looked_up(looked_up: &mut HashSet<Uuid>, id: Uuid, most: usize) -> bool {
    looked_up.contains(&id) || (looked_up.len() < most && looked_up.insert(id))
}

/// The in-app messages that an event names and that may have come with a push, or are kept by the app.
fn in_app_ids(content: &Content) -> impl Iterator<Item = PushId> {
    let (shown, replacing) = match content {
        Content::InAppDisplay(in_app) => (Some(in_app), None),
        Content::InAppInteraction(interaction) => (Some(&interaction.about), None),
        Content::InAppEnd(in_app, InAppEnd::Expired(_, replacing)) => (Some(in_app), replacing.as_deref()),
        Content::InAppEnd(in_app, InAppEnd::Resolved(_)) => (Some(in_app), None),
        _ => (None, None),
    };
    shown.map(|in_app| in_app.id.as_str()).into_iter().chain(replacing).filter_map(|text| text.parse().ok())
}

fn is_receipt(content: &Content, wanted: ReceiptKind) -> bool {
    matches!(content, Content::Receipt(PushReceipt { kind, .. }) if *kind == wanted)
}

/// The pushes that an event names.
fn echo(timed: &Timed) -> Option<Echo> {
    match &timed.event.content {
        Content::Opened(opened) => Some(opened.echo),
        Content::Custom(custom) => Some(custom.echo),
        Content::InAppDisplay(in_app) | Content::InAppEnd(in_app, _) => Some(in_app.echo),
        Content::InAppInteraction(interaction) => Some(interaction.about.echo),
        Content::Button(button) => Some(button.echo),
        Content::Receipt(receipt) => Some(Echo { tapped: receipt.push, received: None }),
        Content::Closed
        | Content::Screen(_)
        | Content::Region(_)
        | Content::Location(_)
        | Content::Identifiers(_)
        | Content::FlagInteraction(_)
        | Content::Other(_) => None,
    }
}
