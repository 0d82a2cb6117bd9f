//! Dates in Italian and Portuguese.

use super::{Language, TWENTY_FOUR_HOURS, USUAL_HALVES};

pub(super) const ITALIAN: Language = Language {
    dates: ["EEEE d MMMM yyyy", "d MMMM yyyy", "d MMM yyyy", "dd/MM/yy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "gennaio",
        "febbraio",
        "marzo",
        "aprile",
        "maggio",
        "giugno",
        "luglio",
        "agosto",
        "settembre",
        "ottobre",
        "novembre",
        "dicembre",
    ],
    short_months: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
    weekdays: ["lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"],
    short_weekdays: ["lun", "mar", "mer", "gio", "ven", "sab", "dom"],
};

/// As in Brazil.
pub(super) const PORTUGUESE: Language = Language {
    dates: ["EEEE, d 'de' MMMM 'de' yyyy", "d 'de' MMMM 'de' yyyy", "d 'de' MMM 'de' yyyy", "dd/MM/yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "janeiro",
        "fevereiro",
        "março",
        "abril",
        "maio",
        "junho",
        "julho",
        "agosto",
        "setembro",
        "outubro",
        "novembro",
        "dezembro",
    ],
    short_months: ["jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."],
    weekdays: ["segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"],
    short_weekdays: ["seg.", "ter.", "qua.", "qui.", "sex.", "sáb.", "dom."],
};

pub(super) const EUROPEAN_PORTUGUESE: Language = Language {
    dates: ["EEEE, d 'de' MMMM 'de' yyyy", "d 'de' MMMM 'de' yyyy", "dd/MM/yyyy", "dd/MM/yy"],
    ..PORTUGUESE
};
