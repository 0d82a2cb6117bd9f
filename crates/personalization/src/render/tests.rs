//! That the steps of a text bound the work that it is.

use serde_json::json;

use super::*;

/// How many steps a text takes, or more than it may.
fn steps(source: &str, values: &Value) -> usize {
    let template = Template::parse(source).unwrap_or_else(|mistakes| panic!("{source}: {mistakes:?}"));
    let map: ValueMap = values.as_object().unwrap().clone().into_iter().collect();
    let (layers, target) = ([&map], Target::Text);
    let values = Values { layers: &layers, now: 0 };
    let mut renderer = Renderer { values: &values, target, out: String::new(), frames: Vec::new(), n_steps: 0 };
    let _ = renderer.nodes(&template.nodes);
    renderer.n_steps
}

#[test]
fn what_is_copied_is_paid_for() {
    let list: Vec<u32> = (0..1000).collect();
    let long = "x".repeat(64 * 1000);
    let values = json!({"list": list, "long": long, "by_long": {long.clone(): 1}, "turns": [1, 2, 3, 4, 5]});
    for (once, again, least) in [
        // The context is a list that a helper has made, and is asked for as a whole.
        ("{{#with ($array list)}}{{/with}}", "{{#with ($array list)}}{{#if this}}{{/if}}{{/with}}", 1000),
        ("{{#with ($array list)}}{{/with}}", "{{#with ($array list)}}{{#if this.[0]}}{{/if}}{{/with}}", 1000),
        (
            "{{#with ($array list) as |a|}}{{/with}}",
            "{{#with ($array list) as |a|}}{{#if a}}{{/if}}{{#if a}}{{/if}}{{/with}}",
            2000,
        ),
        (
            "{{#with ($array list)}}{{#with 1}}{{/with}}{{/with}}",
            "{{#with ($array list)}}{{#with 1}}{{#if ..}}{{/if}}{{/with}}{{/with}}",
            1000,
        ),
        // Texts that are written out, and names.
        ("", &format!("{{{{#each turns}}}}{{{{#if \"{long}\"}}}}{{{{/if}}}}{{{{/each}}}}"), 5000),
        ("", &format!("{{{{#each turns}}}}{{{{#if {long}.a}}}}{{{{/if}}}}{{{{/each}}}}"), 5000),
        ("", "{{#each by_long}}{{/each}}", 1000),
        ("{{#each by_long}}{{/each}}", "{{#each by_long}}{{#if @key}}{{/if}}{{/each}}", 1000),
        ("", "{{#with ($array by_long)}}{{/with}}", 1000),
        ("", "{{dateFormat \"2026-01-01\" pattern=long}}", 1000),
    ] {
        let (once, again) = (steps(once, &values), steps(again, &values));
        assert!(again - once >= least, "{once} and {again}, and not {least} more");
    }
}

#[test]
fn a_part_of_what_was_worked_out_costs_what_the_part_does() {
    let list: Vec<u32> = (0..1000).collect();
    let values = json!({"list": list, "n": 1});
    let (all, one) =
        ("{{#with ($array n list)}}{{/with}}", "{{#with ($array n list)}}{{#if this.[0]}}{{/if}}{{/with}}");
    assert_eq!(steps(one, &values) - steps(all, &values), 1, "the tag alone");
    // Values of the recipient are not copied.
    assert_eq!(steps("{{#if list}}{{/if}}{{#with list}}{{#if this}}{{/if}}{{/with}}", &values), 4);
}

#[test]
fn a_limit_is_about_the_items_that_there_are() {
    let values = json!({"list": [1, 2, 3], "huge": 1e300, "text": "abc"});
    let template = |source: &str| {
        let map: ValueMap = values.as_object().unwrap().clone().into_iter().collect();
        Template::parse(source).unwrap().render(Target::Text, &Values { layers: &[&map], now: 0 }).unwrap()
    };
    for (limit, expected) in
        [("2.9", "1,2"), ("0", ""), ("-1", ""), ("huge", "1,2,3"), ("1000000", "1,2,3"), ("text", "")]
    {
        assert_eq!(template(&format!("{{{{join (limit list {limit}) \",\"}}}}")), expected, "{limit}");
    }
    assert_eq!(template("[{{limit text 1000000}}]"), "[]");
}
