//! Somebody asks what became of a push: the commands that answer, against a running server.

use crate::operator_story::Story;

/// Of a push that was canceled before it reached its one device.
pub(crate) fn tells_who_was_left(story: &Story, push: &str) {
    let recipients = story.says(&["push", "recipients", push]);
    assert!(recipients.contains("canceled") && recipients.contains("android"), "{recipients}");
    let csv = story.says(&["push", "recipients", push, "--csv", "--outcome", "canceled"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let channel = csv.lines().nth(1).and_then(|line| line.split(',').next()).unwrap();
    let why = story.says(&["why", push, channel]);
    assert!(why.contains("was canceled before the turn of the device came"), "{why}");
    assert!(story.refused(&["why", push, "nobody"]).contains("404"));
    assert_eq!(story.says(&["live"]), "0 of 0 live channels are connected\n");
}
