//! Messages to Windows, through a server on loopback that hands out tokens and has channels.

use http::Response;
use providers::credential::Credential;
use providers::http::{AddressPolicy, WebUrl};
use providers::outcome::Outcome;
use providers::wns::{Client, WnsAuth, WnsCredentials, WnsPush};
use providers::{Endpoint, Network, RenderedPush};
use serde_json::{Value, json};

use crate::fixture::{NOW, Push, recipient};
use crate::receiver::{Receiver, answer};

fn push(wns: &Value) -> WnsPush {
    let RenderedPush::Wns(push) = Push::of(json!({ "wns": wns })).render("wns").unwrap() else { panic!() };
    push
}

fn client(service: &Receiver, auth: WnsAuth) -> Client {
    let url = WebUrl::try_from(service.url("")).unwrap();
    let credentials = WnsCredentials { auth, endpoint: Some(Endpoint { url, ca: None }) };
    Client::new(&credentials, &Network::new(AddressPolicy::ANY))
}

fn store() -> WnsAuth {
    WnsAuth::Store { package_sid: "ms-app://s-1-15-2".to_owned(), client_secret: Credential::new("secret") }
}

async fn service() -> Receiver {
    Receiver::start(|request| match request.head.uri.path() {
        "/accesstoken.srf" | "/contoso.example/oauth2/v2.0/token" => {
            answer(200, r#"{"access_token":"t","expires_in":86400,"token_type":"bearer"}"#)
        }
        "/dropped" => Response::builder().header("x-wns-status", "dropped").body("".into()).unwrap(),
        "/throttled" => Response::builder().status(406).header("retry-after", "30").body("".into()).unwrap(),
        _ => Response::builder().header("x-wns-status", "received").body("".into()).unwrap(),
    })
    .await
}

#[tokio::test]
async fn toasts_tiles_badges_and_raw_messages() {
    let service = service().await;
    let client = client(&service, store());
    let kinds = [
        (json!({"alert": "Hi"}), "wns/toast", "text/xml"),
        (json!({"tile": {"binding": {"template": "TileWideText01"}}}), "wns/tile", "text/xml"),
        (json!({"badge": {"value": 5}}), "wns/badge", "text/xml"),
        (json!({"raw": "{\"any\": \"<text>\"}"}), "wns/raw", "application/octet-stream"),
    ];
    for (wns, kind, content_type) in kinds {
        let (push, address) = (push(&wns), service.url("/channel?token=1"));
        assert_eq!(client.send(&push, &recipient(&address), NOW).await, Outcome::Delivered);
        let sent = service.received().pop().unwrap();
        assert_eq!((sent.header("x-wns-type"), sent.header("content-type")), (Some(kind), Some(content_type)));
        assert_eq!(sent.body, push.request(&recipient(&address)).body, "what the sandbox shows is what is sent");
        let length = sent.body.len().to_string();
        assert_eq!((sent.header("content-length"), sent.header("transfer-encoding")), (Some(length.as_str()), None));
        assert_eq!(sent.header("authorization"), Some("Bearer t"));
        assert_eq!(sent.header("ms-cv"), Some("ERERESIiMzNERFVVVVVVVQ.0"));
    }
    let received = service.received();
    let form =
        "grant_type=client_credentials&client_id=ms-app:%2F%2Fs-1-15-2&client_secret=secret&scope=notify.windows.com";
    assert_eq!((received.len(), &received[0].body[..]), (5, form.as_bytes()), "one token for all");
}

#[tokio::test]
async fn apps_of_the_windows_app_sdk_prove_themselves_elsewhere() {
    let service = service().await;
    let auth = WnsAuth::AppSdk {
        tenant_id: "contoso.example".to_owned(),
        client_id: "id".to_owned(),
        client_secret: Credential::new("secret"),
    };
    client(&service, auth).check(NOW).await.unwrap();
    let asked = service.received().pop().unwrap();
    assert_eq!(asked.head.uri.path(), "/contoso.example/oauth2/v2.0/token");
    let scope = "scope=https:%2F%2Fwns.windows.com%2F.default";
    assert!(String::from_utf8_lossy(&asked.body).ends_with(scope), "{:?}", asked.body);
}

#[tokio::test]
async fn an_answer_of_200_is_not_always_a_delivery() {
    let service = service().await;
    let client = client(&service, store());
    let push = push(&json!({"alert": "Hi"}));
    let dropped = client.send(&push, &recipient(&service.url("/dropped")), NOW).await;
    assert!(matches!(dropped, Outcome::Rejected { .. }), "{dropped:?}");
    let throttled = client.send(&push, &recipient(&service.url("/throttled")), NOW).await;
    assert!(matches!(throttled, Outcome::Retry { after: Some(_), everybody: true, .. }), "{throttled:?}");
}

#[tokio::test]
async fn tokens_go_to_channels_of_windows_only() {
    let (service, elsewhere) = (service().await, service().await);
    let client = client(&service, store());
    let push = push(&json!({"alert": "Hi"}));
    let foreign = elsewhere.url("/channel");
    let addresses = [
        foreign.as_str(),
        "https://notify.windows.com.example/",
        "https://user@a.notify.windows.com/",
        "https://a!.notify.windows.com/",
        "no url",
    ];
    for address in addresses {
        let outcome = client.send(&push, &recipient(address), NOW).await;
        assert!(matches!(outcome, Outcome::Rejected { .. }), "{address}: {outcome:?}");
    }
    assert!(service.received().is_empty() && elsewhere.received().is_empty());
}
