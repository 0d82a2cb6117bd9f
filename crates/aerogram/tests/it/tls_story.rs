//! The program with a certificate of its own, as an operator sets it up, and commands that reach it.

use std::path::Path;
use std::process::Output;

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
