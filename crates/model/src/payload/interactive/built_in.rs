//! The interactive types every device knows, with the ids of their buttons, and the labels for browsers, which know none.

#[derive(Debug, PartialEq, Eq)]
pub struct BuiltInType {
    pub name: &'static str,
    pub buttons: &'static [&'static str],
}

pub const BUILT_IN_TYPES: &[BuiltInType] = &[
    BuiltInType { name: "ua_yes_no_foreground", buttons: &["yes", "no"] },
    BuiltInType { name: "ua_yes_no_background", buttons: &["yes", "no"] },
    BuiltInType { name: "ua_accept_decline_foreground", buttons: &["accept", "decline"] },
    BuiltInType { name: "ua_accept_decline_background", buttons: &["accept", "decline"] },
    BuiltInType { name: "ua_download_share", buttons: &["download", "share"] },
    BuiltInType { name: "ua_remind_share", buttons: &["remind", "share"] },
    BuiltInType { name: "ua_opt_in_share", buttons: &["opt_in", "share"] },
    BuiltInType { name: "ua_opt_out_share", buttons: &["opt_out", "share"] },
    BuiltInType { name: "ua_follow_share", buttons: &["follow", "share"] },
    BuiltInType { name: "ua_unfollow_share", buttons: &["unfollow", "share"] },
    BuiltInType { name: "ua_shop_now_share", buttons: &["shop_now", "share"] },
    BuiltInType { name: "ua_buy_now_share", buttons: &["buy_now", "share"] },
    BuiltInType { name: "ua_more_like_less_like", buttons: &["more_like", "less_like"] },
    BuiltInType { name: "ua_like_dislike", buttons: &["like", "dislike"] },
    BuiltInType { name: "ua_like_share", buttons: &["like", "share"] },
    BuiltInType { name: "ua_shop_now", buttons: &["shop_now"] },
    BuiltInType { name: "ua_buy_now", buttons: &["buy_now"] },
    BuiltInType { name: "ua_follow", buttons: &["follow"] },
    BuiltInType { name: "ua_unfollow", buttons: &["unfollow"] },
    BuiltInType { name: "ua_opt_in", buttons: &["opt_in"] },
    BuiltInType { name: "ua_opt_out", buttons: &["opt_out"] },
    BuiltInType { name: "ua_remind_me_later", buttons: &["remind"] },
    BuiltInType { name: "ua_share", buttons: &["share"] },
    BuiltInType { name: "ua_download", buttons: &["download"] },
    BuiltInType { name: "ua_like", buttons: &["like"] },
    BuiltInType { name: "ua_icons_up_down", buttons: &["up", "down"] },
    BuiltInType { name: "ua_icons_happy_sad", buttons: &["happy", "sad"] },
    BuiltInType { name: "ua_add_calendar_remind", buttons: &["add_calendar", "remind"] },
    BuiltInType { name: "ua_add", buttons: &["add"] },
    BuiltInType { name: "ua_save", buttons: &["save"] },
    BuiltInType { name: "ua_follow_save", buttons: &["follow", "save"] },
    BuiltInType { name: "ua_opt_in_remind", buttons: &["opt_in", "remind"] },
    BuiltInType { name: "ua_more_info", buttons: &["more_info"] },
    BuiltInType { name: "ua_rate_remind", buttons: &["rate", "remind"] },
    BuiltInType { name: "ua_rate", buttons: &["rate"] },
    BuiltInType { name: "ua_search", buttons: &["search"] },
    BuiltInType { name: "ua_book", buttons: &["book"] },
];

/// What a button says in English, as on devices. Devices have these labels in the languages of their users; browsers get them from
/// us, and have only these.
pub(in crate::payload) fn label(button: &str) -> Option<&'static str> {
    let label = match button {
        "yes" => "Yes",
        "no" => "No",
        "accept" => "Accept",
        "decline" => "Decline",
        "download" => "Download",
        "share" => "Share",
        "remind" => "Remind Me Later",
        "opt_in" => "Opt-in",
        "opt_out" => "Opt-out",
        "follow" => "Follow",
        "unfollow" => "Unfollow",
        "shop_now" => "Shop Now",
        "buy_now" => "Buy Now",
        "more_like" => "More Like This",
        "less_like" => "Less Like This",
        "like" => "Like",
        "dislike" => "Dislike",
        "up" => "👍",
        "down" => "👎",
        "happy" => "😀",
        "sad" => "😞",
        "add_calendar" => "Add to Calendar",
        "add" => "Add",
        "save" => "Save",
        "more_info" => "Tell Me More",
        "rate" => "Rate Now",
        "search" => "Search",
        "book" => "Book Now",
        _ => return None,
    };
    Some(label)
}

/// Whether a button of a type works without opening the app, as on devices.
pub(super) fn is_background(kind: &str, button: &str) -> bool {
    match button {
        "yes" | "accept" => kind.ends_with("_background"),
        "no" | "decline" | "remind" | "opt_in" | "opt_out" | "follow" | "unfollow" | "more_like" | "less_like"
        | "like" | "dislike" | "up" | "down" | "happy" | "sad" => true,
        _ => false,
    }
}
