//! Devices of other services and of files come in by one command, interrupted or not, and go out again as they came.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::UNIX_EPOCH;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use testkit::postgres::cluster;
use testkit::store::{Database, databases};

use crate::moving_story::settle_in;
use crate::operator_story::{APP_SECRET, KEY, MASTER_SECRET, Story};
use crate::resume_story::LOGIN;
use crate::scripted::{Answer, Scripted};
use crate::server::Server;

pub(crate) const ID: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

/// A story on each database.
pub(crate) fn stories() -> Vec<Story> {
    let on = |database: Database| match database {
        Database::Sqlite => Story::begin(),
        Database::Postgres => Story::begin_with(&["--database", &cluster().fresh_database()]),
    };
    databases().iter().copied().map(on).collect()
}

pub(crate) fn write(story: &Story, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(story.folder.path().join(name), text).unwrap();
}

pub(crate) fn lines(all: &[Value]) -> String {
    all.iter().map(|line| format!("{line}\n")).collect()
}

pub(crate) fn call(story: &Story, method: &str, path: &str, body: &Value) -> Value {
    let text = story.says(&["api", method, path, "-d", &body.to_string()]);
    if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
}

pub(crate) fn get(story: &Story, path: &str) -> Value {
    serde_json::from_str(&story.says(&["api", "GET", path])).unwrap()
}

pub(crate) fn total(output: &Output) -> [u64; 3] {
    let total: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    ["created", "updated", "refused"].map(|key| total[key].as_u64().unwrap())
}

pub(crate) fn import(story: &Story, arguments: &[&str]) -> Output {
    story.command(&[&["import"], arguments, &["--json"]].concat()).output().unwrap()
}

#[test]
fn lines_are_imported_and_bad_ones_are_told() {
    let story = Story::begin();
    let good = json!({"channel_id": ID, "device_type": "ios", "opt_in": true, "push_address": "AB", "tags": ["news"]});
    write(&story, "devices.jsonl", format!("{good}\n\nnonsense\n{}\n", json!({"device_type": "ios", "opt_in": true})));
    let dry = import(&story, &["jsonl", "devices.jsonl", "--dry-run"]);
    assert_eq!((dry.status.code(), total(&dry)), (Some(1), [0, 0, 2]));
    let checked: Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!((&checked["rows"], &checked["checked"]), (&json!(3), &json!(1)));
    let dry = story.command(&["import", "jsonl", "devices.jsonl", "--dry-run"]).output().unwrap();
    assert_eq!(
        String::from_utf8(dry.stdout).unwrap(),
        "3 rows were read: 1 could be imported, 2 would be left out. Nothing was changed.\n"
    );
    assert_eq!(get(&story, "/api/channels")["channels"], json!([]));

    let output = import(&story, &["jsonl", "devices.jsonl"]);
    assert_eq!((output.status.code(), total(&output)), (Some(1), [1, 0, 2]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("line 3: ") && told.contains("line 4: ") && told.contains("push_address"), "{told}");
    let again = import(&story, &["jsonl", "devices.jsonl", "--refused", "refused.txt"]);
    assert_eq!((total(&again), again.stderr.is_empty()), ([0, 1, 2], true));
    assert_eq!(std::fs::read_to_string(story.folder.path().join("refused.txt")).unwrap().lines().count(), 2);
    assert!(story.says(&["import", "jsonl", "--help"]).contains("Write why rows were left out"));
    assert!(!story.folder.path().join("devices.jsonl.aerogram-import").exists());

    let mut command =
        story.command(&["import", "jsonl", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(command.stdin.take().unwrap(), "{good}").unwrap();
    let output = command.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "1 rows were read: 0 channels are new, 1 were known, 0 rows were left out.\n"
    );
}

#[test]
fn no_file_that_somebody_needs_is_written_over() {
    let story = Story::begin();
    let text =
        lines(&[json!({"device_type": "ios", "opt_in": true, "push_address": "AB"}), json!({"device_type": "ios"})]);
    for name in ["devices.jsonl", "notes.txt"] {
        write(&story, name, &text);
    }
    std::fs::hard_link(story.folder.path().join("devices.jsonl"), story.folder.path().join("linked.jsonl")).unwrap();
    let own = "is needed by the import itself; name another file.";
    for (arguments, told) in [
        (["--refused", "devices.jsonl", "--connections", "1"], own),
        (["--refused", "./devices.jsonl", "--dry-run", "--yes"], own),
        (["--refused", "linked.jsonl", "--connections", "1"], own),
        (["--state", "kept.json", "--refused", "kept.json"], own),
        (["--state", "notes.txt", "--connections", "1"], "--state: notes.txt was not left by an import"),
        (["--state", "devices.jsonl", "--start-over", "--yes"], "--state: devices.jsonl was not left by an import"),
    ] {
        let output = import(&story, &[&["jsonl", "devices.jsonl"], &arguments[..]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(told), "{arguments:?}: {error}");
        for name in ["devices.jsonl", "notes.txt"] {
            assert_eq!(std::fs::read_to_string(story.folder.path().join(name)).unwrap(), text, "{arguments:?}");
        }
    }
    assert_eq!(get(&story, "/api/channels")["channels"], json!([]));
    // A file that is not there yet, and one that an import has left, are fine.
    let output = import(&story, &["jsonl", "devices.jsonl", "--state", "kept.json", "--refused", "refused.txt"]);
    assert_eq!(total(&output), [1, 0, 1]);
}

#[test]
fn every_row_that_is_left_out_is_in_the_file_of_them() {
    let story = Story::begin();
    let mut row = json!({"device_type": "ios", "push_address": "AB"});
    row.as_object_mut().unwrap().extend((0..40).map(|n| (format!("unfamiliar_{n:02}"), json!(1))));
    write(&story, "devices.jsonl", lines(&vec![row; 2_000]));
    let output = import(&story, &["jsonl", "devices.jsonl", "--refused", "refused.txt"]);
    assert_eq!((output.status.code(), total(&output)), (Some(1), [0, 0, 2_000]));
    let told = std::fs::read_to_string(story.folder.path().join("refused.txt")).unwrap();
    assert_eq!(told.lines().count(), 2_000);
    for (n, line) in told.lines().enumerate() {
        let at = format!("line {}: ", n + 1);
        assert!(line.starts_with(&at) && line.contains("'unfamiliar_00' is not allowed"), "{at} {line}");
    }
}

#[test]
fn rows_that_a_server_counts_and_does_not_name_are_told_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let row = json!({"device_type": "ios", "opt_in": true});
    std::fs::write(folder.path().join("devices.jsonl"), lines(&vec![row; 4])).unwrap();
    let named = json!({"line": 2, "path": "push_address", "error": "It is missing."});
    let reply = lines(&[named, json!({"created": 1, "updated": 0, "refused": 3})]);
    let server = Scripted::start(move |asked| match asked.path.as_str() {
        "/api/channels/import" => Answer::with(200, "", &reply),
        _ => Answer::json(200, &json!({"pipelines": []})),
    });
    let mut command = crate::server::aerogram(folder.path());
    command.args(["import", "jsonl", "devices.jsonl", "--refused", "refused.txt", "--json", "--url", &server.url]);
    let output = command.args(LOGIN).output().unwrap();
    assert_eq!((output.status.code(), total(&output)), (Some(1), [1, 0, 3]));
    let told = std::fs::read_to_string(folder.path().join("refused.txt")).unwrap();
    let unnamed = "2 more between line 1 and line 4: The server has not said which, nor why.";
    assert_eq!(told, format!("line 2: push_address: It is missing.\n{unnamed}\n"));
}

#[test]
fn files_of_tokens_and_of_columns_are_imported() {
    let story = Story::begin();
    write(&story, "tokens.txt", "token\nAA\nBB\n");
    assert_eq!(total(&import(&story, &["csv", "tokens.txt", "--ios"])), [2, 0, 0]);
    write(&story, "fcm.txt", "first\nsecond");
    assert_eq!(total(&import(&story, &["csv", "fcm.txt", "--android"])), [2, 0, 0]);
    write(&story, "named.txt", "fcm_token\nthird\n");
    assert_eq!(total(&import(&story, &["csv", "named.txt", "--android"])), [1, 0, 0]);
    write(&story, "devices.csv", "\u{feff}token,customer,plan,age\nAA,kim,gold,41\nCC,\"jo, the second\",,\n");
    let map = "token=push_address,customer=named_user_id,plan=tag:plan,age=attribute:age";
    assert_eq!(total(&import(&story, &["csv", "devices.csv", "--ios", "--map", map])), [1, 1, 0]);
    let channel = get(&story, "/api/channels?address=AA")["channels"][0].clone();
    assert_eq!((&channel["named_user_id"], &channel["attributes"]), (&json!("kim"), &json!({"age": 41})));
    assert_eq!(channel["tag_groups"]["plan"], json!(["gold"]));

    let unknown =
        story.command(&["import", "csv", "devices.csv", "--ios", "--map", "tokn=push_address"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("token, customer"));
    let untold = story.command(&["import", "csv", "devices.csv", "--map", map]).output().unwrap();
    assert!(String::from_utf8(untold.stderr).unwrap().contains("--android"));
}

#[test]
fn a_file_with_other_separators_is_no_list_of_tokens() {
    let story = Story::begin();
    for (separator, name) in [(";", "';'"), ("\t", "a tab")] {
        write(&story, "semi.csv", format!("push_address{separator}named_user_id\nAA{separator}kim\n"));
        for more in [&["--ios"][..], &["--ios", "--map", "push_address=push_address"]] {
            let output = story.command(&[&["import", "csv", "semi.csv"], more].concat()).output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{told}");
            assert!(told.contains(&format!("separated by {name}, not ','")), "{told}");
        }
    }
    assert_eq!(get(&story, "/api/channels")["channels"], json!([]));
}

#[test]
fn what_a_file_of_columns_has_and_is_not_imported_is_told() {
    let story = Story::begin();
    let rows = "AA,gold,de,2024,,\nBB,gold\nCC,gold,de,2024,,,\n,,,,,\n \n";
    write(&story, "devices.csv", format!("push_address,tags,language,created,Alias,\n{rows}"));
    let output = import(&story, &["csv", "devices.csv", "--ios"]);
    assert_eq!((output.status.code(), total(&output)), (Some(1), [1, 0, 2]));
    let told = String::from_utf8(output.stderr).unwrap();
    let columns = "Columns that are not imported: language (did you mean locale_language?), created, Alias (did you mean alias?); ";
    assert!(told.starts_with(columns), "{told}");
    assert!(told.contains("line 3: It has 2 columns, and the header has 6."), "{told}");
    assert!(told.contains("line 4: It has 7 columns, and the header has 6."), "{told}");
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["not_imported"], json!(["language", "created", "Alias"]));
    write(&story, "tokens.txt", "DD\nEE,gold\n\n");
    assert_eq!(total(&import(&story, &["csv", "tokens.txt", "--ios"])), [1, 0, 1]);
    let known = import(&story, &["csv", "devices.csv", "--ios", "--map", "language=locale_language"]);
    assert!(String::from_utf8(known.stderr).unwrap().starts_with("Columns that are not imported: created, Alias ("));
}

#[test]
fn exports_of_other_services_are_imported() {
    let story = Story::begin();
    let players = format!(
        "id,identifier,language,device_type,tags,invalid_identifier,external_user_id\n{ID},AA,de,0,\"{{\"\"plan\"\":\"\"gold\"\"}}\",f,kim\n\
         {ID},BB,de,11,,f,\n"
    );
    write(&story, "players.csv", players);
    let output = import(&story, &["onesignal", "players.csv"]);
    assert_eq!(total(&output), [1, 0, 1]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("line 3: "));
    let channel = get(&story, &format!("/api/channels/{ID}"))["channel"].clone();
    assert_eq!((&channel["named_user_id"], &channel["attributes"]["plan"]), (&json!("kim"), &json!("gold")));

    let endpoint = |address: &str, status: &str| {
        json!({"ChannelType": "GCM", "Address": address, "EndpointStatus": status, "OptOut": "NONE", "User": {"UserId": "jo"},
            "Attributes": {"interests": ["news"]}, "Demographic": {"Locale": "de_DE"}})
    };
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(lines(&[endpoint("first", "ACTIVE"), endpoint("gone", "INACTIVE")]).as_bytes()).unwrap();
    write(&story, "part-0.gz", packed.finish().unwrap());
    write(&story, "part-1", lines(&[endpoint("second", "ACTIVE")]));
    let output = import(&story, &["pinpoint", "part-0.gz", "part-1"]);
    assert_eq!(total(&output), [2, 0, 1]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("part-0.gz, line 2: "));
    let found = get(&story, "/api/channels?address=second")["channels"][0].clone();
    assert_eq!((&found["named_user_id"], &found["tag_groups"]["interests"]), (&json!("jo"), &json!(["news"])));
}

/// Spreadsheets leave out empty cells at the end of a row.
#[test]
fn players_may_lack_their_last_cells() {
    let story = Story::begin();
    let rows = "AA,0,de,kim,f\nBB,1\nCC\nDD,1,de,,f,x\n";
    write(
        &story,
        "players.csv",
        format!("identifier,device_type,language,external_user_id,invalid_identifier\n{rows}"),
    );
    let output = import(&story, &["onesignal", "players.csv"]);
    assert_eq!(total(&output), [2, 0, 2]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("line 4: It does not say what device it is (device_type)."), "{told}");
    assert!(told.contains("line 5: It has 6 columns, and the header has 5."), "{told}");
    assert_eq!(get(&story, "/api/channels?address=BB")["channels"][0]["device_type"], "android");
}

#[test]
fn an_interrupted_import_goes_on_where_it_was() {
    const N: usize = 10_000;
    let story = Story::begin();
    let device = |n: usize| json!({"device_type": "android", "opt_in": true, "push_address": format!("token-{n}")});
    let all: Vec<Value> = (0..N).map(device).collect();
    write(&story, "all.jsonl", lines(&all));
    // An import that has done the first rows and was killed then leaves this behind.
    let state = story.folder.path().join("all.jsonl.aerogram-import");
    let source = std::fs::metadata(story.folder.path().join("all.jsonl")).unwrap();
    let modified = source.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let file = json!({"path": "all.jsonl", "n_bytes": source.len(), "modified": u64::try_from(modified).unwrap()});
    let left = json!({"server": story.server.url, "app": KEY, "origin": {"how": "jsonl", "files": [file]}, "n_rows": 4000,
        "next_page": null});
    std::fs::write(&state, left.to_string()).unwrap();
    let output = import(&story, &["jsonl", "all.jsonl", "--connections", "2"]);
    assert_eq!(total(&output), [6000, 0, 0]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("row 4000"));
    assert!(!state.exists());
    std::fs::write(&state, left.to_string()).unwrap();
    assert_eq!(total(&import(&story, &["jsonl", "all.jsonl", "--start-over"])), [4000, 6000, 0]);
    assert_eq!(total(&import(&story, &["jsonl", "all.jsonl", "--skip", "9990"])), [0, 10, 0]);

    let devices = story.says(&["export", "-"]).lines().count();
    assert_eq!(devices, N);

    // Elsewhere, if the folder of the source cannot be written to.
    std::fs::write(story.folder.path().join("elsewhere"), left.to_string()).unwrap();
    assert_eq!(total(&import(&story, &["jsonl", "all.jsonl", "--state", "elsewhere"])), [0, 6000, 0]);
    let stdin = story.command(&["import", "jsonl", "-", "--state", "elsewhere"]).output().unwrap();
    assert_eq!(stdin.status.code(), Some(2));
}

#[test]
fn an_app_of_airship_comes_in_through_its_api() {
    // Another server of ours speaks as Airship does.
    let airship = Story::begin();
    settle_in(&airship);
    let story = Story::begin();
    let from = airship.server.url.as_str();
    let arguments = ["airship", "--from", from, "--airship-key", KEY, "--airship-secret", MASTER_SECRET];
    for wanted in [[4, 0, 0], [0, 4, 0]] {
        let output = import(&story, &arguments);
        assert_eq!(total(&output), wanted, "{}", String::from_utf8_lossy(&output.stderr));
    }
    let channels = |story: &Story| {
        let export = story.says(&["export"]);
        export
            .lines()
            .filter(|line| line.contains("channel_id") || line.contains("named_user\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(channels(&story), channels(&airship));
    assert!(!story.folder.path().join("airship.aerogram-import").exists());
    let wrong = ["import", "airship", "--from", from, "--airship-key", KEY, "--airship-secret", APP_SECRET];
    assert!(story.refused(&wrong).contains("40"), "the app secret opens no listing");
}

/// A service that first has too much to do, and then one page of each listing.
fn busy_service() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let channel =
        json!({"channel_id": ID, "device_type": "ios", "installed": true, "opt_in": true, "push_address": "AB"});
    let answers = [
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned(),
        answer(&json!({"channels": [channel, {"channel_id": "x", "device_type": "email"}]})),
        answer(&json!({"named_users": [{"named_user_id": "kim", "tags": {"crm": ["vip"]}}]})),
    ];
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let request = BufReader::new(stream.try_clone().unwrap()).lines();
            assert!(request.map(Result::unwrap).take_while(|line| !line.is_empty()).count() > 1);
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    format!("http://{address}")
}

fn answer(body: &Value) -> String {
    let body = body.to_string();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn a_service_that_has_too_much_to_do_is_asked_again() {
    let story = Story::begin();
    let arguments = ["airship", "--from", &busy_service(), "--airship-key", KEY, "--airship-secret", MASTER_SECRET];
    let output = import(&story, &arguments);
    assert_eq!(total(&output), [1, 0, 1]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("channel x: There are no channels of type email here."));
    assert_eq!(get(&story, "/api/named_users?id=kim")["named_user"]["tags"], json!({"crm": ["vip"]}));
}

/// The other examples need no second service, and are run with those of all commands.
#[test]
fn the_example_of_another_service_runs() {
    let airship = Story::begin();
    settle_in(&airship);
    let story = Story::begin();
    write(&story, "airship-secret.txt", MASTER_SECRET);
    let help = story.says(&["import", "airship", "--help"]);
    let (_, example) = help.split_once("Examples:\n").unwrap_or_else(|| panic!("{help}"));
    let line = format!("{} --from {}", example.trim().replace("=KEY", &format!("={KEY}")), airship.server.url);
    let program = Path::new(env!("CARGO_BIN_EXE_aerogram")).parent().unwrap().display();
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &line])
        .current_dir(story.folder.path())
        .env_clear()
        .env("PATH", format!("{program}:/usr/bin:/bin"));
    shell.env("AEROGRAM_URL", &story.server.url).env("AEROGRAM_APP_KEY", KEY);
    let output = shell.env("AEROGRAM_MASTER_SECRET", MASTER_SECRET).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let story = Story::begin();
    write(&story, "devices.jsonl", lines(&[json!({"device_type": "ios", "push_address": "AB"})]));
    let Story { folder, server } = story;
    let url = server.url.clone();
    drop::<Server>(server);
    let output = crate::server::aerogram(folder.path())
        .args(["import", "jsonl", "devices.jsonl", "--url", &url, "--app-key", KEY, "--master-secret", MASTER_SECRET])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("No server answers"));
}
