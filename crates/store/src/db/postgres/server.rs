//! Where the PostgreSQL server is and how to talk to it, according to the database URL.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Connection, Socket};

use super::tls::{self, Tls, Trust};
use super::{FIRST_PAUSE, LONGEST_PAUSE, failure};
use crate::error::{Error, Result};

pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Options of the connection, unless the URL has its own, by which a server that vanished without closing its
/// connections (as when its machine loses power) is noticed after 10 to 20 seconds. The system's defaults are
/// a quarter of an hour with data to send and two hours without.
const DEAD_PEER_OPTIONS: &str = "tcp_user_timeout=10&keepalives_idle=10&keepalives_interval=5&keepalives_retries=2";

pub(crate) struct Server {
    config: Config,
    tls: Tls,
    /// Shared by all connections: each uses the findings of the others, and all of them recover together.
    outage: Mutex<Option<Outage>>,
}

/// After a failed connect, no connection tries again until a pause is over; callers get the error at once.
struct Outage {
    error: Error,
    pause: Duration,
    over: Instant,
}

impl Server {
    pub(crate) fn at(url: &str) -> Result<Self> {
        let Address { mut config, trust, authorities } = Address::read(url).map_err(Error::unavailable)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("aerogram");
        }
        let tls = Tls::new(trust, authorities.as_deref())?;
        if config.get_ssl_mode() != SslMode::Require && config.get_hosts().iter().any(is_far) {
            tracing::warn!(
                "the connection to PostgreSQL may be in the clear; add sslmode=verify-full to the database URL, or at \
                 least sslmode=require"
            );
        }
        Ok(Self { config, tls, outage: Mutex::default() })
    }

    /// Fails while it is too early to try again.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.outage() {
            Some(outage) if Instant::now() < outage.over => Err(outage.error.clone()),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn answered(&self) {
        *self.outage() = None;
    }

    pub(super) fn failed(&self, error: &Error) {
        let (mut outage, now) = (self.outage(), Instant::now());
        let pause = match &*outage {
            // Another connection has just found out the same.
            Some(last) if now < last.over => return,
            Some(last) => (last.pause * 2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        *outage = Some(Outage { error: error.clone(), pause, over: now + pause });
    }

    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock()
    }

    pub(super) async fn connect(
        &self,
    ) -> std::result::Result<(Client, Connection<Socket, tls::Stream>), tokio_postgres::Error> {
        self.config.connect(self.tls.clone()).await
    }
}

/// The URL without its password and options.
pub(crate) fn describe(url: &str) -> std::result::Result<String, String> {
    let config = Address::read(url)?.config;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => return Err("it names no host".to_owned()),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    Ok(format!("postgres://{user}{host}{port}/{}", config.get_dbname().unwrap_or_default()))
}

/// A URL taken apart.
struct Address {
    config: Config,
    trust: Trust,
    /// A file with the certificates of the authorities to trust, instead of the public ones.
    authorities: Option<PathBuf>,
}

impl Address {
    /// The driver knows neither `sslrootcert` nor the strict values of `sslmode`, so these two are read here.
    /// They have the same meaning as for PostgreSQL's own programs.
    fn read(url: &str) -> std::result::Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        // The driver ends the password at the first '@' and this function the URL at the first '?': the rest
        // of a password would be taken for a host or an option, and shown.
        if base.matches('@').count() > 1 || (!base.contains('@') && query.contains('@')) {
            return Err("write an @ in the user name or the password as %40, and a ? as %3F".to_owned());
        }
        let (mut mode, mut authorities, mut others) = (None, None, Vec::new());
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = Some(decode(value)?),
                Some(("sslrootcert", value)) => authorities = Some(decode(value)?),
                Some(_) | None => others.push(option),
            }
        }
        let parsed: std::result::Result<Config, _> = format!("{base}?{DEAD_PEER_OPTIONS}&{}", others.join("&")).parse();
        let mut config = parsed.map_err(|error| failure::text(&error))?;
        // The public authorities vouch for anybody's server, so they are worth nothing without the name.
        if authorities.take_if(|file| file == "system").is_some()
            && *mode.get_or_insert("verify-full".to_owned()) != "verify-full"
        {
            return Err("sslrootcert=system needs sslmode=verify-full".to_owned());
        }
        // A URL that names authorities wants certificates to be verified.
        let trust_of_require = if authorities.is_some() { Trust::Issuer } else { Trust::Anyone };
        let (ssl_mode, trust) = match mode.as_deref() {
            Some("disable") => (SslMode::Disable, Trust::Anyone),
            None | Some("prefer") => (SslMode::Prefer, Trust::Anyone),
            Some("require") => (SslMode::Require, trust_of_require),
            Some("verify-ca") => (SslMode::Require, Trust::Issuer),
            Some("verify-full") => (SslMode::Require, Trust::Name),
            Some(other) => {
                return Err(format!(
                    "its sslmode is {other:?}; it can be disable, prefer, require, verify-ca or verify-full"
                ));
            }
        };
        // A socket of this machine has no TLS.
        let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if is_local { SslMode::Disable } else { ssl_mode });
        Ok(Self { config, trust, authorities: authorities.map(PathBuf::from) })
    }
}

/// Whether data sent to the host leaves this machine.
fn is_far(host: &Host) -> bool {
    match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => name != "localhost" && !name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
    }
}

fn decode(value: &str) -> std::result::Result<String, String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                (digits.ok_or("it has a '%' that two hexadecimal digits have to follow")?, after)
            }
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| "an option in it is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &str) -> std::result::Result<(SslMode, Trust, Option<PathBuf>), String> {
        let Address { config, trust, authorities } = Address::read(&format!("postgres://a:b@db.example/c{options}"))?;
        assert_eq!((config.get_user(), config.get_dbname()), (Some("a"), Some("c")));
        Ok((config.get_ssl_mode(), trust, authorities))
    }

    #[test]
    fn tls_is_asked_for_as_everywhere() {
        let file = || Some(PathBuf::from("/etc/ca 1.pem"));
        let expected = [
            ("", SslMode::Prefer, Trust::Anyone, None),
            ("?sslmode=disable", SslMode::Disable, Trust::Anyone, None),
            ("?sslmode=prefer&application_name=x", SslMode::Prefer, Trust::Anyone, None),
            ("?sslmode=require", SslMode::Require, Trust::Anyone, None),
            ("?sslmode=require&sslrootcert=/etc/ca%201.pem", SslMode::Require, Trust::Issuer, file()),
            ("?sslmode=verify-ca", SslMode::Require, Trust::Issuer, None),
            ("?sslrootcert=%2Fetc%2Fca%201.pem&sslmode=verify-full", SslMode::Require, Trust::Name, file()),
            ("?sslmode=verify-full&sslrootcert=system", SslMode::Require, Trust::Name, None),
            ("?sslrootcert=system", SslMode::Require, Trust::Name, None),
        ];
        for (options, mode, trust, authorities) in expected {
            assert_eq!(read(options), Ok((mode, trust, authorities)), "{options}");
        }
        let wrong = read("?sslmode=maybe").unwrap_err();
        assert!(wrong.contains("\"maybe\"") && wrong.contains("verify-full"), "{wrong}");
        for weaker in ["require", "prefer", "verify-ca", "disable"] {
            assert!(read(&format!("?sslmode={weaker}&sslrootcert=system")).is_err(), "{weaker}");
        }
        assert!(read("?sslrootcert=%zz").is_err());
        assert!(read("?frobnicate=1").is_err());
    }

    #[test]
    fn a_password_that_is_not_encoded_is_refused_and_not_shown() {
        let urls = [
            "postgres://u:s3cr@tW0rd@127.0.0.1/x",
            "postgres://u:s3cr@tW/0rd@127.0.0.1/x",
            "postgres://u:12?tW0rd@127.0.0.1/x",
            "postgres://u:12?tW0rd=3@127.0.0.1/x",
        ];
        for url in urls {
            let refusal = describe(url).unwrap_err();
            assert!(refusal.contains("%40") && !refusal.contains("W0rd"), "{url}: {refusal}");
        }
        let shown = describe("postgres://u%40home:s3cr%40t%3F@127.0.0.1/x?application_name=a@b");
        assert_eq!(shown.as_deref(), Ok("postgres://u@home@127.0.0.1:5432/x"));
    }

    #[test]
    fn a_dead_server_is_noticed_after_seconds_or_as_the_url_says() {
        let config = |options: &str| Address::read(&format!("postgres://a:b@db.example/c{options}")).unwrap().config;
        let seconds = |n| Duration::from_secs(n);
        let usual = config("");
        assert_eq!((usual.get_tcp_user_timeout(), usual.get_keepalives_idle()), (Some(&seconds(10)), seconds(10)));
        let other = config("?keepalives_idle=60&tcp_user_timeout=90");
        assert_eq!((other.get_tcp_user_timeout(), other.get_keepalives_idle()), (Some(&seconds(90)), seconds(60)));
    }

    #[test]
    fn sockets_of_this_machine_have_no_tls() {
        let address = Address::read("postgres://a@%2Frun%2Fpostgresql/c?sslmode=require").unwrap();
        assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
    }
}
