//! The channels of one device type, as old listings of devices show them.

use audience::plan::Plan;
use base::Result;
use boxed::boxed;
use index::term_plan;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, Ordinal};
use model::term::{Reach, Term};
use store::Tx;
use store::channels;

use super::ChannelView;
use crate::Devices;
use crate::change_context::ChangeContext;

/// How many channels of a type there are, and how many of them are shown notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCount {
    pub installed: u64,
    pub active: u64,
}

#[boxed]
impl Devices {
    /// A page of installed channels of a type, beginning with `start`, and the id the next page begins with.
    pub async fn channels_of_type(
        &self,
        app: AppId,
        device_type: DeviceType,
        start: Option<ChannelId>,
        limit: u32,
    ) -> Result<(Vec<ChannelView>, Option<ChannelId>)> {
        let index = self.0.index.current(app).await?;
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| {
            let first = match start {
                Some(id) => match channels::ordinal_of(tx, app, id)? {
                    Some(ordinal) => ordinal,
                    None => return Ok((Vec::new(), None)),
                },
                None => Ordinal(0),
            };
            let of_type = index.resolve(&term_plan(&index, &Term::DeviceType(device_type.clone())));
            let ordinals = of_type.range(first.0..).take(limit as usize + 1).map(Ordinal);
            let mut rows = channels::by_ordinals(tx, app, &ordinals.collect::<Vec<_>>())?;
            let next = (rows.len() > limit as usize).then(|| rows.pop()).flatten();
            let context = ChangeContext::new(app, &index, now);
            let views = rows.into_iter().map(|row| ChannelView::of(tx, &context, row));
            Ok((views.collect::<Result<_>>()?, next.map(|row| row.id)))
        };
        self.0.store.read(read).await
    }

    pub async fn device_count(&self, app: AppId, device_type: DeviceType) -> Result<DeviceCount> {
        let index = self.0.index.current(app).await?;
        let of_type = term_plan(&index, &Term::DeviceType(device_type));
        let alerted = term_plan(&index, &Term::Reach(Reach::Alert));
        let installed = index.count(&of_type);
        Ok(DeviceCount { installed, active: index.count(&Plan::And(vec![of_type, alerted])) })
    }
}
