//! Pushes of all apps, for the operator: those that are not over and why, and any by its id.

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::ids::PushId;
use store::pushes::{self, Unfinished, Which};
use store::{Tx, origins};

use super::status::{NO_SUCH_PUSH, PlatformProgress, PushStatus, progress_in, status_in};
use crate::{PlatformName, Sending};

#[derive(Clone, Debug)]
pub struct PushOfApp {
    pub app: AppKey,
    pub status: PushStatus,
}

impl PushOfApp {
    /// The results by the names of platforms that operators know.
    pub fn platforms(&self) -> impl Iterator<Item = (String, PlatformProgress)> + '_ {
        let platforms = self.status.platforms.iter();
        platforms.map(|(device_type, progress)| (PlatformName::for_log(device_type), progress.clone()))
    }
}

#[boxed]
impl Sending {
    /// Up to `at_most` pushes in the order of their ids, beginning with `start`, and where the listing continues.
    pub async fn pushes_on_their_way(
        &self,
        which: Which,
        start: Option<PushId>,
        at_most: u32,
    ) -> Result<(Vec<PushOfApp>, Option<PushId>)> {
        let read = move |tx: &mut Tx<'_>, part: &store::Part| {
            let found = pushes::unfinished(tx, part, which, start, at_most.saturating_add(1))?;
            found.into_iter().map(|push| on_its_way(tx, push)).collect::<Result<Vec<_>>>()
        };
        let mut found = self.0.store.read_all(read).await?;
        found.sort_by_key(|push| push.status.id);
        let next = found.get(at_most as usize).map(|push| push.status.id);
        found.truncate(at_most as usize);
        Ok((found, next))
    }

    /// A push of any app, on its way or over.
    pub async fn push_of_any_app(&self, push: PushId) -> Result<PushOfApp> {
        let read = move |tx: &mut Tx<'_>, part: &store::Part| {
            let Some((id, app)) = pushes::app_of(tx, part, push)? else { return Ok::<_, Error>(Vec::new()) };
            Ok(vec![PushOfApp { app, status: status_in(tx, id, push)? }])
        };
        self.0.store.read_all(read).await?.pop().ok_or(NO_SUCH_PUSH)
    }
}

fn on_its_way(tx: &mut Tx<'_>, push: Unfinished) -> Result<PushOfApp> {
    let Unfinished { app, key, id, created, expires, push_type, state, paused } = push;
    let platforms = progress_in(tx, app, id, state)?;
    let origin = origins::of(tx, app, id)?.origin;
    let name = pushes::name(tx, app, id)?;
    let status = PushStatus {
        id,
        name,
        created,
        expires,
        push_type,
        origin,
        state,
        paused,
        platforms,
        nobody: None,
        received: 0,
        inboxes: 0,
    };
    Ok(PushOfApp { app: key, status })
}
