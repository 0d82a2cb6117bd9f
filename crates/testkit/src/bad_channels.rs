//! Malformed bodies of the channel endpoints, each with the path that the answer must blame.

/// The endpoint that a body is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelEndpoint {
    /// `POST /api/channels` and `PUT /api/channels/<id>`.
    Register,
    /// `POST /api/channels/uninstall`.
    Uninstall,
    /// `POST /api/channels/open`.
    OpenRegister,
    /// `POST /api/channels/open/uninstall`.
    OpenUninstall,
    /// `POST /api/channels/open/tags`.
    OpenTags,
}

pub struct BadChannel {
    pub name: &'static str,
    pub endpoint: ChannelEndpoint,
    pub body: Vec<u8>,
    /// The path of the first problem; empty for the body as a whole.
    pub path: &'static str,
}

pub fn bad_channels() -> Vec<BadChannel> {
    [syntax(), registrations(), details(), uninstalls(), open_registrations(), open_addresses(), open_tags()]
        .into_iter()
        .flatten()
        .collect()
}

fn rows<const N: usize>(endpoint: ChannelEndpoint, rows: [(&'static str, &'static str, String); N]) -> Vec<BadChannel> {
    rows.into_iter().map(|(name, path, body)| BadChannel { name, endpoint, body: body.into_bytes(), path }).collect()
}

fn syntax() -> Vec<BadChannel> {
    let bodies: [(&'static str, &[u8]); 8] = [
        ("nothing", b""),
        ("white space only", b" \n\t "),
        ("cut off", br#"{"channel":{"device_type":"ios""#),
        ("two values", br#"{"channel":{"device_type":"ios"}} {}"#),
        ("invalid UTF-8", b"{\"channel\":{\"device_type\":\"\xff\xfe\"}}"),
        ("half a surrogate pair", br#"{"channel":{"device_type":"ios","carrier":"\ud800"}}"#),
        ("not a number", br#"{"channel":{"device_type":"ios","ios":{"badge":NaN}}}"#),
        ("a number no float can hold", br#"{"channel":{"device_type":"ios","ios":{"badge":1e400}}}"#),
    ];
    let mut bad: Vec<_> = bodies
        .into_iter()
        .map(|(name, body)| BadChannel { name, endpoint: ChannelEndpoint::Register, body: body.to_vec(), path: "" })
        .collect();
    bad.push(BadChannel {
        name: "ten thousand levels deep",
        endpoint: ChannelEndpoint::Register,
        body: format!(r#"{{"channel":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000)).into_bytes(),
        path: "",
    });
    bad
}

/// A registration of an Android device with some more keys.
fn android(more: &str) -> String {
    format!(r#"{{"channel":{{"device_type":"android","opt_in":true,{more}}}}}"#)
}

fn tags(n_tags: usize) -> String {
    (0..n_tags).map(|i| format!(r#""t{i}""#)).collect::<Vec<_>>().join(",")
}

fn registrations() -> Vec<BadChannel> {
    let long_tag = "é".repeat(129);
    rows(
        ChannelEndpoint::Register,
        [
            ("an array", "", "[]".into()),
            ("a string", "", r#""channel""#.into()),
            ("null", "", "null".into()),
            ("no channel", "channel", "{}".into()),
            ("channel is null", "channel", r#"{"channel":null}"#.into()),
            ("channel is an array", "channel", r#"{"channel":[{"device_type":"ios"}]}"#.into()),
            (
                "channel given twice",
                "channel",
                r#"{"channel":{"device_type":"ios"},"channel":{"device_type":"ios"}}"#.into(),
            ),
            ("unknown key beside channel", "push", r#"{"channel":{"device_type":"ios"},"push":{}}"#.into()),
            ("no device type", "channel.device_type", r#"{"channel":{"opt_in":true}}"#.into()),
            ("unknown device type", "channel.device_type", r#"{"channel":{"device_type":"blackberry"}}"#.into()),
            ("device type in capitals", "channel.device_type", r#"{"channel":{"device_type":"IOS"}}"#.into()),
            (
                "device type of an open platform",
                "channel.device_type",
                r#"{"channel":{"device_type":"open::fridge"}}"#.into(),
            ),
            ("device type email", "channel.device_type", r#"{"channel":{"device_type":"email"}}"#.into()),
            ("device type is a number", "channel.device_type", r#"{"channel":{"device_type":1}}"#.into()),
            ("opt_in is a string", "channel.opt_in", r#"{"channel":{"device_type":"ios","opt_in":"true"}}"#.into()),
            ("opt_in is null", "channel.opt_in", r#"{"channel":{"device_type":"ios","opt_in":null}}"#.into()),
            ("background is a number", "channel.background", android(r#""background":1"#)),
            ("push address is a number", "channel.push_address", android(r#""push_address":12"#)),
            ("push address is empty", "channel.push_address", android(r#""push_address":"""#)),
            (
                "push address too long",
                "channel.push_address",
                android(&format!(r#""push_address":"{}""#, "a".repeat(4097))),
            ),
            ("push address with NUL", "channel.push_address", android(r#""push_address":"a\u0000b""#)),
            ("set_tags is a string", "channel.set_tags", android(r#""set_tags":"yes""#)),
            ("tags is a string", "channel.tags", android(r#""set_tags":true,"tags":"news""#)),
            ("a tag is a number", "channel.tags[1]", android(r#""tags":["news",7]"#)),
            ("a tag is empty", "channel.tags[0]", android(r#""tags":[""]"#)),
            ("a tag is too long", "channel.tags[0]", android(&format!(r#""tags":["{long_tag}"]"#))),
            ("a tag with a line break", "channel.tags[2]", android(r#""tags":["a","b","c\nd"]"#)),
            ("too many tags", "channel.tags", android(&format!(r#""tags":[{}]"#, tags(1001)))),
            ("tag changes is an array", "channel.tag_changes", android(r#""tag_changes":["a"]"#)),
            ("tag changes with an unknown key", "channel.tag_changes.set", android(r#""tag_changes":{"set":["a"]}"#)),
            (
                "a tag added and removed",
                "channel.tag_changes.remove",
                android(r#""tag_changes":{"add":["a"],"remove":["a"]}"#),
            ),
            ("time zone is a number", "channel.timezone", android(r#""timezone":2"#)),
            ("language is an object", "channel.locale_language", android(r#""locale_language":{}"#)),
            ("country is an array", "channel.locale_country", android(r#""locale_country":["US"]"#)),
            ("app version is a number", "channel.app_version", android(r#""app_version":1.5"#)),
            ("SDK version is a boolean", "channel.sdk_version", android(r#""sdk_version":true"#)),
            ("device OS is a number", "channel.device_os", android(r#""device_os":14"#)),
            ("API level is a string", "channel.android_api_version", android(r#""android_api_version":"34""#)),
            ("API level is a fraction", "channel.android_api_version", android(r#""android_api_version":34.5"#)),
            ("API level is zero", "channel.android_api_version", android(r#""android_api_version":0"#)),
            (
                "API level beyond an integer",
                "channel.android_api_version",
                android(r#""android_api_version":123456789012345678901234567890"#),
            ),
            ("carrier is a number", "channel.carrier", android(r#""carrier":0"#)),
            ("location settings is a string", "channel.location_settings", android(r#""location_settings":"on""#)),
            ("named user id with a space at the end", "channel.named_user_id", android(r#""named_user_id":"jo ""#)),
            ("contact id is empty", "channel.contact_id", android(r#""contact_id":"""#)),
            ("is_activity is a number", "channel.is_activity", android(r#""is_activity":0"#)),
            ("alias too long", "channel.alias", android(&format!(r#""alias":"{}""#, "a".repeat(129)))),
            ("unknown key in channel", "channel.device_token", android(r#""device_token":"ab""#)),
            ("a key given twice", "channel.carrier", android(r#""carrier":"a","carrier":"b""#)),
            ("hints is an array", "identity_hints", r#"{"channel":{"device_type":"ios"},"identity_hints":[]}"#.into()),
            (
                "unknown hint",
                "identity_hints.imei",
                r#"{"channel":{"device_type":"ios"},"identity_hints":{"imei":"1"}}"#.into(),
            ),
            (
                "a hint is a number",
                "identity_hints.user_id",
                r#"{"channel":{"device_type":"ios"},"identity_hints":{"user_id":5}}"#.into(),
            ),
        ],
    )
}

fn device(device_type: &str, details: &str) -> String {
    format!(r#"{{"channel":{{"device_type":"{device_type}",{details}}}}}"#)
}

fn details() -> Vec<BadChannel> {
    let point = format!("BA{}", "A".repeat(85));
    rows(
        ChannelEndpoint::Register,
        [
            ("ios for Android", "channel.ios", device("android", r#""ios":{"badge":1}"#)),
            ("android for iOS", "channel.android", device("ios", r#""android":{"delivery_type":"fcm"}"#)),
            ("web for WNS", "channel.web", device("wns", r#""web":{}"#)),
            ("badge below zero", "channel.ios.badge", device("ios", r#""ios":{"badge":-1}"#)),
            ("badge is a string", "channel.ios.badge", device("ios", r#""ios":{"badge":"+1"}"#)),
            ("badge too large", "channel.ios.badge", device("ios", r#""ios":{"badge":4294967296}"#)),
            ("quiet time is a string", "channel.ios.quiettime", device("ios", r#""ios":{"quiettime":"22:00"}"#)),
            (
                "quiet time without end",
                "channel.ios.quiettime.end",
                device("ios", r#""ios":{"quiettime":{"start":"22:00"}}"#),
            ),
            (
                "quiet time without start",
                "channel.ios.quiettime.start",
                device("ios", r#""ios":{"quiettime":{"start":null,"end":"22:00"}}"#),
            ),
            (
                "quiet time at hour 24",
                "channel.ios.quiettime.end",
                device("ios", r#""ios":{"quiettime":{"start":"22:00","end":"24:00"}}"#),
            ),
            (
                "quiet time with three digits",
                "channel.ios.quiettime.start",
                device("ios", r#""ios":{"quiettime":{"start":"008:00","end":"09:00"}}"#),
            ),
            (
                "quiet time with a sign",
                "channel.ios.quiettime.start",
                device("ios", r#""ios":{"quiettime":{"start":"+8:00","end":"09:00"}}"#),
            ),
            (
                "unknown key in quiet time",
                "channel.ios.quiettime.days",
                device("ios", r#""ios":{"quiettime":{"start":"22:00","end":"09:00","days":1}}"#),
            ),
            ("unknown key in ios", "channel.ios.sound", device("ios", r#""ios":{"sound":"cat"}"#)),
            (
                "time_sensitive is a string",
                "channel.ios.time_sensitive",
                device("ios", r#""ios":{"time_sensitive":"no"}"#),
            ),
            (
                "unknown delivery type",
                "channel.android.delivery_type",
                device("android", r#""android":{"delivery_type":"c2dm"}"#),
            ),
            ("no delivery type", "channel.android.delivery_type", device("android", r#""android":{}"#)),
            (
                "UnifiedPush without keys",
                "channel.android.subscription",
                device("android", r#""android":{"delivery_type":"unifiedpush"}"#),
            ),
            (
                "keys of a device that Google reaches",
                "channel.android.subscription",
                device(
                    "android",
                    &format!(
                        r#""android":{{"delivery_type":"fcm","subscription":{{"p256dh":"{point}","auth":"AAAAAAAAAAAAAAAAAAAAAA"}}}}"#
                    ),
                ),
            ),
            (
                "UnifiedPush for Amazon",
                "channel.android.delivery_type",
                device(
                    "amazon",
                    &format!(
                        r#""android":{{"delivery_type":"unifiedpush","subscription":{{"p256dh":"{point}","auth":"AAAAAAAAAAAAAAAAAAAAAA"}}}}"#
                    ),
                ),
            ),
            (
                "subscription key missing",
                "channel.web.subscription.p256dh",
                device("web", r#""web":{"subscription":{"auth":"AAAAAAAAAAAAAAAAAAAAAA"}}"#),
            ),
            (
                "subscription key too short",
                "channel.web.subscription.keys.p256dh",
                device("web", r#""web":{"subscription":{"keys":{"p256dh":"BAAA","auth":"AAAAAAAAAAAAAAAAAAAAAA"}}}"#),
            ),
            (
                "subscription secret missing",
                "channel.web.subscription.keys.auth",
                device("web", &format!(r#""web":{{"subscription":{{"keys":{{"p256dh":"{point}"}}}}}}"#)),
            ),
            (
                "subscription secret not base64url",
                "channel.web.subscription.auth",
                device(
                    "web",
                    &format!(r#""web":{{"subscription":{{"p256dh":"{point}","auth":"+/+/AAAAAAAAAAAAAAAAAA"}}}}"#),
                ),
            ),
            (
                "unknown key in subscription",
                "channel.web.subscription.endpoint",
                device(
                    "web",
                    &format!(
                        r#""web":{{"subscription":{{"p256dh":"{point}","auth":"AAAAAAAAAAAAAAAAAAAAAA","endpoint":"https://x"}}}}"#
                    ),
                ),
            ),
            ("permissions is an array", "channel.permissions", device("ios", r#""permissions":["location"]"#)),
            (
                "unknown permission status",
                "channel.permissions.location",
                device("ios", r#""permissions":{"location":"maybe"}"#),
            ),
        ],
    )
}

fn uninstalls() -> Vec<BadChannel> {
    let one = r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios"}"#;
    rows(
        ChannelEndpoint::Uninstall,
        [
            ("no channels", "", "[]".into()),
            ("a string", "", r#""9c36e8c7-5a73-47c0-9716-99fd3d4197d5""#.into()),
            ("too many channels", "", format!("[{}]", vec![one; 1001].join(","))),
            ("no channel id", "channel_id", r#"{"device_type":"ios"}"#.into()),
            ("no device type", "device_type", r#"{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5"}"#.into()),
            (
                "channel id is no UUID",
                "[1].channel_id",
                format!(r#"[{one},{{"channel_id":"abc","device_type":"ios"}}]"#),
            ),
            (
                "unknown device type",
                "[1].device_type",
                format!(r#"[{one},{{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"toaster"}}]"#),
            ),
            (
                "unknown key",
                "[0].reason",
                r#"[{"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","device_type":"ios","reason":1}]"#.into(),
            ),
            ("an array in the array", "[0]", format!("[[{one}]]")),
        ],
    )
}

fn open(channel: &str) -> String {
    format!(r#"{{"channel":{{{channel}}}}}"#)
}

fn open_registrations() -> Vec<BadChannel> {
    let many: Vec<_> = (0..101).map(|i| format!(r#""k{i}":"v""#)).collect();
    let base = r#""type":"open","opt_in":true,"address":"a@b","open":{"open_platform_name":"fridge"}"#;
    let with_open =
        |open_object: &str| open(&format!(r#""type":"open","opt_in":true,"address":"a@b","open":{open_object}"#));
    rows(
        ChannelEndpoint::OpenRegister,
        [
            ("no channel", "channel", "{}".into()),
            ("no type", "channel.type", open(r#""opt_in":true,"address":"a","open":{"open_platform_name":"fridge"}"#)),
            (
                "another type",
                "channel.type",
                open(r#""type":"ios","opt_in":true,"address":"a","open":{"open_platform_name":"fridge"}"#),
            ),
            (
                "no opt_in",
                "channel.opt_in",
                open(r#""type":"open","address":"a","open":{"open_platform_name":"fridge"}"#),
            ),
            (
                "opt_in is a number",
                "channel.opt_in",
                open(r#""type":"open","opt_in":1,"address":"a","open":{"open_platform_name":"fridge"}"#),
            ),
            (
                "no address",
                "channel.address",
                open(r#""type":"open","opt_in":false,"open":{"open_platform_name":"fridge"}"#),
            ),
            (
                "address is null",
                "channel.address",
                open(r#""type":"open","opt_in":false,"address":null,"open":{"open_platform_name":"fridge"}"#),
            ),
            (
                "opted in without address",
                "channel.address",
                open(
                    r#""type":"open","opt_in":true,"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","open":{"open_platform_name":"fridge"}"#,
                ),
            ),
            (
                "renamed without address",
                "channel.address",
                open(
                    r#""type":"open","opt_in":false,"channel_id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","open":{"open_platform_name":"fridge","old_address":"x"}"#,
                ),
            ),
            (
                "address is empty",
                "channel.address",
                open(r#""type":"open","opt_in":true,"address":"","open":{"open_platform_name":"fridge"}"#),
            ),
            (
                "address too long",
                "channel.address",
                open(&format!(
                    r#""type":"open","opt_in":true,"address":"{}","open":{{"open_platform_name":"fridge"}}"#,
                    "a".repeat(129)
                )),
            ),
            ("channel id is no UUID", "channel.channel_id", open(&format!(r#"{base},"channel_id":"42""#))),
            ("no open object", "channel.open", open(r#""type":"open","opt_in":true,"address":"a""#)),
            ("no platform name", "channel.open.open_platform_name", with_open("{}")),
            (
                "platform name with a slash",
                "channel.open.open_platform_name",
                with_open(r#"{"open_platform_name":"a/b"}"#),
            ),
            ("platform name is empty", "channel.open.open_platform_name", with_open(r#"{"open_platform_name":""}"#)),
            (
                "identifiers is an array",
                "channel.open.identifiers",
                with_open(r#"{"open_platform_name":"fridge","identifiers":[]}"#),
            ),
            (
                "an identifier is a number",
                "channel.open.identifiers.model",
                with_open(r#"{"open_platform_name":"fridge","identifiers":{"model":4}}"#),
            ),
            (
                "an identifier without a key",
                "channel.open.identifiers.",
                with_open(r#"{"open_platform_name":"fridge","identifiers":{"":"x"}}"#),
            ),
            (
                "too many identifiers",
                "channel.open.identifiers",
                with_open(&format!(r#"{{"open_platform_name":"fridge","identifiers":{{{}}}}}"#, many.join(","))),
            ),
            (
                "old address is a number",
                "channel.open.old_address",
                with_open(r#"{"open_platform_name":"fridge","old_address":1}"#),
            ),
            ("unknown key in open", "channel.open.url", with_open(r#"{"open_platform_name":"fridge","url":"x"}"#)),
            ("a tag is null", "channel.tags[0]", open(&format!(r#"{base},"tags":[null]"#))),
            ("set_tags is a string", "channel.set_tags", open(&format!(r#"{base},"set_tags":"false""#))),
            ("time zone is a boolean", "channel.timezone", open(&format!(r#"{base},"timezone":false"#))),
            ("unknown key in channel", "channel.push_address", open(&format!(r#"{base},"push_address":"x""#))),
            ("unknown key beside channel", "audience", format!(r#"{{"channel":{{{base}}},"audience":"all"}}"#)),
        ],
    )
}

fn open_addresses() -> Vec<BadChannel> {
    rows(
        ChannelEndpoint::OpenUninstall,
        [
            ("an array", "", "[]".into()),
            ("no address", "address", r#"{"open_platform_name":"fridge"}"#.into()),
            ("no platform", "open_platform_name", r#"{"address":"a"}"#.into()),
            ("address is an array", "address", r#"{"address":["a"],"open_platform_name":"fridge"}"#.into()),
            ("unknown key", "channel_id", r#"{"address":"a","open_platform_name":"fridge","channel_id":"x"}"#.into()),
        ],
    )
}

fn open_tags() -> Vec<BadChannel> {
    let to = |operation: &str| format!(r#"{{"audience":{{"address":"a","open_platform_name":"fridge"}}{operation}}}"#);
    rows(
        ChannelEndpoint::OpenTags,
        [
            ("no audience", "audience", r#"{"add":{"g":["t"]}}"#.into()),
            ("audience is a string", "audience", r#"{"audience":"all","add":{"g":["t"]}}"#.into()),
            (
                "audience of another kind",
                "audience.ios_channel",
                r#"{"audience":{"address":"a","open_platform_name":"fridge","ios_channel":"x"},"add":{"g":["t"]}}"#
                    .into(),
            ),
            ("no operation", "", to("")),
            ("set with add", "set", to(r#","set":{"g":["t"]},"add":{"h":["t"]}"#)),
            ("set with remove", "set", to(r#","set":{"g":["t"]},"remove":{"g":["u"]}"#)),
            ("add is an array", "add", to(r#","add":["t"]"#)),
            ("add is null", "add", to(r#","add":null"#)),
            ("tags are a number", "add.g", to(r#","add":{"g":3}"#)),
            ("a tag is an object", "remove.g[0]", to(r#","remove":{"g":[{}]}"#)),
            ("a single tag is empty", "set.g", to(r#","set":{"g":""}"#)),
            ("a tag is too long", "add.g[1]", to(&format!(r#","add":{{"g":["t","{}"]}}"#, "t".repeat(129)))),
            ("too many tags", "add.g", to(&format!(r#","add":{{"g":[{}]}}"#, tags(101)))),
            ("group name is empty", "add.", to(r#","add":{"":["t"]}"#)),
            ("group name of the service", "add.@type", to(r#","add":{"@type":["ios"]}"#)),
            ("group given twice", "set.g", to(r#","set":{"g":["t"],"g":["u"]}"#)),
            ("the same tag added and removed", "remove.g", to(r#","add":{"g":["s","t"]},"remove":{"g":"t"}"#)),
            ("unknown key", "replace", to(r#","add":{"g":"t"},"replace":{}"#)),
        ],
    )
}
