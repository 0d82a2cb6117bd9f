//! Contacts beyond the first start: those of nobody, those of users with several devices, and channels they make.

use model::app::Mode;
use model::ids::ContactId;
use serde_json::{Value, json};
use testkit::app::on_each_database;
use uuid::Uuid;

use super::Library;

fn open(address: &str) -> Value {
    json!({"channel": {
        "type": "open", "opt_in": true, "address": address, "open": {"open_platform_name": "fridge"},
    }})
}

#[tokio::test]
async fn what_is_said_about_nobody_is_said_about_the_channel() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (channel, token) = library.channel("token-1").await;
        let acted = library.act(&channel, json!({"type": "resolve"})).await;
        let contact = acted["contact"]["contact_id"].as_str().unwrap().to_owned();
        let headers = library.with_token(acted["token"].as_str().unwrap());
        let path = format!("/api/contacts/{contact}");
        let subscribe = |scope| json!({"action": "subscribe", "list_id": format!("{scope}-news"), "scope": scope});
        let update = json!({
            "tags": {"add": {"food": ["fish"]}},
            "attributes": [{"action": "set", "key": "city", "value": "Oslo"}],
            "subscription_lists": [subscribe("app"), subscribe("email")],
        });
        library.post(&path, &headers, &update).await.expect(200);
        let seen = library.get(&format!("/api/channels/{channel}"), &library.with_token(&token)).await.expect(200);
        assert_eq!(seen["channel"]["tag_groups"]["food"], json!(["fish"]));
        assert_eq!(seen["channel"]["attributes"], json!({"city": "Oslo"}));
        assert_eq!(seen["channel"]["subscription_lists"], json!(["app-news"]));
        let lists = library.get(&format!("/api/subscription_lists/contacts/{contact}"), &headers).await.expect(200);
        assert_eq!(lists["subscription_lists"], json!([{"scope": "app", "list_ids": ["app-news"]}]));
        let claim = json!({"associate": [{"channel_id": channel, "device_type": "android"}]});
        library.post(&path, &headers, &claim).await.expect(409);
        let read_only = json!({"tags": {"add": {"ua_locale_country": ["NO"]}}});
        library.post(&path, &headers, &read_only).await.expect(403);
        // It ends with the channel.
        let uninstall = json!({"channel_id": channel, "device_type": "android"});
        app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        library.post(&path, &headers, &update).await.expect(404);
        let body = json!({"action": {"type": "resolve"}});
        library.post("/api/contacts/identify/v2", &library.as_channel(&channel), &body).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn the_devices_of_a_user_speak_for_the_same_user() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, _) = library.channel("token-1").await;
        let (tablet, _) = library.channel("token-2").await;
        let jo = json!({"type": "identify", "named_user_id": "jo"});
        let by_phone = library.act(&phone, jo.clone()).await;
        let by_tablet = library.act(&tablet, jo.clone()).await;
        assert_ne!(by_phone["contact"]["contact_id"], by_tablet["contact"]["contact_id"]);
        // Asking again changes nothing.
        for ask in [json!({"type": "resolve"}), jo.clone()] {
            assert_eq!(library.act(&phone, ask).await["contact"], by_phone["contact"]);
        }
        // A server that gave the channel to a user makes a contact of it, too.
        let (watch, _) = library.channel("token-3").await;
        let associate = json!({"channel_id": watch, "named_user_id": "jo"});
        app.master().post("/api/named_users/associate", associate).await.expect(200);
        let resolved = library.act(&watch, json!({"type": "resolve"})).await;
        assert_eq!(resolved["contact"]["is_anonymous"], false);
        for (n, acted) in [&by_phone, &by_tablet, &resolved].into_iter().enumerate() {
            let path = format!("/api/contacts/{}", acted["contact"]["contact_id"].as_str().unwrap());
            let update = json!({"tags": {"add": {"said_by": [format!("device {n}")]}}});
            library.post(&path, &library.with_token(acted["token"].as_str().unwrap()), &update).await.expect(200);
        }
        let user = app.master().get("/api/named_users?id=jo").await.expect(200)["named_user"].clone();
        assert_eq!(user["tags"]["said_by"], json!(["device 0", "device 1", "device 2"]));
        // A user that is deleted is nobody's contact any more.
        let headers = library.with_token(by_phone["token"].as_str().unwrap());
        let path = format!("/api/contacts/{}", by_phone["contact"]["contact_id"].as_str().unwrap());
        let update = json!({"tags": {"add": {"g": ["t"]}}});
        library.post(&path, &headers, &update).await.expect(200);
        app.master().post("/api/named_users/uninstall", json!({"named_user_id": "jo"})).await.expect(200);
        library.post(&path, &headers, &update).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn nobody_works_out_the_contact_of_a_user() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, _) = library.channel("token-1").await;
        let jo = json!({"type": "identify", "named_user_id": "jo"});
        let contact = library.act(&phone, jo.clone()).await["contact"]["contact_id"].clone();
        let guessed = ContactId::from_uuid(Uuid::new_v5(&Uuid::NAMESPACE_OID, b"jo"));
        for path in ["/api/subscription_lists/contacts", "/api/contacts/associated_types"] {
            app.device().get(&format!("{path}/{guessed}")).await.expect(404);
            app.device().get(&format!("{path}/{}", contact.as_str().unwrap())).await.expect(200);
        }
        // The same user has another id in every app.
        let other = app.another_app(Mode::Production).await;
        let device = app.nobody().basic(&other.key, &other.app_secret);
        let made =
            device.post("/api/channels", super::android("token-1-of-the-device-of-another-app")).await.expect(201);
        let body = json!({"channel_id": made["channel_id"], "device_type": "android", "named_user_id": "jo"});
        let server = app.nobody().basic(&other.key, &other.master_secret);
        let others = server.post("/api/contacts/identify", body).await.expect(200);
        assert_ne!(others["contact_id"], contact);

        // It is good until the user is deleted, also after a restart.
        let app = app.restart().await;
        let library = Library::of(&app);
        assert_eq!(library.act(&phone, jo).await["contact"]["contact_id"], contact);
        let path = format!("/api/subscription_lists/contacts/{}", contact.as_str().unwrap());
        app.device().get(&path).await.expect(200);
        app.master().post("/api/named_users/uninstall", json!({"named_user_id": "jo"})).await.expect(200);
        app.device().get(&path).await.expect(404);
    })
    .await;
}

#[tokio::test]
async fn a_device_that_leaves_its_user_has_nothing_left_of_them() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let jo = json!({"type": "identify", "named_user_id": "jo"});
        let tablet = library.channel("token-of-tablet").await.0;
        let by_tablet = library.act(&tablet, jo.clone()).await;
        let calls = |acted: &Value| {
            let contact = acted["contact"]["contact_id"].as_str().unwrap().to_owned();
            (library.with_token(acted["token"].as_str().unwrap()), contact)
        };
        let lists = |contact: &str| format!("/api/subscription_lists/contacts/{contact}");
        let tags = json!({"tags": {"add": {"crm": ["seen"]}}});
        for (n, how) in ["reset", "another user", "server", "registration"].into_iter().enumerate() {
            let (phone, _) = library.channel(&format!("token-{n}")).await;
            let (headers, contact) = calls(&library.act(&phone, jo.clone()).await);
            library.get(&lists(&contact), &headers).await.expect(200);
            let user = json!({"channel_id": phone, "device_type": "android", "named_user_id": "jo"});
            match how {
                "reset" => drop(library.act(&phone, json!({"type": "reset"})).await),
                "another user" => drop(library.act(&phone, json!({"type": "identify", "named_user_id": "kim"})).await),
                "server" => drop(app.master().post("/api/named_users/disassociate", user).await.expect(200)),
                _ => {
                    let body = json!({"channel": {"device_type": "android", "named_user_id": null}});
                    app.device().put(&format!("/api/channels/{phone}"), body).await.expect(200);
                }
            }
            // Neither reads nor changes, with its token or with the app secret, nor does a new channel bring it back.
            library.get(&lists(&contact), &headers).await.expect(404);
            app.device().get(&lists(&contact)).await.expect(404);
            let path = format!("/api/contacts/{contact}");
            library.post(&path, &headers, &tags).await.expect(404);
            app.device().post(&path, &tags).await.expect(404);
            let (again, _) = library.channel(&format!("token-{n}-again")).await;
            let resolved = library.act(&again, json!({"type": "resolve", "contact_id": contact})).await;
            assert_eq!(resolved["contact"]["is_anonymous"], true, "{how}");
            // Even if the device is the user's again, under another id.
            let back = library.act(&phone, jo.clone()).await;
            assert_ne!(back["contact"]["contact_id"], contact, "{how}");
            app.device().get(&lists(&contact)).await.expect(404);
        }
        // The other device of the user goes on as if nothing had happened.
        let (headers, contact) = calls(&by_tablet);
        library.get(&lists(&contact), &headers).await.expect(200);
        assert_eq!(library.act(&tablet, json!({"type": "resolve"})).await["contact"], by_tablet["contact"]);
    })
    .await;
}

#[tokio::test]
async fn a_device_that_registers_anew_stays_its_users() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, _) = library.channel("token-1").await;
        let jo = library.act(&phone, json!({"type": "identify", "named_user_id": "jo"})).await;
        let contact = jo["contact"]["contact_id"].clone();
        let resolve = json!({"type": "resolve", "contact_id": contact});
        let anew = async |phone: &str| {
            let uninstall = json!({"channel_id": phone, "device_type": "android"});
            app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
            let refused = app.device().put(&format!("/api/channels/{phone}"), super::android("token-1")).await;
            refused.expect(409);
            library.channel("token-1").await.0
        };
        let phone = anew(&phone).await;
        let resolved = library.act(&phone, resolve.clone()).await;
        assert_eq!(
            (&resolved["contact"]["contact_id"], &resolved["contact"]["is_anonymous"]),
            (&contact, &json!(false))
        );
        assert_eq!(super::reached(&app, json!({"named_user": "jo"})).await, 1);
        // A server that takes the channel from the user has the last word, also when the device registers anew.
        let leave = json!({"channel_id": phone, "named_user_id": "jo"});
        app.master().post("/api/named_users/disassociate", leave).await.expect(200);
        assert_eq!(library.act(&phone, resolve.clone()).await["contact"]["is_anonymous"], true);
        let phone = anew(&phone).await;
        assert_eq!(library.act(&phone, resolve.clone()).await["contact"]["is_anonymous"], true);

        // An id that nobody has is not enough.
        let phone = anew(&phone).await;
        let unknown = ContactId::of_named_user(&[7; 16]).to_string();
        let resolved = library.act(&phone, json!({"type": "resolve", "contact_id": unknown})).await;
        assert_eq!(resolved["contact"]["is_anonymous"], true, "{unknown}");
        // Nor is anything, where servers say whose a channel is.
        let path = format!("/operator/apps/{}", library.key());
        app.operator().patch(&path, json!({"named_users": {"associate": "servers"}})).await.expect(200);
        assert_eq!(library.act(&phone, resolve.clone()).await["contact"]["is_anonymous"], true);
    })
    .await;
}

#[tokio::test]
async fn a_server_takes_an_uninstalled_channel_from_its_user_too() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (first, _) = library.channel("token-1").await;
        let jo = library.act(&first, json!({"type": "identify", "named_user_id": "jo"})).await;
        let contact = jo["contact"]["contact_id"].clone();
        let resolve = json!({"type": "resolve", "contact_id": contact});
        let uninstall = async |channel: &str| {
            let uninstall = json!({"channel_id": channel, "device_type": "android"});
            app.master().post("/api/channels/uninstall", uninstall).await.expect(202);
        };
        let leave = async |channel: &str, user: &str| {
            let leave = json!({"channel_id": channel, "named_user_id": user});
            app.master().post("/api/named_users/disassociate", leave).await.expect(200);
        };
        uninstall(&first).await;
        leave(&first, "kim").await;
        let (second, _) = library.channel("token-1").await;
        assert_eq!(library.act(&second, resolve.clone()).await["contact"]["contact_id"], contact);
        // The device has come back as another channel, of which nothing was said.
        leave(&first, "jo").await;
        assert_eq!(library.act(&second, resolve.clone()).await["contact"]["contact_id"], contact);

        uninstall(&second).await;
        leave(&second, "jo").await;
        let (third, _) = library.channel("token-1").await;
        assert_eq!(library.act(&third, resolve).await["contact"]["is_anonymous"], true);
    })
    .await;
}

#[tokio::test]
async fn devices_make_open_channels_for_their_users_but_take_none() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, _) = library.channel("token-1").await;
        let acted = library.act(&phone, json!({"type": "identify", "named_user_id": "jo"})).await;
        let headers = library.with_token(acted["token"].as_str().unwrap());
        let contact = acted["contact"]["contact_id"].as_str().unwrap().to_owned();
        let path = "/api/channels/restricted/open";
        let made = library.post(path, &library.as_app(), &open("kitchen")).await.expect(200);
        assert_eq!(made.as_object().unwrap().len(), 3, "{made}");
        let fridge = made["channel_id"].as_str().unwrap().to_owned();
        library.post(path, &library.as_app(), &open("kitchen")).await.expect(409);
        let mut by_id = open("cellar");
        by_id["channel"]["channel_id"] = json!(fridge);
        library.post(path, &library.as_app(), &by_id).await.expect(409);

        let claim = json!({"associate": [{"channel_id": fridge, "device_type": "open"}]});
        library.post(&format!("/api/contacts/{contact}"), &headers, &claim).await.expect(200);
        let user = app.master().get("/api/named_users?id=jo").await.expect(200);
        assert_eq!(user["named_user"]["channels"].as_array().unwrap().len(), 2, "{user}");
        // Once somebody has it, nobody else can claim it.
        let (other, _) = library.channel("token-2").await;
        let acted = library.act(&other, json!({"type": "identify", "named_user_id": "kim"})).await;
        let kims = library.with_token(acted["token"].as_str().unwrap());
        let kim = acted["contact"]["contact_id"].as_str().unwrap();
        library.post(&format!("/api/contacts/{kim}"), &kims, &claim).await.expect(403);
        let leave = json!({"channel_id": fridge, "channel_type": "open", "opt_out": true});
        library.post(&format!("/api/contacts/disassociate/{kim}"), &kims, &leave).await.expect(200);
        assert_eq!(app.master().get("/api/named_users?id=jo").await.expect(200), user);
        let left = library.post(&format!("/api/contacts/disassociate/{contact}"), &headers, &leave).await.expect(200);
        assert_eq!(left["channel_id"], json!(fridge));
        let user = app.master().get("/api/named_users?id=jo").await.expect(200);
        assert_eq!(user["named_user"]["channels"].as_array().unwrap().len(), 1, "{user}");
    })
    .await;
}

#[tokio::test]
async fn a_channel_cannot_pass_for_the_contact_of_a_user() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, _) = library.channel("token-1").await;
        let acted = library.act(&phone, json!({"type": "identify", "named_user_id": "jo"})).await;
        let contact = acted["contact"]["contact_id"].as_str().unwrap();
        // Devices can restore the id of their channel, and so choose it.
        app.device().put(&format!("/api/channels/{contact}"), super::android("token-2")).await.expect(200);
        let body = json!({"action": {"type": "resolve"}});
        library.post("/api/contacts/identify/v2", &library.as_channel(contact), &body).await.expect(409);
    })
    .await;
}

#[tokio::test]
async fn one_bad_value_does_not_lose_the_others() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, token) = library.channel("token-1").await;
        let acted = library.act(&phone, json!({"type": "identify", "named_user_id": "jo"})).await;
        let long = "x".repeat(4000);
        let body = |scope: Value| {
            let mut lists =
                json!([{"action": "subscribe", "list_id": "news"}, {"action": "subscribe", "list_id": long}]);
            lists.as_array_mut().unwrap().iter_mut().for_each(|list| list["scope"] = scope.clone());
            json!({
                "tags": {"add": {"food": ["fish", long]}},
                "attributes": [
                    {"action": "set", "key": "plan", "value": long}, {"action": "set", "key": "city", "value": "Oslo"},
                ],
                "subscription_lists": lists,
            })
        };
        let batch = format!("/api/channels/sdk/batch/{phone}");
        let contact = format!("/api/contacts/{}", acted["contact"]["contact_id"].as_str().unwrap());
        library.put(&batch, &library.with_token(&token), &body(json!(null))).await.expect(200);
        let of_contact = library.with_token(acted["token"].as_str().unwrap());
        library.post(&contact, &of_contact, &body(json!("app"))).await.expect(200);
        let seen = library.get(&format!("/api/channels/{phone}"), &library.with_token(&token)).await.expect(200);
        assert_eq!(seen["channel"]["tag_groups"]["food"], json!(["fish"]));
        assert_eq!(seen["channel"]["attributes"], json!({"city": "Oslo"}));
        assert_eq!(seen["channel"]["subscription_lists"], json!(["news"]));
        let user = &app.master().get("/api/named_users?id=jo").await.expect(200)["named_user"];
        assert_eq!((&user["tags"]["food"], &user["attributes"]), (&json!(["fish"]), &json!({"city": "Oslo"})));
        // Servers are told.
        app.master().put(&batch, body(json!(null))).await.expect(400);
        app.master().post(&contact, body(json!("app"))).await.expect(400);
    })
    .await;
}

#[tokio::test]
async fn a_bad_tag_takes_no_others_away() {
    on_each_database(async |app| {
        let library = Library::of(&app);
        let (phone, token) = library.channel("token-1").await;
        let of_phone = library.with_token(&token);
        let (batch, channel) = (format!("/api/channels/sdk/batch/{phone}"), format!("/api/channels/{phone}"));
        let (long, many) = ("x".repeat(129), (0..=100).map(|n| format!("t{n:03}")).collect::<Vec<_>>());
        for tags in [
            json!({"set": {"food": ["fish", "rice"]}}),
            json!({"set": {"food": [long]}}),
            json!({"set": {"food": many}}),
            json!({"add": {"numbers": many}}),
        ] {
            library.put(&batch, &of_phone, &json!({ "tags": tags })).await.expect(200);
        }
        let seen = library.get(&channel, &of_phone).await.expect(200);
        let groups = &seen["channel"]["tag_groups"];
        assert_eq!((&groups["food"], &groups["numbers"]), (&json!(["fish", "rice"]), &json!(many[..100])));
        // The request that servers send, too, is all or nothing for devices as well.
        let body = json!({"audience": {"channel": phone}, "set": {"food": ["tea", long]}});
        let refused = app.device().post("/api/channels/tags", body).await.expect(400);
        assert_eq!(refused["details"]["path"], "set.food[1]");
        assert_eq!(library.get(&channel, &of_phone).await.expect(200)["channel"]["tag_groups"], *groups);
    })
    .await;
}
