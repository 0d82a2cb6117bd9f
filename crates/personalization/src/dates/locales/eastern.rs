//! Dates in Polish, Russian and Turkish.

use super::{Language, TWENTY_FOUR_HOURS, USUAL_HALVES};

/// Months as they stand after a day.
pub(super) const POLISH: Language = Language {
    dates: ["EEEE, d MMMM yyyy", "d MMMM yyyy", "d MMM yyyy", "d.MM.yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "stycznia",
        "lutego",
        "marca",
        "kwietnia",
        "maja",
        "czerwca",
        "lipca",
        "sierpnia",
        "września",
        "października",
        "listopada",
        "grudnia",
    ],
    short_months: ["sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"],
    weekdays: ["poniedziałek", "wtorek", "środa", "czwartek", "piątek", "sobota", "niedziela"],
    short_weekdays: ["pon.", "wt.", "śr.", "czw.", "pt.", "sob.", "niedz."],
};

/// Months as they stand after a day.
pub(super) const RUSSIAN: Language = Language {
    dates: ["EEEE, d MMMM yyyy 'г'.", "d MMMM yyyy 'г'.", "d MMM yyyy 'г'.", "dd.MM.yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: ", ",
    halves: USUAL_HALVES,
    months: [
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ],
    short_months: ["янв.", "февр.", "мар.", "апр.", "мая", "июн.", "июл.", "авг.", "сент.", "окт.", "нояб.", "дек."],
    weekdays: ["понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье"],
    short_weekdays: ["пн", "вт", "ср", "чт", "пт", "сб", "вс"],
};

pub(super) const TURKISH: Language = Language {
    dates: ["d MMMM yyyy EEEE", "d MMMM yyyy", "d MMM yyyy", "d.MM.yyyy"],
    times: TWENTY_FOUR_HOURS,
    between: " ",
    halves: ["ÖÖ", "ÖS"],
    months: [
        "Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos", "Eylül", "Ekim", "Kasım", "Aralık",
    ],
    short_months: ["Oca", "Şub", "Mar", "Nis", "May", "Haz", "Tem", "Ağu", "Eyl", "Eki", "Kas", "Ara"],
    weekdays: ["Pazartesi", "Salı", "Çarşamba", "Perşembe", "Cuma", "Cumartesi", "Pazar"],
    short_weekdays: ["Pzt", "Sal", "Çar", "Per", "Cum", "Cmt", "Paz"],
};
