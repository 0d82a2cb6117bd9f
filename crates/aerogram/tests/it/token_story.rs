//! Somebody lets servers in by tokens, and replaces a secret without a break.

use crate::operator_story::{KEY, Story};
use crate::terminal::Terminal;

#[test]
fn tokens_are_made_listed_and_revoked() {
    let story = Story::begin();
    let created = story.json(&["app", "create", "Shop"]);
    let key = created["app"]["key"].as_str().unwrap().to_owned();
    let make =
        ["token", "create", &key, "Website", "--role", "sender", "--scopes", "psh,nu", "--addresses", "127.0.0.0/8"];
    let said = story.says(&[&make[..], &["--days", "90"]].concat());
    let token = said.split_whitespace().find(|word| word.starts_with("aerogram_")).unwrap();
    let listed = story.says(&["token", "list", &key]);
    assert!(listed.contains("Website") && listed.contains("sender") && listed.contains(&token[..15]), "{listed}");
    assert!(!listed.contains(token), "{listed}");
    let id = story.json(&["token", "list", &key])["tokens"][0]["token_id"].as_str().unwrap().to_owned();
    assert!(story.says(&["token", "revoke", &key, &id, "--yes"]).contains(&id));
    assert!(story.refused(&["token", "revoke", &key, &id, "--yes"]).contains("404"));
    assert!(
        story.refused(&["token", "create", &key, "Website", "--role", "sender", "--scopes", "all"]).contains("scopes")
    );

    let rotated = story.says(&["app", "rotate", &key, "--secret", "master", "--overlap-hours", "24"]);
    assert!(rotated.contains("good until"), "{rotated}");
    let old = created["master_secret"].as_str().unwrap();
    let push = ["pushes", "--app-key", &key, "--master-secret", old];
    story.says(&push);
    story.says(&["app", "end-former-secret", &key, "--secret", "master"]);
    assert!(story.refused(&push).contains("401"));
}

/// The complaint about a command that was given wrong, with this key exported.
fn misused(story: &Story, key: &str, arguments: &[&str]) -> String {
    let output = story.command(arguments).env("AEROGRAM_APP_KEY", key).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A server that uses it stops working at once.
#[test]
fn somebody_at_a_terminal_sees_which_token_is_revoked() {
    let story = Story::begin();
    let created = story.json(&["token", "create", KEY, "Website", "--role", "sender"]);
    let id = created["token_id"].as_str().unwrap();
    let revoke = ["token", "revoke", KEY, id];
    let n_tokens = || story.json(&["token", "list", KEY])["tokens"].as_array().unwrap().len();
    let unasked = story.command(&revoke).output().unwrap();
    let told = String::from_utf8(unasked.stderr).unwrap();
    assert_eq!(unasked.status.code(), Some(2), "{told}");
    assert!(told.contains("'Website' (sender, never used)") && told.contains("--yes"), "{told}");
    let unknown = story.refused(&["token", "revoke", KEY, "00000000-0000-4000-8000-000000000000"]);
    assert!(unknown.contains("`aerogram token list"), "{unknown}");
    let mut terminal = Terminal::start(story.command(&revoke));
    terminal.wait_for("Revoke it? [y/N] ");
    terminal.types("");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("'Website' (sender, never used)") && shown.contains("Nothing was revoked."), "{shown}");
    assert_eq!(n_tokens(), 1);
    let mut terminal = Terminal::start(story.command(&revoke));
    terminal.wait_for("Revoke it? [y/N] ");
    terminal.types("y");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains(&format!("Revoked {id}.")), "{shown}");
    assert_eq!(n_tokens(), 0);
}

#[test]
fn what_servers_have_is_listed_of_the_app_that_is_exported() {
    let story = Story::begin();
    let other = story.json(&["app", "create", "Shop"])["app"]["key"].as_str().unwrap().to_owned();
    story.says(&["token", "create", KEY, "Website", "--role", "viewer"]);
    assert!(story.says(&["token", "list"]).contains("Website"));
    assert!(!story.says(&["token", "list", &other]).contains("Website"));
    for list in ["webhook", "oauth-client"] {
        assert_eq!(story.says(&[list, "list"]).lines().count(), 1);
    }
    let wrong = |key: &str, arguments: &[&str]| misused(&story, key, arguments);
    let exported = wrong("nope", &["token", "list"]);
    assert!(exported.contains("'app_key' cannot be 'nope' (from AEROGRAM_APP_KEY)"), "{exported}");
    let typed = wrong(KEY, &["token", "list", "nope"]);
    assert!(typed.contains("invalid value 'nope' for "), "{typed}");
    let absent = wrong("", &["token", "list"]);
    assert!(absent.contains("<KEY>"), "{absent}");
}

#[test]
fn what_the_app_has_that_is_exported_is_named_without_its_key() {
    let story = Story::begin();
    let other = story.json(&["app", "create", "Shop"])["app"]["key"].as_str().unwrap().to_owned();
    let created = story.json(&["token", "create", "Website", "--role", "viewer"]);
    let token = created["token_id"].as_str().unwrap();
    assert!(story.says(&["token", "list", KEY]).contains("Website"));
    assert!(!story.says(&["token", "list", &other]).contains("Website"));
    let client = story.json(&["oauth-client", "create", "Batch", "--role", "viewer"]);
    let revoke = ["oauth-client", "revoke", client["client_id"].as_str().unwrap()];
    let unasked = story.command(&revoke).output().unwrap();
    assert_eq!(unasked.status.code(), Some(2));
    assert!(String::from_utf8(unasked.stderr).unwrap().contains("Say --yes to revoke it."));
    story.says(&[&revoke[..], &["--yes"]].concat());

    story.says(&["platform", "set", "webpush", "--subject", "mailto:push@example.com"]);
    story.says(&["platform", "pause", "webpush", "--reason", "Wrong text"]);
    assert!(story.says(&["platform", "list"]).contains("paused"));
    assert!(!story.says(&["platform", "list", &other]).contains("paused"));

    let added = story.json(&["webhook", "add", "https://events.example.com/in", "--disabled"]);
    let webhook = added["webhook"]["webhook_id"].as_str().unwrap();
    story.says(&["webhook", "set", webhook, "--name", "Warehouse"]);
    story.says(&["webhook", "dead", webhook, "discard", "--yes"]);
    assert!(story.refused(&["webhook", "show", &other, webhook]).contains("404"));

    let wrong = |key: &str, arguments: &[&str]| misused(&story, key, arguments);
    // A word too many shows that a key was meant.
    for arguments in [&["token", "revoke", "nope", token][..], &["webhook", "dead", "nope", webhook]] {
        let mistyped = wrong(KEY, arguments);
        assert!(mistyped.contains("invalid value 'nope' for '<KEY>'"), "{mistyped}");
    }
    let without_id = wrong(KEY, &["token", "revoke", KEY]);
    assert!(without_id.contains("<TOKEN>"), "{without_id}");
    let without_role = wrong(KEY, &["token", "create", "Website"]);
    assert!(without_role.contains("--role") && !without_role.contains("invalid value"), "{without_role}");
    let exported = wrong("nope", &["token", "revoke", token]);
    assert!(exported.contains("'app_key' cannot be 'nope' (from AEROGRAM_APP_KEY)"), "{exported}");
    let absent = wrong("", &["token", "revoke", token]);
    assert!(absent.contains("<KEY>"), "{absent}");
    assert!(story.says(&["token", "revoke", token, "--yes"]).contains(token));
}

#[test]
fn oauth_clients_are_made_listed_and_revoked() {
    let story = Story::begin();
    let key = story.json(&["app", "create", "Shop"])["app"]["key"].as_str().unwrap().to_owned();
    let said = story.says(&["oauth-client", "create", &key, "Website", "--role", "sender", "--days", "90"]);
    assert!(said.contains("client secret") && said.contains("BEGIN PRIVATE KEY"), "{said}");
    let without = story.says(&["oauth-client", "create", &key, "Batch", "--role", "viewer", "--no-secret"]);
    assert!(!without.contains("client secret") && without.contains("BEGIN PRIVATE KEY"), "{without}");
    let listed = story.says(&["oauth-client", "list", &key]);
    assert!(listed.contains("Website") && listed.contains("Batch") && !listed.contains("PRIVATE"), "{listed}");
    let clients = story.json(&["oauth-client", "list", &key]);
    let id = clients["clients"][0]["client_id"].as_str().unwrap();
    assert!(story.says(&["oauth-client", "revoke", &key, id, "--yes"]).contains(id));
    assert!(story.refused(&["oauth-client", "revoke", &key, id, "--yes"]).contains("404"));
}

#[test]
fn a_link_to_a_console_that_is_not_there_says_so() {
    let story = Story::begin_with(&["--console=false"]);
    let output = story.command(&["console", "link"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("AEROGRAM_CONSOLE=false"), "{told}");
    let story = Story::begin();
    let output = story.command(&["console", "link"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
