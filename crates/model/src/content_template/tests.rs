//! What content templates need, by their types.

use super::*;
use crate::json;

fn paths(body: &str) -> Vec<String> {
    let problems =
        json::parse(body.as_bytes(), ContentTemplate::parse).err().unwrap_or_else(|| panic!("{body} was accepted"));
    problems.iter().map(|problem| problem.path.clone()).collect()
}

#[test]
fn each_type_has_the_text_that_it_needs() {
    for body in [
        r#"{"type":"app","name":"Sale","content":{"alert":"Hi {{name}}","title":"T"}}"#,
        r#"{"type":"message_center","name":"Sale","external_id":"s-1","content":{"html_body":"<p>Hi</p>"}}"#,
    ] {
        let template = json::parse(body.as_bytes(), ContentTemplate::parse).unwrap();
        assert_eq!(
            json::parse(serde_json::to_string(&template).unwrap().as_bytes(), ContentTemplate::parse).unwrap(),
            template
        );
    }
    for (body, expected) in [
        (r#"{"type":"app","name":"x","content":{"title":"T"}}"#, "content.alert"),
        (r#"{"type":"open","name":"x","content":{"alert":7}}"#, "content.alert"),
        (r#"{"type":"message_center","name":"x","content":{"alert":"T"}}"#, "content.html_body"),
        (r#"{"type":"email","name":"x","content":{"subject":"T"}}"#, "type"),
        (r#"{"type":"app","name":"","content":{"alert":"T"}}"#, "name"),
        (r#"{"type":"app","name":"x"}"#, "content"),
        (r#"{"type":"app","name":"x","content":{"alert":"T"},"colour":1}"#, "colour"),
    ] {
        assert_eq!(paths(body), [expected], "{body}");
    }
}
