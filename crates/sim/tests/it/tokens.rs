//! The providers that speak HTTP/1.1 and hand out tokens for a client's secret: Amazon's and Microsoft's.

use serde_json::json;
use sim::keys::{ADM_CLIENT_ID, CLIENT_SECRET, WNS_CLIENT_ID, WNS_PACKAGE_SID};
use sim::{Faults, Protocol, SimSettings, Simulator};

use crate::client::{Answer, Headers, http1};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const TOAST: &[u8] = b"<?xml version=\"1.0\"?><toast><visual/></toast>";

async fn bearer(simulator: &Simulator, path: &str, scope: &str, client_id: &str) -> String {
    let form = format!(
        "grant_type=client_credentials&scope={scope}&client_id={}&client_secret={CLIENT_SECRET}",
        client_id.replace(':', "%3A").replace('/', "%2F")
    );
    let answer = http1(simulator, "POST", path, &[FORM], form.as_bytes()).await.unwrap();
    assert_eq!(answer.status, 200, "{:?}", answer.body);
    format!("Bearer {}", answer.json()["access_token"].as_str().unwrap())
}

async fn adm(simulator: &Simulator, bearer: &str, registration: &str, body: &serde_json::Value) -> Answer {
    let headers = [
        ("authorization", bearer),
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("x-amzn-type-version", "com.amazon.device.messaging.ADMMessage@1.0"),
        ("x-amzn-accept-type", "com.amazon.device.messaging.ADMSendResult@1.0"),
    ];
    let path = format!("/messaging/registrations/{registration}/messages");
    http1(simulator, "POST", &path, &headers, body.to_string().as_bytes()).await.unwrap()
}

#[tokio::test]
async fn amazon() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let bearer = bearer(&simulator, "/auth/O2/token", "messaging:push", ADM_CLIENT_ID).await;
    let good = json!({ "data": { "com.urbanairship.push.PUSH_ID": "p" }, "expiresAfter": 60 });
    for _ in 0..2 {
        let answer = adm(&simulator, &bearer, "amzn1.adm-registration.v3.a%2Db", &good).await;
        let expected = json!({ "registrationID": "amzn1.adm-registration.v3.a-b" });
        assert_eq!((answer.status.as_u16(), answer.json()), (200, expected));
    }
    assert_eq!(simulator.stats().of(Protocol::Adm).duplicates, 1);
    let table = [
        ("x", json!({}), 400, "InvalidData"),
        ("x", json!({ "data": { "n": 1 } }), 400, "InvalidData"),
        ("x", json!({ "data": { "n": "1" }, "expiresAfter": 1 }), 400, "InvalidExpiration"),
        ("x", json!({ "data": { "n": "1" }, "consolidationKey": "k".repeat(65) }), 400, "InvalidConsolidationKey"),
        ("x", json!({ "data": { "n": "1".repeat(6200) } }), 413, "MessageTooLarge"),
        ("%20", json!({ "data": { "n": "1" } }), 400, "InvalidRegistrationId"),
    ];
    for (registration, body, status, reason) in table {
        let answer = adm(&simulator, &bearer, registration, &body).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (status, json!({ "reason": reason })));
    }
    assert_eq!(adm(&simulator, "Bearer x", "y", &good).await.json(), json!({ "reason": "AccessTokenExpired" }));
    simulator.set_faults(Faults { gone: 1.0, ..Faults::default() });
    assert_eq!(adm(&simulator, &bearer, "new", &good).await.json(), json!({ "reason": "Unregistered" }));
    simulator.set_faults(Faults { throttled: 1.0, ..Faults::default() });
    let throttled = adm(&simulator, &bearer, "newer", &good).await;
    assert_eq!((throttled.status.as_u16(), throttled.header("retry-after")), (429, "1"));
}

#[tokio::test]
async fn secrets_are_checked() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let table = [
        ("/auth/O2/token", "grant_type=client_credentials&scope=messaging:push&client_id=x&client_secret=y", 401),
        ("/auth/O2/token", "grant_type=client_credentials&scope=email", 400),
        ("/accesstoken.srf", "grant_type=client_credentials&scope=notify.windows.com&client_id=x", 401),
        ("/tenant/oauth2/v2.0/token", "grant_type=password", 400),
    ];
    for (path, form, status) in table {
        assert_eq!(http1(&simulator, "POST", path, &[FORM], form.as_bytes()).await.unwrap().status, status, "{form}");
    }
    assert_eq!(http1(&simulator, "POST", "/auth/O2/token", &[], b"").await.unwrap().status, 400);
}

#[tokio::test]
async fn microsoft() {
    let simulator = Simulator::start(SimSettings::default()).await.unwrap();
    let sdk = "https://wns.windows.com/.default";
    let from_directory = bearer(&simulator, "/tenant/oauth2/v2.0/token", sdk, WNS_CLIENT_ID).await;
    let bearer = bearer(&simulator, "/accesstoken.srf", "notify.windows.com", WNS_PACKAGE_SID).await;
    assert_ne!(bearer, from_directory);
    let xml = ("content-type", "text/xml");
    let toast = ("x-wns-type", "wns/toast");
    let send = async |headers: &[(&str, &str)], body: &[u8]| {
        let headers = [&[("authorization", bearer.as_str())], headers].concat();
        http1(&simulator, "POST", "/wns/channel-1", &headers, body).await.unwrap()
    };
    for _ in 0..2 {
        let answer = send(&[xml, toast, ("ms-cv", "abc.1"), ("x-wns-ttl", "60")], TOAST).await;
        assert_eq!((answer.status.as_u16(), answer.header("x-wns-status")), (200, "received"));
        assert_eq!(answer.header("ms-cv"), "abc.1");
        assert_eq!(answer.header("x-wns-msg-id").len(), 16);
    }
    assert_eq!(simulator.stats().of(Protocol::Wns).duplicates, 1);
    let large = [b"<toast>".as_slice(), &[b'x'; 5000]].concat();
    let table: [(Headers<'_>, &[u8], u16); 7] = [
        (&[xml], TOAST, 400),
        (&[xml, ("x-wns-type", "wns/tile")], TOAST, 400),
        (&[("content-type", "application/json"), toast], TOAST, 400),
        (&[xml, toast, ("x-wns-ttl", "soon")], TOAST, 400),
        (&[xml, toast, ("x-wns-tag", "seventeen letters")], TOAST, 400),
        (&[xml, toast], b"", 400),
        (&[xml, toast], &large, 413),
    ];
    for (headers, body, status) in table {
        let answer = send(headers, body).await;
        assert_eq!(answer.status, status, "{headers:?}");
        assert!(!answer.header("x-wns-error-description").is_empty());
    }
    for (faults, status) in [
        (Faults { gone: 1.0, ..Faults::default() }, 410),
        (Faults { throttled: 1.0, ..Faults::default() }, 406),
        (Faults { unavailable: 1.0, ..Faults::default() }, 503),
        (Faults { refuse_credentials: [Protocol::Wns].into(), ..Faults::default() }, 401),
    ] {
        simulator.set_faults(faults);
        assert_eq!(send(&[xml, toast], TOAST).await.status, status);
    }
    // A reset of HTTP/1.1 is the end of its connection.
    simulator.set_faults(Faults { resets: 1.0, ..Faults::default() });
    let headers = [("authorization", bearer.as_str()), xml, toast];
    assert!(http1(&simulator, "POST", "/wns/channel-2", &headers, TOAST).await.is_none());
}
