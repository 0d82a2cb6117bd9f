//! The helpers of the language: their names, and what each takes.

use std::ops::RangeInclusive;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Helper {
    Default,
    Required,
    Eq,
    Neq,
    Gt,
    Gte,
    Lt,
    Lte,
    And,
    Or,
    Not,
    Lookup,
    Limit,
    Array,
    Add,
    Sub,
    Mul,
    Div,
    DateFormat,
    TimeFormat,
    DateTimeFormat,
    Now,
    UrlEncode,
    Upper,
    Lower,
    Capitalize,
    CapitalizeFirst,
    Trim,
    Join,
    Replace,
    NumberFormat,
}

/// Arguments that make sense of any number.
const MANY: usize = 64;
const DATE_OPTIONS: &[&str] = &["locale", "format", "pattern"];
const NUMBER_OPTIONS: &[&str] = &["locale", "minimumFractionDigits", "maximumFractionDigits"];

impl Helper {
    /// Each under the name that it is printed with.
    pub(crate) const NAMED: [(&'static str, Helper); 31] = [
        ("$def", Helper::Default),
        ("$required", Helper::Required),
        ("eq", Helper::Eq),
        ("neq", Helper::Neq),
        ("gt", Helper::Gt),
        ("gte", Helper::Gte),
        ("lt", Helper::Lt),
        ("lte", Helper::Lte),
        ("and", Helper::And),
        ("or", Helper::Or),
        ("not", Helper::Not),
        ("lookup", Helper::Lookup),
        ("limit", Helper::Limit),
        ("$array", Helper::Array),
        ("add", Helper::Add),
        ("sub", Helper::Sub),
        ("mul", Helper::Mul),
        ("div", Helper::Div),
        ("dateFormat", Helper::DateFormat),
        ("timeFormat", Helper::TimeFormat),
        ("datetimeFormat", Helper::DateTimeFormat),
        ("now", Helper::Now),
        ("urlEncode", Helper::UrlEncode),
        ("upper", Helper::Upper),
        ("lower", Helper::Lower),
        ("capitalize", Helper::Capitalize),
        ("capitalizeFirst", Helper::CapitalizeFirst),
        ("trim", Helper::Trim),
        ("join", Helper::Join),
        ("replace", Helper::Replace),
        ("numberFormat", Helper::NumberFormat),
    ];
    /// Other spellings that are in use.
    const ALIASES: [(&'static str, Helper); 3] = [("ne", Helper::Neq), ("ge", Helper::Gte), ("le", Helper::Lte)];

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMED.iter().chain(&Self::ALIASES);
        all.find(|(known, _)| *known == name).map(|(_, helper)| *helper)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, helper)| *helper == self).map_or("", |(name, _)| name)
    }

    /// Whether it is true or false, so that it can open a block.
    pub(crate) const fn is_condition(self) -> bool {
        matches!(
            self,
            Helper::Eq
                | Helper::Neq
                | Helper::Gt
                | Helper::Gte
                | Helper::Lt
                | Helper::Lte
                | Helper::And
                | Helper::Or
                | Helper::Not
        )
    }

    /// How many arguments it takes.
    pub(crate) const fn n_arguments(self) -> RangeInclusive<usize> {
        match self {
            Helper::Now => 0..=0,
            Helper::Required
            | Helper::Not
            | Helper::DateFormat
            | Helper::TimeFormat
            | Helper::DateTimeFormat
            | Helper::UrlEncode
            | Helper::Upper
            | Helper::Lower
            | Helper::Capitalize
            | Helper::CapitalizeFirst
            | Helper::Trim
            | Helper::NumberFormat => 1..=1,
            Helper::Join => 1..=2,
            Helper::Default
            | Helper::Eq
            | Helper::Neq
            | Helper::Gt
            | Helper::Gte
            | Helper::Lt
            | Helper::Lte
            | Helper::Lookup
            | Helper::Limit => 2..=2,
            Helper::Replace => 3..=3,
            Helper::And | Helper::Or | Helper::Add | Helper::Sub | Helper::Mul | Helper::Div => 2..=MANY,
            Helper::Array => 0..=MANY,
        }
    }

    /// The options that it knows.
    pub(crate) const fn options(self) -> &'static [&'static str] {
        match self {
            Helper::DateFormat | Helper::TimeFormat | Helper::DateTimeFormat => DATE_OPTIONS,
            Helper::NumberFormat => NUMBER_OPTIONS,
            Helper::Default
            | Helper::Required
            | Helper::Eq
            | Helper::Neq
            | Helper::Gt
            | Helper::Gte
            | Helper::Lt
            | Helper::Lte
            | Helper::And
            | Helper::Or
            | Helper::Not
            | Helper::Lookup
            | Helper::Limit
            | Helper::Array
            | Helper::Add
            | Helper::Sub
            | Helper::Mul
            | Helper::Div
            | Helper::Now
            | Helper::UrlEncode
            | Helper::Upper
            | Helper::Lower
            | Helper::Capitalize
            | Helper::CapitalizeFirst
            | Helper::Trim
            | Helper::Join
            | Helper::Replace => &[],
        }
    }
}

/// A block may be closed with another spelling than it was opened with.
pub(crate) fn canonical(word: &str) -> &str {
    match Helper::from_name(word).filter(|helper| helper.is_condition()) {
        Some(helper) => helper.name(),
        None => word,
    }
}
