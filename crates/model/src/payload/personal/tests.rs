//! What varies in a push, and what a push looks like when it is filled in.

use serde_json::{Value, json};

use super::*;
use crate::json::parse;

fn read_push(mut push: Value) -> Result<Push, Vec<(String, String)>> {
    push["audience"] = json!("all");
    push["device_types"] = json!("all");
    let problems = |problems: Problems| problems.iter().map(|one| (one.path.clone(), one.message.clone())).collect();
    parse(push.to_string().as_bytes(), Push::parse).map_err(problems)
}

fn values(value: &Value) -> ValueMap {
    value.as_object().unwrap().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn filled(push: Value, own: &Value) -> Value {
    let personalized = read_push(push).unwrap().personalized().unwrap().expect("something varies");
    let filled = personalized.filled(&values(own), UtcMillis(0)).unwrap().unwrap();
    serde_json::to_value(filled).unwrap()
}

#[test]
fn texts_everywhere_are_filled_in() {
    let push = json!({
        "notification": {
            "alert": "Hi {{name}}",
            "ios": {"title": "{{upper name}}", "extra": {"k": {"deep": "<{{name}}>"}}, "sound": "x"},
            "android": {"extra": {"k": "{{n}}"}, "style": {"type": "big_text", "big_text": "{{name}}"}},
            "actions": {"open": {"type": "url", "content": "https://example.com/?q={{name}}"}, "add_tag": "t-{{name}}"},
        },
        "message": {"title": "For {{name}}", "body": "<p>{{name}}</p>", "extra": {"a": "{{name}}"}},
        "localizations": [{"language": "de", "notification": {"alert": "Hallo {{name}} ({{place}})"}}],
        "global_attributes": {"place": "here", "name": "everybody"},
    });
    let filled = filled(push, &json!({"name": "K & L", "n": 3}));
    let notification = &filled["notification"];
    assert_eq!(notification["alert"], "Hi K & L");
    assert_eq!(notification["ios"]["title"], "K & L");
    assert_eq!(notification["ios"]["extra"]["k"]["deep"], "<K & L>");
    assert_eq!(notification["android"]["extra"]["k"], "3");
    assert_eq!(notification["actions"]["open"]["content"], "https://example.com/?q=K%20%26%20L");
    assert_eq!(notification["actions"]["add_tag"], "t-K & L");
    assert_eq!(filled["message"]["body"], "<p>K &amp; L</p>");
    assert_eq!(filled["message"]["title"], "For K & L");
    assert_eq!(filled["localizations"][0]["notification"]["alert"], "Hallo K & L (here)");
}

#[test]
fn names_of_the_caller_mean_nothing_here() {
    let keys = ["type", "content_type", "icon_color", "language", "country", "collapse_id", "variable_defaults"];
    let own: serde_json::Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), json!("<{{name}}>"))).collect();
    let push = json!({
        "notification": {"alert": "a", "ios": {"extra": {"deep": own}, "collapse_id": "c"}},
        "localizations": [{"language": "de", "notification": {"alert": "b"}}],
        "options": {"personalization": true},
    });
    let told = filled(push.clone(), &json!({"name": "Kim"}));
    for key in keys {
        assert_eq!(told["notification"]["ios"]["extra"]["deep"][key], "<Kim>", "{key}");
    }
    let body = PersonalizedBody::new(&json!({"extra": own}));
    let told = body.filled(&values(&json!({"name": "Kim"})), UtcMillis(0)).unwrap();
    for key in keys {
        assert_eq!(told["extra"][key], "<Kim>", "{key}");
    }
    for key in keys {
        let mut wrong = push.clone();
        wrong["notification"]["ios"]["extra"]["deep"][key] = json!("{{#if name}}");
        let problems = read_push(wrong).unwrap_err();
        assert_eq!(problems[0].0, format!("notification.ios.extra.deep.{key}"));
    }
    // What looks like the defaults of an inline template gives nothing to others.
    let mut defaults = push;
    defaults["notification"]["ios"]["extra"] =
        json!({"text": "{{day}}", "variable_defaults": [{"key": "day", "default_value": "today {{name}}"}]});
    let told = filled(defaults, &json!({"name": "Kim"}));
    assert_eq!(told["notification"]["ios"]["extra"]["text"], "");
    assert_eq!(told["notification"]["ios"]["extra"]["variable_defaults"][0]["default_value"], "today Kim");
}

#[test]
fn without_being_asked_for_braces_are_text() {
    let alert = json!({"notification": {"alert": "{{#if"}});
    assert!(read_push(alert.clone()).unwrap().personalized().unwrap().is_none());
    let mut asked = alert;
    asked["options"] = json!({"personalization": true});
    let problems = read_push(asked).unwrap_err();
    assert_eq!(problems[0].0, "notification.alert");
    assert!(problems[0].1.starts_with("Column "), "{problems:?}");
    let plain = json!({"notification": {"alert": "a"}, "options": {"personalization": true}});
    assert!(read_push(plain).unwrap().personalized().unwrap().is_none(), "there are no tags");
    let comment = json!({"notification": {"alert": "a{{! b }}c"}, "options": {"personalization": true}});
    let personalized = read_push(comment).unwrap().personalized().unwrap().unwrap();
    assert!(personalized.texts.is_empty(), "nothing varies");
    assert_eq!(serde_json::to_value(personalized.push).unwrap()["notification"]["alert"], "ac");
}

#[test]
fn defaults_of_inline_templates_are_the_last_resort() {
    let template = json!({"fields": {"alert": "Hi {{name}} {{day}}"}, "variable_defaults": [
        {"key": "name", "default_value": "you"}, {"key": "day", "default_value": "today"}]});
    let push = json!({"notification": {"ios": {"template": template}}, "global_attributes": {"day": "Monday"}});
    let none = filled(push.clone(), &json!({}));
    assert_eq!(none["notification"]["ios"]["template"]["fields"]["alert"], "Hi you Monday");
    let known = filled(push.clone(), &json!({"name": "Kim"}));
    assert_eq!(known["notification"]["ios"]["template"]["fields"]["alert"], "Hi Kim Monday");
    let personalized = read_push(push).unwrap().personalized().unwrap().unwrap();
    assert!(personalized.texts.missing(&ValueMap::new()).is_empty());
}

#[test]
fn all_mistakes_are_named_with_their_columns() {
    let push = json!({
        "notification": {"alert": "{{#if a}}", "ios": {"title": "ok {{name}} {{foo bar}}", "collapse_id": "{{name}}"}, "actions":
            {"open": {"type": "landing_page", "content": {"body": "{{name}}", "content_type": "text/html"}}}},
        "in_app": {"alert": "{{> snippet}}", "display_type": "banner"},
        "options": {"personalization": true},
    });
    let problems = read_push(push).unwrap_err();
    let paths: Vec<&str> = problems.iter().map(|(path, _)| path.as_str()).collect();
    for path in [
        "notification.alert",
        "notification.ios.title",
        "notification.ios.collapse_id",
        "notification.actions.open.content.body",
        "in_app.alert",
    ] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    assert!(problems.iter().any(|(_, message)| message.starts_with("Column 15:")), "{problems:?}");
}

#[test]
fn a_url_is_judged_as_it_is_written_and_again_when_it_is_filled_in() {
    let web = |url: &str| json!({"notification": {"alert": "a", "web": {"icon": {"url": url}}}, "options": {"personalization": true}});
    let values = json!({"id": "a/b", "picture": "https://example.com/c.png"});
    for (written, expected) in [
        ("https://example.com/{{id}}.png", "https://example.com/a%2Fb.png"),
        ("https://example.com/{{$def sku \"none\"}}.png", "https://example.com/none.png"),
        ("https://example.com/{{ urlEncode id }}.png", "https://example.com/a%2Fb.png"),
        ("{{picture}}?of={{id}}", "https://example.com/c.png?of=a%2Fb"),
        ("https://example.com/{{! all of them }}d.png", "https://example.com/d.png"),
    ] {
        assert_eq!(filled(web(written), &values)["notification"]["web"]["icon"]["url"], expected);
    }
    for written in ["/{{id}}", "ftp://{{id}}", "https://example.com/a b/{{id}}"] {
        assert_eq!(read_push(web(written)).unwrap_err()[0].0, "notification.web.icon.url", "{written}");
    }
    let mistake = read_push(web("https://example.com/{{#if id}}")).unwrap_err();
    assert_eq!(mistake[0].0, "notification.web.icon.url");
    assert!(mistake[0].1.starts_with("Column 21: "), "{mistake:?}");
    // Without the language, braces are characters, of which a URL cannot have all.
    let mut plain = web("https://example.com/{{ id }}");
    plain["options"] = json!({});
    assert_eq!(read_push(plain).unwrap_err()[0].0, "notification.web.icon.url");
}

#[test]
fn whatever_asks_for_values_lets_urls_have_tags() {
    let template = |content: Value| json!({"notification": {"alert": "a", "ios": {"template": content}}});
    let values = json!({"create_and_send": [{"ua_address": "a", "id": 1}]});
    for asking in [
        json!({"options": {"personalization": true}}),
        json!({"global_attributes": {"a": 1}}),
        json!({"feed_references": {"feeds": [{"name": "f"}]}}),
        template(json!({"fields": {"title": "t"}})),
        template(json!({"external_id": "x"})),
        json!({"message": {"template": {"fields": {"title": "t", "body": "b"}}}}),
        json!({"localizations": [{"language": "de", "notification": template(json!({"external_id": "x"}))["notification"]}]}),
        json!({"audience": {"bulk_id": "00000000-0000-4000-8000-000000000000"}}),
        json!({ "audience": values }),
    ] {
        assert!(may_have_tags(&Json::from_slice(asking.to_string().as_bytes()).unwrap()), "{asking}");
    }
    for other in [
        json!({"options": {"personalization": false}, "global_attributes": {}, "audience": "all"}),
        json!({"notification": {"alert": "a", "ios": {"title": "template"}}, "message": {"title": "t", "body": "b"}}),
        json!({"audience": {"create_and_send": [{"ua_address": "a", "id": null}]}}),
    ] {
        assert!(!may_have_tags(&Json::from_slice(other.to_string().as_bytes()).unwrap()), "{other}");
    }
}

#[test]
fn every_url_of_a_push_is_judged_for_each_device() {
    let icon = json!({"url": "{{{u}}}"});
    let links = json!({"open": {"type": "deep_link", "content": "app://a", "fallback_url": "{{{u}}}"}});
    let page = json!({"open": {"type": "landing_page", "content": {"url": "{{{u}}}"}}});
    for (part, path) in [
        (
            json!({"notification": {"ios": {"alert": "a", "media_attachment": icon}}}),
            "/notification/ios/media_attachment/url",
        ),
        (json!({"notification": {"web": {"alert": "a", "icon": icon}}}), "/notification/web/icon/url"),
        (json!({"notification": {"web": {"alert": "a", "image": icon}}}), "/notification/web/image/url"),
        (json!({"notification": {"alert": "a", "actions": links}}), "/notification/actions/open/fallback_url"),
        (json!({"notification": {"alert": "a", "actions": page}}), "/notification/actions/open/content/url"),
        (
            json!({"message": {"title": "t", "body": "b", "icons": {"list_icon": "{{{u}}}"}}}),
            "/message/icons/list_icon",
        ),
    ] {
        let mut push = part;
        push["options"] = json!({"personalization": true});
        let with = |u: &str| {
            let personalized = read_push(push.clone()).unwrap().personalized().unwrap().unwrap();
            let filled = personalized.filled(&values(&json!({ "u": u })), UtcMillis(0));
            filled.map(|push| serde_json::to_value(push.unwrap()).unwrap().pointer(path).cloned().unwrap())
        };
        assert_eq!(with("https://example.com"), Ok(json!("https://example.com")), "{path}");
        for wrong in ["", "no url", "https://a b"] {
            assert!(matches!(with(wrong), Err(Unrenderable::NotAUrl(_))), "{path}: {wrong}");
        }
    }
    // What the app names by itself has no form.
    let extra = json!({"notification": {"alert": "a", "ios": {"extra": {"url": "{{u}}"}}}, "options": {"personalization": true}});
    assert_eq!(filled(extra, &json!({"u": "no url"}))["notification"]["ios"]["extra"]["url"], "no url");
}

#[test]
fn the_least_that_anybody_gets_has_the_constant_parts_of_urls() {
    let url = "https://example.com/{{id}}.png";
    let push = json!({"notification": {"alert": "a {{id}}", "web": {"icon": {"url": url}}}, "options": {"personalization": true}});
    let least = read_push(push).unwrap().personalized().unwrap().unwrap().unfilled().unwrap();
    let least = serde_json::to_value(least).unwrap();
    assert_eq!(least["notification"]["web"]["icon"]["url"], "https://example.com/.png");
    assert_eq!(least["notification"]["alert"], "a ");
}

#[test]
fn characters_of_marks_are_text_like_any_other() {
    let alert = format!("{0}0\"{0} {{{{name}}}}", marks::MARK);
    let push = json!({"notification": {"alert": alert}, "options": {"personalization": true}});
    let filled = filled(push, &json!({"name": "Kim"}));
    assert_eq!(filled["notification"]["alert"], format!("{0}0\"{0} Kim", marks::MARK));
}

#[test]
fn what_is_missing_is_known() {
    let push = json!({"notification": {"alert": "{{a}} {{b}} {{c.d}} {{e.f}}"}, "global_attributes": {"b": 1}});
    let personalized = read_push(push).unwrap().personalized().unwrap().unwrap();
    let missing = personalized.texts.missing(&values(&json!({"c#d": {}})));
    assert_eq!(missing.into_iter().collect::<Vec<_>>(), ["a", "e"]);
    let names: Vec<String> = personalized.texts.names().into_iter().collect();
    assert_eq!(names, ["a", "b", "c", "c#d", "e", "e#f"]);
}

#[test]
fn texts_of_a_template_share_its_defaults() {
    let alert: String = (0..500).map(|n| format!("{{{{$def v {n}}}}} ")).collect();
    let template = |default: &str| json!({"fields": {"alert": alert}, "variable_defaults": [{"key": "name", "default_value": default}]});
    let push = json!({
        "notification": {"ios": {"template": template("a")}, "android": {"template": template("b")}},
        "localizations": [{"language": "de", "notification": {"ios": {"template": template("a")}}}],
    });
    let VaryingTexts { texts, .. } = read_push(push).unwrap().personalized().unwrap().unwrap().texts;
    assert_eq!(texts.len(), 1000, "the same text with the same defaults has the same mark");
    let maps: BTreeSet<_> = texts.iter().map(|text| Arc::as_ptr(&text.defaults)).collect();
    assert_eq!(maps.len(), 2);
}

#[test]
fn a_push_that_costs_too_much_is_refused() {
    let default = |n_bytes: usize| {
        let value = "x".repeat(n_bytes - 2);
        let template =
            json!({"fields": {"alert": "{{a}}"}, "variable_defaults": [{"key": "a", "default_value": value}]});
        read_push(json!({"notification": {"ios": {"template": template}}}))
    };
    default(8192).unwrap();
    let problems = default(8193).unwrap_err();
    assert_eq!(problems[0].0, "notification.ios.template.variable_defaults[0].default_value");
    assert_eq!(problems[0].1, "A default value must have at most 8192 bytes; it has 8193.");

    let text = |numbers: std::ops::Range<u32>| -> String { numbers.map(|n| format!("{{{{$def v {n}}}}} ")).collect() };
    let marks = |n: u32| {
        read_push(json!({
            "notification": {"alert": text(0..1000), "ios": {"title": text(0..1000), "subtitle": text(1000..1900)}},
            "message": {"title": text(1900..n), "body": "a"},
            "options": {"personalization": true},
        }))
    };
    marks(2000).unwrap();
    let problems = marks(2001).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].0, "message.title");
    assert!(problems[0].1.contains("at most 2000 different places"), "{problems:?}");
}

#[test]
fn a_push_asks_for_a_bounded_number_of_names() {
    let text = |numbers: std::ops::Range<u32>| -> String { numbers.map(|n| format!("{{{{add a{n} 1}}}}")).collect() };
    let names = |n: u32| {
        read_push(json!({
            "notification": {"alert": text(0..100), "ios": {"title": text(50..150)}},
            "message": {"title": "{{a0}}", "body": text(150..n)},
            "options": {"personalization": true},
        }))
    };
    names(200).unwrap();
    let problems = names(201).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].0, "message.body");
    assert!(problems[0].1.contains("at most 200 different names"), "{problems:?}");
}

#[test]
fn a_value_counts_as_often_as_it_is_filled_in() {
    let push = |n: usize| json!({"notification": {"alert": "{{a}} ".repeat(n)}, "options": {"personalization": true}});
    let value = values(&json!({"a": "x".repeat(1024)}));
    let filled = |n: usize| read_push(push(n)).unwrap().personalized().unwrap().unwrap().filled(&value, UtcMillis(0));
    filled(256).unwrap().unwrap();
    assert_eq!(filled(257).unwrap_err(), Unrenderable::TooLong);
}

#[test]
fn the_texts_of_a_device_are_bounded_together() {
    let extra = |n_texts: usize| {
        let text =
            |n: usize| (format!("k{n}"), json!(format!("{{{{#each list}}}}{{{{#if {n}}}}}{{{{/if}}}}{{{{/each}}}}")));
        let extra: serde_json::Map<String, Value> = (0..n_texts).map(text).collect();
        json!({"notification": {"ios": {"extra": extra}}, "options": {"personalization": true}})
    };
    let list = values(&json!({"list": vec![1; 9000]}));
    let filled = |n_texts: usize| {
        let personalized = read_push(extra(n_texts)).unwrap().personalized().unwrap().unwrap();
        personalized.filled(&list, UtcMillis(0))
    };
    filled(5).unwrap().unwrap();
    assert_eq!(filled(6).unwrap_err(), Unrenderable::TooMuchWork);
}
