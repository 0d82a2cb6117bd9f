//! What the doctor tells an operator.

use std::io::{Read, Write};
use std::net::TcpListener;

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use serde_json::{Value, json};

use crate::operator_story::{KEY, Story, register};
use crate::server::{Server, aerogram};

#[test]
fn the_doctor_warns_of_certificates_that_run_out() {
    let story = Story::begin();
    let soon = model::time::Clock::System.now().plus(std::time::Duration::from_secs(10 * 24 * 60 * 60)).to_api();
    let mut date = soon[..10].split('-').map(|part| part.parse::<u16>().unwrap());
    let mut part = || date.next().unwrap();
    let key = KeyPair::generate().unwrap();
    let mut certificate = CertificateParams::new(["com.example.app".to_owned()]).unwrap();
    certificate.not_after = date_time_ymd(part().into(), u8::try_from(part()).unwrap(), u8::try_from(part()).unwrap());
    let pem = format!("{}{}", certificate.self_signed(&key).unwrap().pem(), key.serialize_pem());
    std::fs::write(story.folder.path().join("both.pem"), pem).unwrap();
    story.says(&["platform", "set", KEY, "apns", "--topic", "com.example.app", "--certificate-file", "both.pem"]);
    let report = story.says(&["doctor"]);
    assert!(
        report.contains(&format!("warn  platforms The certificate for apns of {KEY} expires at {}", &soon[..10])),
        "{report}"
    );
    assert!(story.says(&["platform", "list", KEY]).contains(&soon[..10]));
}

#[test]
fn the_doctor_finds_what_is_wrong() {
    use std::os::unix::fs::PermissionsExt;
    let story = Story::begin();
    let report = story.says(&["doctor"]);
    assert_eq!(report.lines().filter(|line| line.starts_with("ok ")).count(), 11, "{report}");
    assert_eq!(report.lines().count(), 11, "{report}");
    let key = story.folder.path().join("aerogram-data/secrets.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = story.command(&["doctor"]).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("FAIL  files") && report.contains("chmod 600"), "{report}");
    // The service would not start again without it.
    let content = std::fs::read_to_string(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let output = story.command(&["doctor"]).output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains("FAIL  files     There is no ") && report.contains("AEROGRAM_SECRETS_KEY"), "{report}");
    assert!(!story.says(&["doctor", "--secrets-key", content.trim()]).contains("FAIL"));
}

#[test]
fn a_settings_file_with_secrets_is_not_for_everybody() {
    use std::os::unix::fs::PermissionsExt;
    let story = Story::begin();
    let settings = story.folder.path().join("aerogram.toml");
    let set_mode = |mode| std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::write(&settings, "log = \"json\"\n").unwrap();
    set_mode(0o644);
    assert!(!story.says(&["doctor"]).contains("FAIL"));
    std::fs::write(&settings, format!("master_secret = \"{KEY}\"\n")).unwrap();
    let report = String::from_utf8(story.command(&["doctor"]).output().unwrap().stdout).unwrap();
    assert!(report.contains("FAIL  files") && report.contains("chmod o= aerogram.toml"), "{report}");
    set_mode(0o640);
    assert!(!story.says(&["doctor"]).contains("FAIL"));
}

#[test]
fn the_doctor_answers_programs_as_well() {
    let story = Story::begin();
    let report = story.json(&["doctor"]);
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
    let of_server = ["ready", "clock", "nodes", "jobs", "live", "platforms", "webhooks"];
    assert_eq!(names, [&["files", "database", "server", "operator"][..], &of_server].concat());
    assert!(checks.iter().all(|check| check["state"] == "ok" && check["text"].is_string()), "{report}");

    let without = story.command(&["doctor", "--json", "--operator-token", "0123456789abcdef"]).output().unwrap();
    assert_eq!(without.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&without.stdout).unwrap();
    let states: Vec<&Value> = report["checks"].as_array().unwrap().iter().map(|check| &check["state"]).collect();
    let expected = [&["ok", "ok", "ok", "fail", "ok"][..], &["note"; 6]].concat();
    assert_eq!(json!(states), json!(expected), "{report}");
}

#[test]
fn what_was_not_checked_is_not_called_fine() {
    let folder = tempfile::tempdir().unwrap();
    // Port 1 of the own machine: neither a server nor a database listens there.
    for database in ["postgres://ann@127.0.0.1:1/mail", "sqlite:elsewhere/aerogram.db"] {
        let away = ["doctor", "--url", "http://127.0.0.1:1", "--database", database];
        let output = aerogram(folder.path()).args(away).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let report = String::from_utf8(output.stdout).unwrap();
        let states: Vec<&str> = report.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(states, ["note", "note", "FAIL", "note"], "{report}");
        assert!(report.contains("No server answers at http://127.0.0.1:1"), "{report}");
    }
}

#[test]
fn a_file_on_which_nothing_could_start_is_not_called_fine() {
    let story = Story::begin();
    let data = story.folder.path().join("aerogram-data");
    let doctor = |arguments: &[&str]| {
        let away = ["doctor", "--url", "http://127.0.0.1:1"];
        let output = aerogram(story.folder.path()).args(away).args(arguments).output().unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        report.lines().find(|line| line.contains(" database ")).unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    let fine = doctor(&[]);
    assert!(fine.starts_with("ok ") && fine.contains("the secrets key fits"), "{fine}");
    let foreign = doctor(&["--secrets-key", &"A".repeat(43)]);
    assert!(foreign.starts_with("FAIL") && foreign.contains("another secrets key"), "{foreign}");
    std::fs::write(data.join("noise.db"), "not a database at all, but long enough".repeat(100)).unwrap();
    let noise = doctor(&["--database", "sqlite:aerogram-data/noise.db"]);
    assert!(noise.starts_with("FAIL") && noise.contains("not a database"), "{noise}");
}

#[test]
fn the_doctor_sees_a_webhook_that_is_gone() {
    let story = Story::begin_with(&["--allow-private-addresses"]);
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", receiver.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in receiver.incoming() {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    let made = story.json(&["webhook", "add", KEY, &url, "--types", "PUSH_BODY"]);
    let id = made["webhook"]["webhook_id"].as_str().unwrap();
    story.says(&["push", "Hello", "--audience", "all", "--yes"]);
    // The request and what follows from it come in their own time; asking again is all that can be done from outside.
    let seen = (0..1000).find_map(|_| {
        let output = story.command(&["doctor"]).output().unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        report.contains("FAIL  webhooks").then_some((report, output.status.code()))
    });
    let (report, code) = seen.unwrap();
    assert_eq!(code, Some(1));
    let line =
        format!("FAIL  webhooks  The service has disabled the webhook {id} of {KEY}; see `aerogram webhook show");
    assert!(report.contains(&line), "{report}");
}

#[test]
fn a_node_that_only_sends_is_in_order() {
    let story = Story::begin_with(&["--roles", "worker"]);
    let report = story.says(&["doctor"]);
    assert!(!report.contains("FAIL"), "{report}");
    assert!(report.contains("ok    jobs") && report.contains("ok    webhooks"), "{report}");
}

#[test]
fn devices_of_an_app_in_production_need_credentials() {
    let story = Story::begin();
    register(&story.server.url);
    assert!(!story.says(&["doctor"]).contains("no credentials"), "what is for them goes to the sandbox");
    story.says(&["app", "mode", KEY, "production"]);
    let report = story.says(&["doctor"]);
    let line = report.lines().find(|line| line.starts_with("warn")).unwrap_or_else(|| panic!("{report}"));
    assert!(line.contains("platforms 1 android device of ") && line.contains("no credentials for fcm"), "{line}");
    assert!(line.contains(&format!("run `aerogram platform set {KEY} fcm ")), "{line}");
}

#[test]
fn the_secrets_of_the_first_app_are_not_to_be_left_lying_about() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let doctor = || {
        let output = aerogram(folder.path()).args(["doctor", "--url", &server.url]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(!doctor().contains("first-app.env"));
    let file = std::fs::File::options().write(true).open(folder.path().join("aerogram-data/first-app.env")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000)).unwrap();
    let report = doctor();
    let line = report.lines().find(|line| line.contains("first-app.env")).unwrap_or_else(|| panic!("{report}"));
    assert!(line.starts_with("warn  files") && line.contains("since 2023-11-14"), "{line}");
}
