//! The database URL taken apart: its hosts, what a session has to be good for, and how connections are encrypted.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::failure;
use super::tls::Trust;

/// How long a server may take to accept a connection, unless the URL says.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Options of the connection, unless the URL has its own, by which a server that vanished without closing its
/// connections (as when its machine loses power) is noticed after 10 to 20 seconds. The system's defaults are
/// a quarter of an hour with data to send and two hours without.
const DEAD_PEER_OPTIONS: &str = "tcp_user_timeout=10&keepalives_idle=10&keepalives_interval=5&keepalives_retries=2";

/// A URL taken apart.
#[derive(Debug)]
pub(super) struct Address {
    /// At least one.
    pub(super) hosts: Vec<NamedHost>,
    pub(super) needs: Needs,
    /// Settings of the session that the URL asks for.
    pub(super) options: Option<String>,
    pub(super) trust: Trust,
    /// A file with the certificates of the authorities to trust, instead of those of the machine.
    pub(super) authorities: Option<PathBuf>,
}

/// One of the hosts of a URL.
#[derive(Debug)]
pub(super) struct NamedHost {
    /// As an operator knows it: host and port.
    pub(super) name: String,
    pub(super) config: Config,
    /// How long a connection may take until it can be used.
    pub(super) limit: Duration,
}

/// What a session has to be good for. Nothing of the service works on a standby: it would read the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// A server that is not a standby.
    Primary,
    /// A server that takes changes also by its settings.
    ReadWrite,
}

/// The URL without its password and options.
pub(crate) fn describe(url: &str) -> Result<String, String> {
    let Address { hosts, .. } = Address::read(url)?;
    let config = &hosts[0].config;
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    Ok(format!("postgres://{user}{}/{}", names.join(","), config.get_dbname().unwrap_or_default()))
}

impl Address {
    /// The driver knows neither `sslrootcert`, nor the strict values of `sslmode`, nor all of `target_session_attrs`, so these are
    /// read here. They have the same meaning as for PostgreSQL's own programs.
    pub(super) fn read(url: &str) -> Result<Self, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        // The driver ends the password at the first '@' and this function the URL at the first '?': the rest
        // of a password would be taken for a host or an option, and shown.
        if base.matches('@').count() > 1 || (!base.contains('@') && query.contains('@')) {
            return Err("write an @ in the user name or the password as %40, and a ? as %3F".to_owned());
        }
        let (mut mode, mut authorities, mut needs, mut others) = (None, None, Needs::Primary, Vec::new());
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = Some(decode(value)?),
                Some(("sslrootcert", value)) => authorities = Some(decode(value)?),
                Some(("target_session_attrs", value)) => needs = Needs::read(&decode(value)?)?,
                Some(_) | None => others.push(option),
            }
        }
        let parsed: Result<Config, _> = format!("{base}?{DEAD_PEER_OPTIONS}&{}", others.join("&")).parse();
        let config = parsed.map_err(|error| failure::text(&error))?;
        let (ssl_mode, trust, authorities) = read_encryption(mode, authorities)?;
        let (n_hosts, n_ports) = (config.get_hosts().len(), config.get_ports().len());
        if n_hosts == 0 {
            return Err("it names no host".to_owned());
        }
        if n_ports > 1 && n_ports != n_hosts {
            return Err(format!("it names {n_hosts} hosts and {n_ports} ports"));
        }
        if !matches!(config.get_hostaddrs().len(), 0 | 1) || (n_hosts > 1 && !config.get_hostaddrs().is_empty()) {
            return Err("hostaddr is for a single host".to_owned());
        }
        let hosts = (0..n_hosts).map(|index| NamedHost::new(&config, index, ssl_mode)).collect();
        Ok(Self { hosts, needs, options: config.get_options().map(str::to_owned), trust, authorities })
    }
}

impl Needs {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            // The default of PostgreSQL's own programs, which URLs are copied from.
            "any" | "primary" => Ok(Needs::Primary),
            "read-write" => Ok(Needs::ReadWrite),
            "read-only" | "standby" | "prefer-standby" => Err(format!(
                "its target_session_attrs is {text}, and the service needs a server that takes changes; it can be \
                 read-write, primary or any, which all mean the primary"
            )),
            other => Err(format!("its target_session_attrs is {other:?}; it can be read-write, primary or any")),
        }
    }
}

/// The file of authorities is named only if there is one to read.
fn read_encryption(
    mut mode: Option<String>,
    mut authorities: Option<String>,
) -> Result<(SslMode, Trust, Option<PathBuf>), String> {
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
    Ok((ssl_mode, trust, authorities.map(PathBuf::from)))
}

impl NamedHost {
    /// The driver would try the hosts by itself, and tell only why the last one cannot be used.
    fn new(all: &Config, index: usize, ssl_mode: SslMode) -> Self {
        let host = &all.get_hosts()[index];
        let port = all.get_ports().get(index).or(all.get_ports().first()).copied().unwrap_or(5432);
        let timeout = all.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        let mut config = Config::new();
        let (name, ssl_mode) = match host {
            Host::Tcp(name) => {
                config.host(name);
                (format!("{name}:{port}"), ssl_mode)
            }
            Host::Unix(folder) => {
                config.host_path(folder);
                // A socket of this machine has no TLS.
                (format!("{}:{port}", folder.display()), SslMode::Disable)
            }
        };
        if let Some(address) = all.get_hostaddrs().first() {
            config.hostaddr(*address);
        }
        config.port(port).ssl_mode(ssl_mode).ssl_negotiation(all.get_ssl_negotiation());
        config.channel_binding(all.get_channel_binding()).load_balance_hosts(all.get_load_balance_hosts());
        config.application_name(all.get_application_name().unwrap_or("aerogram")).connect_timeout(timeout);
        if let Some(user) = all.get_user() {
            config.user(user);
        }
        if let Some(password) = all.get_password() {
            config.password(password);
        }
        if let Some(database) = all.get_dbname() {
            config.dbname(database);
        }
        if let Some(options) = all.get_options() {
            config.options(options);
        }
        if let Some(timeout) = all.get_tcp_user_timeout() {
            config.tcp_user_timeout(*timeout);
        }
        config.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
        if let Some(interval) = all.get_keepalives_interval() {
            config.keepalives_interval(interval);
        }
        if let Some(retries) = all.get_keepalives_retries() {
            config.keepalives_retries(retries);
        }
        // A name may lead to two addresses, of which the first does not answer.
        Self { name, config, limit: timeout * 2 }
    }

    /// Whether data may leave this machine unencrypted.
    pub(super) fn is_in_the_clear(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Require && self.config.get_hosts().iter().any(is_far)
    }
}

/// Whether data sent to the host leaves this machine.
fn is_far(host: &Host) -> bool {
    match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => name != "localhost" && !name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
    }
}

fn decode(value: &str) -> Result<String, String> {
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

    fn read(options: &str) -> Result<(SslMode, Trust, Option<PathBuf>), String> {
        let Address { hosts, trust, authorities, .. } =
            Address::read(&format!("postgres://a:b@db.example/c{options}"))?;
        let config = &hosts[0].config;
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
        let config = |options: &str| {
            let address = Address::read(&format!("postgres://a:b@db.example/c{options}")).unwrap();
            address.hosts[0].config.clone()
        };
        let seconds = |n| Duration::from_secs(n);
        let usual = config("");
        assert_eq!((usual.get_tcp_user_timeout(), usual.get_keepalives_idle()), (Some(&seconds(10)), seconds(10)));
        let other = config("?keepalives_idle=60&tcp_user_timeout=90");
        assert_eq!((other.get_tcp_user_timeout(), other.get_keepalives_idle()), (Some(&seconds(90)), seconds(60)));
    }

    #[test]
    fn sockets_of_this_machine_have_no_tls() {
        let address = Address::read("postgres://a@%2Frun%2Fpostgresql,db.example/c?sslmode=require").unwrap();
        let modes: Vec<SslMode> = address.hosts.iter().map(|host| host.config.get_ssl_mode()).collect();
        assert_eq!(modes, [SslMode::Disable, SslMode::Require], "each host has its own");
    }

    #[test]
    fn every_host_of_a_url_is_kept_with_its_port_and_all_options() {
        let url = "postgres://ann:s3cret@a.example:5433,b.example,[::1]:5434/mail?target_session_attrs=read-write\
                   &connect_timeout=7&application_name=x&options=-c%20work_mem%3D8MB&keepalives_idle=60";
        let address = Address::read(url).unwrap();
        assert_eq!(address.needs, Needs::ReadWrite);
        for (host, (name, port)) in address.hosts.iter().zip([("a.example", 5433), ("b.example", 5432), ("::1", 5434)])
        {
            let mut alone = format!(
                "host={name} port={port} user=ann password=s3cret dbname=mail connect_timeout=7 \
                 application_name=x options='-c work_mem=8MB' keepalives_idle=60 keepalives_interval=5 \
                 keepalives_retries=2 tcp_user_timeout=10"
            )
            .parse::<Config>()
            .unwrap();
            assert_eq!(&host.config, alone.ssl_mode(SslMode::Prefer), "{name}");
            assert_eq!(host.limit, Duration::from_secs(14));
        }
        assert_eq!(describe(url).as_deref(), Ok("postgres://ann@a.example:5433,b.example:5432,::1:5434/mail"));
        let one_port = Address::read("postgres://a,b/mail?port=6000");
        assert!(
            one_port.is_err_and(|why| why.contains("2 hosts and 3 ports")),
            "each host in front of the path has a port"
        );
    }

    #[test]
    fn a_session_is_for_changes_or_the_url_is_refused() {
        let needs = |text: &str| Address::read(&format!("postgres://a,b/c{text}")).map(|address| address.needs);
        for (text, expected) in [
            ("", Needs::Primary),
            ("?target_session_attrs=any", Needs::Primary),
            ("?target_session_attrs=primary", Needs::Primary),
            ("?target_session_attrs=read-write", Needs::ReadWrite),
        ] {
            assert_eq!(needs(text), Ok(expected), "{text}");
        }
        for wrong in ["read-only", "standby", "prefer-standby", "sometimes"] {
            let why = needs(&format!("?target_session_attrs={wrong}")).unwrap_err();
            assert!(why.contains(wrong) && why.contains("read-write, primary or any"), "{why}");
        }
    }
}
