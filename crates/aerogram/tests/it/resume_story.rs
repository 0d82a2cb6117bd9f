//! An import that was interrupted goes on with the same rows, and with no others; what a server cannot take now is tried again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::import_story::{ID, get, import, lines, stories, total, write};
use crate::lossy::{Loss, Lossy};
use crate::operator_story::{KEY, MASTER_SECRET, Story};
use crate::scripted::{Answer, Asked, Scripted};
use crate::server::aerogram;

const IMPORT: &str = "/api/channels/import";
pub(crate) const LOGIN: [&str; 4] = ["--app-key", KEY, "--master-secret", MASTER_SECRET];
/// Only keeps a test from hanging.
const DEADLINE: Duration = Duration::from_secs(120);

/// What a service answers that has everything go well.
fn well(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        IMPORT => {
            let n = asked.body.lines().count();
            Answer::json(200, &json!({"created": n, "updated": 0, "refused": 0}))
        }
        path if path.starts_with("/api/pipelines/filtered") => Answer::json(200, &json!({"pipelines": []})),
        _ => Answer::json(200, &json!({"ok": true})),
    }
}

fn failed() -> Answer {
    Answer::json(500, &json!({"ok": false, "error": "no"}))
}

/// Imports into a service, one request after the other.
fn import_to(service: &Scripted, folder: &std::path::Path, arguments: &[&str]) -> Output {
    let mut command = aerogram(folder);
    command.arg("import").args(arguments).args(LOGIN).args(["--url", &service.url, "--connections", "1", "--json"]);
    command.output().unwrap()
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_users_hold_goes_with_the_channels_and_is_not_lost() {
    const ROWS: usize = 2001;
    let folder = tempfile::tempdir().unwrap();
    let row = |n: usize| match n % 2 {
        0 => json!({"device_type": "ios", "opt_in": true, "push_address": format!("{n:X}")}),
        _ => json!({"named_user": {"named_user_id": format!("user-{n}"), "tags": {"crm": ["vip"]}}}),
    };
    let rows: Vec<Value> = (0..ROWS).map(row).collect();
    std::fs::write(folder.path().join("mixed.jsonl"), lines(&rows)).unwrap();
    let mut n_parts = 0;
    let service = Scripted::start(move |asked| {
        n_parts += usize::from(asked.path == IMPORT);
        if asked.path == IMPORT && n_parts == 2 { failed() } else { well(asked) }
    });
    let broken = import_to(&service, folder.path(), &["jsonl", "mixed.jsonl"]);
    assert_eq!(broken.status.code(), Some(1), "{}", told(&broken));
    let resumed = import_to(&service, folder.path(), &["jsonl", "mixed.jsonl"]);
    assert!(resumed.status.success() && told(&resumed).contains("after row 2000;"), "{}", told(&resumed));
    assert_eq!(total(&resumed), [1, 0, 0]);
    let sent: Vec<usize> = service.take(IMPORT).iter().map(|asked| asked.body.lines().count()).collect();
    assert_eq!(sent, [2000, 1, 1], "hundreds in one call, and the last of them once more");
    assert!(!service.asked().iter().any(|asked| asked.contains("named_users")), "{:?}", service.asked());
}

#[test]
fn an_import_that_is_killed_in_the_middle_loses_nothing() {
    const N: u64 = 10_000;
    for story in stories() {
        let address = |n: u64| format!("token-{n:05}");
        let device = |n: u64| json!({"device_type": "android", "opt_in": true, "push_address": address(n)});
        write(&story, "all.jsonl", lines(&(0..N).map(device).collect::<Vec<_>>()));
        let n_done = || {
            let state = std::fs::read(story.folder.path().join("all.jsonl.aerogram-import")).unwrap();
            serde_json::from_slice::<Value>(&state).unwrap()["n_rows"].as_u64().unwrap()
        };
        let way = Lossy::to(&story.server.url);
        let all = ["jsonl", "all.jsonl", "--url", &way.url];
        let kill = |connections: &str, losses: &[Loss], n_posts: usize| {
            way.lose(losses);
            let mut command = story.command(&[&["import"], &all[..], &["--connections", connections]].concat());
            let mut import = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            way.wait_for_posts(n_posts);
            import.kill().unwrap();
            import.wait().unwrap();
        };
        // The server has done the third part, and the command has not heard of it.
        kill("1", &[Loss::Nothing, Loss::Nothing, Loss::Stalled], 3);
        assert_eq!(n_done(), 4000);
        // One of the first two parts that are left is not answered, and the server does the others meanwhile.
        kill("2", &[Loss::Stalled], 3);
        let n_rows = n_done();
        assert!([4000, 6000].contains(&n_rows), "{n_rows}");

        let output = import(&story, &all);
        assert!(told(&output).contains(&format!("goes on after row {n_rows};")), "{}", told(&output));
        assert_eq!(total(&output), [0, N - n_rows, 0], "the server knew all of them");
        let export = story.says(&["export"]);
        let mut found: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        found.sort_by_key(|line| line["push_address"].to_string());
        assert_eq!(found.len() as u64, N);
        assert!((0..N).zip(&found).all(|(n, line)| line["push_address"] == address(n)), "{export}");
    }
}

#[test]
fn an_import_with_other_options_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..3000).map(|n| format!("right-{n},wrong-{n}\n")).collect();
    std::fs::write(folder.path().join("devices.csv"), format!("one,two\n{rows}")).unwrap();
    let mut n_parts = 0;
    let service = Scripted::start(move |asked| {
        n_parts += usize::from(asked.path == IMPORT);
        if asked.path == IMPORT && n_parts == 2 { failed() } else { well(asked) }
    });
    let wrong = ["csv", "devices.csv", "--android", "--map", "two=push_address"];
    let right = ["csv", "devices.csv", "--android", "--map", "one=push_address"];
    assert_eq!(import_to(&service, folder.path(), &wrong).status.code(), Some(1));
    service.take(IMPORT);
    let output = import_to(&service, folder.path(), &right);
    assert!(told(&output).contains("begins anew"), "{}", told(&output));
    assert_eq!(total(&output), [3000, 0, 0]);
    let sent: String = service.take(IMPORT).into_iter().map(|asked| asked.body).collect();
    assert!(sent.contains("\"right-0\"") && sent.contains("\"right-2999\"") && !sent.contains("wrong"));
}

#[test]
fn an_import_of_another_project_begins_anew() {
    let channel = |address: &str| {
        let one =
            json!({"channel_id": ID, "device_type": "ios", "installed": true, "opt_in": true, "push_address": address});
        json!({"channels": [one]})
    };
    let project = |address: &str, users: fn() -> Answer| {
        let channels = channel(address);
        Scripted::start(move |asked| match asked.path.as_str() {
            "/api/channels/" => Answer::json(200, &channels),
            _ => users(),
        })
    };
    let story = Story::begin();
    let from = |project: &Scripted| {
        let arguments = ["airship", "--airship-key", KEY, "--airship-secret", MASTER_SECRET, "--from", &project.url];
        import(&story, &arguments)
    };
    assert_eq!(from(&project("AA", failed)).status.code(), Some(1));
    let other = project("BB", || Answer::json(200, &json!({"named_users": []})));
    let output = from(&other);
    assert!(told(&output).contains("begins anew"), "{}", told(&output));
    assert_eq!(other.asked(), ["GET /api/channels/", "GET /api/named_users/"]);
    assert_eq!(get(&story, &format!("/api/channels/{ID}"))["channel"]["push_address"], "BB");
}

#[test]
fn an_import_by_pages_goes_on_with_the_page_of_the_first_row_that_is_not_done() {
    const PER_PAGE: usize = 1500;
    const N_PAGES: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    let project = Scripted::start(|asked| {
        let n: usize = asked.path.rsplit('=').next().and_then(|page| page.parse().ok()).unwrap_or(0);
        let device =
            |n| json!({"channel_id": format!("{n:036}"), "device_type": "ios", "push_address": format!("{n:X}")});
        match asked.path.starts_with("/api/channels") {
            true => {
                let channels: Vec<Value> = (n * PER_PAGE..(n + 1) * PER_PAGE).map(device).collect();
                let next = (n + 1 < N_PAGES).then(|| format!("https://elsewhere/api/channels/?start={}", n + 1));
                Answer::json(200, &json!({"channels": channels, "next_page": next}))
            }
            false => Answer::json(200, &json!({"named_users": []})),
        }
    });
    let mut n_parts = 0;
    let service = Scripted::start(move |asked| {
        n_parts += usize::from(asked.path == IMPORT);
        if asked.path == IMPORT && n_parts == 2 { failed() } else { well(asked) }
    });
    let from = ["airship", "--airship-key", KEY, "--airship-secret", MASTER_SECRET, "--from", &project.url];
    assert_eq!(import_to(&service, folder.path(), &from).status.code(), Some(1));
    assert_eq!(project.asked().first().map(String::as_str), Some("GET /api/channels/"));
    service.take(IMPORT);
    let n_asked = project.asked().len();
    let resumed = import_to(&service, folder.path(), &from);
    assert!(resumed.status.success() && told(&resumed).contains("after row 2000;"), "{}", told(&resumed));
    assert_eq!(project.asked()[n_asked], "GET /api/channels/?start=1", "2,000 rows are a page and a part of the next");
    let sent: String = service.take(IMPORT).into_iter().map(|asked| asked.body).collect();
    let is_sent = |n: usize| sent.contains(&format!("{n:036}"));
    assert!((PER_PAGE..PER_PAGE * N_PAGES).all(is_sent) && !is_sent(PER_PAGE - 1));
}

#[test]
fn what_a_server_cannot_take_now_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let device = json!({"device_type": "ios", "opt_in": true, "push_address": "AA"});
    let list = json!({"list": {"name": "vips"}});
    let segment = json!({"segment": {"display_name": "News", "criteria": {"tag": "news"}}});
    std::fs::write(folder.path().join("all.jsonl"), lines(&[device, list, segment])).unwrap();
    let (mut n_parts, mut n_lists, mut n_segments) = (0, 0, 0);
    let busy = || Answer::with(429, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "");
    let service = Scripted::start(move |asked| {
        let first = |n: &mut u32| {
            *n += 1;
            *n == 1
        };
        match asked.path.as_str() {
            IMPORT if first(&mut n_parts) => Answer::Break,
            "/api/lists" if first(&mut n_lists) => busy(),
            // Listed, then made.
            "/api/segments" if first(&mut n_segments) => Answer::json(200, &json!({"segments": []})),
            "/api/segments" if n_segments == 2 => busy(),
            _ => well(asked),
        }
    });
    let output = import_to(&service, folder.path(), &["jsonl", "all.jsonl"]);
    assert!(output.status.success(), "{}", told(&output));
    let total: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&total["created"], &total["items"], &total["refused"]), (&json!(1), &json!(2), &json!(0)));
    let n_asked = |wanted: &str| service.asked().iter().filter(|asked| *asked == wanted).count();
    let found = ["POST /api/channels/import", "POST /api/lists", "POST /api/segments"].map(n_asked);
    assert_eq!(found, [2, 2, 2]);
}

#[test]
fn nothing_is_made_twice_because_nobody_knows_that_it_was_made() {
    let story = Story::begin();
    let way = Lossy::to(&story.server.url);
    let push = |audience: &str| json!({"audience": audience, "device_types": "all", "notification": {"alert": "Hi"}});
    let variables = json!([{"key": "NAME", "name": "Name", "default_value": "you"}]);
    let outcome = json!({"push": push("triggered")});
    let once = json!({"scheduled_time": "2099-01-01T00:00:00"});
    for (kind, items, body) in [
        ("segment", "segments", json!({"display_name": "News", "criteria": {"tag": "news"}})),
        (
            "template",
            "templates",
            json!({"name": "Hi", "variables": variables, "push": {"notification": {"alert": "Hi {{NAME}}"}}}),
        ),
        ("schedule", "schedules", json!({"name": "Later", "schedule": once, "push": push("all")})),
        (
            "pipeline",
            "pipelines",
            json!({"name": "Hello", "enabled": true, "immediate_trigger": "first_open", "outcome": outcome}),
        ),
    ] {
        write(&story, "one.jsonl", lines(&[json!({ kind: body })]));
        way.lose(&[Loss::Unknown, Loss::Broken]);
        let output = import(&story, &["jsonl", "one.jsonl", "--active", "--url", &way.url]);
        assert!(output.status.success() && way.has_lost_all(), "{kind}: {}", told(&output));
        assert_eq!(get(&story, &format!("/api/{items}"))[items].as_array().unwrap().len(), 1, "{kind}");
    }
}

#[test]
fn a_call_that_is_not_allowed_ends_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let list = |name: &str| json!({"list": {"name": name}});
    std::fs::write(folder.path().join("lists.jsonl"), lines(&[list("jo"), list("kim")])).unwrap();
    let service = Scripted::start(|asked| match asked.path.as_str() {
        "/api/lists" => Answer::with(403, "", "Not from here"),
        _ => well(asked),
    });
    let output = import_to(&service, folder.path(), &["jsonl", "lists.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("403 Forbidden") && output.stdout.is_empty(), "{}", told(&output));
}

#[test]
fn a_list_is_sent_while_it_is_read() {
    const ROWS: usize = 50_000;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (heard, hears) = mpsc::channel();
    let service = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = BufReader::new(stream.try_clone().unwrap());
        let head: Vec<String> =
            received.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
        let mut some = vec![0; 100_000];
        received.read_exact(&mut some).unwrap();
        heard.send(head).unwrap();
        let mut rest = Vec::new();
        while !rest.ends_with(b"0\r\n\r\n") {
            assert!(received.read_until(b'\n', &mut rest).unwrap() > 0, "it broke off");
        }
        stream
            .write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"ok\":true}")
            .unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    let mut upload = aerogram(folder.path());
    upload.args(["list", "upload", "vips", "-"]).args(LOGIN).args(["--url", &url]);
    let mut upload = upload.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut rows = upload.stdin.take().unwrap();
    for n in 0..ROWS {
        writeln!(rows, "named_user,somebody-{n}").unwrap();
    }
    let head = hears.recv_timeout(DEADLINE).expect("rows are sent before the last one is there");
    assert!(head[0].starts_with("PUT /api/lists/vips/csv"), "{head:?}");
    drop(rows);
    service.join().unwrap();
    assert!(upload.wait().unwrap().success());
}

/// A file in a folder that cannot be written to keeps how far it has got elsewhere.
#[test]
fn a_state_that_cannot_be_kept_is_told_before_the_first_row() {
    let story = Story::begin();
    write(&story, "devices.jsonl", lines(&[json!({"device_type": "ios", "opt_in": true, "push_address": "AB"})]));
    std::fs::create_dir(story.folder.path().join("devices.jsonl.aerogram-import.new")).unwrap();
    let refused = story.refused(&["import", "jsonl", "devices.jsonl"]);
    assert!(refused.contains("--state names another file"), "{refused}");
    assert_eq!(get(&story, "/api/channels")["channels"], json!([]));
    assert_eq!(total(&import(&story, &["jsonl", "devices.jsonl", "--state", "kept"])), [1, 0, 0]);
}
