//! Which push services are acceptable, and when they rest.

use super::*;
use crate::http::AddressPolicy;

fn any() -> PushHosts {
    PushHosts::default().and_others()
}

fn network() -> Network {
    Network::new(AddressPolicy::ANY)
}

#[test]
fn origins_as_tokens_name_them() {
    let table = [
        ("https://Push.Example/a/b?c", "https://push.example"),
        ("https://push.example:443/", "https://push.example"),
        ("https://push.example:8443/", "https://push.example:8443"),
        ("http://127.0.0.1:80/x", "http://127.0.0.1"),
        ("https://[::1]:9/x", "https://[::1]:9"),
    ];
    for (url, expected) in table {
        assert_eq!(origin(&url.parse().unwrap()).unwrap(), expected, "{url}");
    }
}

#[test]
fn only_https_and_the_own_endpoint() {
    let own = Endpoint { url: WebUrl::try_from("http://127.0.0.1:8080/".to_owned()).unwrap(), ca: None };
    let services = Services::new(&network(), any(), Some(&own));
    for url in ["https://push.example/a", "http://127.0.0.1:8080/webpush/1"] {
        assert!(services.of(&url.parse().unwrap()).is_ok(), "{url}");
    }
    for url in ["http://push.example/a", "http://127.0.0.1:8081/", "ftp://push.example/", "/relative"] {
        assert!(services.of(&url.parse().unwrap()).is_err(), "{url}");
    }
    assert!(Services::new(&network(), any(), None).of(&"http://127.0.0.1:8080/".parse().unwrap()).is_err());
}

#[test]
fn the_endpoint_takes_the_place_of_every_service() {
    let own = Endpoint { url: WebUrl::try_from("http://127.0.0.1:8080/".to_owned()).unwrap(), ca: None };
    let services = Services::new(&network(), PushHosts::default(), Some(&own));
    let table = [
        ("https://fcm.googleapis.com/fcm/send/a?b=c", "http://127.0.0.1:8080/fcm/send/a?b=c"),
        ("https://web.push.apple.com/", "http://127.0.0.1:8080/"),
        ("http://127.0.0.1:8080/webpush/1", "http://127.0.0.1:8080/webpush/1"),
    ];
    for (subscription, destination) in table {
        let subscription: Uri = subscription.parse().unwrap();
        assert_eq!(services.of(&subscription).unwrap().origin, origin(&subscription).unwrap());
        assert_eq!(services.destination(subscription).to_string(), destination);
    }
    let refused = services.of(&"https://evil.example/".parse().unwrap()).err().unwrap();
    assert!(refused.contains("not a known push service"), "{refused}");
    let without = Services::new(&network(), PushHosts::default(), None);
    let subscription: Uri = "https://fcm.googleapis.com/fcm/send/a".parse().unwrap();
    assert_eq!(without.destination(subscription.clone()), subscription);
}

#[test]
fn a_private_endpoint_needs_the_policy_of_the_operator() {
    let own = Endpoint { url: WebUrl::try_from("https://10.0.0.1/".to_owned()).unwrap(), ca: None };
    let public = Network::new(AddressPolicy::PUBLIC_ONLY);
    let services = Services::new(&public, PushHosts::default(), Some(&own));
    assert!(services.of(&"https://fcm.googleapis.com/a".parse().unwrap()).is_err());
}

#[test]
fn made_up_services_do_not_pile_up() {
    let services = Services::new(&network(), any(), None);
    for n in 0..MOST_SERVICES + 10 {
        services.of(&format!("https://push{n}.example/").parse().unwrap()).unwrap();
    }
    assert!(services.known.lock().len() <= MOST_SERVICES);
    let uri = "https://push.example/".parse().unwrap();
    assert!(Arc::ptr_eq(&services.of(&uri).unwrap(), &services.of(&uri).unwrap()));
}

#[test]
fn services_rest_as_long_as_they_ask() {
    let service = Service::new("https://push.example".to_owned(), 0, true, None);
    assert_eq!(service.rest(UtcMillis(5)), None);
    service.rest_until(UtcMillis(1000));
    service.rest_until(UtcMillis(500));
    assert_eq!(service.rest(UtcMillis(400)), Some(Duration::from_millis(600)));
    assert_eq!(service.rest(UtcMillis(1000)), None);
}

#[test]
fn known_services_have_a_lane_each_and_others_share_one() {
    let own = Endpoint { url: WebUrl::try_from("http://127.0.0.1:8080/".to_owned()).unwrap(), ca: None };
    let services = Services::new(&network(), PushHosts::default(), Some(&own));
    let lane = |url: &str| services.lane(&url.parse().unwrap());
    assert_eq!(lane("https://fcm.googleapis.com/a"), lane("https://fcm.googleapis.com/b"));
    assert_ne!(lane("https://fcm.googleapis.com/a"), lane("https://web.push.apple.com/a"));
    assert_eq!(lane("http://127.0.0.1:8080/x"), services.n_lanes() - 2);
    assert_eq!((lane("https://evil.example/"), services.lane_of_others()), (7, 7));
    assert!(services.of(&"https://fcm.googleapis.com/a".parse().unwrap()).is_ok());
    let refused = services.of(&"https://evil.example/".parse().unwrap()).err().unwrap();
    assert!(refused.contains("evil.example"), "{refused}");
}

#[test]
fn silent_services_rest_for_longer_every_time() {
    let (service, now) = (Service::new("https://push.example".to_owned(), 0, true, None), UtcMillis(0));
    let silent = |n| (0..n).for_each(|_| service.was_silent(now));
    silent(SILENT - 1);
    assert_eq!(service.rest(now), None);
    service.answered();
    silent(SILENT - 1);
    assert_eq!(service.rest(now), None, "it answered in between");
    silent(1);
    assert_eq!(service.rest(now), Some(FIRST_REST));
    silent(SILENT);
    assert_eq!(service.rest(now), Some(FIRST_REST * 2));
    silent(100 * SILENT);
    assert_eq!(service.rest(now), Some(LONGEST_REST));
}

#[test]
fn a_service_is_heard_until_it_rests_for_its_silence() {
    let (service, now) = (Service::new("https://push.example".to_owned(), 0, false, None), UtcMillis(0));
    assert!(!service.is_heard());
    service.answered();
    service.rest_until(UtcMillis(1000));
    (1..SILENT).for_each(|_| service.was_silent(now));
    assert!(service.is_heard(), "it has asked for the rest");
    service.was_silent(now);
    assert!(!service.is_heard());
    service.answered();
    assert!(service.is_heard());
}

#[test]
fn a_service_that_refuses_subscriptions_that_worked_rests_alone() {
    let (service, now) = (Service::new("https://push.example".to_owned(), 0, true, None), UtcMillis(0));
    for _ in 1..TOO_SUSPICIOUS {
        assert_eq!(service.suspect(now), None);
    }
    service.served();
    for _ in 1..TOO_SUSPICIOUS {
        assert_eq!((service.suspect(now), service.rest(now)), (None, None));
    }
    assert_eq!((service.suspect(now), service.rest(now)), (Some(REFUSED_REST), Some(REFUSED_REST)));
}

#[test]
fn services_that_never_answered_rest_together() {
    let services = Services::new(&network(), any(), None);
    let (one, now) = (services.of(&"https://a.evil.example/".parse().unwrap()).unwrap(), UtcMillis(0));
    let another = services.of(&"https://b.evil.example/".parse().unwrap()).unwrap();
    let known = services.of(&"https://fcm.googleapis.com/".parse().unwrap()).unwrap();
    services.was_silent(&one, now);
    assert_eq!(services.rest(&one, now), None);
    services.was_silent(&one, now);
    assert_eq!((services.rest(&one, now), services.rest(&another, now)), (Some(FIRST_REST), None));
    for n in 0..SILENT {
        let made_up = services.of(&format!("https://{n}.evil.example/").parse().unwrap()).unwrap();
        services.was_silent(&made_up, now);
    }
    assert_eq!((services.rest(&another, now), services.rest(&known, now)), (Some(FIRST_REST), None));
    another.answered();
    assert_eq!(services.rest(&another, now), None);
}
