//! What templates mean, what is wrong with others, and that none of them can do harm.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_700_000_000_000;

fn map(value: &Value) -> ValueMap {
    value.as_object().unwrap().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn rendered_as(target: Target, source: &str, values: &Value) -> Result<String, Unrenderable> {
    let template = Template::parse(source).unwrap_or_else(|mistakes| panic!("{source}: {mistakes:?}"));
    let printed = template.to_string();
    assert_eq!(Template::parse(&printed).as_ref(), Ok(&template), "{source} printed as {printed}");
    template.render(target, &Values { layers: &[&map(values)], now: NOW })
}

fn rendered(source: &str, values: &Value) -> String {
    rendered_as(Target::Text, source, values).unwrap()
}

#[test]
fn values_go_where_their_names_are() {
    let values = json!({
        "name": "Kim", "n": 3, "half": 0.5, "yes": true, "nothing": null, "empty": "", "42_answer": "x", "this is": "spaced",
        "a": {"b": {"c": "deep"}}, "items": [{"name": "one"}, {"name": "two"}], "seat#row": {"number": 7},
    });
    for (source, expected) in [
        ("plain {text} } }}", "plain {text} } }}"),
        ("Hi {{name}}!", "Hi Kim!"),
        ("{{ name }}{{n}} {{half}} {{yes}}", "Kim3 0.5 true"),
        ("[{{nothing}}{{unknown}}{{a}}{{items}}]", "[]"),
        ("{{a.b.c}} {{a/b/c}} {{a.[b].c}}", "deep deep deep"),
        ("{{items.0.name}} {{items.[1].name}} {{items.7.name}}", "one two "),
        ("{{[42_answer]}} {{lookup . \"42_answer\"}} {{[this is]}}", "x x spaced"),
        ("{{lookup a.b \"c\"}}{{lookup items 1}}", "deep"),
        ("{{seat.row.number}}{{seat.[row].number}}{{seat.column.number}}", "77"),
        ("{{@root.name}}", "Kim"),
        (r"\{{name}} \\{{name}}", r"{{name}} \Kim"),
        ("{{! said to nobody }}{{!-- {{name}} --}}a", "a"),
        ("a {{~ name ~}}  b", "aKimb"),
        (r#"{{"quoted"}} {{'it"s'}} {{{"{{"}}}"#, r#"quoted it"s {{"#),
    ] {
        assert_eq!(rendered(source, &values), expected, "{source}");
    }
}

#[test]
fn what_is_missing_is_empty_a_default_or_nobody() {
    let values = json!({"empty": "", "zero": 0, "name": "Kim"});
    assert_eq!(rendered("[{{unknown}}]", &values), "[]");
    assert_eq!(rendered(r#"{{$def unknown "friend"}} {{$def empty "you"}} {{$def zero 1}}"#, &values), "friend you 0");
    assert_eq!(rendered("{{$def unknown name}}", &values), "Kim");
    assert_eq!(rendered("{{$required name}}", &values), "Kim");
    let missing = rendered_as(Target::Text, "{{#if zero}}{{else}}{{$required a.b}}{{/if}}", &values).unwrap_err();
    assert_eq!(missing, Unrenderable::Missing("a.b".to_owned()));
    assert_eq!(rendered("{{#if zero}}{{$required a.b}}{{/if}}", &values), "", "nobody needs what is not shown");
}

#[test]
fn conditions() {
    let values =
        json!({"n": 3, "text": "10", "tier": "gold", "no": false, "list": [], "some": [1], "when": "2030-01-31"});
    for (source, expected) in [
        ("{{#if tier}}a{{else}}b{{/if}}", "a"),
        ("{{#if no}}a{{else}}b{{/if}}{{#if list}}a{{/if}}{{#if some}}c{{/if}}{{#if unknown}}d{{/if}}", "bc"),
        ("{{#unless no}}a{{else}}b{{/unless}}", "a"),
        (r#"{{#eq tier "silver"}}s{{else eq tier "gold"}}g{{else}}-{{/eq}}"#, "g"),
        (r#"{{#if (eq tier "silver")}}s{{else if (gt n 2)}}n{{else}}-{{/if}}"#, "n"),
        (r#"{{#neq tier "gold"}}a{{/neq}}{{#ne tier "x"}}b{{/ne}}{{#ne tier "x"}}c{{/neq}}"#, "bc"),
        (r#"{{#gt text 9}}number{{/gt}}{{#gt text "9"}}both numbers{{/gt}}"#, "numberboth numbers"),
        (r#"{{#lt when "2031"}}a{{/lt}}{{#gte n 3}}b{{/gte}}{{#lte n 2}}c{{/lte}}"#, "ab"),
        (r#"{{#and tier n}}a{{/and}}{{#or no list}}b{{else}}c{{/or}}{{#not no}}d{{/not}}"#, "acd"),
        (r#"{{#if (and (eq tier "gold") (not no) (or no (lt 1 2)))}}all{{/if}}"#, "all"),
        ("{{eq n 3}} {{eq n \"3\"}} {{eq unknown null}} {{gt tier 3}}", "true true true false"),
    ] {
        assert_eq!(rendered(source, &values), expected, "{source}");
    }
}

#[test]
fn loops() {
    let values = json!({
        "list": ["a", "b", "c"], "empty": [], "name": "outer", "by_key": {"x": 1, "y": 2},
        "people": [{"name": "Kim", "pets": ["cat"]}, {"pets": []}],
    });
    for (source, expected) in [
        ("{{#each list}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}", "0a,1b,2c"),
        ("{{#each list}}{{#if @first}}[{{/if}}{{.}}{{/each}}", "[abc"),
        ("{{#each empty}}x{{else}}none{{/each}}{{#each unknown}}x{{/each}}", "none"),
        ("{{#each by_key}}{{@key}}={{this}};{{/each}}", "x=1;y=2;"),
        ("{{#each people}}{{name}}/{{../name}}/{{this.name}};{{/each}}", "Kim/outer/Kim;outer/outer/;"),
        ("{{#each people as |p|}}{{p.name}}{{#each p.pets}}{{this}} of {{p.name}}{{/each}}{{/each}}", "Kimcat of Kim"),
        ("{{#each (limit list 2) as |o|}}{{o}}{{/each}}", "ab"),
        (r#"{{#each ($array "x" name)}}{{this}}{{/each}}"#, "xouter"),
        ("{{#with people.[0]}}{{name}}{{/with}}{{#with unknown}}x{{else}}y{{/with}}", "Kimy"),
        (r#"{{join list "-"}} {{join list}} {{join (limit list 2)}}"#, "a-b-c a, b, c a, b"),
    ] {
        assert_eq!(rendered(source, &values), expected, "{source}");
    }
}

#[test]
fn helpers_for_texts_and_numbers() {
    let values = json!({"name": "kim lee", "price": 1234.5, "n": 3, "bad": "x"});
    for (source, expected) in [
        (
            "{{upper name}} {{lower \"ABC\"}} {{capitalize name}} {{capitalizeFirst name}}",
            "KIM LEE abc Kim Lee Kim lee",
        ),
        (r#"[{{trim "  a "}}] {{replace name "lee" "x"}} {{urlEncode "a b&ü"}}"#, "[a] kim x a%20b%26%C3%BC"),
        ("{{add n 1 2}} {{sub n 1}} {{mul n 0.5}} {{div n 2}} {{div n 0}} {{add bad 1}}", "6 2 1.5 1.5  "),
        ("{{add (mul n 2) 1}}", "7"),
        (r#"{{numberFormat price}} {{numberFormat price locale="de-DE" minimumFractionDigits=2}}"#, "1,234.5 1.234,50"),
        (r#"{{numberFormat -0.0004}} {{numberFormat 1000000}} {{numberFormat bad}}"#, "0 1,000,000 "),
        ("{{now}}", "2023-11-14T22:13:20Z"),
        ("{{upper}}", ""),
    ] {
        assert_eq!(rendered(source, &values), expected, "{source}");
    }
}

#[test]
fn dates_and_times() {
    let values =
        json!({"d": "2030-01-31T12:36:35", "z": "2030-01-31T09:05:00.250+08:00", "day": "2030-01-31", "bad": "soon"});
    for (source, expected) in [
        (r#"{{dateFormat d locale="en-US"}}"#, "Jan 31, 2030"),
        (r#"{{dateFormat day locale="en-US" format="SHORT"}}"#, "1/31/2030"),
        (r#"{{dateFormat d locale="en-US" format="FULL"}}"#, "Thursday, January 31, 2030"),
        (r#"{{timeFormat d locale="en-US"}}"#, "12:36:35 PM"),
        (r#"{{timeFormat z locale="en-US" format="SHORT"}} {{timeFormat z locale="en-GB"}}"#, "9:05 AM 09:05:00"),
        (r#"{{datetimeFormat d locale="de" format="LONG"}}"#, "31. Januar 2030, 12:36:35"),
        (r#"{{dateFormat d locale="fr-FR" format="FULL"}}"#, "jeudi 31 janvier 2030"),
        (r#"{{dateFormat d locale="es" format="LONG"}}"#, "31 de enero de 2030"),
        (r#"{{dateFormat d pattern="d MMMM yyyy 'at' HH:mm"}}"#, "31 January 2030 at 12:36"),
        (r#"{{dateFormat z pattern="yy-M-dd EEE h''mm SSS"}}"#, "30-1-31 Thu 9'05 250"),
        (r#"[{{dateFormat bad locale="en"}}]"#, "[]"),
    ] {
        assert_eq!(rendered(source, &values), expected, "{source}");
    }
}

#[test]
fn dates_and_numbers_in_other_languages() {
    let values = json!({"d": "2030-01-31T12:36:35", "n": -1234567.5});
    for (locale, date, moment, number) in [
        ("it-IT", "giovedì 31 gennaio 2030", "31 gen 2030, 12:36:35", "-1.234.567,5"),
        ("pt-BR", "quinta-feira, 31 de janeiro de 2030", "31 de jan. de 2030, 12:36:35", "-1.234.567,5"),
        ("pt_PT", "quinta-feira, 31 de janeiro de 2030", "31/01/2030, 12:36:35", "-1\u{a0}234\u{a0}567,5"),
        ("nl", "donderdag 31 januari 2030", "31 jan 2030 12:36:35", "-1.234.567,5"),
        ("nb-NO", "torsdag 31. januar 2030", "31. jan. 2030, 12:36:35", "-1\u{a0}234\u{a0}567,5"),
        ("no", "torsdag 31. januar 2030", "31. jan. 2030, 12:36:35", "-1\u{a0}234\u{a0}567,5"),
        ("sv", "torsdag 31 januari 2030", "31 jan. 2030 12:36:35", "-1\u{a0}234\u{a0}567,5"),
        ("da", "torsdag den 31. januar 2030", "31. jan. 2030 12.36.35", "-1.234.567,5"),
        ("fi", "torstai 31. tammikuuta 2030", "31.1.2030 klo 12.36.35", "-1\u{a0}234\u{a0}567,5"),
        ("pl", "czwartek, 31 stycznia 2030", "31 sty 2030, 12:36:35", "-1\u{a0}234\u{a0}567,5"),
        ("ru", "четверг, 31 января 2030 г.", "31 янв. 2030 г., 12:36:35", "-1\u{a0}234\u{a0}567,5"),
        ("tr", "31 Ocak 2030 Perşembe", "31 Oca 2030 12:36:35", "-1.234.567,5"),
        ("ja-JP", "2030年1月31日木曜日", "2030/01/31 12:36:35", "-1,234,567.5"),
        ("zh-Hans-CN", "2030年1月31日星期四", "2030年1月31日 12:36:35", "-1,234,567.5"),
        ("ko", "2030년 1월 31일 목요일", "2030. 1. 31. 오후 12:36:35", "-1,234,567.5"),
        // Languages that are not known.
        ("cs-CZ", "Thursday, 31 January 2030", "31 Jan 2030, 12:36:35", "-1,234,567.5"),
        ("tlh", "Thursday, 31 January 2030", "31 Jan 2030, 12:36:35", "-1,234,567.5"),
    ] {
        let source = format!(
            r#"{{{{dateFormat d locale="{locale}" format="FULL"}}}}|{{{{datetimeFormat d locale="{locale}"}}}}|{{{{numberFormat n locale="{locale}"}}}}"#
        );
        assert_eq!(rendered(&source, &values), format!("{date}|{moment}|{number}"), "{locale}");
    }
}

#[test]
fn values_are_escaped_for_their_target() {
    let values = json!({"x": "<b>\"&'</b> ü"});
    let html = rendered_as(Target::Html, "<i>{{x}}</i>{{{x}}}{{&x}}", &values).unwrap();
    assert_eq!(html, "<i>&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt; ü</i><b>\"&'</b> ü<b>\"&'</b> ü");
    let url =
        rendered_as(Target::Url, "https://example.com/?q={{x}}&r={{urlEncode x}}", &json!({"x": "a b/ü"})).unwrap();
    assert_eq!(url, "https://example.com/?q=a%20b%2F%C3%BC&r=a%20b%2F%C3%BC");
    let links = json!({"base": "https://example.com/a", "x": "a b"});
    for (source, expected) in [
        ("{{base}}?q={{x}}", "https://example.com/a?q=a%20b"),
        ("{{#if base}}{{base}}{{else}}{{x}}{{/if}}", "https://example.com/a"),
        ("https://example.com/{{x}}/{{{x}}}/{{urlEncode x}}", "https://example.com/a%20b/a b/a%20b"),
        ("{{none}}{{base}}", "https://example.com/a"),
    ] {
        assert_eq!(rendered_as(Target::WholeUrl, source, &links).unwrap(), expected);
    }
    assert_eq!(rendered("{{x}}", &values), "<b>\"&'</b> ü");
}

#[test]
fn the_nearest_value_wins() {
    let layer = |value: &str| ValueMap::from([("a".to_owned(), json!(value))]);
    let (near, far) = (layer("near"), ValueMap::from([("a".to_owned(), json!("far")), ("b".to_owned(), json!("b"))]));
    let template = Template::parse("{{a}} {{b}}").unwrap();
    let text = template.render(Target::Text, &Values { layers: &[&near, &far], now: NOW });
    assert_eq!(text, Ok("near b".to_owned()));
}

#[test]
fn every_mistake_has_its_column() {
    for (source, expected) in [
        ("{{}}", vec![3]),
        ("ä {{name", vec![9]),
        ("{{a}} {{foo b}} {{c d}}", vec![9, 19]),
        ("{{#if a}}", vec![1]),
        ("{{/if}}", vec![1]),
        ("{{#if a}}{{/each}}", vec![1, 10]),
        ("{{#if a}}{{#each b}}{{/if}}", vec![10]),
        ("{{#foo a}}{{bar b}}{{/foo}}", vec![4, 13]),
        ("{{else}}", vec![1]),
        ("{{#if a}}{{else}}{{else}}{{/if}}", vec![18]),
        ("{{#each a}}{{else if b}}{{/each}}", vec![12]),
        ("{{#if eq a b}}{{/if}}", vec![10]),
        ("{{> snippet}}", vec![3]),
        ("{{#feed \"x\" as |f|}}{{/feed}}", vec![4]),
        ("{{upper a b}} {{eq a}}", vec![3, 17]),
        ("{{42_answer}} {{a.}} {{[a}}", vec![3, 19, 25]),
        ("{{$def name \"x}}", vec![13]),
        ("{{upper (lower a}}", vec![17]),
        ("{{{a}} b", vec![5]),
        ("{{dateFormat d locale=\"t!h\"}} {{dateFormat d format=\"TINY\"}}", vec![3, 33]),
        ("{{dateFormat d format=\"LONG\" pattern=\"d\"}}{{dateFormat d pattern=\"d Q\"}}", vec![3, 45]),
        ("{{upper a x=1}} {{@nothing}}", vec![11, 19]),
        ("{{#each a as b}}{{/each}}", vec![14]),
    ] {
        let mistakes = Template::parse(source).expect_err(source);
        let columns: Vec<usize> = mistakes.iter().map(|mistake| mistake.column).collect();
        assert_eq!(columns, expected, "{source}: {mistakes:?}");
        assert!(mistakes.iter().all(|mistake| mistake.message.ends_with(['.', ')'])), "{mistakes:?}");
    }
}

#[test]
fn no_template_costs_much() {
    let deep = |n: usize| format!("{}{}", "{{#if a}}".repeat(n), "{{/if}}".repeat(n));
    Template::parse(&deep(limits::DEPTH)).unwrap();
    assert!(Template::parse(&deep(limits::DEPTH + 1)).is_err());
    let helpers = |n: usize| format!("{{{{#if {}a{}}}}}{{{{/if}}}}", "(not ".repeat(n), ")".repeat(n));
    Template::parse(&helpers(limits::DEPTH)).unwrap();
    assert!(Template::parse(&helpers(limits::DEPTH + 1)).is_err());
    assert!(Template::parse(&"{{a}}".repeat(limits::TAGS)).is_ok());
    assert!(Template::parse(&"{{a}}".repeat(limits::TAGS + 1)).is_err());
    assert_eq!(Template::parse(&"{{a b}}".repeat(100)).unwrap_err().len(), limits::MISTAKES);
    // Read once, however many braces there are; quadratic, this would take minutes.
    Template::parse(&"{".repeat(1024 * 1024)).unwrap_err();

    let many: Vec<u32> = (0..1000).collect();
    let values = json!({"list": many, "long": "x".repeat(10_000)});
    let nested = "{{#each list}}{{#each list}}{{#each list}}x{{/each}}{{/each}}{{/each}}";
    assert_eq!(rendered_as(Target::Text, nested, &values), Err(Unrenderable::TooMuchWork));
    let long = "{{#each list}}{{long}}{{/each}}";
    assert_eq!(rendered_as(Target::Text, long, &values), Err(Unrenderable::TooLong));
    let arrays = "{{#each list}}{{join ($array (join list) (join list))}}{{/each}}";
    assert!(rendered_as(Target::Text, arrays, &values).is_err());
    let replaced = r#"{{replace long "x" long}}"#;
    assert_eq!(rendered_as(Target::Text, replaced, &values), Err(Unrenderable::TooLong));
}

#[test]
fn parts_are_apart_and_names_are_known() {
    let template = Template::parse("Hi {{name}}{{#if a.b}}{{c}}{{/if}}, {{upper d}}!").unwrap();
    let names: Vec<String> = template.names().into_iter().collect();
    assert_eq!(names, ["a", "a#b", "c", "d", "name"]);
    let parts: Vec<String> = template
        .into_parts()
        .into_iter()
        .map(|part| match part {
            Part::Constant(text) => text,
            Part::Varying(template) => format!("<{template}>"),
        })
        .collect();
    assert_eq!(parts, ["Hi ", "<{{name}}{{#if a.b}}{{c}}{{/if}}>", ", ", "<{{upper d}}>", "!"]);
    assert!(Template::parse("Hi {{!}}you").unwrap().is_constant());
}

fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "{{",
        "}}",
        "{{{",
        "}}}",
        "{",
        "}",
        "#if",
        "#each",
        "#eq",
        "/if",
        "/each",
        "/eq",
        "else",
        " ",
        "a",
        "a.b",
        "this",
        "../",
        "\"x\"",
        "'",
        "\"",
        "(",
        ")",
        "1",
        "-2.5",
        "@index",
        "$def",
        "upper",
        "as |o|",
        "=",
        "[x y]",
        "\\",
        "~",
        "!",
        "ü",
        "text",
        "{{a}}",
        "{{#if a}}",
        "{{else}}",
        "{{/if}}",
        "{{#each l as |o|}}",
        "{{o.x}}",
        "{{/each}}",
        "{{add n 1}}",
        "{{dateFormat d pattern=\"d M\"}}",
        "now",
        "{{!c}}",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_refused_or_prints_as_the_same_template(source in prop_oneof![pieces(), ".{0,60}"]) {
        match Template::parse(&source) {
            Ok(template) => {
                let printed = template.to_string();
                prop_assert_eq!(Template::parse(&printed), Ok(template.clone()), "{} printed as {}", source, printed);
                let parts = Template::parse(&source).unwrap().into_parts();
                let values = map(&json!({"a": {"b": [1, "<x>"]}, "l": [{"x": 1}, "y"], "n": 2, "d": "2030-01-31"}));
                let values = Values { layers: &[&values], now: NOW };
                let whole = template.render(Target::Html, &values);
                if let Ok(whole) = whole {
                    prop_assert!(whole.len() <= limits::OUTPUT_BYTES);
                    let parts: String = parts.iter().map(|part| match part {
                        Part::Constant(text) => text.clone(),
                        Part::Varying(template) => template.render(Target::Html, &values).unwrap(),
                    }).collect();
                    prop_assert_eq!(parts, whole);
                }
            }
            Err(mistakes) => {
                let n_columns = source.chars().count() + 1;
                prop_assert!(!mistakes.is_empty() && mistakes.iter().all(|one| (1..=n_columns).contains(&one.column)));
            }
        }
    }
}

#[test]
fn values_may_be_of_any_kind() {
    let values: BTreeMap<&str, Value> = BTreeMap::from([("x", json!({"a": [null, true, 1.5, "t", [], {}]}))]);
    let source =
        "{{#each x.a}}{{upper this}}{{add this 1}}{{dateFormat this}}{{join this}}{{numberFormat this}}{{/each}}";
    assert!(rendered_as(Target::Text, source, &json!(values)).is_ok());
}
