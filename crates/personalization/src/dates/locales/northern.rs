//! Dates in Dutch, Norwegian, Swedish, Danish and Finnish.

use super::{Language, TWENTY_FOUR_HOURS, USUAL_HALVES};

pub(super) const DUTCH: Language = Language {
    dates: ["EEEE d MMMM yyyy", "d MMMM yyyy", "d MMM yyyy", "dd-MM-yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: " ",
    halves: USUAL_HALVES,
    months: [
        "januari",
        "februari",
        "maart",
        "april",
        "mei",
        "juni",
        "juli",
        "augustus",
        "september",
        "oktober",
        "november",
        "december",
    ],
    short_months: ["jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
    weekdays: ["maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"],
    short_weekdays: ["ma", "di", "wo", "do", "vr", "za", "zo"],
};

pub(super) const NORWEGIAN: Language = Language {
    dates: ["EEEE d. MMMM yyyy", "d. MMMM yyyy", "d. MMM yyyy", "dd.MM.yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "januar",
        "februar",
        "mars",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "desember",
    ],
    short_months: ["jan.", "feb.", "mars", "apr.", "mai", "juni", "juli", "aug.", "sep.", "okt.", "nov.", "des."],
    weekdays: ["mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag"],
    short_weekdays: ["man.", "tir.", "ons.", "tor.", "fre.", "lør.", "søn."],
};

pub(super) const SWEDISH: Language = Language {
    dates: ["EEEE d MMMM yyyy", "d MMMM yyyy", "d MMM yyyy", "yyyy-MM-dd"],
    times: TWENTY_FOUR_HOURS,
    between: " ",
    halves: USUAL_HALVES,
    months: [
        "januari",
        "februari",
        "mars",
        "april",
        "maj",
        "juni",
        "juli",
        "augusti",
        "september",
        "oktober",
        "november",
        "december",
    ],
    short_months: ["jan.", "feb.", "mars", "apr.", "maj", "juni", "juli", "aug.", "sep.", "okt.", "nov.", "dec."],
    weekdays: ["måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"],
    short_weekdays: ["mån", "tis", "ons", "tors", "fre", "lör", "sön"],
};

pub(super) const DANISH: Language = Language {
    dates: ["EEEE 'den' d. MMMM yyyy", "d. MMMM yyyy", "d. MMM yyyy", "dd.MM.yyyy"],
    times: ["HH.mm.ss", "HH.mm.ss", "HH.mm.ss", "HH.mm"],
    between: " ",
    halves: USUAL_HALVES,
    months: [
        "januar",
        "februar",
        "marts",
        "april",
        "maj",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "december",
    ],
    short_months: ["jan.", "feb.", "mar.", "apr.", "maj", "jun.", "jul.", "aug.", "sep.", "okt.", "nov.", "dec."],
    weekdays: ["mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag"],
    short_weekdays: ["man.", "tirs.", "ons.", "tors.", "fre.", "lør.", "søn."],
};

/// Months as they stand after a day.
pub(super) const FINNISH: Language = Language {
    dates: ["EEEE d. MMMM yyyy", "d. MMMM yyyy", "d.M.yyyy", "d.M.yyyy"],
    times: ["H.mm.ss", "H.mm.ss", "H.mm.ss", "H.mm"],
    between: " 'klo' ",
    halves: USUAL_HALVES,
    months: [
        "tammikuuta",
        "helmikuuta",
        "maaliskuuta",
        "huhtikuuta",
        "toukokuuta",
        "kesäkuuta",
        "heinäkuuta",
        "elokuuta",
        "syyskuuta",
        "lokakuuta",
        "marraskuuta",
        "joulukuuta",
    ],
    short_months: [
        "tammik.", "helmik.", "maalisk.", "huhtik.", "toukok.", "kesäk.", "heinäk.", "elok.", "syysk.", "lokak.",
        "marrask.", "jouluk.",
    ],
    weekdays: ["maanantai", "tiistai", "keskiviikko", "torstai", "perjantai", "lauantai", "sunnuntai"],
    short_weekdays: ["ma", "ti", "ke", "to", "pe", "la", "su"],
};
