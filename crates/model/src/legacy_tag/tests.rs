//! Good and bad bodies of the legacy tag endpoints.

use serde_json::json;

use super::*;

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const B: &str = "11111111-2222-4333-8444-555555555555";
const C: &str = "cccccccc-2222-4333-8444-555555555555";
const D: &str = "dddddddd-2222-4333-8444-555555555555";

fn token() -> String {
    "0a".repeat(32)
}

fn channel(id: &str, device_type: Option<DeviceType>) -> LegacyDevice {
    LegacyDevice::Channel(ChannelRef { id: id.parse().unwrap(), claimed: device_type.map(ClaimedType::Exactly) })
}

#[test]
fn every_kind_of_device() {
    let body = json!({
        "ios_channels": {"add": [A]}, "android_channels": {"remove": [C, D]}, "amazon_channels": {"add": A, "remove": []},
        "channels": {"add": [B]}, "device_tokens": {"add": [token()]}, "apids": {"remove": ["some-apid"]},
        "device_pins": {"add": ["12345678"]},
    });
    let tagging = json::parse(body.to_string().as_bytes(), LegacyTagging::parse).unwrap();
    assert_eq!(tagging.add.len(), 5);
    assert_eq!(
        tagging.add[..3],
        [channel(A, Some(DeviceType::Ios)), channel(A, Some(DeviceType::Amazon)), channel(B, None),]
    );
    assert!(matches!(&tagging.add[3], LegacyDevice::DeviceToken(found) if found.as_str() == token().to_uppercase()));
    assert_eq!(tagging.add[4], LegacyDevice::DevicePin("12345678".to_owned()));
    assert_eq!(
        tagging.remove,
        [
            channel(C, Some(DeviceType::Android)),
            channel(D, Some(DeviceType::Android)),
            LegacyDevice::Apid("some-apid".to_owned()),
        ]
    );
}

#[test]
fn bad_taggings() {
    for (body, wanted) in [
        (json!([]), &[""][..]),
        (json!({}), &[""]),
        (json!({"ios_channels": {}}), &["ios_channels"]),
        (json!({"ios_channels": [A]}), &["ios_channels"]),
        (json!({"ios_channel": {"add": [A]}}), &["", "ios_channel"]),
        (
            json!({"ios_channels": {"add": ["x"], "set": []}, "device_tokens": {"remove": ["0a"]}}),
            &["ios_channels.add[0]", "ios_channels.set", "device_tokens.remove[0]"],
        ),
        (json!({"ios_channels": {"add": [A], "remove": [B, A]}}), &["ios_channels.remove"]),
        (json!({"ios_channels": {"remove": [A]}, "channels": {"add": [A]}}), &["ios_channels.remove"]),
        (
            json!({"ios_channels": {"add": [A]}, "android_channels": {"add": [B], "remove": [A]}, "channels": {"remove": [B]}}),
            &["android_channels.remove", "channels.remove"],
        ),
        (json!({"channels": {"add": vec![A; 1001]}}), &["channels.add"]),
    ] {
        let problems = json::parse(body.to_string().as_bytes(), LegacyTagging::parse).expect_err(&body.to_string());
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, wanted, "{body}: {problems}");
    }
}

#[test]
fn batches() {
    let body = json!([
        {"ios_channel": A, "tags": ["a", "b", "a"]},
        {"android_channel": B, "tags": []},
        {"device_token": token(), "tags": ["x"]},
        {"device_pins": "12345678", "tags": ["x"]},
    ]);
    let TagBatch(rows) = TagBatch::parse(body.to_string().as_bytes()).unwrap();
    assert_eq!(rows[0].device, channel(A, Some(DeviceType::Ios)));
    assert_eq!(rows[0].tags, ["a", "b"].map(|tag| Tag::new(tag).unwrap()).into());
    assert_eq!(rows[1], TagRow { device: channel(B, Some(DeviceType::Android)), tags: BTreeSet::new() });
    assert_eq!(rows[3].device, LegacyDevice::DevicePin("12345678".to_owned()));
    assert_eq!(rows.len(), 4);
}

#[test]
fn bad_rows_are_given_back_each_with_its_reason() {
    let rows = [
        json!({"ios_channel": A}),
        json!({"ios_channel": A, "tags": "a"}),
        json!({"ios_channel": "x", "tags": ["a"]}),
        json!({"tags": ["a"]}),
        json!({"ios_channel": A, "channel": B, "tags": ["a"]}),
        json!({"ios_channel": A, "tags": ["a"], "group": "g"}),
        json!({"ios_channel": A, "tags": ["", "b"]}),
        json!({"apid": "a\u{0}b", "tags": ["a"]}),
        json!({"device_pin": "a\u{0}b", "tags": ["a"]}),
        json!("ios_channel"),
    ];
    let good = json!({"ios_channel": A, "tags": ["a"]});
    for row in &rows {
        let body = json!([good, row, good]).to_string();
        let Err(BatchRefusal::Rows(refusals)) = TagBatch::parse(body.as_bytes()) else { panic!("{row}") };
        let [RowRefusal(refused, message)] = &refusals[..] else { panic!("{refusals:?}") };
        assert_eq!(refused, row);
        assert!(message.ends_with('.'), "{row}: {message}");
    }
    let Err(BatchRefusal::Rows(refusals)) = TagBatch::parse(json!(rows).to_string().as_bytes()) else { panic!() };
    assert_eq!(refusals.len(), rows.len());
    assert_eq!(serde_json::to_value(&refusals[0]).unwrap(), json!([{"ios_channel": A}, "tags: 'tags' must be set."]));

    let body = json!(vec![json!({}); 500]).to_string();
    let Err(BatchRefusal::Rows(refusals)) = TagBatch::parse(body.as_bytes()) else { panic!() };
    assert_eq!(refusals.len(), MOST_REFUSALS);
}

#[test]
fn what_is_no_batch_is_refused_as_a_whole() {
    let too_many = json!(vec![json!({"ios_channel": A, "tags": []}); 1001]).to_string();
    for body in ["", "[", "[]", "{}", r#""x""#, &too_many] {
        assert!(matches!(TagBatch::parse(body.as_bytes()), Err(BatchRefusal::Body(_))), "{body:.40}");
    }
}
