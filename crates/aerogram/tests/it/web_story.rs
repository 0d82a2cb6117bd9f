//! Somebody lets web pages in, and shows colleagues a push arriving.

use serde_json::json;

use crate::operator_story::Story;

#[test]
fn origins_are_added_and_removed_and_the_demo_has_a_link() {
    let story = Story::begin();
    let created = story.json(&["app", "create", "Shop"]);
    let key = created["app"]["key"].as_str().unwrap();
    let origins =
        |args: &[&str]| story.json(&[&["app", "web-origins", key], args].concat())["app"]["web_origins"].clone();
    let (shop, blog) = ("https://shop.example", "https://blog.example");
    assert_eq!(origins(&["--add", shop, "--add", blog]), json!([shop, blog]));
    assert_eq!(origins(&["--remove", shop]), json!([blog]));
    assert!(story.says(&["app", "web-origins", key]).contains(blog));
    let refused = story.command(&["app", "web-origins", key, "--add", "http://shop.example"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("without a path"), "{said}");
    let link = story.says(&["app", "demo", key]);
    assert!(link.contains(&format!("/demo#{key}.")), "{link}");
    story.says(&["app", "mode", key, "production"]);
    assert!(story.refused(&["app", "demo", key]).contains("development"));
}
