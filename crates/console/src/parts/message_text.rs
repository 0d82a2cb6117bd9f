//! What people recognize the push of a schedule, a pipeline or an experiment by.

use serde_json::Value;

/// The title or the text of a push, of those for everybody and for single platforms the first.
pub(crate) fn message_text(push: &Value) -> String {
    let notification = &push["notification"];
    let overrides = notification.as_object().into_iter().flat_map(|fields| fields.values());
    let inbox = &push["message"];
    let places = [notification, &push["in_app"], inbox].into_iter().chain(overrides);
    let text = |place: &Value| {
        ["title", "alert"].into_iter().find_map(|name| match &place[name] {
            Value::String(text) => Some(text.clone()),
            // Apple's alerts may be objects.
            Value::Object(alert) => {
                ["title", "body"].into_iter().find_map(|part| alert.get(part)?.as_str().map(str::to_owned))
            }
            _ => None,
        })
    };
    let found = places.filter(|place| place.is_object()).find_map(text);
    found.unwrap_or_else(|| if push["merge_data"].is_object() { "a template" } else { "without a text" }.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_push_is_recognized_by_its_first_text() {
        let cases = [
            (json!({"notification": {"alert": "Hello"}}), "Hello"),
            (json!({"notification": {"ios": {"alert": {"body": "Hi"}}}}), "Hi"),
            (json!({"notification": {"android": {"title": "Sale", "alert": "Now"}}}), "Sale"),
            (json!({"message": {"title": "Letter"}}), "Letter"),
            (json!({"merge_data": {}}), "a template"),
            (json!({"notification": {"ios": {"badge": 1}}}), "without a text"),
        ];
        for (push, text) in cases {
            assert_eq!(message_text(&push), text, "{push}");
        }
    }
}
