//! The languages that dates and numbers are written in: English, as in the United States and elsewhere, German, French and Spanish
//! here, the others in files of their own.

mod asian;
mod eastern;
mod northern;
mod southern;

pub(super) const STYLES: [&str; 4] = ["FULL", "LONG", "MEDIUM", "SHORT"];
const USUAL_STYLE: usize = 2;
/// What a part of a locale has at most.
const PART_CHARS: usize = 8;

/// How one language writes dates. Patterns are in the order of [`STYLES`].
pub(super) struct Language {
    dates: [&'static str; 4],
    times: [&'static str; 4],
    /// Part of the pattern.
    pub(super) between: &'static str,
    /// Before noon and after.
    pub(super) halves: [&'static str; 2],
    pub(super) months: [&'static str; 12],
    pub(super) short_months: [&'static str; 12],
    pub(super) weekdays: [&'static str; 7],
    pub(super) short_weekdays: [&'static str; 7],
}

/// How one language writes numbers.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    /// Between thousands.
    pub(crate) group: char,
    pub(crate) point: char,
}

const TWELVE_HOURS: [&str; 4] = ["h:mm:ss a", "h:mm:ss a", "h:mm:ss a", "h:mm a"];
const TWENTY_FOUR_HOURS: [&str; 4] = ["HH:mm:ss", "HH:mm:ss", "HH:mm:ss", "HH:mm"];
const USUAL_HALVES: [&str; 2] = ["AM", "PM"];

/// What to tell the author of a template with something that is no locale.
pub(crate) fn malformed_locale(locale: &str) -> Option<String> {
    let mut parts = locale.split(['-', '_']);
    let is_language =
        |part: &str| (2..=PART_CHARS).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic());
    let is_part =
        |part: &str| (1..=PART_CHARS).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    if parts.next().is_some_and(is_language) && parts.all(is_part) {
        return None;
    }
    Some(format!("'{locale}' is no locale; write a language, with a country if need be, such as 'de' or 'pt-BR'."))
}

impl Language {
    /// English, with the day first, for languages that are not known.
    pub(super) fn of(locale: &str) -> Self {
        let (language, country) = parts(locale);
        match language.as_str() {
            "en" if country.as_deref().is_none_or(|country| country == "us") => AMERICAN,
            "de" => GERMAN,
            "fr" => FRENCH,
            "es" => SPANISH,
            "it" => southern::ITALIAN,
            "pt" if country.as_deref() == Some("pt") => southern::EUROPEAN_PORTUGUESE,
            "pt" => southern::PORTUGUESE,
            "nl" => northern::DUTCH,
            // The usual word for both ways of writing Norwegian means this one.
            "nb" | "no" | "nn" => northern::NORWEGIAN,
            "sv" => northern::SWEDISH,
            "da" => northern::DANISH,
            "fi" => northern::FINNISH,
            "pl" => eastern::POLISH,
            "ru" => eastern::RUSSIAN,
            "tr" => eastern::TURKISH,
            "ja" => asian::JAPANESE,
            "zh" => asian::CHINESE,
            "ko" => asian::KOREAN,
            _ => BRITISH,
        }
    }

    pub(super) fn date(&self, style: Option<&str>) -> &'static str {
        self.dates[number_of(style)]
    }

    pub(super) fn time(&self, style: Option<&str>) -> &'static str {
        self.times[number_of(style)]
    }
}

impl Digits {
    /// As in English for languages that are not known.
    pub(crate) fn of(locale: &str) -> Self {
        let (language, country) = parts(locale);
        let (group, point) = match language.as_str() {
            "pt" if country.as_deref() == Some("pt") => ('\u{a0}', ','),
            "de" | "es" | "it" | "pt" | "nl" | "da" | "tr" => ('.', ','),
            "fr" => ('\u{202f}', ','),
            "nb" | "no" | "nn" | "sv" | "fi" | "pl" | "ru" => ('\u{a0}', ','),
            _ => (',', '.'),
        };
        Self { group, point }
    }
}

/// The language and the country of a locale such as `de-AT` or `zh_Hant_TW`, in small letters.
fn parts(locale: &str) -> (String, Option<String>) {
    let mut parts = locale.split(['-', '_']).map(str::to_ascii_lowercase);
    let language = parts.next().unwrap_or_default();
    (language, parts.find(|part| part.len() <= 3))
}

fn number_of(style: Option<&str>) -> usize {
    style.and_then(|style| STYLES.iter().position(|known| *known == style)).unwrap_or(USUAL_STYLE)
}

const AMERICAN: Language = Language {
    dates: ["EEEE, MMMM d, yyyy", "MMMM d, yyyy", "MMM d, yyyy", "M/d/yyyy"],
    times: TWELVE_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    short_months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    weekdays: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    short_weekdays: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
};

const BRITISH: Language = Language {
    dates: ["EEEE, d MMMM yyyy", "d MMMM yyyy", "d MMM yyyy", "dd/MM/yyyy"],
    times: TWENTY_FOUR_HOURS,
    ..AMERICAN
};

const GERMAN: Language = Language {
    dates: ["EEEE, d. MMMM yyyy", "d. MMMM yyyy", "dd.MM.yyyy", "dd.MM.yy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ],
    short_months: ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."],
    weekdays: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
    short_weekdays: ["Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."],
};

const FRENCH: Language = Language {
    dates: ["EEEE d MMMM yyyy", "d MMMM yyyy", "d MMM yyyy", "dd/MM/yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: " ",
    halves: USUAL_HALVES,
    months: [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ],
    short_months: ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
    weekdays: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    short_weekdays: ["lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."],
};

const SPANISH: Language = Language {
    dates: ["EEEE, d 'de' MMMM 'de' yyyy", "d 'de' MMMM 'de' yyyy", "d MMM yyyy", "d/M/yy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    short_months: ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
    weekdays: ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
    short_weekdays: ["lun", "mar", "mié", "jue", "vie", "sáb", "dom"],
};
