//! One line of an uploaded list: the member, and possible problems.

use std::borrow::Cow;

use crate::channel::ClaimedType;
use crate::csv_cell::CsvFile;
use crate::device_type::DeviceType;
use crate::ids::{ChannelId, NamedUserId};
use crate::limits;

/// The member of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Member {
    NamedUser(NamedUserId),
    Alias(String),
    Channel(ChannelColumn, ChannelId),
}

/// The identifier type of a channel in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelColumn {
    Ios,
    Android,
    Amazon,
    Web,
    Email,
    Sms,
    Open,
}

/// The problem of a line of a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    #[error("A list has at most {0} rows; the rest was not read.")]
    TooManyRows(u64),
    #[error("A row has two columns, identifier_type and identifier; this one has {0}.")]
    Columns(usize),
    #[error("A quote is opened and not closed on this line; close it, or write a quote that is meant as two (\"\").")]
    OpenQuote,
    #[error("'{0}' is not an identifier type; use one of {names}.", names = Member::TYPES.join(", "))]
    IdentifierType(String),
    #[error("The identifier of a channel is a UUID, such as 9c36e8c7-5a73-47c0-9716-99fd3d4197d5.")]
    ChannelId,
    #[error("The identifier must not be empty.")]
    EmptyIdentifier,
    #[error("{0}")]
    NamedUser(&'static str),
    #[error("An alias has at most {} characters, none of them a control character.", limits::ALIAS_CHARS)]
    Alias,
    #[error("A cell has at most {} bytes.", limits::LIST_CELL_BYTES)]
    CellTooLong,
    #[error("A cell must be text in UTF-8.")]
    NotText,
}

impl ChannelColumn {
    const ALL: [ChannelColumn; 7] = [
        ChannelColumn::Ios,
        ChannelColumn::Android,
        ChannelColumn::Amazon,
        ChannelColumn::Web,
        ChannelColumn::Email,
        ChannelColumn::Sms,
        ChannelColumn::Open,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            ChannelColumn::Ios => "ios_channel",
            ChannelColumn::Android => "android_channel",
            ChannelColumn::Amazon => "amazon_channel",
            ChannelColumn::Web => "web_channel",
            ChannelColumn::Email => "email_channel",
            ChannelColumn::Sms => "sms_channel",
            ChannelColumn::Open => "open_channel",
        }
    }

    /// The type that the channel must have.
    pub const fn claimed(self) -> ClaimedType {
        match self {
            ChannelColumn::Ios => ClaimedType::Exactly(DeviceType::Ios),
            ChannelColumn::Android => ClaimedType::Exactly(DeviceType::Android),
            ChannelColumn::Amazon => ClaimedType::Exactly(DeviceType::Amazon),
            ChannelColumn::Web => ClaimedType::Exactly(DeviceType::Web),
            ChannelColumn::Email => ClaimedType::Exactly(DeviceType::Email),
            ChannelColumn::Sms => ClaimedType::Exactly(DeviceType::Sms),
            ChannelColumn::Open => ClaimedType::AnyOpen,
        }
    }
}

impl Member {
    /// Every identifier type.
    pub const TYPES: [&'static str; 9] = [
        "named_user",
        "ios_channel",
        "android_channel",
        "amazon_channel",
        "web_channel",
        "email_channel",
        "sms_channel",
        "open_channel",
        "alias",
    ];

    pub fn new(identifier_type: &str, identifier: &str) -> Result<Self, RowError> {
        let column = ChannelColumn::ALL.into_iter().find(|column| column.name() == identifier_type);
        if column.is_none() && !Self::TYPES.contains(&identifier_type) {
            // A cell may be long, and a caller needs no more than this to find it.
            return Err(RowError::IdentifierType(identifier_type.chars().take(64).collect()));
        }
        if identifier.is_empty() {
            return Err(RowError::EmptyIdentifier);
        }
        if let Some(column) = column {
            let is_whole = identifier.len() == uuid::fmt::Hyphenated::LENGTH;
            let id = identifier.parse().ok().filter(|_| is_whole).ok_or(RowError::ChannelId)?;
            return Ok(Member::Channel(column, id));
        }
        if identifier_type == "named_user" {
            return NamedUserId::new(identifier).map(Member::NamedUser).map_err(RowError::NamedUser);
        }
        if identifier.chars().count() > limits::ALIAS_CHARS || identifier.contains(char::is_control) {
            return Err(RowError::Alias);
        }
        Ok(Member::Alias(identifier.to_owned()))
    }

    pub const fn identifier_type(&self) -> &'static str {
        match self {
            Member::NamedUser(_) => "named_user",
            Member::Alias(_) => "alias",
            Member::Channel(column, _) => column.name(),
        }
    }

    pub fn identifier(&self) -> Cow<'_, str> {
        match self {
            Member::NamedUser(id) => id.as_str().into(),
            Member::Alias(alias) => alias.into(),
            Member::Channel(_, id) => id.to_string().into(),
        }
    }

    /// The member as a line of CSV, its end included. What is downloaded can be uploaded again.
    pub fn to_csv(&self) -> String {
        format!("{},{}\r\n", self.identifier_type(), CsvFile::RoundTrip.cell(&self.identifier()))
    }
}
