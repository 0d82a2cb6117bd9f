//! The questions about pushes that an upload is going to ask, announced together.

use std::collections::HashSet;

use live::foresee_receipt;
use model::device_event::{Content, Echo, PushReceipt, ReceiptKind};
use model::ids::{Id, PushId};
use store::{Tx, blocks, origins, push_responses, pushes};
use uuid::Uuid;

use super::super::Timed;
use super::{Attribution, MOST_LOOKED_UP};

impl Attribution<'_> {
    /// Announces what is going to be asked about the pushes that events name.
    pub(in crate::intake) fn foresee(&self, tx: &mut Tx<'_>, events: &[Timed]) {
        let mut looked_up = HashSet::new();
        for (content, echo) in events.iter().filter_map(|timed| Some((&timed.event.content, echo(timed)?))) {
            if let Some(tapped) = echo.tapped {
                self.foresee_tapped(tx, &mut looked_up, tapped.id, content);
            }
            if let Some(received) = echo.received
                && self.delivered(received.id).is_none()
                && is_looked_up(&mut looked_up, received.id)
            {
                self.foresee_stored(tx, Id::from_uuid(received.id));
            }
        }
    }

    fn foresee_tapped(&self, tx: &mut Tx<'_>, looked_up: &mut HashSet<Uuid>, id: Uuid, content: &Content) {
        let received = self.received(id);
        let push = received.unwrap_or(Id::from_uuid(id));
        if received.is_none() {
            if !is_looked_up(looked_up, id) {
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

fn is_looked_up(looked_up: &mut HashSet<Uuid>, id: Uuid) -> bool {
    looked_up.contains(&id) || (looked_up.len() < MOST_LOOKED_UP && looked_up.insert(id))
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
