//! The languages that dates and numbers are written in: English, as in the United States and elsewhere, German, French, Spanish.

pub(super) const STYLES: [&str; 4] = ["FULL", "LONG", "MEDIUM", "SHORT"];
const USUAL_STYLE: usize = 2;

/// How one language writes dates. Patterns are in the order of [`STYLES`].
pub(super) struct Language {
    dates: [&'static str; 4],
    times: [&'static str; 4],
    pub(super) between: &'static str,
    pub(super) months: [&'static str; 12],
    pub(super) short_months: [&'static str; 12],
    pub(super) weekdays: [&'static str; 7],
    pub(super) short_weekdays: [&'static str; 7],
}

const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];
const TWELVE_HOURS: [&str; 4] = ["h:mm:ss a", "h:mm:ss a", "h:mm:ss a", "h:mm a"];
const TWENTY_FOUR_HOURS: [&str; 4] = ["HH:mm:ss", "HH:mm:ss", "HH:mm:ss", "HH:mm"];

/// The language of a locale such as `de-AT`, if it is known.
pub(crate) fn known_language(locale: &str) -> Option<&'static str> {
    let language = locale.split(['-', '_']).next().unwrap_or_default();
    LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(language))
}

/// What to tell the author of a template with a locale that is not known.
pub(crate) fn unknown_locale(locale: &str) -> Option<String> {
    match known_language(locale) {
        Some(_) => None,
        None => Some(format!(
            "The language of the locale '{locale}' is not known; there are {}, and patterns of digits for the others.",
            LANGUAGES.join(", ")
        )),
    }
}

impl Language {
    /// English for languages that are not known.
    pub(super) fn of(locale: &str) -> Self {
        match known_language(locale) {
            Some("de") => GERMAN,
            Some("fr") => FRENCH,
            Some("es") => SPANISH,
            Some(_) | None => {
                let country = locale.split(['-', '_']).nth(1).unwrap_or("US");
                if country.eq_ignore_ascii_case("US") { AMERICAN } else { BRITISH }
            }
        }
    }

    pub(super) fn date(&self, style: Option<&str>) -> &'static str {
        self.dates[number_of(style)]
    }

    pub(super) fn time(&self, style: Option<&str>) -> &'static str {
        self.times[number_of(style)]
    }
}

fn number_of(style: Option<&str>) -> usize {
    style.and_then(|style| STYLES.iter().position(|known| *known == style)).unwrap_or(USUAL_STYLE)
}

const AMERICAN: Language = Language {
    dates: ["EEEE, MMMM d, yyyy", "MMMM d, yyyy", "MMM d, yyyy", "M/d/yyyy"],
    times: TWELVE_HOURS,
    between: ", ",
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
