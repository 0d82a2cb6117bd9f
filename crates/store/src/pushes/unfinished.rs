//! Unfinished pushes of all apps, for the operator.

use model::app::AppKey;
use model::ids::{AppId, PushId};
use model::payload::push_type::PushType;
use model::time::UtcMillis;
use uuid::Uuid;

use super::{PushState, read_type};
use crate::{Error, Result, Tx};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub app: AppId,
    pub key: AppKey,
    pub id: PushId,
    pub created: UtcMillis,
    pub expires: Option<UtcMillis>,
    pub push_type: PushType,
    pub state: PushState,
    pub paused: bool,
}

/// Which of them. Paused pushes are neither of the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    Accepted,
    Sending,
    Paused,
}

/// Up to `at_most` of them in the order of their ids, beginning with `start`. They are found by the jobs that send them, so that
/// it costs nothing how many pushes there have been.
pub fn unfinished(tx: &mut Tx<'_>, which: Which, start: Option<PushId>, at_most: u32) -> Result<Vec<Unfinished>> {
    let wanted = match which {
        Which::All => "p.state in ('accepted', 'sending')",
        Which::Accepted => "p.state = 'accepted' and p.paused = 0",
        Which::Sending => "p.state = 'sending' and p.paused = 0",
        Which::Paused => "p.state in ('accepted', 'sending') and p.paused = 1",
    };
    let sql = format!(
        "select p.app, app.key, p.id, p.created, p.expires, p.push_type, p.state, p.paused
         from (select app, push as id from job where push is not null
               union select app, id from push where state = 'accepted') as candidate
         join push p on p.app = candidate.app and p.id = candidate.id
         join app on app.id = p.app
         where {wanted} and p.id >= $1 order by p.id, p.app limit $2"
    );
    let start = start.unwrap_or_else(|| PushId::from_uuid(Uuid::nil()));
    tx.query(&sql, &[start.into(), at_most.into()], |row| {
        let key: String = row.get(1)?;
        Ok(Unfinished {
            app: row.get(0)?,
            key: AppKey::new(&key).ok_or_else(|| Error::corrupt(format!("app key {key:?}")))?,
            id: row.get(2)?,
            created: row.get(3)?,
            expires: row.get(4)?,
            push_type: read_type(row.get(5)?)?,
            state: PushState::from_name(row.get(6)?)?,
            paused: row.get(7)?,
        })
    })
}
