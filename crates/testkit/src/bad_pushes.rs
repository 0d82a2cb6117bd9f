//! Malformed pushes, each with the path of the value to blame. One table for the parser and for the HTTP edge.

// The path is spelled out because a test of another crate includes this file by path as well.
#[path = "bad_pushes/notification.rs"]
mod notification;

/// A body that must be refused with 400.
pub struct BadBody {
    pub name: String,
    pub body: Vec<u8>,
    /// The path of the first problem; empty when the body as a whole is to blame.
    pub path: String,
}

pub fn bad_pushes() -> Vec<BadBody> {
    let mut rows = not_json();
    rows.extend(ROOTS.iter().map(|(body, path)| row("push", body.as_bytes().to_vec(), path)));
    for (part, table) in PARTS {
        rows.extend(
            table.iter().map(|(value, path)| row(part, base_with(part, value).into_bytes(), &format!("{part}{path}"))),
        );
    }
    for (platform, table) in OVERRIDES.iter().chain(notification::DETAILS) {
        rows.extend(table.iter().map(|(value, path)| {
            let notification = format!(r#"{{"alert":"Hi","{platform}":{value}}}"#);
            let body = base_with("notification", &notification);
            row(platform, body.into_bytes(), &format!("notification.{platform}{path}"))
        }));
    }
    rows.extend(generated());
    rows
}

fn row(part: &str, body: Vec<u8>, path: &str) -> BadBody {
    let text: String = String::from_utf8_lossy(&body).chars().take(160).collect();
    BadBody { name: format!("{part}: {text}"), body, path: path.to_owned() }
}

/// A good push to all devices, with one part put in or replaced.
fn base_with(part: &str, value: &str) -> String {
    let base = [("audience", r#""all""#), ("device_types", r#""all""#), ("notification", r#"{"alert":"Hi"}"#)];
    let mut entries: Vec<_> =
        base.iter().filter(|(key, _)| *key != part).map(|(key, value)| format!(r#""{key}":{value}"#)).collect();
    entries.push(format!(r#""{part}":{value}"#));
    format!("{{{}}}", entries.join(","))
}

/// Bodies that are not JSON in UTF-8 at all.
fn not_json() -> Vec<BadBody> {
    let push = base_with("audience", r#""all""#);
    let bodies: [Vec<u8>; 14] = [
        b"".to_vec(),
        b" \n\t ".to_vec(),
        b"push".to_vec(),
        b"{".to_vec(),
        b"{\"audience\":\"all\"".to_vec(),
        b"{'audience':'all'}".to_vec(),
        b"{\"audience\":\"all\",}".to_vec(),
        format!("{push}{push}").into_bytes(),
        format!("{push} trailing").into_bytes(),
        b"{\"audience\":{\"tag\":\"\xff\xfe\"}}".to_vec(),
        b"{\"audience\":{\"tag\":\"\\ud800\"}}".to_vec(),
        b"{\"audience\":{\"tag\":\"line\nbreak\"}}".to_vec(),
        b"{\"options\":{\"expiry\":NaN}}".to_vec(),
        b"{\"options\":{\"expiry\":1e400}}".to_vec(),
    ];
    let mut rows: Vec<_> = bodies.into_iter().map(|body| row("not JSON", body, "")).collect();
    let deep_array = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_not = format!(r#"{}{{"tag":"a"}}{}"#, r#"{"not":"#.repeat(10_000), "}".repeat(10_000));
    rows.push(row("deep array", deep_array.clone().into_bytes(), ""));
    rows.push(row("deep selector", base_with("audience", &deep_not).into_bytes(), ""));
    rows.push(row("deep extra", base_with("global_attributes", &format!(r#"{{"a":{deep_array}}}"#)).into_bytes(), ""));
    rows
}

/// Rows that are too long to write down.
fn generated() -> Vec<BadBody> {
    let list = |item: &str, n: usize| format!("[{}]", vec![item; n].join(","));
    let either = |n: usize| format!(r#"{{"OR":{}}}"#, list(r#"{"tag":"a"}"#, n));
    let long = |n: usize| format!("\"{}\"", "x".repeat(n));
    let nested_not = |n: usize| format!(r#"{}{{"tag":"a"}}{}"#, r#"{"not":"#.repeat(n), "}".repeat(n));
    let part =
        |part: &str, value: &str, path: &str| row(part, base_with(part, value).into_bytes(), &format!("{part}{path}"));
    let push = base_with("audience", r#""all""#);
    let with_nul =
        TEXT_SELECTORS.map(|key| part("audience", &format!(r#"{{"{key}":["a","b\u0000c"]}}"#), &format!(".{key}[1]")));
    let mut rows = vec![
        row("too many pushes", list(&push, 101).into_bytes(), ""),
        row("too many values", list("0", 400_000).into_bytes(), ""),
        part("audience", &format!(r#"{{"tag":{}}}"#, long(129)), ".tag"),
        part("audience", &format!(r#"{{"tag":"a","group":{}}}"#, long(129)), ".group"),
        part("audience", &format!(r#"{{"tag":{}}}"#, list(r#""a""#, 101)), ".tag"),
        part("audience", &format!(r#"{{"named_user":{}}}"#, long(129)), ".named_user"),
        part("audience", &either(1001), ".OR"),
        part("audience", &format!(r#"{{"AND":[{},{}]}}"#, either(600), either(402)), ".AND[1].OR[400]"),
        part("audience", &nested_not(51), &".not".repeat(51)),
        part("campaigns", &format!(r#"{{"categories":{}}}"#, list(r#""a""#, 11)), ".categories"),
        part("campaigns", &format!(r#"{{"categories":["a",{}]}}"#, long(65)), ".categories[1]"),
        part("message", &format!(r#"{{"title":"T","body":{}}}"#, long(256 * 1024)), ".body"),
        part("notification", &format!(r#"{{"alert":"Hi","actions":{{"share":{}}}}}"#, long(1025)), ".actions.share"),
        part("notification", &format!(r#"{{"alert":"Hi","ios":{{"collapse_id":{}}}}}"#, long(65)), ".ios.collapse_id"),
        part("notification", &format!(r#"{{"alert":"Hi","sms":{{"alert":{}}}}}"#, long(1601)), ".sms.alert"),
        part("audience", r#"{"attribute":"a\u0000b","operator":"equals","value":"x"}"#, ".attribute"),
    ];
    rows.extend(with_nul);
    rows
}

/// Selectors whose values are names that are looked up.
const TEXT_SELECTORS: [&str; 12] = [
    "tag",
    "named_user",
    "alias",
    "static_list",
    "subscription_list",
    "subscription_lists",
    "open_channel",
    "apid",
    "wns",
    "mpns",
    "device_pin",
    "sms_sender",
];

type Row = (&'static str, &'static str);

/// Whole bodies.
const ROOTS: &[Row] = &[
    ("null", ""),
    ("true", ""),
    ("7", ""),
    (r#""all""#, ""),
    ("[]", ""),
    ("[[]]", "[0]"),
    ("[null]", "[0]"),
    ("{}", "audience"),
    (r#"{"device_types":"all","notification":{"alert":"Hi"}}"#, "audience"),
    (r#"{"audience":"all","notification":{"alert":"Hi"}}"#, "device_types"),
    (r#"{"audience":"all","device_types":"all"}"#, "notification"),
    (r#"{"audience":"all","device_types":"all","options":{}}"#, "notification"),
    (r#"{"audience":"all","device_types":"all","notification":{"alert":"Hi"},"colour":"red"}"#, "colour"),
    (r#"{"audience":"all","audience":"all","device_types":"all","notification":{"alert":"Hi"}}"#, "audience"),
    (r#"[{"audience":"all","device_types":"all","notification":{"alert":"Hi"}},{}]"#, "[1].audience"),
    (r#"[{"audience":"all","device_types":"all","notification":{"alert":"Hi"}},3]"#, "[1]"),
    (r#"{"audience":"all","device_types":["ios"],"notification":{"android":{"alert":"Hi"}}}"#, "device_types[0]"),
    (r#"{"audience":"all","device_types":["ios","web"],"notification":{"ios":{"alert":"Hi"}}}"#, "device_types[1]"),
    (
        r#"{"audience":"all","device_types":["open::kiosk"],"notification":{"open::other":{"alert":"Hi"}}}"#,
        "device_types[0]",
    ),
    (r#"{"audience":"all","device_types":["ios","mms"],"notification":{"alert":"Hi"}}"#, "device_types[1]"),
    (r#"{"audience":"all","device_types":["email"],"notification":{"alert":"Hi"}}"#, "notification.email"),
    (r#"{"audience":"all","device_types":"all","notification":{}}"#, "notification"),
    (r#"{"audience":"all","device_types":["web"],"in_app":{"alert":"Hi","display_type":"banner"}}"#, "device_types[0]"),
    (
        r#"{"audience":{"ios_channel":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"},"device_types":["android"],"notification":{"alert":"Hi"}}"#,
        "audience.ios_channel",
    ),
    (
        r#"{"audience":{"OR":[{"tag":"a"},{"NOT":{"android_channel":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}}]},"device_types":["ios"],"notification":{"alert":"Hi"}}"#,
        "audience.OR[1].NOT.android_channel",
    ),
    (
        r#"{"audience":{"open_channel":"desk-7"},"device_types":["ios"],"notification":{"alert":"Hi"}}"#,
        "audience.open_channel",
    ),
    (
        r#"{"audience":{"location":{"id":"x","date":{"recent":{"days":3}}}},"device_types":"all","notification":{"alert":"Hi"}}"#,
        "device_types",
    ),
    (
        r#"{"audience":{"location":{"id":"x","date":{"recent":{"days":3}}}},"device_types":["web"],"notification":{"alert":"Hi"}}"#,
        "device_types",
    ),
    (
        r#"{"audience":"all","device_types":["ios","wns"],"message":{"title":"T","body":"B"},"notification":{"alert":"Hi"}}"#,
        "device_types[1]",
    ),
    (
        r#"{"audience":"all","device_types":["open::kiosk"],"message":{"title":"T","body":"B"},"notification":{"alert":"Hi"}}"#,
        "device_types[0]",
    ),
    (
        r#"{"audience":"all","device_types":["sms"],"message":{"title":"T","body":"B"},"notification":{"alert":"Hi"}}"#,
        "device_types[0]",
    ),
    (
        r#"{"audience":"all","device_types":["wns"],"notification":{"alert":"Hi","interactive":{"type":"ua_follow"}}}"#,
        "notification.interactive",
    ),
    (
        r#"{"audience":"all","device_types":["ios"],"notification":{"ios":{"priority":10,"content_available":true}}}"#,
        "notification.ios.priority",
    ),
    (
        r#"{"audience":"all","device_types":["ios"],"notification":{"alert":"Hi","ios":{"content_available":false}},"in_app":{"alert":"Hi","display_type":"banner"}}"#,
        "notification.ios.content_available",
    ),
    (
        r#"{"audience":"all","device_types":["ios"],"notification":{"alert":"Hi"},"message":{"title":"T","body":"B"},"options":{"redact_payload":true}}"#,
        "options.redact_payload",
    ),
    (
        r#"{"audience":"all","device_types":["sms","mms"],"notification":{"sms":{"alert":"Hi"},"mms":{"fallback_text":"Hi","slides":[{"media":{"url":"https://example.com/a.png","content_type":"image/png"}}]}}}"#,
        "notification.mms",
    ),
    (
        r#"{"audience":"all","device_types":["email"],"message_type":"commercial","notification":{"email":{"message_type":"transactional","subject":"S","plaintext_body":"B","sender_name":"N","sender_address":"a@example.com","reply_to":"b@example.com"}}}"#,
        "notification.email.message_type",
    ),
];

/// Values of one key of a push that is otherwise good; paths are relative to the key.
const PARTS: &[(&str, &[Row])] = &[
    ("audience", AUDIENCES),
    ("device_types", DEVICE_TYPES),
    ("notification", NOTIFICATIONS),
    ("message", MESSAGES),
    ("in_app", IN_APPS),
    ("options", OPTIONS),
    ("campaigns", CAMPAIGNS),
    ("localizations", LOCALIZATIONS),
    ("global_attributes", GLOBAL_ATTRIBUTES),
    ("message_type", &[("\"spam\"", ""), ("1", ""), ("null", "")]),
    ("orchestration", ORCHESTRATIONS),
    ("feed_references", FEEDS),
    ("snippet_references", SNIPPETS),
];

const AUDIENCES: &[Row] = &[
    ("null", ""),
    ("true", ""),
    ("12", ""),
    ("[]", ""),
    ("{}", ""),
    (r#""""#, ""),
    (r#""everyone""#, ""),
    (r#""triggered""#, ""),
    (r#"["all"]"#, ""),
    (r#"{"tags":"a"}"#, ".tags"),
    (r#"{"tag":null}"#, ".tag"),
    (r#"{"tag":1}"#, ".tag"),
    (r#"{"tag":""}"#, ".tag"),
    (r#"{"tag":[]}"#, ".tag"),
    (r#"{"tag":["a",""]}"#, ".tag[1]"),
    (r#"{"tag":["a",["b"]]}"#, ".tag[1]"),
    (r#"{"tag":{"name":"a"}}"#, ".tag"),
    (r#"{"tag":"a","group":7}"#, ".group"),
    (r#"{"tag":"a","group":""}"#, ".group"),
    (r#"{"tag":"a","class":"device"}"#, ".class"),
    (r#"{"tag":"a","tag":"b"}"#, ".tag"),
    (r#"{"group":"a"}"#, ".group"),
    (r#"{"tag":"a","named_user":"b"}"#, ".named_user"),
    (r#"{"segment":"my segment"}"#, ".segment"),
    (r#"{"named_user":" kim"}"#, ".named_user"),
    (r#"{"named_user":[]}"#, ".named_user"),
    (r#"{"ios_channel":"9c36e8c7"}"#, ".ios_channel"),
    (r#"{"ios_channel":"9c36e8c75a7347c0971699fd3d4197d5"}"#, ".ios_channel"),
    (r#"{"channel":["9c36e8c7-5a73-47c0-9716-99fd3d4197d5","x"]}"#, ".channel[1]"),
    (r#"{"android_channel":{}}"#, ".android_channel"),
    (r#"{"open_channel":""}"#, ".open_channel"),
    (r#"{"device_token":"abc"}"#, ".device_token"),
    (r#"{"sms_id":"15035550100"}"#, ".sms_id"),
    (r#"{"sms_id":{"msisdn":"+1","sender":"2"}}"#, ".sms_id.msisdn"),
    (r#"{"sms_sender":"12345678901234567"}"#, ".sms_sender"),
    (r#"{"and":[]}"#, ".and"),
    (r#"{"or":{"tag":"a"}}"#, ".or"),
    (r#"{"or":[{"tag":"a"},"all"]}"#, ".or[1]"),
    (r#"{"or":[{"tag":"a"},{"or":[{"tag":"b"},{"tag":""}]}]}"#, ".or[1].or[1].tag"),
    (r#"{"not":[{"tag":"a"},{"tag":"b"}]}"#, ".not"),
    (r#"{"not":"all"}"#, ".not"),
    (r#"{"and":[{"tag":"a"}],"or":[{"tag":"b"}]}"#, ".or"),
    (r#"{"AND":[{"tag":"a"}],"and":[{"tag":"b"}]}"#, ".and"),
    (r#"{"xor":[{"tag":"a"}]}"#, ".xor"),
    (r#"{"attribute":"a"}"#, ".operator"),
    (r#"{"attribute":"a","operator":"is","value":1}"#, ".operator"),
    (r#"{"attribute":"a","operator":"equals"}"#, ".value"),
    (r#"{"attribute":"a","operator":"before","value":3}"#, ".precision"),
    (r#"{"activity":"a","metric":"sum"}"#, ".metric"),
    (r#"{"activity":"a","metric":"count","operator":"less","value":"3"}"#, ".value"),
    (r#"{"location":"San Francisco"}"#, ".location"),
    (r#"{"location":{"id":"x"}}"#, ".location.date"),
    (r#"{"location":{"date":{"recent":{"days":3}}}}"#, ".location.id"),
    (r#"{"location":{"id":"x","date":{"recent":{"days":61}}}}"#, ".location.date.recent.days"),
    (r#"{"location":{"id":"x","date":{"days":{"start":"2015-10-15","end":"2015-10-1"}}}}"#, ".location.date.days.end"),
];

const DEVICE_TYPES: &[Row] = &[
    ("null", ""),
    ("{}", ""),
    ("[]", ""),
    (r#""ios""#, ""),
    (r#"["ios","iphone"]"#, "[1]"),
    (r#"["ios","all"]"#, "[1]"),
    (r#"["open::"]"#, "[0]"),
    (r#"["ios",null]"#, "[1]"),
];

const NOTIFICATIONS: &[Row] = &[
    ("null", ""),
    (r#""Hi""#, ""),
    ("[]", ""),
    (r#"{"alert":7}"#, ".alert"),
    (r#"{"alert":"Hi","alert":"Ho"}"#, ".alert"),
    (r#"{"alert":"Hi","badge":1}"#, ".badge"),
    (r#"{"alert":"Hi","ios":"Hi"}"#, ".ios"),
    (r#"{"alert":"Hi","open::":{}}"#, ".open::"),
    (r#"{"alert":"Hi","blackberry":{"alert":"Hi"}}"#, ".blackberry"),
    (r#"{"alert":"Hi","actions":null}"#, ".actions"),
    (r#"{"alert":"Hi","actions":{}}"#, ".actions"),
    (r#"{"alert":"Hi","actions":{"dance":true}}"#, ".actions.dance"),
    (r#"{"alert":"Hi","actions":{"add_tag":""}}"#, ".actions.add_tag"),
    (r#"{"alert":"Hi","actions":{"add_tag":[]}}"#, ".actions.add_tag"),
    (r#"{"alert":"Hi","actions":{"remove_tag":["a",null]}}"#, ".actions.remove_tag[1]"),
    (r#"{"alert":"Hi","actions":{"share":""}}"#, ".actions.share"),
    (r#"{"alert":"Hi","actions":{"open":"https://example.com"}}"#, ".actions.open"),
    (r#"{"alert":"Hi","actions":{"open":{"type":"window","content":"x"}}}"#, ".actions.open.type"),
    (r#"{"alert":"Hi","actions":{"open":{"type":"url"}}}"#, ".actions.open.content"),
    (
        r#"{"alert":"Hi","actions":{"open":{"type":"landing_page","content":{"body":"x"}}}}"#,
        ".actions.open.content.content_type",
    ),
    (r#"{"alert":"Hi","actions":{"add_tag":"a","app_defined":{"^+t":"b"}}}"#, ".actions.app_defined.^+t"),
    (r#"{"alert":"Hi","interactive":{}}"#, ".interactive.type"),
    (r#"{"alert":"Hi","interactive":{"type":"ua_dance"}}"#, ".interactive.type"),
    (
        r#"{"alert":"Hi","interactive":{"type":"ua_follow","button_actions":{"unfollow":{"add_tag":"a"}}}}"#,
        ".interactive.button_actions.unfollow",
    ),
    (
        r#"{"alert":"Hi","interactive":{"type":"ua_follow","button_actions":{"follow":{}}}}"#,
        ".interactive.button_actions.follow",
    ),
    (r#"{"alert":"Hi","interactive":{"type":"ua_follow","color":"red"}}"#, ".interactive.color"),
];

/// Values of one override; paths are relative to it.
const OVERRIDES: &[(&str, &[Row])] = &[
    (
        "ios",
        &[
            (r#"{"colour":"red"}"#, ".colour"),
            (r#"{"alert":7}"#, ".alert"),
            (r#"{"alert":{"text":"Hi"}}"#, ".alert.text"),
            (r#"{"badge":"many"}"#, ".badge"),
            (r#"{"badge":1.5}"#, ".badge"),
            (r#"{"badge":"+"}"#, ".badge"),
            (r#"{"sound":{"volume":0.5}}"#, ".sound.name"),
            (r#"{"sound":{"name":"x","volume":1.5}}"#, ".sound.volume"),
            (r#"{"priority":7}"#, ".priority"),
            (r#"{"extra":{"aps":1}}"#, ".extra.aps"),
            (r#"{"extra":[]}"#, ".extra"),
            (r#"{"expiry":-1}"#, ".expiry"),
            (r#"{"expiry":"tomorrow"}"#, ".expiry"),
            (r#"{"interruption_level":"loud"}"#, ".interruption_level"),
            (r#"{"relevance_score":2}"#, ".relevance_score"),
            (r#"{"media_attachment":{}}"#, ".media_attachment.url"),
        ],
    ),
    (
        "android",
        &[
            (r#"{"title":["a"]}"#, ".title"),
            (r#"{"extra":{"a":1}}"#, ".extra.a"),
            (r#"{"extra":{"from":"a"}}"#, ".extra.from"),
            (r#"{"extra":{"google.x":"a"}}"#, ".extra.google.x"),
            (r#"{"priority":3}"#, ".priority"),
            (r#"{"visibility":"secret"}"#, ".visibility"),
            (r#"{"category":"spam"}"#, ".category"),
            (r#"{"delivery_priority":"urgent"}"#, ".delivery_priority"),
            (r#"{"icon_color":"red"}"#, ".icon_color"),
            (r#"{"style":{"type":"big_text"}}"#, ".style.big_text"),
            (r#"{"style":{"type":"huge"}}"#, ".style.type"),
            (r#"{"style":{"type":"inbox","lines":[]}}"#, ".style.lines"),
            (r#"{"time_to_live":1e30}"#, ".time_to_live"),
        ],
    ),
    ("amazon", &[(r#"{"expires_after":5}"#, ".expires_after"), (r#"{"badge":1}"#, ".badge")]),
    (
        "web",
        &[
            (r#"{"icon":"https://example.com/a.png"}"#, ".icon"),
            (r#"{"icon":{}}"#, ".icon.url"),
            (r#"{"require_interaction":"yes"}"#, ".require_interaction"),
            (r#"{"buttons":[]}"#, ".buttons"),
            (r#"{"extra":{"a":null}}"#, ".extra.a"),
        ],
    ),
    ("wns", &[(r#"{"alert":"Hi","badge":{"value":1}}"#, ""), (r#"{"badge":{"value":100}}"#, ".badge.value")]),
    ("open::kiosk", &[(r#"{"alert":1}"#, ".alert"), (r#"{"extra":{"a":{}}}"#, ".extra.a")]),
    ("sms", &[(r#"{"expiry":172801}"#, ".expiry")]),
    ("mms", &[(r#"{"slides":[]}"#, ".slides")]),
    ("email", &[(r#"{"subject":"S"}"#, ".message_type")]),
];

const MESSAGES: &[Row] = &[
    ("null", ""),
    (r#""Hi""#, ""),
    ("{}", ".title"),
    (r#"{"title":"T"}"#, ".body"),
    (r#"{"title":1,"body":"B"}"#, ".title"),
    (r#"{"title":"T","body":"B","colour":"red"}"#, ".colour"),
    (r#"{"title":"T","body":"B","content_type":"html"}"#, ".content_type"),
    (r#"{"title":"T","body":"B","content_type":"text/html","content-type":"text/html"}"#, ".content-type"),
    (r#"{"title":"T","body":"B","content_encoding":"rot13"}"#, ".content_encoding"),
    (r#"{"title":"T","body":"?","content_encoding":"base64"}"#, ".body"),
    (r#"{"title":"T","body":"B","expiry":-5}"#, ".expiry"),
    (r#"{"title":"T","body":"B","extra":{"a":1}}"#, ".extra.a"),
    (r#"{"title":"T","body":"B","icons":{}}"#, ".icons.list_icon"),
    (r#"{"title":"T","body":"B","icons":{"list_icon":"icon.png"}}"#, ".icons.list_icon"),
    (r#"{"title":"T","body":"B","icons":{"list_icon":"ua:1","big":"ua:2"}}"#, ".icons.big"),
    (r#"{"title":"T","body":"B","options":[]}"#, ".options"),
    (r#"{"title":"T","body":"B","campaigns":{}}"#, ".campaigns.categories"),
    (r#"{"title":"T","body":"B","template":{"external_id":"x"}}"#, ".title"),
];

const IN_APPS: &[Row] = &[
    ("null", ""),
    ("{}", ".alert"),
    (r#"{"alert":"Hi"}"#, ".display_type"),
    (r#"{"alert":"Hi","display_type":"modal"}"#, ".display_type"),
    (r#"{"alert":1,"display_type":"banner"}"#, ".alert"),
    (r#"{"alert":"Hi","display_type":"banner","display":{"position":"left"}}"#, ".display.position"),
    (r#"{"alert":"Hi","display_type":"banner","display":{"duration":-1}}"#, ".display.duration"),
    (r#"{"alert":"Hi","display_type":"banner","display":{"primary_color":"red"}}"#, ".display.primary_color"),
    (r#"{"alert":"Hi","display_type":"banner","display":{"color":"red"}}"#, ".display.color"),
    (r#"{"alert":"Hi","display_type":"banner","actions":{}}"#, ".actions"),
    (r#"{"alert":"Hi","display_type":"banner","interactive":{"type":"ua_dance"}}"#, ".interactive.type"),
    (r#"{"alert":"Hi","display_type":"banner","extra":[]}"#, ".extra"),
    (
        r#"{"alert":"Hi","display_type":"banner","actions":{"open":{"type":"scene","content":{"template":{"template_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}}}}}"#,
        ".actions.open.type",
    ),
];

const OPTIONS: &[Row] = &[
    ("null", ""),
    ("[]", ""),
    (r#"{"expiry":-1}"#, ".expiry"),
    (r#"{"expiry":1.5}"#, ".expiry"),
    (r#"{"expiry":99999999999999999999}"#, ".expiry"),
    (r#"{"expiry":"2030-01-01"}"#, ".expiry"),
    (r#"{"no_throttle":"true"}"#, ".no_throttle"),
    (r#"{"personalization":1}"#, ".personalization"),
    (r#"{"ban_list_parameters":{"a":1}}"#, ".ban_list_parameters.a"),
    (r#"{"audience_limits":{}}"#, ".audience_limits.max_recipients"),
    (r#"{"audience_limits":{"max_recipients":0}}"#, ".audience_limits.max_recipients"),
    (r#"{"audience_limits":{"frequency_limits":[]}}"#, ".audience_limits.frequency_limits"),
    (r#"{"audience_limits":{"max_recipients":9,"frequency_limits":[]}}"#, ".audience_limits.frequency_limits"),
    (r#"{"audience_limits":{"max_recipients":9,"targeting_type":"household"}}"#, ".audience_limits.targeting_type"),
    (r#"{"speed":"fast"}"#, ".speed"),
];

const CAMPAIGNS: &[Row] = &[
    ("null", ""),
    (r#"["a"]"#, ""),
    ("{}", ".categories"),
    (r#"{"categories":[]}"#, ".categories"),
    (r#"{"categories":[""]}"#, ".categories[0]"),
    (r#"{"categories":[1]}"#, ".categories[0]"),
    (r#"{"categories":["a"],"name":"b"}"#, ".name"),
];

const LOCALIZATIONS: &[Row] = &[
    ("null", ""),
    ("{}", ""),
    ("[]", ""),
    ("[1]", "[0]"),
    (r#"[{"notification":{"alert":"Hallo"}}]"#, "[0].language"),
    (r#"[{"language":"de"}]"#, "[0].notification"),
    (r#"[{"language":"german","notification":{"alert":"Hallo"}}]"#, "[0].language"),
    (r#"[{"country":"D","notification":{"alert":"Hallo"}}]"#, "[0].country"),
    (r#"[{"language":"de","notification":{"alert":1}}]"#, "[0].notification.alert"),
    (r#"[{"language":"de","audience":"all","notification":{"alert":"Hallo"}}]"#, "[0].audience"),
    (
        r#"[{"language":"fr","notification":{"alert":"Salut"}},{"language":"de","message":{"title":"T"}}]"#,
        "[1].message.body",
    ),
];

const GLOBAL_ATTRIBUTES: &[Row] = &[
    ("null", ""),
    ("[]", ""),
    (r#"{"1a":1}"#, ".1a"),
    (r#"{"ua_x":1}"#, ".ua_x"),
    (r#"{"":1}"#, "."),
    (r#"{"a":1,"a":2}"#, ".a"),
];

const ORCHESTRATIONS: &[Row] = &[
    ("null", ""),
    ("{}", ".type"),
    (r#"{"type":"random"}"#, ".type"),
    (r#"{"type":"channel_priority"}"#, ".channel_priority"),
    (r#"{"type":"channel_priority","channel_priority":[]}"#, ".channel_priority"),
    (r#"{"type":"channel_priority","channel_priority":["app","fax"]}"#, ".channel_priority[1]"),
    (r#"{"type":"fan_out","channel_priority":["app"]}"#, ".channel_priority"),
];

const FEEDS: &[Row] = &[
    ("{}", ".feeds"),
    (r#"{"feeds":[]}"#, ".feeds"),
    (r#"{"feeds":[{}]}"#, ".feeds[0].name"),
    (r#"{"feeds":[{"name":"a","on_error":"shrug"}]}"#, ".feeds[0].on_error"),
    (r#"{"feeds":[{"name":"a"}],"defaults":[]}"#, ".defaults"),
];

const SNIPPETS: &[Row] = &[
    ("{}", ".snippets"),
    (r#"{"snippets":[{"name":""}]}"#, ".snippets[0].name"),
    (r#"{"snippets":["a"]}"#, ".snippets[0]"),
];
