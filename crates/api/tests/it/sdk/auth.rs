//! What devices prove themselves with: signatures and tokens, whom each speaks for, and when they end.

use std::time::Duration;

use api::Access;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64_URL;
use http::Method;
use model::app::Mode;
use serde_json::{Value, json};
use store::documents::{self, DocumentKind};
use testkit::app::{TestApp, on_each_database};
use testkit::rows::row_counts;

use super::{Headers, Library, android};

/// The headers with one of them replaced, or left out.
fn with(headers: &Headers, name: &str, value: Option<&str>) -> Headers {
    let others = headers.iter().filter(|(known, _)| *known != name).cloned();
    let replaced = headers.iter().filter(|(known, _)| *known == name).map(|(known, _)| *known);
    others.chain(replaced.filter_map(|known| Some((known, value?.to_owned())))).collect()
}

async fn signed_requests(app: &TestApp) -> i64 {
    row_counts(app.engine().store()).await["signed_request"]
}

#[tokio::test]
async fn only_fresh_signatures_of_the_right_things_count() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, _) = library.channel("token-1").await;
        let path = "/api/auth/device";
        let good = library.as_channel(&channel);
        for (name, value) in [
            ("X-UA-Nonce", Some("another")),
            ("X-UA-Nonce", None),
            ("X-UA-Nonce", Some("")),
            ("X-UA-Timestamp", Some("2024-05-01T12:00:01Z")),
            ("X-UA-Timestamp", None),
            ("X-UA-Channel-ID", Some("00000000-0000-4000-8000-000000000000")),
            ("X-UA-Channel-ID", None),
            ("X-UA-Appkey", Some("AAAAAAAAAAAAAAAAAAAAAA")),
            ("Authorization", Some("Bearer AAAA")),
            ("Authorization", None),
        ] {
            let reply = library.get(path, &with(&good, name, value)).await;
            assert_eq!(reply.status.as_u16(), 401, "{name} {value:?}: {}", reply.text());
        }
        // The signature of a channel is not one of the app with a nonce that looks like a channel.
        let as_app = with(&good, "X-UA-Channel-ID", None);
        let nonce = good.iter().find(|(name, _)| *name == "X-UA-Nonce").map(|(_, nonce)| format!("{channel}:{nonce}"));
        let as_app = with(&as_app, "X-UA-Nonce", nonce.as_deref());
        library.get("/api/platforms/web/vapid", &as_app).await.expect(401);
        library.get(path, &good).await.expect(200);
        let repeated = library.get(path, &good).await.expect(401);
        assert!(repeated["error"].as_str().unwrap().contains("before"), "{repeated}");
        // Nor is it good after a restart, or at another node.
        let app = app.restart().await;
        let library = Library::of(&app);
        library.n_nonces.set(1000);
        let repeated = library.get(path, &good).await.expect(401);
        assert!(repeated["error"].as_str().unwrap().contains("before"), "{repeated}");
        // Either spelling of the app's key will do, and without it the channel tells which app is meant.
        let spelled = library.as_channel(&channel);
        let mut spelled = with(&spelled, "X-UA-Appkey", None);
        library.get(path, &spelled).await.expect(200);
        spelled = with(&library.as_channel(&channel), "X-UA-Appkey", None);
        spelled.push(("X-UA-App-Key", library.key().to_owned()));
        library.get(path, &spelled).await.expect(200);

        let late = library.as_channel(&channel);
        app.advance(Duration::from_secs(10 * 60));
        library.get(path, &late).await.expect(200);
        let late = library.as_channel(&channel);
        app.advance(Duration::from_secs(10 * 60 + 1));
        let refused = library.get(path, &late).await.expect(401);
        assert!(refused["error"].as_str().unwrap().contains("X-UA-Timestamp"), "{refused}");
        // What is too old to be sent again is forgotten.
        assert!(signed_requests(&app).await > 0);
        app.advance(Duration::from_secs(60 * 60));
        app.step_all().await;
        assert_eq!(signed_requests(&app).await, 0);
    })
    .await;
}

#[tokio::test]
async fn older_libraries_sign_less() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, _) = library.channel("token-1").await;
        // The same id in another app is another channel.
        let other = app.another_app(Mode::Development).await;
        let stranger = app.nobody().basic(&other.key, &other.app_secret);
        stranger.put(&format!("/api/channels/{channel}"), android("token-2")).await.expect(200);
        let signed = |key: &str| -> Headers {
            vec![("X-UA-Channel-ID", channel.clone()), ("Authorization", library.sign(&[key, &channel]))]
        };
        for _ in 0..2 {
            let token = library.get("/api/auth/device", &signed(library.key())).await.expect(200);
            let token = library.with_token(token["token"].as_str().unwrap());
            let seen = library.get(&format!("/api/channels/{channel}"), &token).await.expect(200);
            assert_eq!(seen["channel"]["push_address"], "token-1");
        }
        library.get("/api/auth/device", &signed(&other.key)).await.expect(401);
    })
    .await;
}

#[tokio::test]
async fn tokens_speak_for_their_own() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (a, token_of_a) = library.channel("token-1").await;
        let (b, _) = library.channel("token-2").await;
        let contact_of = async |channel: &str, user: &str| {
            let acted = library.act(channel, json!({"type": "identify", "named_user_id": user})).await;
            (acted["contact"]["contact_id"].as_str().unwrap().to_owned(), acted["token"].as_str().unwrap().to_owned())
        };
        let (jo, token_of_jo) = contact_of(&a, "jo").await;
        let (kim, _) = contact_of(&b, "kim").await;
        let (of_a, of_jo) = (library.with_token(&token_of_a), library.with_token(&token_of_jo));
        let batch = json!({"tags": {"add": {"g": ["t"]}}});
        let attributes = json!({"attributes": [{"action": "set", "key": "k", "value": 1}]});
        let channel_calls = |id: &str| -> Vec<(Method, String, Value)> {
            vec![
                (Method::GET, format!("/api/channels/{id}"), Value::Null),
                (Method::PUT, format!("/api/channels/{id}"), json!({"channel": {"device_type": "android"}})),
                (Method::PUT, format!("/api/channels/sdk/batch/{id}"), batch.clone()),
                (Method::POST, format!("/api/channels/{id}/attributes"), attributes.clone()),
                (Method::GET, format!("/api/subscription_lists/channels/{id}"), Value::Null),
            ]
        };
        let contact_calls = |id: &str| -> Vec<(Method, String, Value)> {
            vec![
                (Method::POST, format!("/api/contacts/{id}"), batch.clone()),
                (Method::GET, format!("/api/subscription_lists/contacts/{id}"), Value::Null),
                (Method::GET, format!("/api/contacts/associated_types/{id}"), Value::Null),
                (Method::GET, format!("/api/remote-data-contact/android/{id}"), Value::Null),
                (Method::POST, format!("/api/contacts/disassociate/{id}"), json!({"channel_id": b})),
            ]
        };
        let before = app.master().get("/api/named_users?id=kim").await.expect(200);
        let table = [
            (&of_a, channel_calls(&a), 200),
            (&of_a, channel_calls(&b), 403),
            (&of_a, channel_calls("x"), 403),
            (&of_a, contact_calls(&jo), 403),
            (&of_jo, contact_calls(&jo), 200),
            (&of_jo, contact_calls(&kim), 403),
            (&of_jo, channel_calls(&a), 403),
        ];
        for (headers, calls, status) in table {
            for (method, path, body) in calls {
                let reply = library.call(method.clone(), &path, headers, &body).await;
                assert_eq!(reply.status.as_u16(), status, "{method} {path}: {}", reply.text());
            }
        }
        // What can name anybody is not for tokens of one.
        for headers in [&of_a, &of_jo] {
            let tags = json!({"audience": {"channel": b}, "add": {"g": ["t"]}});
            library.post("/api/channels/tags", headers, &tags).await.expect(403);
            library.post("/api/named_users/kim", headers, &batch).await.expect(403);
            library
                .post("/api/contacts/identify", headers, &json!({"channel_id": b, "named_user_id": "x"}))
                .await
                .expect(403);
            library.post("/api/push", headers, &json!({})).await.expect(401);
            library.get("/operator/apps", headers).await.expect(401);
        }
        library.post("/api/channels", &of_jo, &android("token-3")).await.expect(403);
        let own = library.post("/api/channels", &of_a, &android("token-3")).await.expect(200);
        assert_eq!(own["channel_id"], a, "a token registers the channel that it is of");
        // What gives tokens takes none, or a stolen one would renew itself.
        for headers in [&of_a, &of_jo] {
            library.get("/api/auth/device", headers).await.expect(401);
            library
                .post("/api/contacts/identify/v2", headers, &json!({"action": {"type": "resolve"}}))
                .await
                .expect(401);
        }
        let steal = json!({"associate": [{"channel_id": b, "device_type": "android"}]});
        library.post(&format!("/api/contacts/{jo}"), &of_jo, &steal).await.expect(403);
        assert_eq!(app.master().get("/api/named_users?id=kim").await.expect(200), before);
    })
    .await;
}

#[tokio::test]
async fn tokens_end_with_their_day_their_secret_and_their_app() {
    on_each_database(async |app| {
        let mut library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let path = format!("/api/channels/{channel}");
        let headers = library.with_token(&token);
        let parts: Vec<&str> = token.split('.').collect();
        let [header, claims, signature] = parts[..] else { panic!("{token}") };
        let mut longer: Value = serde_json::from_slice(&BASE64_URL.decode(claims).unwrap()).unwrap();
        longer["exp"] = json!(longer["exp"].as_i64().unwrap() + 1);
        for forged in [
            format!("{header}.{claims}."),
            format!("{header}.{claims}"),
            format!("eyJhbGciOiJub25lIn0.{claims}."),
            format!("eyJhbGciOiJub25lIn0.{claims}.{signature}"),
            format!("{header}.{}.{signature}", BASE64_URL.encode(longer.to_string())),
            format!("{header}.{claims}.{}", BASE64_URL.encode([0; 32])),
            "..".to_owned(),
        ] {
            library.get(&path, &library.with_token(&forged)).await.expect(401);
        }
        app.advance(Duration::from_secs(24 * 60 * 60 - 1));
        library.get(&path, &headers).await.expect(200);
        app.advance(Duration::from_secs(1));
        let expired = library.get(&path, &headers).await.expect(401);
        assert!(expired["error"].as_str().unwrap().contains("expired"), "{expired}");

        let fresh = library.get("/api/auth/device", &library.as_channel(&channel)).await.expect(200);
        let fresh = library.with_token(fresh["token"].as_str().unwrap());
        library.get(&path, &fresh).await.expect(200);
        let rotate = format!("/operator/apps/{}/rotate", library.key());
        let rotated = app.operator().post(&rotate, json!({"secret": "app"})).await.expect(200);
        library.get(&path, &fresh).await.expect(401);
        library.get("/api/auth/device", &library.as_channel(&channel)).await.expect(401);
        library.secret = rotated["app_secret"].as_str().unwrap().to_owned();
        library.get("/api/auth/device", &library.as_channel(&channel)).await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn an_app_secret_that_was_lost_is_learned_again() {
    on_each_database(async |app| {
        // As after `aerogram secrets accept`, when the key that the secret was sealed with is lost.
        let id = app.engine().tenancy().app(&app.app.key).await.unwrap().id;
        let forget = move |tx: &mut store::Tx<'_>| documents::delete(tx, id, DocumentKind::AppSecret, "current");
        assert!(app.engine().store().write(id, forget).await.unwrap());
        let app = app.restart().await;
        let library = Library::of(&app);
        let refused = library.post("/api/channels", &library.as_app(), &android("token-1")).await.expect(401);
        assert!(refused["error"].as_str().unwrap().contains("app secret"), "{refused}");
        app.master().get("/api/channels").await.expect(200);
        library.post("/api/channels", &library.as_app(), &android("token-1")).await.expect(401);
        app.device().get("/api/tags").await.expect(200);
        library.post("/api/channels", &library.as_app(), &android("token-1")).await.expect(201);
    })
    .await;
}

/// Every route of the table with the tokens of one device, about another device and its user.
#[tokio::test]
async fn no_route_lets_a_token_speak_for_others() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (own, token) = library.channel("token-1").await;
        let (other, _) = library.channel("token-2").await;
        let jo = library.act(&own, json!({"type": "identify", "named_user_id": "jo"})).await;
        let kim = library.act(&other, json!({"type": "identify", "named_user_id": "kim"})).await;
        let contact = kim["contact"]["contact_id"].as_str().unwrap();
        let of_channel = library.with_token(&token);
        let of_contact = library.with_token(jo["token"].as_str().unwrap());
        let everything = async || {
            let paths = [format!("/api/channels/{other}"), "/api/named_users".to_owned(), "/api/schedules".to_owned()];
            let mut seen = Vec::new();
            for path in paths {
                seen.push(app.master().get(&path).await.expect(200));
            }
            seen
        };
        let before = everything().await;
        let id = "00000000-0000-4000-8000-000000000000";
        for route in api::routes() {
            let filled = route.path.replace("{channel_id}", &other).replace("{contact_id}", contact);
            let filled = filled.replace("{named_user_id}", "kim").replace("{key}", library.key());
            let path: String = filled
                .split('/')
                .map(|part| if part.starts_with('{') { id } else { part })
                .collect::<Vec<_>>()
                .join("/");
            for (headers, is_channel) in [(&of_channel, true), (&of_contact, false)] {
                let is_open = match route.access {
                    Access::Probe | Access::Public | Access::Open => true,
                    Access::OwnChannel | Access::Page | Access::Events => is_channel,
                    Access::Device
                    | Access::Channel
                    | Access::Signed
                    | Access::Contact
                    | Access::Inbox
                    | Access::Master
                    | Access::Operator
                    | Access::Scrape => false,
                };
                let body = json!({"android_channels": [other]});
                let status = library.call(route.method.clone(), &path, headers, &body).await.status.as_u16();
                let what = format!("{} {path} with the token of a channel: {is_channel}: {status}", route.method);
                assert_eq!([401, 403].contains(&status), !is_open, "{what}");
            }
        }
        assert_eq!(everything().await, before);
        // What a token of a channel may do, it does for that channel.
        let body = json!({"android_channels": [own, other]});
        let inbox = library.post("/api/user", &of_channel, &body).await.expect(201);
        let (user, password) = (inbox["user_id"].as_str().unwrap(), inbox["password"].as_str().unwrap());
        let inbox = app.nobody().basic(user, password).get(&format!("/api/user/{user}")).await.expect(200);
        assert_eq!(inbox["android_channels"], json!([own]));
    })
    .await;
}

#[tokio::test]
async fn an_app_can_leave_it_to_its_servers_who_is_who() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, _) = library.channel("token-1").await;
        let known = library.act(&channel, json!({"type": "identify", "named_user_id": "jo"})).await;
        let contact = known["contact"]["contact_id"].as_str().unwrap();
        let of_contact = library.with_token(known["token"].as_str().unwrap());
        let path = format!("/operator/apps/{}", library.key());
        assert_eq!(app.operator().get(&path).await.expect(200)["app"]["named_users"]["associate"], "devices");
        let servers = json!({"named_users": {"associate": "servers"}});
        let changed = app.operator().patch(&path, servers).await.expect(200);
        assert_eq!(changed["app"]["named_users"]["associate"], "servers");
        let app = app.restart().await;
        let library = Library::of(&app);
        library.n_nonces.set(1000);

        let (device, own) = (app.device(), json!({"channel_id": channel, "device_type": "android"}));
        let kim = json!({"channel_id": channel, "device_type": "android", "named_user_id": "kim"});
        for (path, body) in [
            ("/api/named_users/associate", &kim),
            ("/api/named_users/disassociate", &own),
            ("/api/contacts/identify", &kim),
            ("/api/contacts/reset", &own),
            (&*format!("/api/contacts/{contact}"), &json!({"associate": [own]})),
            (&*format!("/api/contacts/disassociate/{contact}"), &json!({"channel_id": channel})),
            ("/api/named_users/kim", &json!({"associate": [own]})),
            ("/api/named_users/jo", &json!({"disassociate": [own]})),
        ] {
            let refused = device.post(path, body).await.expect(403);
            assert!(refused["error"].as_str().unwrap().contains("server"), "{path}: {refused}");
        }
        let claim = json!({"associate": [own]});
        library.post(&format!("/api/contacts/{contact}"), &of_contact, &claim).await.expect(403);
        for action in [json!({"type": "identify", "named_user_id": "kim"}), json!({"type": "reset"})] {
            let body = json!({"device_info": {"device_type": "android"}, "action": action});
            library.post("/api/contacts/identify/v2", &library.as_channel(&channel), &body).await.expect(403);
        }
        // Registering matters more than being somebody's: what is said about that counts for nothing.
        let jo_or_nobody = async |channel: &str| {
            app.master().get(&format!("/api/channels/{channel}")).await.expect(200)["channel"]["named_user_id"].clone()
        };
        for said in [json!("kim"), json!(null)] {
            let body = json!({"channel": {"device_type": "android", "named_user_id": said}});
            device.put(&format!("/api/channels/{channel}"), &body).await.expect(200);
            assert_eq!(jo_or_nobody(&channel).await, "jo");
            let new = device.post("/api/channels", &body).await.expect(201);
            assert_eq!(jo_or_nobody(new["channel_id"].as_str().unwrap()).await, json!(null));
        }
        let of_server = json!({"channel": {"device_type": "android", "named_user_id": "lee"}});
        let new = app.master().post("/api/channels", &of_server).await.expect(201);
        assert_eq!(jo_or_nobody(new["channel_id"].as_str().unwrap()).await, "lee");
        device.post("/api/named_users/jo", &json!({"tags": {"add": {"g": ["t"]}}})).await.expect(200);
        // Devices still learn whose they are, and tell what is to be known about that person.
        let resolved = library.act(&channel, json!({"type": "resolve"})).await;
        assert_eq!(resolved["contact"]["contact_id"], contact);
        let tags = json!({"tags": {"add": {"g": ["t"]}}});
        library.post(&format!("/api/contacts/{contact}"), &of_contact, &tags).await.expect(200);
        device.post("/api/contacts/resolve", &own).await.expect(200);
        app.master().post("/api/named_users/associate", &kim).await.expect(200);
        let other = library.act(&channel, json!({"type": "resolve"})).await;
        assert_ne!(other["contact"]["contact_id"], contact);
        app.operator().patch(&path, json!({"named_users": {"associate": "devices"}})).await.expect(200);
        device.post("/api/named_users/disassociate", &own).await.expect(200);
    })
    .await;
}
