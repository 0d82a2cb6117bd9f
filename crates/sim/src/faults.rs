//! The faults to inject, and how often.

use std::collections::BTreeSet;
use std::time::Duration;

use model::json::At;
use serde::Serialize;

use crate::chance::Fingerprint;
use crate::protocol::Protocol;

/// The longest latency that can be configured.
const MOST_MILLIS: i64 = 600_000;
/// Salts that keep the kinds of chance apart. Tries are numbered from zero.
const GONE: u64 = u64::MAX;
const JITTER: u64 = u64::MAX - 1;

/// All faults that can be injected. Shares are between 0 and 1 and concern single messages; the default is that nothing goes
/// wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Faults {
    /// Every answer takes this long...
    #[serde(rename = "latency_ms", serialize_with = "millis")]
    pub latency: Duration,
    /// ...and up to this much longer.
    #[serde(rename = "jitter_ms", serialize_with = "millis")]
    pub jitter: Duration,
    /// Share of devices that are gone, by a hash of their address: a device that is gone stays gone.
    pub gone: f64,
    /// More devices that are gone, by address.
    pub gone_addresses: BTreeSet<String>,
    /// Addresses of Apple, Firebase and browsers that begin so are of no device: they are refused as made-up ones are, while the
    /// same addresses may have been served before. Empty for none.
    pub unknown_prefix: String,
    /// Messages to addresses that begin so are never answered. Empty for none.
    pub silent_prefix: String,
    /// Firebase repeats an address of no device when it refuses it.
    pub names_address: bool,
    /// Messages that are answered with "too many requests".
    pub throttled: f64,
    /// Messages that are answered with "service unavailable".
    pub unavailable: f64,
    /// Messages that are not taken: their stream is reset.
    pub resets: f64,
    /// Messages that are taken, but the stream is reset instead of answered. A sender that repeats them causes duplicates.
    pub lost_answers: f64,
    /// Messages that are not taken because the whole connection breaks, with all pending answers.
    pub cuts: f64,
    /// The value of `Retry-After` in the answers above, in seconds; `None` leaves it out.
    pub retry_after: Option<u32>,
    /// A connection goes away after this many requests; 0 for never.
    pub goaway_every: u32,
    pub goaway: GoAway,
    /// Protocols whose credentials are refused even if they are valid.
    pub refuse_credentials: BTreeSet<Protocol>,
    /// A different seed hits different messages.
    pub seed: u64,
}

/// How a connection goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GoAway {
    /// All requests under way are still served.
    Graceful,
    /// Requests after the last one that counted are ignored; the last stream id tells which.
    Abrupt,
    /// Connections alternate between the two.
    Mixed,
}

/// The fault that hits one message before the provider looks at the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mishap {
    Throttled,
    Unavailable,
    Reset,
    LostAnswer,
    Cut,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            gone: 0.0,
            gone_addresses: BTreeSet::new(),
            unknown_prefix: String::new(),
            silent_prefix: String::new(),
            names_address: false,
            throttled: 0.0,
            unavailable: 0.0,
            resets: 0.0,
            lost_answers: 0.0,
            cuts: 0.0,
            retry_after: Some(1),
            goaway_every: 0,
            goaway: GoAway::Mixed,
            refuse_credentials: BTreeSet::new(),
            seed: 0,
        }
    }
}

impl Faults {
    /// Reads the body of `POST /sim/faults`. Omitted faults are as in `self`.
    pub(crate) fn parse(&self, at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let share = |at: &At<'_>| at.number(0.0..=1.0);
        let kinds = [("graceful", GoAway::Graceful), ("abrupt", GoAway::Abrupt), ("mixed", GoAway::Mixed)];
        let protocols = Protocol::ALL.map(|protocol| (protocol.name(), protocol));
        let latency = fields.optional("latency_ms", duration);
        let jitter = fields.optional("jitter_ms", duration);
        let gone = fields.optional("gone", share);
        let gone_addresses = fields.optional("gone_addresses", |at| at.array(0..=100_000, At::any_text));
        let unknown_prefix = fields.optional("unknown_prefix", At::any_text);
        let silent_prefix = fields.optional("silent_prefix", At::any_text);
        let names_address = fields.optional("names_address", At::boolean);
        let throttled = fields.optional("throttled", share);
        let unavailable = fields.optional("unavailable", share);
        let resets = fields.optional("resets", share);
        let lost_answers = fields.optional("lost_answers", share);
        let cuts = fields.optional("cuts", share);
        let retry_after = fields.take("retry_after").map(|at| if at.is_null() { None } else { whole(&at) });
        let goaway_every = fields.optional("goaway_every", whole);
        let goaway = fields.optional("goaway", |at| at.choice(&kinds));
        let refuse_credentials =
            fields.optional("refuse_credentials", |at| at.array(0..=kinds.len() * 2, |at| at.choice(&protocols)));
        let seed = fields.optional("seed", |at| at.integer(0..=i64::MAX));
        fields.finish();
        let faults = Self {
            latency: latency.unwrap_or(self.latency),
            jitter: jitter.unwrap_or(self.jitter),
            gone: gone.unwrap_or(self.gone),
            gone_addresses: gone_addresses
                .map_or_else(|| self.gone_addresses.clone(), |addresses| addresses.into_iter().collect()),
            unknown_prefix: unknown_prefix.unwrap_or_else(|| self.unknown_prefix.clone()),
            silent_prefix: silent_prefix.unwrap_or_else(|| self.silent_prefix.clone()),
            names_address: names_address.unwrap_or(self.names_address),
            throttled: throttled.unwrap_or(self.throttled),
            unavailable: unavailable.unwrap_or(self.unavailable),
            resets: resets.unwrap_or(self.resets),
            lost_answers: lost_answers.unwrap_or(self.lost_answers),
            cuts: cuts.unwrap_or(self.cuts),
            retry_after: retry_after.unwrap_or(self.retry_after),
            goaway_every: goaway_every.unwrap_or(self.goaway_every),
            goaway: goaway.unwrap_or(self.goaway),
            refuse_credentials: refuse_credentials
                .map_or_else(|| self.refuse_credentials.clone(), |protocols| protocols.into_iter().collect()),
            seed: seed.and_then(|seed| u64::try_from(seed).ok()).unwrap_or(self.seed),
        };
        if faults.total() > 1.0 {
            return at
                .invalid("throttled, unavailable, resets, lost_answers and cuts must not be more than 1 together.");
        }
        Some(faults)
    }

    /// Whether the device at the address is gone. Of a URL only the part after the last slash counts, since the host and the
    /// port of a simulator change.
    pub fn is_gone(&self, address: &str) -> bool {
        let device = device_of(address);
        if self.gone_addresses.contains(address) || self.gone_addresses.contains(device) {
            return true;
        }
        self.gone > 0.0 && Fingerprint::of(&[device.as_bytes()]).roll(self.seed, GONE) < self.gone
    }

    /// Whether there is no device at the address.
    pub(crate) fn is_unknown(&self, address: &str) -> bool {
        !self.unknown_prefix.is_empty() && device_of(address).starts_with(&self.unknown_prefix)
    }

    /// Whether the provider says nothing to a message for the address.
    pub(crate) fn is_silent(&self, address: &str) -> bool {
        !self.silent_prefix.is_empty() && device_of(address).starts_with(&self.silent_prefix)
    }

    /// The fault that hits a message on its `n_tries`th try, counted from zero.
    pub(crate) fn mishap(&self, message: Fingerprint, n_tries: u64) -> Option<Mishap> {
        let shares = [
            (self.throttled, Mishap::Throttled),
            (self.unavailable, Mishap::Unavailable),
            (self.resets, Mishap::Reset),
            (self.lost_answers, Mishap::LostAnswer),
            (self.cuts, Mishap::Cut),
        ];
        if self.total() <= 0.0 {
            return None;
        }
        let mut roll = message.roll(self.seed, n_tries);
        for (share, mishap) in shares {
            if roll < share {
                return Some(mishap);
            }
            roll -= share;
        }
        None
    }

    /// How long the answer to a message takes.
    pub(crate) fn delay(&self, message: Fingerprint) -> Duration {
        if self.jitter.is_zero() {
            return self.latency;
        }
        self.latency + self.jitter.mul_f64(message.roll(self.seed, JITTER))
    }

    /// Whether connection number `serial` goes away gracefully.
    pub(crate) fn is_graceful(&self, serial: u64) -> bool {
        match self.goaway {
            GoAway::Graceful => true,
            GoAway::Abrupt => false,
            GoAway::Mixed => serial.is_multiple_of(2),
        }
    }

    fn total(&self) -> f64 {
        self.throttled + self.unavailable + self.resets + self.lost_answers + self.cuts
    }
}

/// The part of an address that names the device.
pub(crate) fn device_of(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or(address)
}

fn duration(at: &At<'_>) -> Option<Duration> {
    at.integer(0..=MOST_MILLIS).and_then(|millis| u64::try_from(millis).ok()).map(Duration::from_millis)
}

fn whole(at: &At<'_>) -> Option<u32> {
    at.integer(0..=i64::from(u32::MAX)).and_then(|number| u32::try_from(number).ok())
}

fn millis<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::json::parse;

    #[test]
    fn what_is_left_out_stays() {
        let before = Faults { gone: 0.5, goaway_every: 7, ..Faults::default() };
        let body = br#"{"throttled": 0.25, "latency_ms": 20, "goaway": "abrupt", "retry_after": null}"#;
        let after = parse(body, |at| before.parse(at)).unwrap();
        let expected = Faults {
            throttled: 0.25,
            latency: Duration::from_millis(20),
            goaway: GoAway::Abrupt,
            retry_after: None,
            ..before.clone()
        };
        assert_eq!(after, expected);
        for wrong in ["{\"gone\":2}", "{\"lost\":1}", "{\"throttled\":0.6,\"resets\":0.6}", "{\"seed\":-1}", "[]"] {
            assert!(parse(wrong.as_bytes(), |at| before.parse(at)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_kept_and_devices_stay_gone_wherever_the_simulator_listens() {
        let faults = Faults { gone: 0.02, throttled: 0.05, unavailable: 0.05, resets: 0.05, ..Faults::default() };
        let (mut n_gone, mut n_resets) = (0, 0);
        for n in 0..20_000_u32 {
            let id = Fingerprint::of(&[&n.to_be_bytes()]);
            n_resets += u32::from(faults.mishap(id, 0) == Some(Mishap::Reset));
            n_gone += u32::from(faults.is_gone(&format!("token-{n}")));
            let (here, there) = (format!("https://a:1/x/{n}"), format!("http://b:2/x/{n}"));
            assert_eq!(faults.is_gone(&here), faults.is_gone(&there));
        }
        assert!((330..470).contains(&n_gone), "{n_gone}");
        assert!((880..1120).contains(&n_resets), "{n_resets}");
    }
}
