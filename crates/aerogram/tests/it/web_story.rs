//! Somebody lets web pages in, and shows colleagues a push arriving.

use serde_json::{Value, json};

use crate::operator_story::Story;

/// Of an example of RFC 6979.
pub(crate) const PUBLIC_KEY: &str = concat!(
    "-----BEGIN PUBLIC KEY-----\n",
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7\n",
    "Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==\n",
    "-----END PUBLIC KEY-----\n",
);

#[test]
fn origins_and_a_key_are_set_and_removed_and_the_demo_has_a_link() {
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
    let proof_key =
        |args: &[&str]| story.json(&[&["app", "proof-key", key], args].concat())["app"]["proof_public_key"].clone();
    assert_eq!(proof_key(&[]), Value::Null);
    std::fs::write(story.folder.path().join("public.pem"), PUBLIC_KEY).unwrap();
    assert_eq!(proof_key(&["--set", "public.pem"]), PUBLIC_KEY);
    assert!(story.says(&["app", "proof-key", key]).contains("BEGIN PUBLIC KEY"));
    std::fs::write(story.folder.path().join("private.pem"), PUBLIC_KEY.replace("PUBLIC", "PRIVATE")).unwrap();
    assert!(story.refused(&["app", "proof-key", key, "--set", "private.pem"]).contains("P-256"));
    assert_eq!(proof_key(&["--remove"]), Value::Null);
    let link = story.says(&["app", "demo", key]);
    assert!(link.contains(&format!("/demo#{key}.")), "{link}");
    story.says(&["app", "mode", key, "production"]);
    assert!(story.refused(&["app", "demo", key]).contains("development"));
}
