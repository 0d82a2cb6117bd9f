//! Precedence and complaints, with the whole command line of the program.

use std::ffi::OsString;
use std::path::Path;

use super::layers::environment_name;
use super::*;
use crate::commands::{Cli, Command};
use crate::data::DataFolder;

struct Given {
    folder: tempfile::TempDir,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

/// `aerogram serve` with a settings file.
fn serve(file: &str) -> Given {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aerogram.toml");
    std::fs::write(&path, file).unwrap();
    let arguments = vec!["aerogram".into(), "serve".into(), "--config".into(), path.into()];
    Given { folder, arguments, environment: Vec::new() }
}

impl Given {
    fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    fn flag(mut self, argument: &str) -> Self {
        self.arguments.push(argument.into());
        self
    }

    fn parse(&self) -> Result<Cli, Refusal> {
        parse::<Cli>(&self.arguments, self.environment.clone()).map(|parsed| parsed.cli)
    }

    fn sources(&self) -> Sources {
        parse::<Cli>(&self.arguments, self.environment.clone()).unwrap().sources
    }

    fn node(&self) -> Node {
        match self.parse().unwrap().command {
            Command::Serve(node) => *node,
            other => panic!("not serve: {other:?}"),
        }
    }

    /// The complaint, with the folder of the file left out.
    fn refusal(&self) -> String {
        match self.parse() {
            Err(Refusal::Setting(error)) => {
                format!("{error:#}").replace(&format!("{}/", self.folder.path().display()), "")
            }
            Err(Refusal::Usage(error)) => panic!("a usage error: {error}"),
            Ok(cli) => panic!("accepted: {cli:?}"),
        }
    }
}

#[test]
fn nothing_set_gives_the_defaults() {
    let node = serve("").node();
    assert_eq!(node.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(node.roles, [Role::Api, Role::Worker]);
    assert_eq!(node.public_url, None);
    assert!(!node.allow_private_addresses);
    assert!(node.app.credentials(&Sources::default()).unwrap().is_none());
    assert_eq!(node.logging.log, LogFormat::Text);
    assert_eq!(node.database.settings(), store::PostgresSettings::default());
    assert_eq!(node.database.page_checks(), engine::PageCheckTimes::default());
    assert_eq!(serve("database_check_hours = 0").node().database.page_checks().every, None);
    assert_eq!(DataFolder::of(&node.data).path(), Path::new("./aerogram-data"));
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() {
    let file = r#"listen = "127.0.0.1:1""#;
    assert_eq!(serve(file).node().listen.port(), 1);
    let with_variable = || serve(file).env("AEROGRAM_LISTEN", "127.0.0.1:2");
    assert_eq!(with_variable().node().listen.port(), 2);
    assert_eq!(with_variable().flag("--listen=127.0.0.1:3").node().listen.port(), 3);
}

#[test]
fn every_kind_of_toml_value_is_read() {
    let file = r#"
        roles = ["worker"]
        allow_private_addresses = true
        public_url = "https://push.example.com/base/"
        log = "json"
        log_level = "warn,store=debug"
    "#;
    let node = serve(file).node();
    assert_eq!(node.roles, [Role::Worker]);
    assert!(node.has(Role::Worker) && !node.has(Role::Api));
    assert!(node.allow_private_addresses);
    assert_eq!(node.public_url.unwrap().as_str(), "https://push.example.com/base");
    assert_eq!(node.logging.log, LogFormat::Json);
}

#[test]
fn a_boolean_flag_needs_no_value_and_may_have_one() {
    assert!(serve("").flag("--allow-private-addresses").node().allow_private_addresses);
    let file = "allow_private_addresses = true";
    assert!(!serve(file).flag("--allow-private-addresses=false").node().allow_private_addresses);
}

#[test]
fn an_empty_variable_is_an_absent_one() {
    assert_eq!(serve("").env("AEROGRAM_LISTEN", "").node().listen.port(), 8080);
}

#[test]
fn the_file_can_be_named_by_the_environment() {
    let mut given = serve(r#"listen = "127.0.0.1:7""#);
    let path = given.arguments.pop().unwrap();
    given.arguments.pop();
    given.environment.push(("AEROGRAM_CONFIG".into(), path));
    assert_eq!(given.node().listen.port(), 7);
}

#[test]
fn bad_values_name_the_setting_and_its_source() {
    let file = "\nlisten = \"nowhere\"\n";
    let reason = "It must be an address and a port, such as 127.0.0.1:8080; a name such as localhost is none.";
    assert_eq!(
        serve(file).refusal(),
        format!("The setting 'listen' cannot be 'nowhere' (from aerogram.toml line 2). {reason}")
    );
    assert_eq!(
        serve(file).env("AEROGRAM_LISTEN", "there").refusal(),
        format!("The setting 'listen' cannot be 'there' (from AEROGRAM_LISTEN). {reason}")
    );
    assert_eq!(
        serve(file).env("AEROGRAM_LISTEN", "there").flag("--listen=here").refusal(),
        format!("The setting 'listen' cannot be 'here' (from --listen). {reason}")
    );
    assert_eq!(
        serve("").env("AEROGRAM_LOG", "xml").refusal(),
        "The setting 'log' cannot be 'xml' (from AEROGRAM_LOG). Use one of: text, json."
    );
    assert_eq!(
        serve("").env("AEROGRAM_EVENT_DAYS", "x").refusal(),
        "The setting 'event_days' cannot be 'x' (from AEROGRAM_EVENT_DAYS). It must be a number from 1 to 3650."
    );
    assert_eq!(
        serve("roles = [\"api\", \"cook\"]").refusal(),
        "The setting 'roles' cannot be 'cook' (from aerogram.toml line 1). Use one of: api, worker."
    );
}

#[test]
fn commands_read_where_the_server_listens_only_if_they_need_to() {
    let remote = |listen: &str, url: Option<&str>| Remote {
        url: url.map(|url| url.parse().unwrap()),
        listen: listen.to_owned(),
        tls_cert: None,
        authorities: Authorities::default(),
        json: false,
    };
    assert_eq!(remote("0.0.0.0:81", None).url().unwrap().as_str(), "http://127.0.0.1:81");
    assert!(remote("localhost:1", None).url().unwrap_err().to_string().contains("cannot be 'localhost:1'"));
    assert_eq!(remote("localhost:1", Some("https://example.com")).url().unwrap().as_str(), "https://example.com");
}

#[test]
fn every_setting_refuses_nonsense() {
    let wrong = [
        ("allow_private_addresses", "perhaps"),
        ("app_key", "short"),
        ("app_secret", "spaces are not allowed"),
        ("database", "mysql://localhost/x"),
        ("database", "postgres://localhost,b/x?target_session_attrs=standby"),
        ("database_connections", "2"),
        ("database_statement_seconds", "0"),
        ("database_check_hours", "8761"),
        ("database_check_delay_seconds", "86401"),
        ("event_days", "week"),
        ("event_gigabytes", "0"),
        ("keep_places_days", "1462"),
        ("listen", "127.0.0.1"),
        ("log", "loud"),
        ("log_level", "verbose"),
        ("log_level", "info,store=verbose"),
        ("master_secret", "äöüäöüäöüäö"),
        ("node", "push 1"),
        ("operator_token", "too short"),
        ("pipelines", "0"),
        ("enabled_pipelines", "10001"),
        ("public_url", "push.example.com"),
        ("push_days", "30"),
        ("public_url", "ftp://example.com"),
        ("public_url", "https://user@example.com"),
        ("public_url", "https://example.com/?a=b"),
        ("roles", "api;worker"),
        ("secrets_key", "AAAA-short"),
    ];
    for (name, value) in wrong {
        let message = serve("").env(&environment_name(name), value).refusal();
        let complaint = match SECRET.contains(&name) {
            true => "has a value that cannot be used".to_owned(),
            false => format!("cannot be '{value}'"),
        };
        assert!(message.starts_with(&format!("The setting '{name}' {complaint} ")), "{message}");
        assert!(message.contains(&format!("(from {})", environment_name(name))), "{message}");
        assert_eq!(message.contains(value), !SECRET.contains(&name), "{message}");
    }
}

#[test]
fn unknown_keys_and_impossible_values_are_refused_with_their_line() {
    let message = serve("log = \"text\"\n\nlistn = \"127.0.0.1:1\"").refusal();
    assert!(
        message.starts_with("aerogram.toml line 3: there is no setting named 'listn'; the settings are"),
        "{message}"
    );
    assert!(serve("[server]\nlisten = \"x\"").refusal().contains("line 1: there is no setting named 'server'"));
    assert!(serve("config = \"x\"").refusal().contains("no setting named 'config'"));
    assert!(serve("roles = [1]").refusal().contains("line 1: 'roles' must be a string"));
    assert!(serve("master_secret = \"abc\n").refusal().contains("line 1: this is not valid TOML"));
}

#[test]
fn variables_that_are_no_settings_are_pointed_out() {
    let given = serve("").env("AEROGRAM_EVNT_DAYS", "9").env("AEROGRAM_EVENT_DAYS", "9").env("HOME", "/");
    assert_eq!(given.sources().unknown_variables, ["AEROGRAM_EVNT_DAYS"]);
    assert!(serve("").env("AEROGRAM_CONFIG", "").sources().unknown_variables.is_empty());
}

#[test]
fn variables_of_kubernetes_are_not_pointed_out() {
    let address = "tcp://10.0.0.7:8080";
    let given = serve("")
        .env("AEROGRAM_SERVICE_HOST", "10.0.0.7")
        .env("AEROGRAM_SERVICE_PORT", "8080")
        .env("AEROGRAM_SERVICE_PORT_HTTP", "8080")
        .env("AEROGRAM_PORT", address)
        .env("AEROGRAM_PORT_8080_TCP", address)
        .env("AEROGRAM_PORT_8080_TCP_ADDR", "10.0.0.7")
        .env("AEROGRAM_API_SERVICE_HOST", "10.0.0.8");
    assert!(given.sources().unknown_variables.is_empty());
    assert_eq!(serve("").env("AEROGRAM_PORT", "8080").sources().unknown_variables, ["AEROGRAM_PORT"]);
}

#[test]
fn a_file_with_a_secret_is_known_as_one() {
    let secret = "operator_token = \"0123456789abcdef\"";
    for (file, holds_secrets) in [
        ("log = \"json\"", false),
        ("database = \"postgres://ann@db.internal/mail\"", false),
        ("database = \"postgres://ann:secret@db.internal/mail\"", true),
        (secret, true),
    ] {
        assert_eq!(serve(file).sources().secrets_file.is_some(), holds_secrets, "{file}");
    }
}

#[test]
fn a_named_file_must_exist() {
    let mut given = serve("");
    given.arguments.pop();
    given.arguments.push("/nonexistent/settings.toml".into());
    assert!(given.refusal().starts_with("The settings file /nonexistent/settings.toml cannot be read"));
}

#[test]
fn the_credentials_of_the_first_app_go_together() {
    let key = "abcdefghijklmnopqrstuv";
    let credentials = |given: &Given| given.node().app.credentials(&given.sources());
    let exported = |file: &str| serve(file).env("AEROGRAM_APP_KEY", key).env("AEROGRAM_MASTER_SECRET", key);
    let flag = format!("--app-key={key}");
    for incomplete in [
        serve(&format!("app_key = \"{key}\"\nmaster_secret = \"{key}\"")),
        serve(&format!("app_key = \"{key}\"")).env("AEROGRAM_MASTER_SECRET", key),
        exported("").flag(&flag),
    ] {
        assert!(!incomplete.node().app.is_for_commands(&incomplete.sources()));
        let Err(error) = credentials(&incomplete) else { panic!("accepted") };
        assert_eq!(
            error.to_string(),
            "The settings app_key, app_secret and master_secret go together; app_secret is not set."
        );
    }
    for (names, missing) in [
        (&["APP_KEY", "APP_SECRET"][..], "master_secret"),
        (&["APP_SECRET", "MASTER_SECRET"][..], "app_key"),
        (&["APP_SECRET"][..], "app_key and master_secret"),
    ] {
        let incomplete = names.iter().fold(serve(""), |given, name| given.env(&format!("AEROGRAM_{name}"), key));
        assert!(!incomplete.node().app.is_for_commands(&incomplete.sources()), "{names:?}");
        let Err(error) = credentials(&incomplete) else { panic!("accepted") };
        assert!(error.to_string().ends_with(&format!("go together; {missing} is not set.")), "{error}");
    }
    let complete = exported(&format!("app_secret = \"{key}\""));
    assert_eq!(credentials(&complete).unwrap().unwrap().key.as_str(), key);
    assert!(!complete.node().app.is_for_commands(&complete.sources()));
}

#[test]
fn credentials_that_commands_need_do_not_stop_the_service() {
    let key = "abcdefghijklmnopqrstuv";
    let exported = serve("").env("AEROGRAM_APP_KEY", key).env("AEROGRAM_MASTER_SECRET", key);
    assert!(exported.node().app.credentials(&exported.sources()).unwrap().is_none());
    assert!(exported.node().app.is_for_commands(&exported.sources()));
    assert!(!serve("").node().app.is_for_commands(&Sources::default()));
}

#[test]
fn secrets_are_not_shown() {
    let secret = "SECRETSECRETSECRETSECR";
    let database = format!("postgres://user:{secret}@localhost/aerogram");
    let given = serve(&format!("operator_token = \"{secret}\""))
        .env("AEROGRAM_APP_KEY", "abcdefghijklmnopqrstuv")
        .env("AEROGRAM_APP_SECRET", secret)
        .env("AEROGRAM_MASTER_SECRET", secret)
        .env("AEROGRAM_SECRETS_KEY", &format!("{secret}{}", "A".repeat(21)))
        .env("AEROGRAM_DATABASE", &database);
    let shown = format!("{:?}", given.node());
    assert!(!shown.contains(secret), "{shown}");
    let Err(Refusal::Usage(help)) = given.flag("--help").parse() else { panic!("no help") };
    assert!(help.to_string().contains("AEROGRAM_OPERATOR_TOKEN"), "{help}");
    assert!(!help.to_string().contains(secret), "{help}");
}

#[test]
fn the_packages_are_configured() {
    let file = include_str!("../../../../packaging/aerogram.toml");
    let node = serve(file).node();
    assert_eq!(DataFolder::of(&node.data).path(), Path::new("/var/lib/aerogram"));
    assert_eq!(node.listen, "127.0.0.1:8080".parse().unwrap());

    let image = include_str!("../../../../packaging/Dockerfile");
    let words = image.split_whitespace().filter(|word| word.starts_with("AEROGRAM_"));
    let variables: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
    let node = variables.iter().fold(serve(""), |given, (name, value)| given.env(name, value)).node();
    assert_eq!(DataFolder::of(&node.data).path(), Path::new("/var/lib/aerogram"));
    assert!(node.listen.ip().is_unspecified(), "a container is reached from outside");
}

#[test]
fn a_server_is_looked_for_where_it_can_be_reached() {
    let table = [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("[::]:80", "http://127.0.0.1:80"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("192.0.2.7:8080", "http://192.0.2.7:8080"),
    ];
    for (listen, url) in table {
        assert_eq!(BaseUrl::on_this_machine(listen.parse().unwrap(), false).as_str(), url, "{listen}");
    }
}

#[test]
fn what_is_decided_anew_each_time_is_no_setting() {
    let copy = |given: Given| {
        let mut arguments = given.arguments.clone();
        arguments[1] = "copy".into();
        Given { arguments, ..given }
    };
    for name in ["start_over", "yes"] {
        let refused = copy(serve(&format!("{name} = true"))).refusal();
        assert!(refused.contains(&format!("there is no setting named '{name}'")), "{refused}");
        let ignored = copy(serve("").env(&environment_name(name), "true")).parse().unwrap();
        assert!(format!("{ignored:?}").contains(&format!("{name}: false")), "{ignored:?}");
    }
}

#[test]
fn a_setting_that_a_command_cannot_do_without_may_come_from_the_environment() {
    let mut given =
        serve("").env("AEROGRAM_AIRSHIP_KEY", &"k".repeat(22)).env("AEROGRAM_AIRSHIP_SECRET", &"s".repeat(22));
    given.arguments = ["aerogram", "import", "airship"].map(OsString::from).to_vec();
    assert!(matches!(given.parse().unwrap().command, Command::Import(_)));
    given.environment.pop();
    assert!(matches!(given.parse(), Err(Refusal::Usage(_))));
}
