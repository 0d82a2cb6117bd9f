//! `aerogram sim`: the push providers on this machine, for staging servers and load tests.

mod devices;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use sim::keys::{ADM_CLIENT_ID, APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID, CA_FILE, CLIENT_SECRET, WNS_PACKAGE_SID};
use sim::{DEFAULT_TOPIC, Faults, GoAway, Keys, Protocol, SimSettings, Simulator};

use crate::config::{Answering, listen_address, number_in};
use crate::output;
use crate::run::StopSignals;

const SERVICE_ACCOUNT_FILE: &str = "fcm-service-account.json";
const CLIENT_SECRET_FILE: &str = "client-secret.txt";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Sim {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Register simulated devices with a server
    Devices(devices::Devices),
}

#[derive(Args, Debug)]
struct Serve {
    /// Address and port for TLS
    #[arg(long = "listen", value_name = "ADDRESS", default_value = "127.0.0.1:8443", value_parser = listen_address)]
    tls_listen: SocketAddr,
    /// Address and port without TLS, for HTTP/1.1 and for HTTP/2 with prior knowledge
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8480", value_parser = listen_address)]
    plain_listen: SocketAddr,
    /// Folder of the keys and credentials; they are made when it does not have them
    #[arg(long, value_name = "FOLDER", default_value = "aerogram-sim")]
    folder: PathBuf,
    /// Key of the app in the commands that are printed
    #[arg(long, value_name = "KEY", default_value = "KEY", allow_hyphen_values = true)]
    app: String,
    /// Topic (bundle id) of the app at Apple's
    #[arg(long, default_value = DEFAULT_TOPIC)]
    topic: String,
    /// Requests that a connection may have under way
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number_in(1..=u32::MAX))]
    streams: u32,
    /// Allow that many from the beginning, and not only after the first good request, as Apple does
    #[arg(long)]
    quick_start: bool,
    /// Print how to start Chromium and Firefox so that they subscribe here, and get real web push without internet
    #[arg(long)]
    browser: bool,
    /// Decrypt messages to browsers, so that duplicates of them are found as well
    #[arg(long)]
    decrypt: bool,
    /// How many of the newest messages to keep for /sim/deliveries
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(0_usize..=1_000_000))]
    keep: usize,
    #[command(flatten)]
    answering: Answering,
    #[command(flatten)]
    faults: FaultFlags,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Faults")]
struct FaultFlags {
    /// How long every answer takes, such as 20ms or 1s
    #[arg(long, value_name = "DURATION", default_value = "0ms", value_parser = duration)]
    latency: Duration,
    /// Up to how much longer some answers take
    #[arg(long, value_name = "DURATION", default_value = "0ms", value_parser = duration)]
    jitter: Duration,
    /// Share of devices that are gone, between 0 and 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    gone: f64,
    /// Share of messages answered with "too many requests"
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    throttled: f64,
    /// Share of messages answered with "service unavailable"
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    unavailable: f64,
    /// Share of messages whose stream is reset instead
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    resets: f64,
    /// Share of messages that are taken, but whose stream is reset instead of answered
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    lost_answers: f64,
    /// Share of messages at which the whole connection breaks
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    cuts: f64,
    /// Seconds in Retry-After of the answers above
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = number_in(0..=u32::MAX))]
    retry_after: u32,
    /// Requests after which a connection goes away; 0 for never
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number_in(0..=u32::MAX))]
    goaway_every: u32,
    /// How connections go away
    #[arg(long, default_value = "mixed")]
    goaway: GoAwayFlag,
    /// Another number, other victims
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = number_in(0..=u64::MAX))]
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GoAwayFlag {
    /// What is under way is served
    Graceful,
    /// What comes after the last request that counted is ignored
    Abrupt,
    /// One connection like this, the next like that
    Mixed,
}

impl Sim {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        match &self.action {
            None => self.serve.run().await?,
            Some(Action::Devices(devices)) => devices.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Serve {
    async fn run(&self) -> Result<()> {
        let keys = Keys::in_folder(&self.folder)
            .with_context(|| format!("The keys in {} cannot be used", self.folder.display()))?;
        let settings = SimSettings {
            listen: self.tls_listen,
            plain_listen: self.plain_listen,
            faults: self.faults.faults(),
            keys: Some(keys),
            topic: self.topic.clone(),
            streams: self.streams,
            careful_start: !self.quick_start,
            decrypt: self.decrypt,
            keep: self.keep,
            ..SimSettings::default()
        };
        let mut signals = StopSignals::catch()?;
        let simulator = Simulator::start(settings).await.context("The simulator cannot listen")?;
        self.write_credentials(&simulator)?;
        if self.answering.json {
            self.introduce_to_program(&simulator)?
        } else {
            self.introduce(&simulator)?
        }
        signals.next().await;
        let stats = json!(simulator.stats());
        if self.answering.json { output::line(format_args!("{stats}")) } else { output::pretty(&stats) }
    }

    /// Writes the other credentials that a server is configured with, beside the keys.
    fn write_credentials(&self, simulator: &Simulator) -> Result<()> {
        let contents =
            [(SERVICE_ACCOUNT_FILE, simulator.service_account(true)), (CLIENT_SECRET_FILE, CLIENT_SECRET.to_owned())];
        for (name, content) in contents {
            let path = self.folder.join(name);
            fs::write(&path, content).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }

    fn introduce(&self, simulator: &Simulator) -> Result<()> {
        let (root, plain_root) = (simulator.url(Protocol::Apns), simulator.plain_url(Protocol::Apns));
        output::note(format_args!(
            "The simulator listens on {root} and {plain_root}. It counts at {plain_root}/sim/stats. Control-C ends it.\n\
             For a server that runs with --allow-private-addresses:\n"
        ));
        for command in self.commands(simulator) {
            output::line(format_args!("{command}"))?;
        }
        if self.browser { introduce_browsers(simulator) } else { Ok(()) }
    }

    /// The same in one line of JSON.
    fn introduce_to_program(&self, simulator: &Simulator) -> Result<()> {
        let mut told = json!({
            "ok": true,
            "url": simulator.url(Protocol::Apns),
            "plain_url": simulator.plain_url(Protocol::Apns),
            "commands": self.commands(simulator),
        });
        if self.browser {
            told["chromium_flags"] = json!(simulator.chromium_flags());
            let preferences = simulator.firefox_preferences().into_iter();
            let is_set =
                |(name, value): (&str, String)| Some((name.to_owned(), serde_json::from_str::<Value>(&value).ok()?));
            told["firefox_preferences"] = preferences.filter_map(is_set).collect::<Map<String, Value>>().into();
        }
        output::line(format_args!("{told}"))
    }

    /// That make an app send to the simulator.
    fn commands(&self, simulator: &Simulator) -> Vec<String> {
        let root = simulator.url(Protocol::Apns);
        let file = |name: &str| quoted(&self.folder.join(name));
        let tail = format!("--endpoint {root} --endpoint-ca-file {}", file(CA_FILE));
        let secret = format!("--client-secret-file {}", file(CLIENT_SECRET_FILE));
        let platforms = [
            format!(
                "apns --topic {} --team-id {APNS_TEAM_ID} --key-id {APNS_KEY_ID} --key-file {} {tail}",
                simulator.topic(),
                file(APNS_KEY_FILE)
            ),
            format!("fcm --service-account-file {} {tail}", file(SERVICE_ACCOUNT_FILE)),
            format!("adm --client-id {ADM_CLIENT_ID} {secret} {tail}"),
            format!("wns --package-sid {WNS_PACKAGE_SID} {secret} {tail}"),
            format!("webpush --subject mailto:push@example.com {tail}"),
            format!("open::sim {} --no-validate", simulator.plain_url(Protocol::Open)),
        ];
        platforms.map(|platform| format!("aerogram platform set {} {platform}", self.app)).into()
    }
}

fn introduce_browsers(simulator: &Simulator) -> Result<()> {
    output::note(format_args!(
        "\nFor a Chromium with a profile of its own, which gets real web push from here, without internet:\n"
    ));
    let flags = simulator.chromium_flags().join(" \\\n  ");
    output::line(format_args!("chromium --user-data-dir=\"$(mktemp -d)\" \\\n  {flags}"))?;
    output::note(format_args!("\nFor a Firefox, in the user.js of a new profile or in about:config:\n"));
    for (name, value) in simulator.firefox_preferences() {
        output::line(format_args!("user_pref(\"{name}\", {value});"))?;
    }
    Ok(())
}

impl FaultFlags {
    fn faults(&self) -> Faults {
        Faults {
            latency: self.latency,
            jitter: self.jitter,
            gone: self.gone,
            throttled: self.throttled,
            unavailable: self.unavailable,
            resets: self.resets,
            lost_answers: self.lost_answers,
            cuts: self.cuts,
            retry_after: Some(self.retry_after),
            goaway_every: self.goaway_every,
            goaway: match self.goaway {
                GoAwayFlag::Graceful => GoAway::Graceful,
                GoAwayFlag::Abrupt => GoAway::Abrupt,
                GoAwayFlag::Mixed => GoAway::Mixed,
            },
            seed: self.seed,
            ..Faults::default()
        }
    }
}

fn duration(text: &str) -> Result<Duration, &'static str> {
    const FORM: &str = "A duration looks like 20ms or 1.5s.";
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).ok_or(FORM)?);
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        _ => return Err(FORM),
    };
    let number: f64 = number.parse().map_err(|_| FORM)?;
    Duration::try_from_secs_f64(number * scale).map_err(|_| FORM)
}

fn share(text: &str) -> Result<f64, &'static str> {
    const FORM: &str = "A share is a number between 0 and 1.";
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or(FORM)
}

/// A path as the shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_shares() {
        assert_eq!(duration("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        for text in ["", "20", "ms", "-1s", "1h", "1e400s"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(share("0.05"), Ok(0.05));
        for text in ["", "1.1", "-0.1", "NaN", "5%"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn paths_survive_the_shell() {
        assert_eq!(quoted(Path::new("aerogram-sim/ca.pem")), "aerogram-sim/ca.pem");
        assert_eq!(quoted(Path::new("it's here")), r"'it'\''s here'");
    }
}
