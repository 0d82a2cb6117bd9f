//! How templates are read, refused and filled in.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::placeholder::{Piece, pieces};
use super::*;

fn read(body: &Value) -> Result<Template, String> {
    let parsed = json::parse(body.to_string().as_bytes(), Template::parse);
    parsed.map_err(|problems| problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>().join(" "))
}

fn template(variables: &Value, push: &Value) -> Value {
    json!({"name": "T", "variables": variables, "push": push})
}

fn usage(substitutions: &Value) -> TemplateUse {
    let body = json!({"audience": "all", "device_types": "all", "merge_data": {
        "template_id": "00000000-0000-4000-8000-000000000000", "substitutions": substitutions}});
    json::parse(body.to_string().as_bytes(), TemplateUse::parse).unwrap()
}

fn rendered(variables: &Value, push: &Value, substitutions: &Value) -> Result<Value, String> {
    let template = read(&template(variables, push)).unwrap();
    let push = template
        .render(&usage(substitutions))
        .map_err(|problems| problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>().join(" "))?;
    Ok(serde_json::to_value(push).unwrap())
}

#[test]
fn texts_come_apart() {
    for (text, expected) in [
        ("", vec![]),
        ("plain", vec![Piece::Text("plain")]),
        ("{{A}}", vec![Piece::Variable("A")]),
        (
            "a {{A}} b {{ B_1 }}",
            vec![Piece::Text("a "), Piece::Variable("A"), Piece::Text(" b "), Piece::Variable("B_1")],
        ),
        ("{{A}}{{A}}", vec![Piece::Variable("A"), Piece::Variable("A")]),
        ("{{{A}}}", vec![Piece::Text("{"), Piece::Variable("A"), Piece::Text("}")]),
        ("{{#if A}}{{", vec![Piece::Text("{{#if A}}{{")]),
        ("{{_A}} {{}} {{ä}}", vec![Piece::Text("{{_A}} {{}} {{ä}}")]),
        ("{{A B}} {{C}}", vec![Piece::Text("{{A B}} "), Piece::Variable("C")]),
    ] {
        assert_eq!(pieces(text).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let alert = |text: &str| json!({"notification": {"alert": text}});
    for (body, paths) in [
        (json!({}), "name variables push"),
        (json!({"name": "", "variables": null, "push": {}}), "name push.notification"),
        (template(&json!([]), &json!({"notification": {"alert": "a", "colour": 1}})), "push.notification.colour"),
        (template(&json!([]), &json!({"notification": {"alert": "a"}, "audience": "all"})), "push.audience"),
        (template(&json!([]), &json!("x")), "push"),
        (template(&json!([]), &alert("Hi {{NAME}}")), "push.notification.alert"),
        (
            template(&json!([{"key": "_A"}, {"key": "A", "default": "x"}]), &alert("a")),
            "variables[0].key variables[1].default",
        ),
        (template(&json!([{"key": "A"}, {"key": "A"}]), &alert("a")), "variables[1].key"),
        (template(&json!([{"key": "A".repeat(33)}]), &alert("a")), "variables[0].key"),
        (
            template(&json!([{"key": "U"}]), &json!({"notification": {"alert": "a", "web": {"icon": {"url": "x"}}}})),
            "push.notification.web.icon.url",
        ),
    ] {
        assert_eq!(read(&body).unwrap_err(), paths, "{body}");
    }
    let open = json!({"notification": {"alert": "a", "web": {"icon": {"url": "{{U}}"}}}});
    read(&template(&json!([{"key": "U"}]), &open)).unwrap();
}

#[test]
fn templates_print_as_they_came() {
    let body = json!({"name": "Greeting", "description": "Says hello", "variables": [
        {"key": "NAME", "name": "Name", "description": "Of the person", "default_value": null},
        {"key": "N", "default_value": "1"},
    ], "push": {"notification": {"alert": "Hello {{NAME}}", "ios": {"badge": "+{{N}}"}}}});
    let template = read(&body).unwrap();
    assert_eq!(serde_json::to_value(&template).unwrap(), body);
    assert_eq!(read(&serde_json::to_value(&template).unwrap()), Ok(template));
}

#[test]
fn changes_leave_the_rest() {
    let old = read(&template(&json!([{"key": "A"}]), &json!({"notification": {"alert": "{{A}}"}}))).unwrap();
    let change = |body: &Value| json::parse(body.to_string().as_bytes(), TemplateChange::parse);
    let renamed = old.clone().changed(change(&json!({"name": "New"})).unwrap()).unwrap();
    assert_eq!(renamed, Template { name: "New".to_owned(), ..old.clone() });
    let none = json!({"variables": []});
    assert_eq!(old.clone().changed(change(&none).unwrap()).unwrap(), old, "the text still has one");
    let plain = json!({"push": {"notification": {"alert": "Hi"}}, "variables": []});
    assert_eq!(old.clone().changed(change(&plain).unwrap()).unwrap().variables, []);
    let problems = old.clone().changed(change(&json!({"variables": [{"key": "B"}]})).unwrap()).unwrap_err();
    assert_eq!(problems.first().path, "push.notification.alert");
    let push = json!({"push": {"notification": {"alert": "{{B}}"}}});
    assert!(old.clone().changed(change(&push).unwrap()).is_err());
    let both = json!({"push": push["push"], "variables": [{"key": "B"}]});
    assert_eq!(old.changed(change(&both).unwrap()).unwrap().variables[0].key.as_str(), "B");
    change(&json!({})).unwrap_err();
    change(&json!({"name": 1})).unwrap_err();
}

#[test]
fn every_text_is_filled_in() {
    let push = json!({
        "notification": {
            "alert": "{{A}} and {{B}}",
            "ios": {"title": "{{A}}", "badge": "+{{N}}", "extra": {"k": "{{A}}"}},
            "actions": {"open": {"type": "url", "content": "https://example.com/{{A}}"}, "add_tag": ["t-{{A}}"],
                        "app_defined": {"^x": [{"deep": "{{A}}"}]}},
            "web": {"icon": {"url": "{{U}}"}},
        },
        "localizations": [{"language": "de", "notification": {"alert": "{{A}} und {{B}}"}}],
        "campaigns": {"categories": ["{{A}}"]},
    });
    let variables = json!([{"key": "A"}, {"key": "B", "default_value": "b"}, {"key": "N"}, {"key": "U"}]);
    let values = json!({"A": "x<y", "N": 2, "U": "https://example.com/i.png", "OTHER": "ignored", "B": null});
    let push = rendered(&variables, &push, &values).unwrap();
    let notification = &push["notification"];
    assert_eq!(notification["alert"], "x<y and b", "this is not HTML");
    assert_eq!(notification["ios"], json!({"title": "x<y", "badge": "+2", "extra": {"k": "x<y"}}));
    assert_eq!(notification["actions"]["open"]["content"], "https://example.com/x<y");
    assert_eq!(notification["actions"]["add_tag"], json!(["t-x<y"]));
    assert_eq!(notification["actions"]["app_defined"]["^x"][0]["deep"], "x<y");
    assert_eq!(notification["web"]["icon"]["url"], "https://example.com/i.png");
    assert_eq!(push["localizations"][0]["notification"]["alert"], "x<y und b");
    assert_eq!(push["campaigns"]["categories"], json!(["x<y"]));
    assert_eq!((&push["audience"], &push["device_types"]), (&json!("all"), &json!("all")));
}

#[test]
fn values_are_no_markup() {
    let message = |more: &Value| {
        let mut message = json!({"title": "{{A}}", "body": "<p>{{A}}</p>"});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"message": message, "notification": {"alert": "{{A}}"}})
    };
    let variables = json!([{"key": "A"}, {"key": "TYPE", "default_value": "text/plain"}]);
    let body = |more: &Value, a: &str| {
        let push = rendered(&variables, &message(more), &json!({"A": a})).unwrap();
        assert_eq!((&push["message"]["title"], &push["notification"]["alert"]), (&json!(a), &json!(a)));
        push["message"]["body"].as_str().unwrap().to_owned()
    };
    let (dangerous, harmless) = ("<b a='\"'>&", "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
    assert_eq!(body(&json!({}), dangerous), format!("<p>{harmless}</p>"));
    assert_eq!(body(&json!({"content_type": "Text/HTML; charset=utf-8"}), dangerous), format!("<p>{harmless}</p>"));
    assert_eq!(body(&json!({"content-type": "text/html"}), dangerous), format!("<p>{harmless}</p>"));
    assert_eq!(body(&json!({"content_type": "text/plain"}), dangerous), format!("<p>{dangerous}</p>"));
    assert_eq!(body(&json!({"content_type": "{{TYPE}}"}), dangerous), format!("<p>{dangerous}</p>"));
    let page = |kind: &str| {
        let page = json!({"type": "landing_page", "content": {"body": "{{A}}", "content_type": kind}});
        let push = json!({"notification": {"alert": "a", "actions": {"open": page}}});
        let push = rendered(&json!([{"key": "A"}]), &push, &json!({"A": "<"})).unwrap();
        push["notification"]["actions"]["open"]["content"]["body"].clone()
    };
    assert_eq!((page("text/html"), page("text/plain")), (json!("&lt;"), json!("<")));
    let email = json!({"message_type": "commercial", "sender_name": "A", "sender_address": "a@example.com",
        "reply_to": "a@example.com", "subject": "{{A}}", "plaintext_body": "{{A}}", "html_body": "{{A}}"});
    let push = json!({"notification": {"alert": "a", "email": email}});
    let push = rendered(&json!([{"key": "A"}]), &push, &json!({"A": "<"})).unwrap();
    let email = &push["notification"]["email"];
    assert_eq!(
        (&email["html_body"], &email["plaintext_body"], &email["subject"]),
        (&json!("&lt;"), &json!("<"), &json!("<"))
    );
    let own = json!({"message": {"body": "{{A}}"}, "html_body": "{{A}}", "page": {"content_type": "text/html", "body": "{{A}}"}});
    for (more, path) in [
        (json!({"actions": {"app_defined": own}}), "/notification/actions/app_defined"),
        (json!({"ios": {"extra": own}}), "/notification/ios/extra"),
    ] {
        let mut push = json!({"notification": {"alert": "a"}});
        push["notification"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let push = rendered(&json!([{"key": "A"}]), &push, &json!({"A": "<"})).unwrap();
        let found = push.pointer(path).unwrap();
        let texts = [&found["message"]["body"], &found["html_body"], &found["page"]["body"]];
        assert_eq!(texts, [&json!("<"); 3], "names that are the caller's own say nothing");
    }
}

#[test]
fn values_are_not_filled_in_themselves() {
    let push = rendered(
        &json!([{"key": "A"}, {"key": "B"}]),
        &json!({"notification": {"alert": "{{A}}"}}),
        &json!({"A": "{{B}}", "B": "b"}),
    );
    assert_eq!(push.unwrap()["notification"]["alert"], "{{B}}");
}

#[test]
fn what_the_request_gives_is_not_filled_in() {
    let push = json!({"notification": {"alert": "{{A}}"}, "campaigns": {"categories": ["{{A}}"]}});
    let template = read(&template(&json!([{"key": "A"}]), &push)).unwrap();
    let rendered = |campaigns: &Value| {
        let body = json!({"audience": "all", "device_types": "all", "campaigns": campaigns, "merge_data": {
            "template_id": "00000000-0000-4000-8000-000000000000", "substitutions": {"A": "x".repeat(65)}}});
        template.render(&json::parse(body.to_string().as_bytes(), TemplateUse::parse).unwrap())
    };
    let own = json!({"categories": ["{{A}} {{UNKNOWN}}"]});
    assert_eq!(serde_json::to_value(rendered(&own).unwrap()).unwrap()["campaigns"], own);
    let problems = rendered(&Value::Null).unwrap_err();
    assert_eq!(problems[0].path, "push.campaigns.categories[0]", "what is wrong is in the template");
}

#[test]
fn missing_values_are_named() {
    let push = json!({"notification": {"alert": "{{A}} {{B}} {{C}}"}});
    let variables = json!([{"key": "A"}, {"key": "B"}, {"key": "C", "default_value": ""}, {"key": "UNUSED"}]);
    let missing = rendered(&variables, &push, &json!({"B": null})).unwrap_err();
    assert_eq!(missing, "merge_data.substitutions.A merge_data.substitutions.B");
    assert_eq!(rendered(&variables, &push, &json!({"A": "", "B": "b"})).unwrap()["notification"]["alert"], " b ");
}

#[test]
fn values_that_make_no_push_are_refused() {
    let push = json!({"notification": {"alert": "a", "web": {"icon": {"url": "{{U}}"}}}});
    let refused = rendered(&json!([{"key": "U"}]), &push, &json!({"U": "no address"})).unwrap_err();
    assert_eq!(refused, "push.notification.web.icon.url");
    let many = "{{A}}".repeat(1000);
    let push = json!({"notification": {"alert": many}});
    let refused = rendered(&json!([{"key": "A"}]), &push, &json!({"A": "x".repeat(10_000)})).unwrap_err();
    assert_eq!(refused, "merge_data.substitutions");
}

proptest! {
    /// With a value that stands for itself, filling in gives the text back, up to spaces beside keys.
    #[test]
    fn nothing_is_lost_between_the_pieces(text in "[{}A_é]{0,24}") {
        let again: String = pieces(&text).map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Variable(key) => format!("{{{{{key}}}}}"),
        }).collect();
        prop_assert_eq!(again, text);
    }
}
