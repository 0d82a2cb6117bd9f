//! Changes that are made at the same time, by all nodes, each to channels and users that are nobody else's: in whatever order they
//! come, the outcome is the same.

use engine::Engine;
use futures_util::future::join_all;
use model::channel::{ChannelRef, Uninstall};
use model::ids::{AppId, ChannelId};

use super::World;
use super::changes::{Tagging, claim, named};
use super::naive::{Channel, USERS};

const SHARES: usize = 6;

/// What one caller changes, one after the other.
struct Share {
    node: Engine,
    channels: Vec<ChannelId>,
    tagging: Tagging,
    users: Vec<&'static str>,
    user_tagging: Tagging,
    gone: Option<(ChannelId, &'static str)>,
}

impl World {
    pub(super) async fn change_together(&mut self) {
        let shares: Vec<Share> = (0..SHARES).map(|n| self.share(n)).collect();
        join_all(shares.iter().map(|share| share.change(self.app.id))).await;
        for share in shares {
            for channel in self.model.channels.iter_mut().filter(|it| it.installed && share.channels.contains(&it.id)) {
                share.tagging.apply(&mut channel.tags);
            }
            for user in &share.users {
                share.user_tagging.apply(&mut self.model.users.entry(user).or_default().tags);
            }
            let is_gone = |channel: &&mut Channel| share.gone.is_some_and(|(id, _)| id == channel.id);
            self.model.channels.iter_mut().filter(is_gone).for_each(Channel::uninstall);
            let Share { channels, tagging, users, user_tagging, gone, .. } = &share;
            let (tagged, of_users) = (&tagging.operation, &user_tagging.operation);
            self.history.push(format!("together: {channels:?} {tagged:?}, {users:?} {of_users:?}, without {gone:?}"));
        }
    }

    fn share(&mut self, n: usize) -> Share {
        let own: Vec<(ChannelId, &'static str)> =
            self.model.channels.iter().map(|it| (it.id, it.device_type)).skip(n).step_by(SHARES).collect();
        let ids: Vec<ChannelId> = own.iter().map(|(id, _)| *id).collect();
        let users: Vec<&'static str> = USERS.into_iter().skip(n).step_by(SHARES).collect();
        Share {
            node: self.nodes[n % self.nodes.len()].clone(),
            channels: self.chance.some(&ids, 8),
            tagging: Tagging::random(&mut self.chance, &["device", "crm", "shop"]),
            users: self.chance.some(&users, 2),
            user_tagging: Tagging::random(&mut self.chance, &["crm", "shop"]),
            gone: self.chance.percent(30).then(|| self.chance.pick(&own)),
        }
    }
}

impl Share {
    async fn change(&self, app: AppId) {
        let refs = self.channels.iter().map(|id| ChannelRef { id: *id, claimed: None }).collect();
        self.node.devices().tag_channels(app, refs, self.tagging.operation.clone()).await.unwrap();
        let users = self.users.iter().map(|user| named(user)).collect();
        self.node.devices().tag_named_users(app, users, self.user_tagging.operation.clone()).await.unwrap();
        if let Some((channel_id, device_type)) = self.gone {
            let device_type = claim(device_type);
            self.node.devices().uninstall_channels(app, vec![Uninstall { channel_id, device_type }]).await.unwrap();
        }
    }
}
