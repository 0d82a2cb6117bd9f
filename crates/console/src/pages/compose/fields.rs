//! The fields of the form: what the message says and when it is sent.

use maud::{Markup, html};

use super::content::{Content, PLATFORMS};
use super::timing::{DAYS, REPEATS, When};
use super::written::{EXPIRY, Written};
use crate::form::Fields;
use crate::parts::fields::{Field, choice};

/// Sets of buttons that every app knows: the word of the API, and what is on them.
pub(super) const BUTTONS: [(&str, &str); 12] = [
    ("", "none"),
    ("ua_yes_no_foreground", "Yes, No"),
    ("ua_accept_decline_foreground", "Accept, Decline"),
    ("ua_more_info", "More information"),
    ("ua_shop_now", "Shop now"),
    ("ua_buy_now", "Buy now"),
    ("ua_book", "Book"),
    ("ua_follow", "Follow"),
    ("ua_like_dislike", "Like, Dislike"),
    ("ua_remind_me_later", "Remind me later"),
    ("ua_rate", "Rate"),
    ("ua_share", "Share"),
];

const LANGUAGES: [(&str, &str); 20] = [
    ("ar", "Arabic"),
    ("cs", "Czech"),
    ("da", "Danish"),
    ("de", "German"),
    ("en", "English"),
    ("es", "Spanish"),
    ("fi", "Finnish"),
    ("fr", "French"),
    ("hi", "Hindi"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("ko", "Korean"),
    ("nl", "Dutch"),
    ("no", "Norwegian"),
    ("pl", "Polish"),
    ("pt", "Portuguese"),
    ("sv", "Swedish"),
    ("tr", "Turkish"),
    ("uk", "Ukrainian"),
    ("zh", "Chinese"),
];

const CONTROL: [(&str, &str); 5] =
    [("", "nobody"), ("5", "5 percent"), ("10", "10 percent"), ("20", "20 percent"), ("50", "50 percent")];

pub(super) fn what(written: &Written, typed: &Fields) -> Markup {
    html! {
        fieldset {
            legend { "2 What" }
            (content(&written.content, typed))
            @if written.is_personalized() {
                (Field::text("person", "Fill in the preview for").value(typed.exact("person").unwrap_or_default()).optional()
                    .hint("The id of a named user. Everybody gets a text of their own.").show(None))
            }
            (Field::text("name", "Name for yourselves").value(typed.exact("name").unwrap_or_default()).optional()
                .hint("By which you find it in the list; devices do not get it.").show(None))
        }
    }
}

/// What a message says, here and in automations and templates.
pub(crate) fn content(content: &Content, typed: &Fields) -> Markup {
    let value = |name: &str| typed.exact(name).unwrap_or_default().to_owned();
    html! {
        (Field::text("title", "Title").value(&value("title")).optional().show(None))
        (area("text", "Text", &value("text"), 3))
        (Field { kind: "url", ..Field::text("url", "Opens").value(&value("url")).optional()
            .hint("An address on the web; without one, the app.") }.show(None))
        (languages(content))
        @for (platform, name, has_sound) in PLATFORMS { (different(platform, name, has_sound, typed)) }
        details open[content.has_inbox()] {
            summary { "Message for the inbox" }
            (Field::text("inbox_title", "Title in the inbox").value(&value("inbox_title")).optional().show(None))
            (area("inbox_body", "Page, as HTML", &value("inbox_body"), 4))
        }
        details open[!value("buttons").is_empty() || !value("more").is_empty()] {
            summary { "Buttons, and anything else" }
            (choice("buttons", "Buttons", &BUTTONS, &value("buttons")))
            (area("more", "Further parts of the push, as JSON", &value("more"), 4))
        }
    }
}

fn languages(content: &Content) -> Markup {
    let languages = &content.languages;
    html! {
        details open[!languages.is_empty()] {
            summary { "Languages" @if !languages.is_empty() { " (" (languages.len()) ")" } }
            @for (n, language) in languages.iter().enumerate() {
                fieldset {
                    legend { "Language " (n + 1) }
                    div.field {
                        label for={ "lang" (n) } { "Language, or language and country" }
                        input id={ "lang" (n) } name={ "lang" (n) } value=(language.code) list="languages" placeholder="de or de_AT";
                    }
                    div.field {
                        label for={ "ltitle" (n) } { "Title" }
                        input id={ "ltitle" (n) } name={ "ltitle" (n) } value=(language.title);
                    }
                    (area(&format!("ltext{n}"), "Text", &language.text, 2))
                    button.small name="do" value={ "remove-language-" (n) } formnovalidate { "Remove this language" }
                }
            }
            datalist id="languages" { @for (code, name) in LANGUAGES { option value=(code) { (name) } } }
            button.small name="do" value="add-language" formnovalidate { "Add a language" }
        }
    }
}

fn different(platform: &str, name: &str, has_sound: bool, typed: &Fields) -> Markup {
    let all = [
        ("title", "Another title"),
        ("text", "Another text"),
        ("sound", "Sound"),
        ("image", "Picture, by its address"),
    ];
    let fields = all.into_iter().filter(|(field, _)| has_sound || *field != "sound");
    let fields: Vec<(String, &str)> = fields.map(|(field, label)| (format!("{platform}_{field}"), label)).collect();
    let is_used = fields.iter().any(|(field, _)| typed.text(field).is_some());
    html! {
        details open[is_used] {
            summary { "Different on " (name) }
            @for (field, label) in &fields {
                (Field::text(field, label).value(typed.exact(field).unwrap_or_default()).optional().show(None))
            }
        }
    }
}

pub(super) fn when(written: &Written, typed: &Fields) -> Markup {
    let value = |name: &str| typed.exact(name).unwrap_or_default().to_owned();
    let is_chosen = |day: &str| typed.all("day").any(|chosen| chosen == day);
    html! {
        fieldset {
            legend { "3 When" }
            input type="hidden" name="zone" value=(value("zone"));
            @for (when, words) in When::ALL {
                label.check { input type="radio" name="when" value=(when.word()) checked[written.timing.when == when]; (words) }
            }
            div.field.later {
                label for="at" { "Time (" span data-zone="" { (written.timing.zone()) } ")" }
                input id="at" name="at" type="datetime-local" value=(value("at"));
            }
            details.later open[written.timing.repeats()] {
                summary { "Again and again" }
                (choice("repeat", "Repeats", &REPEATS, &value("repeat")))
                (Field { kind: "number", ..Field::text("every", "Every so many of them").value(&value("every")).optional() }.show(None))
                div.ticks role="group" aria-label="Days of the week" {
                    @for day in DAYS { label.check { input type="checkbox" name="day" value=(day) checked[is_chosen(day)]; (day) } }
                }
                div.field {
                    label for="until" { "Until" }
                    input id="until" name="until" type="datetime-local" value=(value("until"));
                }
            }
            (choice("expires", "Nothing is sent after", &EXPIRY, &value("expires")))
        }
        fieldset {
            legend { "4 Try" }
            details open[written.compares() || typed.is_checked("try")] {
                summary { "Compare two texts, or with nothing" }
                (Field::text("b_title", "Title of the other message").value(&value("b_title")).optional().show(None))
                (area("b_text", "Text of the other message", &value("b_text"), 2))
                (choice("control", "Gets nothing, to compare with", &CONTROL, &value("control")))
                p.hint { "Each text gets its share of the audience, by chance; Experiments says which works better, and how sure that is." }
            }
        }
    }
}

pub(crate) fn area(name: &str, label: &str, value: &str, rows: u32) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            textarea id=(name) name=(name) rows=(rows) { (value) }
        }
    }
}
