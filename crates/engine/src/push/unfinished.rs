//! Unfinished pushes of all apps, and why they are not done.

use model::app::AppKey;
use model::device_type::DeviceType;
use model::ids::PushId;
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use store::Tx;
use store::pushes::{self, PushState, Unfinished, Which};

use super::status::{PlatformProgress, progress_in, total};
use crate::{Engine, PlatformName, Result};

#[derive(Clone, Debug)]
pub struct PushOnItsWay {
    pub app: AppKey,
    pub id: PushId,
    pub created: UtcMillis,
    pub expires: Option<UtcMillis>,
    pub push_type: PushType,
    pub state: PushState,
    pub paused: bool,
    /// By the names that operators know.
    pub platforms: Vec<(String, PlatformProgress)>,
}

impl PushOnItsWay {
    /// The sum over all platforms.
    pub fn total(&self) -> PlatformProgress {
        total(self.platforms.iter().map(|(_, progress)| progress))
    }
}

impl Engine {
    /// Up to `at_most` pushes in the order of their ids, beginning with `start`, and where the listing continues.
    pub async fn pushes_on_their_way(
        &self,
        which: Which,
        start: Option<PushId>,
        at_most: u32,
    ) -> Result<(Vec<PushOnItsWay>, Option<PushId>)> {
        let read = move |tx: &mut Tx<'_>| {
            let mut found = pushes::unfinished(tx, which, start, at_most.saturating_add(1))?;
            let next = found.get(at_most as usize).map(|push| push.id);
            found.truncate(at_most as usize);
            let shown = found.into_iter().map(|push| on_its_way(tx, push)).collect::<Result<Vec<_>>>()?;
            Ok((shown, next))
        };
        self.0.store.read(read).await
    }
}

fn on_its_way(tx: &mut Tx<'_>, push: Unfinished) -> Result<PushOnItsWay> {
    let Unfinished { app, key, id, created, expires, push_type, state, paused } = push;
    let name = |device_type: DeviceType| PlatformName::for_log(&device_type);
    let platforms = progress_in(tx, app, id, state)?;
    let platforms = platforms.into_iter().map(|(device_type, progress)| (name(device_type), progress)).collect();
    Ok(PushOnItsWay { app: key, id, created, expires, push_type, state, paused, platforms })
}
