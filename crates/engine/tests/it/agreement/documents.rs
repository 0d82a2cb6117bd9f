//! Changes by chance of what is stored under names: segments, which may be made of each other, and uploaded lists.

use engine::Engine;
use model::ids::{ChannelId, SegmentId};
use model::segment::SegmentBody;
use model::static_list::{ListName, Member, NewList};
use serde_json::json;

use super::World;
use super::changes::parsed;
use super::naive::{List, Row, USERS};
use super::tree::Tree;

impl World {
    pub(super) async fn change_segments(&mut self, node: &Engine) -> String {
        let criteria = Tree::random(&mut self.chance, &self.model, 2);
        let body = json!({"display_name": "A segment", "criteria": criteria.print(&mut self.chance)});
        let alive: Vec<SegmentId> =
            self.model.segments.iter().filter(|(_, criteria)| criteria.is_some()).map(|(id, _)| *id).collect();
        if alive.len() < 3 || (alive.len() < 8 && self.chance.percent(40)) {
            let id =
                node.targeting().create_segment(self.app.id, parsed(&body, SegmentBody::parse), None).await.unwrap().id;
            self.model.segments.push((id, Some(criteria)));
            return format!("create the segment {id} {body}");
        }
        let id = self.chance.pick(&alive);
        if self.chance.percent(30) {
            node.targeting().delete_segment(self.app.id, id).await.unwrap();
            self.put_segment(id, None);
            return format!("delete the segment {id}");
        }
        let updated = node.targeting().update_segment(self.app.id, id, parsed(&body, SegmentBody::parse)).await;
        let closes_a_circle = self.model.leads_to(&criteria, id);
        assert_eq!(updated.is_err(), closes_a_circle, "{id} {body}");
        if !closes_a_circle {
            self.put_segment(id, Some(&criteria));
        }
        format!("update the segment {id} {body}")
    }

    fn put_segment(&mut self, id: SegmentId, criteria: Option<&Tree>) {
        self.model.segments.iter_mut().filter(|(known, _)| *known == id).for_each(|one| one.1 = criteria.cloned());
    }

    /// Their jobs run later: see [`World::run_jobs`].
    pub(super) async fn change_lists(&mut self, node: &Engine) -> String {
        let alive: Vec<usize> = (0..self.model.lists.len()).filter(|i| !self.model.lists[*i].is_deleted).collect();
        if alive.len() < 2 || (alive.len() < 4 && self.chance.percent(20)) {
            let name = format!("list-{}", self.model.lists.len());
            node.targeting()
                .create_list(self.app.id, parsed(&json!({ "name": name }), NewList::parse), None)
                .await
                .unwrap();
            self.model.lists.push(List {
                name: name.clone(),
                is_deleted: false,
                content: Vec::new(),
                is_applied: true,
                replaced: Vec::new(),
            });
            return format!("create {name}");
        }
        let place = self.chance.pick(&alive);
        let name = ListName::new(&self.model.lists[place].name).unwrap();
        if self.chance.percent(15) {
            node.targeting().delete_list(self.app.id, name.clone()).await.unwrap();
            let list = &mut self.model.lists[place];
            list.is_deleted = true;
            list.is_applied = true;
            list.replaced.append(&mut list.content);
            return format!("delete {name}");
        }
        let rows = self.some_rows();
        let mut upload = node.targeting().begin_list_upload(self.app.id, name.clone()).await.unwrap();
        for row in &rows {
            let member = match row {
                Row::User(user) => Member::new("named_user", user),
                Row::Channel(column, id) => Member::new(column, &id.to_string()),
            };
            upload.add(member.unwrap()).await.unwrap();
        }
        if self.chance.percent(10) {
            upload.give_up().await.unwrap();
            return format!("begin to upload {name}");
        }
        upload.finish().await.unwrap();
        let what = format!("upload {name} {rows:?}");
        let list = &mut self.model.lists[place];
        list.replaced.append(&mut list.content);
        list.content = rows;
        list.is_applied = false;
        what
    }

    /// Users, known or not, and channels, of which some are gone, not there or in the wrong column.
    fn some_rows(&mut self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.chance.some(&USERS, 3).into_iter().map(Row::User).collect();
        for channel in (0..self.chance.below(25)).map(|_| self.chance.pick(&self.model.channels)).collect::<Vec<_>>() {
            let column = match channel.device_type {
                "ios" => "ios_channel",
                "android" => "android_channel",
                "amazon" => "amazon_channel",
                "web" => "web_channel",
                _ => "open_channel",
            };
            let column = if self.chance.percent(10) { "email_channel" } else { column };
            rows.push(Row::Channel(column, channel.id));
        }
        rows.push(Row::Channel("ios_channel", ChannelId::random()));
        rows
    }
}
