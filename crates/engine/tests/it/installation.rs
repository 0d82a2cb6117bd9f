//! A database belongs to one key.

use devices::LocationSettings;
use engine::{Engine, Error, Lost, LostThing, Retention, Settings};
use model::app::{AppKey, Mode};
use model::time::Clock;
use sending::PlatformName;
use serde_json::json;
use store::{Store, Tx};
use tenancy::{NewApp, SealKey};
use testkit::app::{START, on_each_database};
use testkit::client::PATIENCE;
use testkit::store::{databases, fresh};

const FIRST: [u8; 32] = [7; 32];
const SECOND: [u8; 32] = [8; 32];

async fn start(store: &Store, key: [u8; 32]) -> engine::Result<Engine> {
    let settings = Settings {
        seal_key: SealKey::new(&key),
        allow_private_addresses: true,
        public_url: "http://localhost".to_owned(),
        snapshot_folder: None,
        retention: Retention::default(),
        locations: LocationSettings::default(),
        timeouts: PATIENCE,
    };
    Engine::start(store.clone(), Clock::stepped(START), settings).await
}

async fn is_refused(store: &Store, key: [u8; 32]) {
    match start(store, key).await {
        Err(Error::Conflict(why)) => {
            assert!(why.contains("secrets.key") && why.contains("AEROGRAM_SECRETS_KEY"), "{why}");
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it started"),
    }
}

async fn create_app(engine: &Engine) -> AppKey {
    let new =
        NewApp { name: "App".to_owned(), mode: Mode::Development, key: None, app_secret: None, master_secret: None };
    engine.tenancy().create_app(new, None).await.unwrap().key
}

/// As an earlier version left it.
async fn forget_known_text(store: &Store) {
    let forget = |tx: &mut Tx<'_>| tx.execute("delete from document where kind = 'installation_key'", &[]);
    assert_eq!(store.write(model::ids::AppId(0), forget).await.unwrap(), 1);
}

#[tokio::test]
async fn another_key_is_refused_from_the_first_start_on() {
    for engine in databases() {
        let (store, _home) = fresh(engine).await;
        assert!(!engine::has_key(&store).await.unwrap());
        start(&store, FIRST).await.unwrap();
        assert!(engine::has_key(&store).await.unwrap());
        is_refused(&store, SECOND).await;
        start(&store, FIRST).await.unwrap();
    }
}

#[tokio::test]
async fn of_two_keys_at_once_one_is_taken() {
    for engine in databases() {
        let (store, _home) = fresh(engine).await;
        let (first, second) = tokio::join!(start(&store, FIRST), start(&store, SECOND));
        assert_eq!([first.is_ok(), second.is_ok()].into_iter().filter(|is_ok| *is_ok).count(), 1);
        let (taken, refused) = if first.is_ok() { (FIRST, SECOND) } else { (SECOND, FIRST) };
        start(&store, taken).await.unwrap();
        is_refused(&store, refused).await;
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_belongs_to_the_key_that_opens_what_is_there() {
    for engine in databases() {
        let (store, _home) = fresh(engine).await;
        create_app(&start(&store, FIRST).await.unwrap()).await;
        forget_known_text(&store).await;
        assert!(engine::has_key(&store).await.unwrap(), "something is encrypted");
        is_refused(&store, SECOND).await;
        start(&store, FIRST).await.unwrap();
        is_refused(&store, SECOND).await;
        // What a key that was lost left behind is no reason to refuse the present one.
        forget_known_text(&store).await;
        let damage = |tx: &mut Tx<'_>| tx.execute("update document set body = 'x' where kind = 'web_keys'", &[]);
        store.write(model::ids::AppId(0), damage).await.unwrap();
        start(&store, FIRST).await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_key_can_be_accepted() {
    on_each_database(async |app| {
        let (operator, store) = (app.operator(), app.engine().store().clone());
        let path = format!("/operator/apps/{}", app.app.key);
        let hook = json!({"url": "http://127.0.0.1:9/hook", "validate": false});
        operator.put(&format!("{path}/platforms/open::fridge"), hook).await.expect(200);
        let webhook = json!({"url": "http://127.0.0.1:9/events", "types": ["OPEN"]});
        let webhook = operator.post(&format!("{path}/webhooks"), webhook).await.expect(201);
        let public_key = app.device().get("/api/platforms/web/vapid").await.expect(200);

        let lost = engine::accept_key(&store, &SealKey::new(&SECOND), START).await.unwrap();
        let webhook = webhook["webhook"]["webhook_id"].as_str().unwrap().parse().unwrap();
        let things = [
            LostThing::Platform(PlatformName::from_name("open::fridge").unwrap()),
            LostThing::WebKeys,
            LostThing::AppSecret,
            LostThing::Webhook(webhook),
        ];
        let key = AppKey::new(&app.app.key).unwrap();
        assert_eq!(lost, things.map(|thing| Lost { app: key.clone(), thing }));
        assert_eq!(engine::accept_key(&store, &SealKey::new(&SECOND), START).await.unwrap().len(), 1);
        is_refused(&store, FIRST).await;
        let second = start(&store, SECOND).await.unwrap();
        let id = second.tenancy().app(&app.app.key).await.unwrap().id;
        assert!(second.events().webhooks(id).await.unwrap().is_empty());
        assert_ne!(second.sending().web_public_key(id).await.unwrap(), public_key["public_key"].as_str().unwrap());
        assert_eq!(second.sending().platform_notices().await.unwrap().len(), 1);
    })
    .await;
}
