//! A database belongs to one key.

use accounts::{Login, NewPassword, Origin, SignedIn, TotpSecret, UsedLink};
use devices::LocationSettings;
use engine::{Engine, Error, Lost, LostThing, Retention, Settings};
use model::account::Email;
use model::app::{AppKey, Mode};
use model::ids::AccountId;
use model::time::Clock;
use sending::PlatformName;
use serde_json::json;
use store::documents::{self, DocumentKind};
use store::{Store, Tx};
use tenancy::SealKey;
use testkit::app::{START, on_each_database};
use testkit::client::PATIENCE;
use testkit::store::{databases, fresh};

const FIRST: [u8; 32] = [7; 32];
const SECOND: [u8; 32] = [8; 32];

async fn start(store: &Store, key: [u8; 32]) -> engine::Result<Engine> {
    let settings = Settings {
        seal_key: SealKey::new(&key),
        allow_private_addresses: true,
        trust: providers::Trust::of_system(),
        public_url: "http://localhost".to_owned(),
        snapshot_folder: None,
        retention: Retention::default(),
        locations: LocationSettings::default(),
        timeouts: PATIENCE,
        growth: engine::GrowthLimits::NONE,
        pipelines: engine::PipelineLimits::DEFAULT,
        push_hosts: providers::webpush::PushHosts::default(),
        page_checks: engine::PageCheckTimes::default(),
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

#[tokio::test]
async fn another_key_is_refused_from_the_first_start_on() {
    for database in databases() {
        let (store, _home) = fresh(database).await;
        assert!(!engine::has_key(&store).await.unwrap());
        start(&store, FIRST).await.unwrap();
        assert!(engine::has_key(&store).await.unwrap());
        is_refused(&store, SECOND).await;
        start(&store, FIRST).await.unwrap();
    }
}

#[tokio::test]
async fn of_two_keys_at_once_one_is_taken() {
    for database in databases() {
        let (store, _home) = fresh(database).await;
        let (first, second) = tokio::join!(start(&store, FIRST), start(&store, SECOND));
        assert_eq!([first.is_ok(), second.is_ok()].into_iter().filter(|is_ok| *is_ok).count(), 1);
        let (taken, refused) = if first.is_ok() { (FIRST, SECOND) } else { (SECOND, FIRST) };
        start(&store, taken).await.unwrap();
        is_refused(&store, refused).await;
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
        let (code_of, owner) = owner_with_codes(&app).await;
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
        let of_app = things.map(|thing| Lost { app: Some(key.clone()), thing });
        let of_person =
            Lost { app: None, thing: LostThing::OneTimeCodes(owner, Email::new("kim@example.com").unwrap()) };
        assert_eq!(lost, [&of_app[..], &[of_person]].concat());
        assert_eq!(engine::accept_key(&store, &SealKey::new(&SECOND), START).await.unwrap().len(), 1);
        is_refused(&store, FIRST).await;
        let second = start(&store, SECOND).await.unwrap();
        let id = second.tenancy().app(&app.app.key).await.unwrap().id;
        assert!(second.events().webhooks(id).await.unwrap().is_empty());
        let web_push = second.sending().web_push(id).await.unwrap();
        assert_ne!(web_push.public_key, public_key["public_key"].as_str().unwrap());
        assert_eq!(second.sending().platform_notices().await.unwrap().len(), 1);
        // Neither the password nor the code lets anybody in, and a link does.
        let login = || Login { email: Email::new("kim@example.com").unwrap(), password: PASSWORD.to_owned() };
        assert_eq!(second.accounts().sign_in(login(), Origin::default()).await.unwrap(), SignedIn::No);
        let ticket = second.accounts().sign_in_with_code("", &code_of, Origin::default()).await.unwrap();
        assert_eq!(ticket, SignedIn::No);
        let link = second.accounts().password_link(owner).await.unwrap();
        let new = NewPassword { email: String::new(), name: "Kim".to_owned(), password: PASSWORD.to_owned() };
        let used = second.accounts().use_link(&link, new, Origin::default()).await.unwrap();
        assert!(matches!(used, UsedLink::SignedIn(_)), "{used:?}");
        assert!(matches!(second.accounts().sign_in(login(), Origin::default()).await.unwrap(), SignedIn::Yes(_)));
    })
    .await;
}

#[tokio::test]
async fn a_lost_app_secret_is_learned_from_devices_that_have_the_current_one() {
    on_each_database(async |app| {
        let (store, neighbour) = (app.engine().store().clone(), app.another_app(Mode::Development).await);
        let (key, old) = (app.app.key.as_str(), app.app.app_secret.as_str());
        let rotation = json!({"secret": "app", "overlap": 3600});
        let rotated = app.operator().post(&format!("/operator/apps/{key}/rotate"), rotation).await.expect(200);
        let id = app.engine().tenancy().app(key).await.unwrap().id;
        let forget = move |tx: &mut Tx<'_>| documents::delete(tx, id, DocumentKind::AppSecret, "current");
        assert!(store.write(id, forget).await.unwrap());
        let is_known = async || {
            let find = move |tx: &mut Tx<'_>| documents::get(tx, id, DocumentKind::AppSecret, "current");
            store.read(find).await.unwrap().is_some()
        };
        // In this one no timer gives up what is remembered.
        let engine = start(&store, FIRST).await.unwrap();
        let tenancy = engine.tenancy();
        tenancy.app(&neighbour.key).await.unwrap();
        let remembered = || [key, neighbour.key.as_str()].map(|key| tenancy.remembered_app(key).is_some());
        assert!(tenancy.authenticate(key, old).await.unwrap().is_some());
        assert_eq!((remembered(), is_known().await), ([true, true], false));
        let new = rotated["app_secret"].as_str().unwrap();
        assert!(tenancy.authenticate(key, new).await.unwrap().is_some());
        assert_eq!((remembered(), is_known().await), ([false, true], true), "it is read again, and no other is");
    })
    .await;
}

const PASSWORD: &str = "correct horse battery";

/// An owner whose login needs one-time codes: the code of now, and the account.
async fn owner_with_codes(app: &testkit::app::TestApp) -> (String, AccountId) {
    let accounts = app.engine().accounts();
    let link = accounts.new_owner_link().await.unwrap();
    let (email, password) = ("kim@example.com".to_owned(), PASSWORD.to_owned());
    let new = NewPassword { email, name: "Kim".to_owned(), password };
    let UsedLink::SignedIn(cookie) = accounts.use_link(&link, new, Origin::default()).await.unwrap() else {
        panic!("the link is new")
    };
    let visitor = accounts.visitor(&cookie).await.unwrap().unwrap();
    let secret = TotpSecret::new().unwrap();
    let code = secret.code_at(app.clock().now());
    accounts.begin_codes(&visitor, &secret, &code).await.unwrap();
    (code, visitor.account.id)
}
