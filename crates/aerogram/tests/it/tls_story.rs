//! The program with a certificate of its own, as an operator sets it up, and commands that reach it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use model::time::Clock;
use serde_json::Value;
use testkit::tls::{Authority, THIS_MACHINE};

use crate::server::{Server, aerogram};

/// A folder with settings for a server that has a certificate of an authority for these names.
fn set_up(authority: &Authority, names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    authority.renew(names);
    let files = authority.server_files();
    let settings = format!("tls_cert = {:?}\ntls_key = {:?}\n", files.certificate, files.key);
    std::fs::write(folder.path().join("aerogram.toml"), settings).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> (Output, String) {
    let output = aerogram(folder).args(arguments).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output, said)
}

#[test]
fn commands_reach_a_server_with_a_certificate_and_say_why_not() {
    let authority = Authority::new();
    let folder = set_up(&authority, &THIS_MACHINE);
    let server = Server::start(folder.path(), &[]);
    let address = server.url.trim_start_matches("http://").to_owned();
    let url = format!("https://{address}");
    let ca = authority.file().display().to_string();
    let list = ["app", "list", "--url", &url];
    let (output, said) = run(folder.path(), &list);
    assert!(!output.status.success());
    assert!(said.contains("The server's certificate is not trusted: no authority that is trusted here"), "{said}");
    assert!(said.contains("--ca-file or AEROGRAM_CA_FILE") && !said.contains("No server answers"), "{said}");
    let (output, said) = run(folder.path(), &[&list[..], &["--ca-file", &ca]].concat());
    assert!(output.status.success() && said.contains("Development"), "{said}");
    let by_variable = aerogram(folder.path()).args(list).env("AEROGRAM_CA_FILE", &ca).output().unwrap();
    assert!(by_variable.status.success());
    let (output, said) = run(folder.path(), &[&list[..], &["--ca-file", "none.pem"]].concat());
    assert!(!output.status.success() && said.contains("The setting ca_file: none.pem cannot be read"), "{said}");

    // Without a URL it is the server of this machine, whose certificate is known.
    let (_, said) = run(folder.path(), &["doctor", "--listen", &address]);
    assert!(said.contains("ok    server") && !said.contains("FAIL"), "{said}");
    assert!(said.contains("ok    tls") && said.contains("is valid until"), "{said}");
    let key = authority.server_files().key;
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (_, said) = run(folder.path(), &["doctor", "--listen", &address]);
    assert!(said.contains(&format!("chmod o= {}", key.display())), "{said}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (_, said) = run(folder.path(), &["app", "list", "--url", &format!("http://{address}")]);
    assert!(said.contains("400") && said.contains("This port speaks TLS"), "{said}");

    // The name by which others know it is not the one by which commands on the machine reach it.
    authority.renew(&["push.example.com"]);
    server.signal("HUP");
    let outside = [&list[..], &["--ca-file", &ca]].concat();
    let said = loop {
        let (output, said) = run(folder.path(), &outside);
        if !output.status.success() {
            break said;
        }
    };
    assert!(said.contains("it is for another name") && said.contains("push.example.com"), "{said}");
    let (_, said) = run(folder.path(), &["doctor", "--listen", &address]);
    assert!(said.contains("ok    server"), "{said}");

    std::fs::write(&authority.server_files().key, "").unwrap();
    server.signal("HUP");
    server.signal("TERM");
    let (code, printed, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    assert!(printed.contains("This is the first start"), "{printed}");
    let exports = std::fs::read_to_string(folder.path().join("aerogram-data/first-app.env"));
    assert!(exports.is_ok_and(|text| text.contains(&format!("AEROGRAM_URL={url}"))));
    let events: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(events.iter().any(|line| line["event"] == "tls.reloaded"), "{log}");
}

#[test]
fn a_certificate_that_ends_is_told_of_before() {
    let authority = Authority::new();
    let folder = set_up(&authority, &THIS_MACHINE);
    let until = |days: u64| {
        let end = Clock::System.now().plus(Duration::from_secs(days * 24 * 60 * 60)).to_date();
        let mut parts = end.split('-');
        let mut part = || parts.next().unwrap();
        (part().parse().unwrap(), part().parse().unwrap(), part().parse().unwrap())
    };
    authority.renew_until(&THIS_MACHINE, until(6));
    let server = Server::start(folder.path(), &[]);
    let address = server.url.trim_start_matches("http://").to_owned();
    // A command does not trust the server between the renewal of its files and the next look at them.
    let metric = |value: &dyn Fn(i64) -> bool| {
        let (_, said) = run(folder.path(), &["api", "GET", "/metrics", "--listen", &address]);
        let line =
            said.lines().find_map(|line| line.strip_prefix("aerogram_tls_certificate_expire_timestamp_seconds "));
        line.is_some_and(|text| value(text.parse().unwrap()))
    };
    let now = Clock::System.now().0 / 1000;
    while !metric(&|ends| ends - now < 7 * 24 * 60 * 60) {}
    authority.renew_until(&THIS_MACHINE, until(400));
    server.signal("HUP");
    while !metric(&|ends| ends - now > 300 * 24 * 60 * 60) {}
    server.signal("TERM");
    let (code, _, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let told: Vec<Value> = lines.filter(|line| line["event"] == "tls.end").collect();
    assert_eq!(told.len(), 1, "{log}");
    assert_eq!((&told[0]["level"], &told[0]["days"]), (&Value::from("WARN"), &Value::from(7)), "{log}");
}

#[test]
fn a_start_with_files_that_do_not_fit_says_so() {
    let authority = Authority::new();
    let folder = set_up(&authority, &THIS_MACHINE);
    let (_, key) = authority.issue(&THIS_MACHINE);
    std::fs::write(&authority.server_files().key, key).unwrap();
    let (output, said) = run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(!output.status.success());
    assert!(said.contains("The settings tls_cert and tls_key: "), "{said}");
    assert!(said.contains("The key does not belong to the certificate"), "{said}");
    std::fs::write(folder.path().join("aerogram.toml"), "tls_cert = \"x.pem\"\n").unwrap();
    let (_, said) = run(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("tls_cert and tls_key go together; tls_key is not set"), "{said}");
}

#[test]
fn authorities_that_are_named_and_not_there_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("none.pem"), "").unwrap();
    let mut command = aerogram(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("SSL_CERT_FILE", "none.pem");
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_ne!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("There is no certificate of an authority where SSL_CERT_FILE"), "{said}");
}
