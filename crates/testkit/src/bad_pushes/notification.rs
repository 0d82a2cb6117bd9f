//! Malformed keys of a notification that is otherwise good, by key. Paths are relative to the key.

use super::Row;

pub(super) const DETAILS: &[(&str, &[Row])] = &[
    ("actions", ACTIONS),
    ("interactive", INTERACTIVES),
    ("ios", IOS),
    ("android", ANDROID),
    ("amazon", AMAZON),
    ("web", WEB),
    ("wns", WNS),
    ("open::kiosk", OPEN),
    ("sms", SMS),
    ("mms", MMS),
    ("email", EMAIL),
    ("in_app", &[(r#"{"display_type":"banner"}"#, ".alert"), ("[]", "")]),
];

const ACTIONS: &[Row] = &[
    ("[]", ""),
    ("false", ""),
    (r#"{"add_tag":null}"#, ".add_tag"),
    (r#"{"add_tag":{"group":"x"}}"#, ".add_tag"),
    (r#"{"add_tag":["a","a\u0000b"]}"#, ".add_tag[1]"),
    (r#"{"share":["x"]}"#, ".share"),
    (r#"{"share":"a","share":"b"}"#, ".share"),
    (r#"{"open":{}}"#, ".open.type"),
    (r#"{"open":{"type":"URL","content":"https://example.com"}}"#, ".open.type"),
    (r#"{"open":{"type":"url","content":{"url":"https://example.com"}}}"#, ".open.content"),
    (r#"{"open":{"type":"url","content":"https://example.com","target":"_blank"}}"#, ".open.target"),
    (r#"{"open":{"type":"deep_link","content":""}}"#, ".open.content"),
    (r#"{"open":{"type":"deep_link","content":"app://x","fallback_url":"app://y"}}"#, ".open.fallback_url"),
    (r#"{"open":{"type":"landing_page","content":"<p>"}}"#, ".open.content"),
    (r#"{"open":{"type":"landing_page","content":{"content_type":"text/html"}}}"#, ".open.content.body"),
    (r#"{"open":{"type":"landing_page","content":{"body":"x","content_type":"html"}}}"#, ".open.content.content_type"),
    (
        r#"{"open":{"type":"landing_page","content":{"body":"not base64!","content_type":"a/b","content_encoding":"base64"}}}"#,
        ".open.content.body",
    ),
    (r#"{"open":{"type":"landing_page","content":{"url":"/page"}}}"#, ".open.content.url"),
    (r#"{"open":{"type":"scene","content":{"template":{}}}}"#, ".open.content.template.template_id"),
    (r#"{"open":{"type":"home","content":"/"}}"#, ".open.content"),
    (r#"{"app_defined":"x"}"#, ".app_defined"),
    (r#"{"share":"a","app_defined":{"share_action":"b"}}"#, ".app_defined.share_action"),
    (r#"{"share":"a","app_defined":{"share":"b"}}"#, ".app_defined.share"),
    (r#"{"open":{"type":"deep_link","content":"a"},"app_defined":{"^d":"b"}}"#, ".app_defined.^d"),
    (r#"{"add_custom_event":{"name":""}}"#, ".add_custom_event.name"),
    (r#"{"add_custom_event":{"name":"x","properties":[]}}"#, ".add_custom_event.properties"),
    (r#"{"attributes":{}}"#, ".attributes"),
    (r#"{"attributes":[{"action":"set","type":"channel","name":"a"}]}"#, ".attributes[0].value"),
    (r#"{"attributes":[{"action":"remove","type":"channel","name":"a","value":1}]}"#, ".attributes[0].value"),
    (r#"{"tags":[{"type":"device","action":"add","tags":["a"]}]}"#, ".tags[0].type"),
    (r#"{"tags":[{"type":"channel","action":"add","tags":[]}]}"#, ".tags[0].tags"),
    (r#"{"subscription_list":[{"type":"contact","action":"subscribe"}]}"#, ".subscription_list[0].list_id"),
];

const INTERACTIVES: &[Row] = &[
    ("null", ""),
    (r#""ua_follow""#, ""),
    (r#"{"type":null}"#, ".type"),
    (r#"{"type":""}"#, ".type"),
    (r#"{"type":"ua_yes_no"}"#, ".type"),
    (r#"{"type":"ua_follow","buttons":[]}"#, ".buttons"),
    (r#"{"type":"ua_follow","button_actions":[]}"#, ".button_actions"),
    (r#"{"type":"ua_follow","button_actions":{"unfollow":{"add_tag":"x"}}}"#, ".button_actions.unfollow"),
    (r#"{"type":"ua_follow","button_actions":{"follow":null}}"#, ".button_actions.follow"),
    (r#"{"type":"ua_follow","button_actions":{"follow":{"add_tag":[]}}}"#, ".button_actions.follow.add_tag"),
    (r#"{"type":"mine","button_actions":{"any":{}}}"#, ".button_actions.any"),
];

const IOS: &[Row] = &[
    ("[]", ""),
    (r#"{"alert":{}}"#, ".alert"),
    (r#"{"alert":["x"]}"#, ".alert"),
    (r#"{"alert":{"loc-args":["a",2]}}"#, ".alert.loc-args[1]"),
    (r#"{"alert":{"summary-arg-count":"2"}}"#, ".alert.summary-arg-count"),
    (r#"{"badge":-1}"#, ".badge"),
    (r#"{"badge":"1"}"#, ".badge"),
    (r#"{"badge":"+1x"}"#, ".badge"),
    (r#"{"badge":true}"#, ".badge"),
    (r#"{"sound":["x"]}"#, ".sound"),
    (r#"{"sound":{"name":"x","critical":"yes"}}"#, ".sound.critical"),
    (r#"{"content_available":"true"}"#, ".content_available"),
    (r#"{"content_available":true,"content-available":1}"#, ".content-available"),
    (r#"{"mutable_content":3}"#, ".mutable_content"),
    (r#"{"priority":"high"}"#, ".priority"),
    (r#"{"collapse_id":""}"#, ".collapse_id"),
    (r#"{"thread_id":7}"#, ".thread_id"),
    (r#"{"media_attachment":{"url":"picture.png"}}"#, ".media_attachment.url"),
    (
        r#"{"media_attachment":{"url":"https://example.com/a.png","options":{"crop":{"width":1.5}}}}"#,
        ".media_attachment.options.crop.width",
    ),
    (r#"{"media_attachment":{"url":"https://example.com/a.png","content":[]}}"#, ".media_attachment.content"),
    (r#"{"live_activity":{"name":"x","event":"pause"}}"#, ".live_activity.event"),
    (r#"{"live_activity":{"name":"x","event":"update","priority":6}}"#, ".live_activity.priority"),
    (r#"{"actions":{"share":"a"},"extra":{"^s":"b"}}"#, ".extra.^s"),
    (r#"{"actions":{"app_defined":{"mine":1}},"extra":{"mine":2}}"#, ".extra.mine"),
    (r#"{"template":{}}"#, ".template"),
    (r#"{"template":{"template_id":"x"}}"#, ".template.template_id"),
    (r#"{"template":{"fields":{"alert":"x"}},"alert":"y"}"#, ".alert"),
];

const ANDROID: &[Row] = &[
    (r#"{"alert":{"body":"x"}}"#, ".alert"),
    (r#"{"extra":{"gcm.x":"a"}}"#, ".extra.gcm.x"),
    (r#"{"extra":{"data":"a"}}"#, ".extra.data"),
    (r#"{"extra":{"message_type":"a"}}"#, ".extra.message_type"),
    (r#"{"visibility":-2}"#, ".visibility"),
    (r#"{"local_only":"no"}"#, ".local_only"),
    (r#"{"deliver_to":"some"}"#, ".deliver_to"),
    (r#"{"public_notification":{"body":"x"}}"#, ".public_notification.body"),
    (r#"{"style":{"type":"big_picture","big_text":"x"}}"#, ".style.big_picture"),
    (r#"{"style":{"type":"inbox","lines":["a",1]}}"#, ".style.lines[1]"),
    (r#"{"wearable":{"extra_pages":[{"title":1}]}}"#, ".wearable.extra_pages[0].title"),
    (r#"{"wearable":{"interactive":{"type":"ua_nope"}}}"#, ".wearable.interactive.type"),
    (r#"{"live_update":{"event":"start"}}"#, ".live_update.name"),
    (r#"{"time_to_live":"2030-13-01T00:00:00"}"#, ".time_to_live"),
];

const AMAZON: &[Row] = &[
    (r#"{"expires_after":2678401}"#, ".expires_after"),
    (r#"{"consolidation_key":1}"#, ".consolidation_key"),
    (r#"{"style":{"big_text":"x"}}"#, ".style.type"),
    (r##"{"icon_color":"#fff"}"##, ".icon_color"),
];

const WEB: &[Row] = &[
    (r#"{"icon":{"url":""}}"#, ".icon.url"),
    (r#"{"image":{"url":"https://example.com/a.png","alt":"x"}}"#, ".image.alt"),
    (r#"{"buttons":{"id":"a"}}"#, ".buttons"),
    (r#"{"buttons":[{"id":"a"}]}"#, ".buttons[0].label"),
    (r#"{"buttons":[{"id":"a","label":"A"},{"id":"a","label":"B"}]}"#, ".buttons"),
    (r#"{"buttons":[{"id":"a","label":"A"},{"id":"b","label":"B"},{"id":"c","label":"C"}]}"#, ".buttons"),
    (r#"{"buttons":[{"id":"a","label":"A","actions":{}}]}"#, ".buttons[0].actions"),
    (r#"{"subtitle":"x"}"#, ".subtitle"),
];

const WNS: &[Row] = &[
    ("{}", ""),
    (r#"{"cache_policy":"no-cache"}"#, ""),
    (r#"{"toast":{}}"#, ".toast.binding"),
    (r#"{"toast":{"binding":{"template":"x"},"duration":"forever"}}"#, ".toast.duration"),
    (r#"{"toast":{"binding":{"template":"x"},"audio":{"sound":"bang"}}}"#, ".toast.audio.sound"),
    (r#"{"tile":{"binding":[]}}"#, ".tile.binding"),
    (r#"{"badge":{"value":1,"glyph":"busy"}}"#, ".badge"),
    (r#"{"badge":{"glyph":"star"}}"#, ".badge.glyph"),
    (r#"{"alert":"x","actions":{"share":"y"}}"#, ".actions"),
];

const OPEN: &[Row] = &[
    ("null", ""),
    (r#"{"actions":{"share":"x"}}"#, ".actions"),
    (r#"{"media_attachment":{"url":"x"}}"#, ".media_attachment"),
    (
        r#"{"interactive":{"type":"ua_share","button_actions":{"save":{"share":"x"}}}}"#,
        ".interactive.button_actions.save",
    ),
];

const SMS: &[Row] = &[
    (r#"{"alert":""}"#, ".alert"),
    (r#"{"title":"x"}"#, ".title"),
    (r#"{"shorten_links":1}"#, ".shorten_links"),
    (r#"{"alert":"x","template":{"fields":{"alert":"y"}}}"#, ".alert"),
];

const MMS: &[Row] = &[
    ("{}", ".fallback_text"),
    (r#"{"fallback_text":"x"}"#, ".slides"),
    (r#"{"fallback_text":"x","slides":[{}]}"#, ".slides[0].media"),
    (
        r#"{"fallback_text":"x","slides":[{"media":{"url":"https://example.com/a.bmp","content_type":"image/bmp"}}]}"#,
        ".slides[0].media.content_type",
    ),
];

const EMAIL: &[Row] = &[
    (
        r#"{"message_type":"spam","subject":"S","plaintext_body":"B","sender_name":"N","sender_address":"a@b.c","reply_to":"a@b.c"}"#,
        ".message_type",
    ),
    (
        r#"{"message_type":"commercial","plaintext_body":"B","sender_name":"N","sender_address":"a@b.c","reply_to":"a@b.c"}"#,
        ".subject",
    ),
    (
        r#"{"message_type":"commercial","subject":"S","plaintext_body":"B","sender_name":"N","sender_address":"nobody","reply_to":"a@b.c"}"#,
        ".sender_address",
    ),
];
