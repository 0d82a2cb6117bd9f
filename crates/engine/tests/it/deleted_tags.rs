//! Deleting a tag, as nodes see it that have not read of it yet: here no index follows the log by itself.

use engine::Engine;
use model::channel::{ChannelRef, Registration, TagOperation};
use model::ids::{AppId, ChannelId};
use model::json;
use model::tag::{Tag, TagGroup};
use testkit::store::{Home, databases};

use crate::nodes::{create_app, node};

fn news() -> Tag {
    Tag::new("news").unwrap()
}

async fn register(engine: &Engine, app: AppId, address: &str) -> ChannelId {
    let body = format!(
        r#"{{"channel": {{"device_type": "ios", "opt_in": true, "push_address": "{address}", "tags": ["news"]}}}}"#
    );
    let registration = json::parse(body.as_bytes(), Registration::parse).unwrap();
    engine.devices().register_channel(app, registration, None).await.unwrap().id
}

async fn tags(engine: &Engine, app: AppId, id: ChannelId) -> Vec<String> {
    let mut groups = engine.devices().channel(app, id).await.unwrap().tags;
    let flat = groups.remove(&TagGroup::device()).unwrap_or_default();
    flat.iter().map(|tag| tag.as_str().to_owned()).collect()
}

#[tokio::test]
async fn an_index_that_is_behind_neither_keeps_nor_loses_a_tag() {
    for kind in databases() {
        let home = Home::new(kind);
        let first = node(&home).await;
        // Only one process can use a SQLite database.
        let second = if first.store().is_single_process() { first.clone() } else { node(&home).await };
        let app = create_app(&first).await;
        let (kept, again) = (register(&first, app.id, "A1").await, register(&first, app.id, "A2").await);
        // Both indexes learn the number of the tag.
        for engine in [&first, &second] {
            assert_eq!(engine.devices().legacy_tags(app.id).await.unwrap(), [news()]);
        }
        first.devices().delete_legacy_tag(app.id, news()).await.unwrap();

        // A lookup, a change of something else, and adding the tag again.
        assert_eq!(tags(&second, app.id, kept).await, [""; 0]);
        let language = r#"{"channel": {"device_type": "ios", "locale_language": "nb"}}"#;
        let registration = json::parse(language.as_bytes(), Registration::parse).unwrap();
        second.devices().update_channel(app.id, kept, registration).await.unwrap();
        let add = [(TagGroup::device(), [news()].into())].into();
        let operation = TagOperation::Edit { add, remove: [].into() };
        second.devices().tag_channels(app.id, vec![ChannelRef { id: again, claimed: None }], operation).await.unwrap();
        assert_eq!(tags(&second, app.id, kept).await, [""; 0]);
        assert_eq!(tags(&second, app.id, again).await, ["news"]);
        for engine in [&first, &second] {
            assert_eq!(engine.devices().legacy_tags(app.id).await.unwrap(), [news()]);
        }
        let worker = second.worker();
        while worker.step().await.unwrap() {}
        assert_eq!(tags(&first, app.id, again).await, ["news"]);
        assert_eq!(tags(&first, app.id, kept).await, [""; 0]);
    }
}
