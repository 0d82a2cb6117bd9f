//! The body that an endpoint gets: one value per channel, so many to a request.

use std::collections::BTreeMap;

use model::ids::{ChannelId, DeliveryId};
use providers::open::{MOST_BATCH_BYTES, MOST_VALUES, OpenPush};
use providers::{Recipient, RenderedPush};
use serde_json::{Value, json};

use crate::fixture::{APP_KEY, CHANNEL, DELIVERY, PUSH, Push, recipient};

fn open_push(notification: Value) -> OpenPush {
    match Push::of(notification).render("open::chat").unwrap() {
        RenderedPush::Open(push) => push,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_has_ids_target_and_payload() {
    let push = open_push(json!({
        "alert": "Sale!",
        "actions": {"add_tag": "sale"},
        "open::chat": {
            "title": "Today only", "summary": "All shops", "media_attachment": "https://example.com/a.gif",
            "extra": {"order": "7"}, "interactive": {"type": "ua_share"},
        },
        "open::other": {"alert": "Not this one"},
    }));
    let identifiers = BTreeMap::from([("color".to_owned(), "blue".to_owned())]);
    let mut with_identifiers = recipient("me@chat \"1\"");
    with_identifiers.identifiers = Some(&identifiers);
    let payload = json!({
        "alert": "Sale!", "title": "Today only", "summary": "All shops", "media_attachment": "https://example.com/a.gif",
        "extra": {"order": "7"}, "interactive": {"type": "ua_share"}, "actions": {"add_tag": "sale"},
    });
    let value = |address: &str, identifiers: Value| {
        json!({
            "send_id": DELIVERY, "push_id": PUSH, "app_key": APP_KEY,
            "target": {"address": address, "channel_id": CHANNEL, "identifiers": identifiers},
            "payload": payload,
        })
    };
    let batch = push.batch(&[with_identifiers, recipient("you")]);
    assert_eq!(batch.n_values, 2);
    let body: Value = serde_json::from_slice(&batch.body).unwrap();
    assert_eq!(body, json!({"values": [value("me@chat \"1\"", json!({"color": "blue"})), value("you", json!({}))]}));

    let expected = json!({
        "method": "POST",
        "url": "/push",
        "headers": {"content-type": "application/vnd.urbanairship+json; version=3", "data-attribute": "values"},
        "body": {"values": [value("you", json!({}))]},
    });
    assert_eq!(push.request(&recipient("you")).to_json(), expected);
}

/// The batches of as many recipients as asked for, each as its number of values and its size.
fn batch_sizes(push: &OpenPush, n_recipients: usize) -> Vec<(usize, usize)> {
    let addresses: Vec<String> = (0..n_recipients).map(|i| format!("address-{i}")).collect();
    let recipients: Vec<Recipient<'_>> =
        addresses.iter().map(|address| Recipient::new(DeliveryId::random(), ChannelId::random(), address)).collect();
    let mut sizes = Vec::new();
    let mut left = recipients.as_slice();
    while !left.is_empty() {
        let batch = push.batch(left);
        let body: Value = serde_json::from_slice(&batch.body).unwrap();
        let sent: Vec<&str> =
            body["values"].as_array().unwrap().iter().map(|v| v["target"]["address"].as_str().unwrap()).collect();
        let taken: Vec<&str> = left[..batch.n_values].iter().map(|recipient| recipient.address).collect();
        assert_eq!(sent, taken);
        sizes.push((batch.n_values, batch.body.len()));
        left = &left[batch.n_values..];
    }
    sizes
}

#[test]
fn a_request_has_at_most_a_thousand_values() {
    let sizes = batch_sizes(&open_push(json!({"alert": "Hi"})), 2 * MOST_VALUES + 1);
    assert_eq!(sizes.iter().map(|(n_values, _)| *n_values).collect::<Vec<_>>(), [1000, 1000, 1]);
}

#[test]
fn large_payloads_make_small_batches_but_never_empty_ones() {
    let tenth = "x".repeat(MOST_BATCH_BYTES / 10);
    let sizes = batch_sizes(&open_push(json!({ "alert": tenth })), 20);
    assert_eq!(sizes.iter().map(|(n_values, _)| *n_values).collect::<Vec<_>>(), [9, 9, 2]);
    assert!(sizes.iter().all(|(_, n_bytes)| *n_bytes <= MOST_BATCH_BYTES + "]}".len()));

    let huge = "x".repeat(MOST_BATCH_BYTES);
    assert_eq!(batch_sizes(&open_push(json!({ "alert": huge })), 3).len(), 3);
}
