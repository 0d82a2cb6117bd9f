//! A whole app goes out and comes in again; what would send there does not begin to by accident.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::import_story::{ID, call, get, import, lines, stories, total, write};
use crate::operator_story::{KEY, MASTER_SECRET, Story};
use crate::scripted::{Answer, Scripted};
use crate::server::aerogram;
use crate::terminal::Terminal;

const RATES: &str = "/api/pipelines/constraints";

/// So many pushes of all pipelines a day, as an app has it.
fn rates(n_pushes: u32) -> Value {
    json!([{"rate": {"pushes": n_pushes, "days": 1}}])
}

/// Channels, users, lists, segments, templates, schedules, pipelines with the rates of all of them, and experiments.
pub(crate) fn settle_in(story: &Story) {
    let channels = [
        json!({"channel_id": ID, "device_type": "ios", "opt_in": true, "background": true, "push_address": "AB12", "named_user_id": "kim",
            "tags": ["news"], "tag_groups": {"loyalty": ["gold"]}, "attributes": {"age": 41, "cart#1": {"n": 1}}, "alias": "k",
            "subscription_lists": ["weekly"], "timezone": "Europe/Berlin", "locale_language": "de", "locale_country": "DE",
            "app_version": "3.1", "sdk_version": "17.0.0", "device_model": "iPhone15,2", "device_os": "17.1", "carrier": "Telekom",
            "location_settings": true, "ios": {"badge": 2, "quiettime": {"start": "22:00", "end": "7:00"}, "tz": "Europe/Berlin"}}),
        json!({"device_type": "android", "opt_in": false, "push_address": "token", "android": {"delivery_type": "hms"}}),
        json!({"device_type": "android", "opt_in": true, "push_address": "https://push.example.org/up/1", "android": {
            "delivery_type": "unifiedpush", "subscription": {"auth": "AAAAAAAAAAAAAAAAAAAAAA",
            "p256dh": "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}),
        json!({"type": "open", "opt_in": true, "address": "lobby", "named_user_id": "kim", "open": {"open_platform_name": "kiosk",
            "identifiers": {"floor": "1"}}, "locale_language": "fr"}),
    ];
    write(story, "settle.jsonl", lines(&channels));
    let output = import(story, &["jsonl", "settle.jsonl"]);
    assert_eq!(total(&output), [4, 0, 0], "{}", String::from_utf8_lossy(&output.stderr));
    call(
        story,
        "POST",
        "/api/named_users/kim",
        &json!({"tags": {"set": {"crm": ["vip"]}},
        "attributes": [{"action": "set", "key": "born", "value": "1983-01-01T00:00:00"}]}),
    );
    call(
        story,
        "POST",
        "/api/named_users/scoped/kim",
        &json!({"scoped": [{"scope": "app", "subscription_lists": {"subscribe": ["monthly"]}}]}),
    );
    story.says(&["list", "create", "--set", "name=vips", "--set", "description=The best"]);
    write(story, "vips.csv", format!("ios_channel,{ID}\nnamed_user,\"jo, the second\"\n"));
    story.says(&["list", "upload", "vips", "vips.csv"]);
    let segment = call(story, "POST", "/api/segments", &json!({"display_name": "News", "criteria": {"tag": "news"}}));
    let inner = json!({"segment": segment["segment_id"]});
    let outer = call(
        story,
        "POST",
        "/api/segments",
        &json!({"display_name": "Both", "criteria": {"and": [inner, {"tag": "a"}]}}),
    );
    call(
        story,
        "POST",
        "/api/templates",
        &json!({"name": "Hello", "variables": [{"key": "NAME", "name": "Name", "default_value": "you"}],
        "push": {"notification": {"alert": "Hello {{NAME}}"}}}),
    );
    let push = json!({"audience": {"segment": outer["segment_id"]}, "device_types": "all", "notification": {"alert": "Later"}});
    call(
        story,
        "POST",
        "/api/schedules",
        &json!({"name": "Later", "schedule": {"scheduled_time": "2099-01-01T00:00:00"}, "push": push}),
    );
    call(
        story,
        "POST",
        "/api/schedules",
        &json!({"schedule": {"scheduled_time": "2099-02-01T00:00:00"}, "push": push}),
    );
    let daily =
        json!({"scheduled_time": "2099-03-01T00:00:00", "recurring": {"cadence": {"type": "daily", "count": 1}}});
    call(story, "POST", "/api/schedules", &json!({"name": "Daily", "schedule": daily, "push": push}));
    let texts = json!({"type": "app", "name": "Sale", "content": {"alert": "Sale, {{name}}"}});
    call(story, "POST", "/api/content/templates", &texts);
    let variant = |name: &str| json!({"name": name, "push": {"notification": {"alert": name}}, "schedule": {"scheduled_time": "2099-01-01T00:00:00"}});
    let which = json!({"name": "Which?", "audience": {"tag": "news"}, "device_types": "all", "control": 0.2, "variants": [variant("A"), variant("B")]});
    call(story, "POST", "/api/experiments", &which);
    call(story, "PUT", RATES, &rates(2));
    call(
        story,
        "POST",
        "/api/pipelines",
        &json!({"name": "Welcome", "enabled": true, "immediate_trigger": {"tag_added": "welcome"},
        "outcome": {"delay": 60, "push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}}}),
    );
}

/// The lines of an export, without the ids that a move changes.
fn exported(story: &Story, file: &str) -> Vec<Value> {
    story.says(&["export", file, "--force"]);
    let text = std::fs::read_to_string(story.folder.path().join(file)).unwrap();
    let mut ids = Vec::new();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        for (kind, key) in [
            ("segment", "id"),
            ("content_template", "id"),
            ("template", "template_id"),
            ("schedule", "url"),
            ("pipeline", "uid"),
            ("experiment", "id"),
        ] {
            if let Some(id) = line[kind].as_object_mut().and_then(|object| object.remove(key)) {
                ids.push(id.as_str().unwrap().to_owned());
            }
        }
    }
    let replace = |line: &Value| {
        let text = ids.iter().enumerate().fold(line.to_string(), |text, (n, id)| text.replace(id, &format!("id-{n}")));
        serde_json::from_str(&text).unwrap()
    };
    lines.iter().map(replace).collect()
}

#[test]
fn an_app_goes_out_and_comes_in_again() {
    for story in stories() {
        settle_in(&story);
        let before = exported(&story, "first.jsonl");
        assert_eq!(before.len(), 4 + 1 + 2 + 1 + 2 + 1 + 1 + 3 + 1 + 1, "{before:#?}");
        // The same app once more: nothing is made twice, and what sends goes on.
        let again = import(&story, &["jsonl", "first.jsonl", "--yes"]);
        assert_eq!(total(&again), [0, 4, 0], "{}", String::from_utf8_lossy(&again.stderr));
        assert_eq!(exported(&story, "second.jsonl"), before);

        for other in stories() {
            std::fs::copy(story.folder.path().join("first.jsonl"), other.folder.path().join("moved.jsonl")).unwrap();
            for wanted in [[4, 0, 0], [0, 4, 0]] {
                let moved = import(&other, &["jsonl", "moved.jsonl", "--active", "--yes"]);
                assert_eq!(total(&moved), wanted, "{}", String::from_utf8_lossy(&moved.stderr));
                assert_eq!(exported(&other, "after.jsonl"), before);
            }
        }
    }
}

/// The schedules and pipelines of an app, by their names and whether they send.
fn senders(story: &Story) -> Vec<(Value, bool)> {
    let schedules = get(story, "/api/schedules")["schedules"].as_array().unwrap().clone();
    let sends = |schedule: &Value| schedule["schedule"]["recurring"]["paused"] != json!(true);
    let mut senders: Vec<_> = schedules.iter().map(|schedule| (schedule["name"].clone(), sends(schedule))).collect();
    let pipelines = get(story, "/api/pipelines")["pipelines"].as_array().unwrap().clone();
    senders.extend(pipelines.iter().map(|one| (one["name"].clone(), one["enabled"] == json!(true))));
    senders
}

#[test]
fn what_sends_by_itself_waits_until_somebody_says_so() {
    for story in stories() {
        settle_in(&story);
        story.says(&["export", "moved.jsonl"]);
        let other = Story::begin();
        std::fs::copy(story.folder.path().join("moved.jsonl"), other.folder.path().join("moved.jsonl")).unwrap();

        let n_experiments = || get(&other, "/api/experiments/scheduled")["experiments"].as_array().unwrap().len();
        let dry = import(&other, &["jsonl", "moved.jsonl", "--dry-run"]);
        let dry: Value = serde_json::from_slice(&dry.stdout).unwrap();
        assert_eq!((&dry["rows"], &dry["unchecked"], &dry["refused"]), (&json!(17), &json!(12), &json!(0)), "{dry}");

        for _ in 0..2 {
            let asleep = import(&other, &["jsonl", "moved.jsonl"]);
            let asleep: Value = serde_json::from_slice(&asleep.stdout).unwrap();
            let found = (&asleep["inactive"], &asleep["withheld"], &asleep["refused"]);
            assert_eq!(found, (&json!(2), &json!(3), &json!(0)), "{asleep}");
            assert_eq!(senders(&other), [(json!("Daily"), false), (json!("Welcome"), false)]);
            assert_eq!(n_experiments(), 0);
            // No pipeline sends here yet, and one that is enabled later is not to send without them.
            assert_eq!(get(&other, RATES)["constraints"], rates(2));
        }
        let said = other.says(&["import", "jsonl", "moved.jsonl"]);
        assert!(said.contains("2 schedules and pipelines came paused or disabled"), "{said}");
        assert!(said.contains("3 schedules and experiments were not made") && said.contains("--active"), "{said}");

        other.says(&["import", "jsonl", "moved.jsonl", "--active"]);
        assert_eq!(n_experiments(), 1);
        let awake = senders(&other);
        assert_eq!((awake.len(), awake.iter().all(|(_, sends)| *sends)), (4, true), "{awake:?}");
        // What sends here by now goes on.
        other.says(&["import", "jsonl", "moved.jsonl", "--yes"]);
        assert_eq!(senders(&other), awake);
    }
}

#[test]
fn what_sends_here_stays_as_it_is() {
    let push = |audience: &str, text: &str| json!({"audience": audience, "device_types": "all", "notification": {"alert": text}});
    let sale = |text: &str| {
        let once = json!({"scheduled_time": "2099-01-01T00:00:00"});
        json!({"name": "Sale", "schedule": once, "push": push("all", text)})
    };
    let welcome = |text: &str, enabled: bool| {
        let outcome = json!({"push": push("triggered", text)});
        json!({"name": "Welcome", "enabled": enabled, "immediate_trigger": "first_open", "outcome": outcome})
    };
    for story in stories() {
        let here = || {
            let (schedules, pipelines) = (get(&story, "/api/schedules"), get(&story, "/api/pipelines"));
            (schedules["schedules"].clone(), pipelines["pipelines"].clone())
        };
        let rates_here = || get(&story, RATES)["constraints"].clone();
        call(&story, "PUT", RATES, &rates(9));
        call(&story, "POST", "/api/schedules", &sale("OURS"));
        call(&story, "POST", "/api/pipelines", &welcome("OURS", true));
        let before = here();
        for enabled in [true, false] {
            let theirs = [
                json!({"schedule": sale("THEIRS")}),
                json!({"pipeline_constraints": rates(2)}),
                json!({"pipeline": welcome("THEIRS", enabled)}),
            ];
            write(&story, "theirs.jsonl", lines(&theirs));
            let output = import(&story, &["jsonl", "theirs.jsonl"]);
            let total: Value = serde_json::from_slice(&output.stdout).unwrap();
            let found = ["items", "inactive", "withheld", "kept", "refused"].map(|key| total[key].as_u64().unwrap());
            assert_eq!(found, [2, 0, 1, 2, 0], "{total}");
            assert_eq!((here(), rates_here()), (before.clone(), rates(9)));
        }
        let said = story.says(&["import", "jsonl", "theirs.jsonl"]);
        assert!(said.contains("2 schedules, pipelines and rates of pipelines are in use here"), "{said}");

        // What --skip leaves out is channels and named users.
        story.says(&["import", "jsonl", "theirs.jsonl", "--active", "--skip", "2"]);
        assert_eq!(rates_here(), rates(2));
        let (schedules, pipelines) = here();
        assert_eq!([&schedules, &pipelines].map(|all| all.as_array().unwrap().len()), [2, 1]);
        let (schedules, pipelines) = (schedules.to_string(), pipelines.to_string());
        assert!(schedules.contains("OURS") && schedules.contains("THEIRS"), "{schedules}");
        assert!(!pipelines.contains("OURS") && pipelines.contains("THEIRS"), "{pipelines}");
    }
}

#[test]
fn pipelines_that_an_import_could_set_off_are_shown_before_it() {
    let story = Story::begin();
    let pipeline = |name: &str, trigger: Value| {
        let push = json!({"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}});
        let body = json!({"name": name, "enabled": true, "immediate_trigger": trigger, "outcome": {"push": push}});
        call(&story, "POST", "/api/pipelines", &body);
    };
    write(&story, "devices.jsonl", lines(&[json!({"device_type": "ios", "opt_in": true, "push_address": "AB"})]));
    let n_channels = || get(&story, "/api/channels")["channels"].as_array().unwrap().len();
    pipeline("Hello", json!("first_open"));
    assert_eq!(total(&import(&story, &["jsonl", "devices.jsonl"])), [1, 0, 0]);

    pipeline("Golden", json!({"tag_added": "gold"}));
    write(&story, "devices.jsonl", lines(&[json!({"device_type": "ios", "opt_in": true, "push_address": "CD"})]));
    let arguments = ["import", "jsonl", "devices.jsonl"];
    let unasked = story.command(&arguments).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(unasked.stderr).unwrap();
    assert_eq!(unasked.status.code(), Some(2), "{said}");
    assert!(said.contains("Nothing was imported") && said.contains("Golden") && said.contains("--yes"), "{said}");
    assert!(!said.contains("Hello"), "{said}");
    let mut terminal = Terminal::start(story.command(&arguments));
    terminal.wait_for("Import nevertheless? [y/N] ");
    terminal.types("n");
    assert_eq!(terminal.end().0, Some(1));
    assert_eq!(n_channels(), 1);

    let dry = import(&story, &["jsonl", "devices.jsonl", "--dry-run"]);
    assert!(dry.status.success() && String::from_utf8(dry.stderr).unwrap().contains("Golden"));
    let mut terminal = Terminal::start(story.command(&arguments));
    terminal.wait_for("Import nevertheless? [y/N] ");
    terminal.types("y");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(n_channels(), 2);
    assert_eq!(total(&import(&story, &["jsonl", "devices.jsonl", "--yes"])), [0, 1, 0]);
}

#[test]
fn an_export_is_whole_and_for_its_owner_or_is_not_there() {
    let story = Story::begin();
    settle_in(&story);
    let folder = story.folder.path().join("exports");
    std::fs::create_dir(&folder).unwrap();
    story.says(&["export", "exports/shop.jsonl"]);
    let file = folder.join("shop.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let unforced = story.refused(&["export", "exports/shop.jsonl"]);
    assert!(unforced.contains("exports/shop.jsonl is there already; --force replaces it."), "{unforced}");

    let channel = json!({"channel_id": ID, "device_type": "ios", "installed": true, "push_address": "AB"});
    let broken = Scripted::start(move |asked| match asked.path.as_str() {
        path if path.starts_with("/api/channels") => Answer::json(200, &json!({"channels": [channel]})),
        _ => Answer::json(500, &json!({"ok": false, "error": "no"})),
    });
    let login = ["--app-key", KEY, "--master-secret", MASTER_SECRET, "--url", &broken.url];
    let mut export = aerogram(story.folder.path());
    let output = export.args(["export", "exports/shop.jsonl", "--force"]).args(login).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(broken.asked(), ["GET /api/channels?limit=1000", "GET /api/named_users?limit=1000"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

/// A page that is not one has as few items as the last page of a listing, and is not taken for that.
#[test]
fn an_answer_without_what_was_asked_for_ends_an_export_and_an_import() {
    let folder = tempfile::tempdir().unwrap();
    let (export, devices) = (folder.path().join("shop.jsonl"), folder.path().join("devices.jsonl"));
    std::fs::write(&export, "the last one\n").unwrap();
    std::fs::write(&devices, lines(&[json!({"device_type": "ios", "opt_in": true, "push_address": "AB"})])).unwrap();
    let login = ["--app-key", KEY, "--master-secret", MASTER_SECRET];
    for wrong in [json!({"ok": true}), json!({"ok": true, "channels": {}, "pipelines": null}), json!([])] {
        let answer = wrong.clone();
        let portal = Scripted::start(move |_| Answer::json(200, &answer));
        let well = Scripted::start(|_| Answer::json(200, &json!({"pipelines": []})));
        for (arguments, to) in [
            (&["export", "shop.jsonl", "--force"] as &[&str], &portal),
            (&["import", "jsonl", "devices.jsonl"], &portal),
            (
                &["import", "airship", "--airship-key", KEY, "--airship-secret", MASTER_SECRET, "--from", &portal.url],
                &well,
            ),
        ] {
            let mut command = aerogram(folder.path());
            let output = command.args(arguments).args(login).args(["--url", &to.url]).output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?} {wrong}: {told}");
            assert!(told.contains("answer has no 'channels'") || told.contains("answer has no 'pipelines'"), "{told}");
            assert!(output.stdout.is_empty(), "{arguments:?} {wrong}");
        }
        assert!(!portal.asked().iter().any(|asked| asked.starts_with("POST")), "{:?}", portal.asked());
    }
    assert_eq!(std::fs::read_to_string(&export).unwrap(), "the last one\n");
}
