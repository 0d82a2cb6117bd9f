//! Browsers may call the routes of devices, and no others.

use api::routes;
use bytes::Bytes;
use http::Method;
use testkit::app::on_each_database;

const ORIGIN: &str = "access-control-allow-origin";

#[tokio::test]
async fn preflights_allow_what_devices_need() {
    on_each_database(async |app| {
        let request = app.nobody().request(Method::OPTIONS, "/api/channels/");
        let request = request
            .header("origin", "https://shop.example")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, x-ua-appkey, x-evil");
        let reply = app.nobody().send(request.body(Bytes::new()).unwrap()).await;
        assert_eq!(reply.status.as_u16(), 204);
        assert_eq!(reply.header(ORIGIN), Some("*"));
        assert_eq!(reply.header("access-control-allow-methods"), Some("POST"));
        assert_eq!(reply.header("access-control-allow-credentials"), None);
        let allowed = reply.header("access-control-allow-headers").unwrap().to_lowercase();
        let wanted = ["authorization", "content-type", "content-encoding", "if-modified-since", "idempotency-key"];
        for name in wanted.into_iter().chain(["x-ua-appkey"]) {
            assert!(allowed.split(", ").any(|allowed| allowed == name), "{name} in {allowed}");
        }
        assert!(!allowed.contains("x-evil"), "{allowed}");
    })
    .await;
}

#[tokio::test]
async fn answers_are_readable_exactly_on_the_routes_of_devices() {
    on_each_database(async |app| {
        let id = "00000000-0000-4000-8000-000000000000";
        for route in routes() {
            let path = route
                .path
                .replace("{channel_id}", id)
                .replace("{contact_id}", id)
                .replace("{push_id}", id)
                .replace("{platform}", "x");
            let path = path.replace("{key}", "AAAAAAAAAAAAAAAAAAAAAA").replace("{number}", "0");
            let path = path.replace("{user_id}", "AAAAAAAAAAAAAAAAAAAAAA").replace("{message_id}", id);
            let is_device = route.access.is_for_browsers();
            // Refusals too: a page has to see why it failed.
            let reply = app.nobody().call(route.method.clone(), &path, "").await;
            assert_eq!(reply.header(ORIGIN), is_device.then_some("*"), "{} {path}", route.method);
            if is_device {
                let exposed = reply.header("access-control-expose-headers").unwrap();
                assert!(exposed.contains("Location") && exposed.contains("Last-Modified"), "{exposed}");
            }
        }
        let preflight = app.nobody().call(Method::OPTIONS, "/api/push", "").await;
        assert_eq!(preflight.header(ORIGIN), None);
    })
    .await;
}
