//! Bulk sending: a file of recipients is uploaded before, each with values for the texts of a push, and the push names the file.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::change_list::{FileFault, short};
use crate::create_and_send::{ADDRESS, RESERVED};
use crate::csv_records::{CsvRecord, CsvRecords};
use crate::device_type::DeviceType;
use crate::ids::{BulkId, ChannelId};
use crate::json::{At, Json};
use crate::limits;
use crate::payload::Push;
use crate::selector::{Audience, Purpose};
use crate::template::{VariableKey, key_rule};

/// The key of the audience under which the id of the file is.
pub const KEY: &str = "bulk_id";
const CHANNEL: &str = "ua_channel_id";

/// The audience of a push that goes to everybody in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uploaded(pub BulkId);

/// Whom a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkRecipient {
    Channel(ChannelId),
    /// On an open platform.
    Address(String),
}

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkRow {
    pub recipient: BulkRecipient,
    /// For the variables of the push, by the names of their columns. Empty cells are left out.
    pub values: BTreeMap<String, String>,
}

impl Push {
    /// A push that has to go to everybody in a file.
    pub fn parse_bulk_send(at: &At<'_>) -> Option<Self> {
        let push = Self::parse_create_and_send(at)?;
        match push.audience {
            Audience::Uploaded(_) => Some(push),
            Audience::All(_) | Audience::Triggered(_) | Audience::CreateAndSend(_) | Audience::Selector(_) => {
                at.invalid_key("audience", format!("The audience must be {{\"{KEY}\": …}}; others are for /api/push."))
            }
        }
    }

    /// The file whose rows are its recipients.
    pub fn bulk_upload(&self) -> Option<BulkId> {
        match self.audience {
            Audience::Uploaded(Uploaded(id)) => Some(id),
            Audience::All(_) | Audience::Triggered(_) | Audience::CreateAndSend(_) | Audience::Selector(_) => None,
        }
    }
}

impl Uploaded {
    /// Whether an audience is of this kind, valid or not.
    pub(crate) fn is_meant(audience: &Json) -> bool {
        audience.get(KEY).is_some()
    }

    /// Reads the whole audience.
    pub(crate) fn parse(at: &At<'_>, purpose: Purpose) -> Option<Self> {
        match purpose {
            Purpose::CreateAndSend | Purpose::Stored => {}
            Purpose::Send | Purpose::Pipeline => {
                return at.invalid(
                    "A push goes to an uploaded file only with /api/bulk-send, /api/create-and-send and their schedules.",
                );
            }
        }
        let mut fields = at.object()?;
        let id = fields.required(KEY, BulkId::parse);
        fields.finish();
        id.map(Self)
    }
}

impl JsonSchema for Uploaded {
    fn schema_name() -> Cow<'static, str> {
        "Uploaded".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {KEY: schemas.subschema_for::<BulkId>()},
            "required": [KEY],
            "additionalProperties": false,
        })
    }
}

impl Serialize for Uploaded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(KEY, &self.0)?;
        map.end()
    }
}

/// Reads a file from chunks of any size. The first line names the columns.
pub struct BulkCsv {
    takes_addresses: bool,
    records: CsvRecords,
    columns: Option<Columns>,
    n_rows: u64,
}

struct Columns {
    names: Vec<String>,
    /// The column of the recipients.
    recipient: usize,
}

impl BulkCsv {
    /// Only channels of open platforms have addresses that servers know.
    pub fn new(device_type: &DeviceType) -> Self {
        let takes_addresses = matches!(device_type, DeviceType::Open(_));
        Self { takes_addresses, records: CsvRecords::default(), columns: None, n_rows: 0 }
    }

    /// The rows that end in this chunk, or why the file cannot be used.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Vec<BulkRow>, FileFault> {
        let mut rows = Vec::new();
        for record in self.records.feed(chunk)? {
            rows.extend(self.take(&record)?);
        }
        Ok(rows)
    }

    /// The row that the file ended in, if it did not end with a line break, and the names of all columns.
    pub fn finish(mut self) -> Result<(Option<BulkRow>, Vec<String>), FileFault> {
        let last = self.records.finish()?.map(|record| self.take(&record)).transpose()?.flatten();
        let columns = self.columns.ok_or(FileFault::Empty)?;
        if self.n_rows == 0 {
            return Err(FileFault::Empty);
        }
        Ok((last, columns.names))
    }

    fn take(&mut self, CsvRecord { line, cells }: &CsvRecord) -> Result<Option<BulkRow>, FileFault> {
        let Some(columns) = &self.columns else {
            self.columns = Some(Columns::read(self.takes_addresses, cells)?);
            return Ok(None);
        };
        self.n_rows += 1;
        if self.n_rows > limits::ROWS_PER_BULK_UPLOAD {
            return Err(FileFault::TooManyRows(limits::ROWS_PER_BULK_UPLOAD));
        }
        columns.row(cells).map(Some).map_err(|problem| FileFault::Row { line: *line, problem })
    }
}

impl Columns {
    fn read(takes_addresses: bool, cells: &[Vec<u8>]) -> Result<Self, FileFault> {
        let names: Vec<String> = cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
        let is_recipient = |name: &String| name == CHANNEL || (takes_addresses && name == ADDRESS);
        let mut recipients = names.iter().enumerate().filter(|(_, name)| is_recipient(name)).map(|(index, _)| index);
        let (Some(recipient), None) = (recipients.next(), recipients.next()) else {
            return Err(FileFault::NoRecipient);
        };
        if names.len() > limits::LIST_ATTRIBUTE_COLUMNS + 1 {
            return Err(FileFault::TooManyColumns);
        }
        let mut seen = BTreeSet::new();
        for (_, name) in names.iter().enumerate().filter(|(index, _)| *index != recipient) {
            let fault = |why: String| FileFault::Column(short(name), why);
            if name.starts_with(RESERVED) {
                return Err(fault(format!("Names that begin with {RESERVED} are for the column of the recipients.")));
            }
            if VariableKey::new(name).is_none() {
                return Err(fault(key_rule()));
            }
            if !seen.insert(name) {
                return Err(FileFault::Duplicate(name.clone()));
            }
        }
        Ok(Self { names, recipient })
    }

    fn row(&self, cells: &[Vec<u8>]) -> Result<BulkRow, String> {
        if cells.len() != self.names.len() {
            return Err(format!("The row has {} cells, and there are {} columns.", cells.len(), self.names.len()));
        }
        let mut values = BTreeMap::new();
        let mut recipient = None;
        for (index, (name, cell)) in self.names.iter().zip(cells).enumerate() {
            let text = str::from_utf8(cell).map_err(|_| format!("The cell of '{name}' is not text in UTF-8."))?;
            if index == self.recipient {
                recipient = Some(BulkRecipient::of(name, text)?);
            } else if !text.is_empty() {
                values.insert(name.clone(), text.to_owned());
            }
        }
        let recipient = recipient.ok_or("The row is about nobody.")?;
        Ok(BulkRow { recipient, values })
    }
}

impl BulkRecipient {
    fn of(column: &str, cell: &str) -> Result<Self, String> {
        if column == CHANNEL {
            let id = cell.parse().map_err(|_| "The id of a channel is a UUID.".to_owned())?;
            return Ok(BulkRecipient::Channel(id));
        }
        let most = limits::OPEN_ADDRESS_CHARS;
        if !(1..=most).contains(&cell.chars().count()) || cell.contains(char::is_control) {
            return Err(format!("An address has 1 to {most} characters, none of them a control character."));
        }
        Ok(BulkRecipient::Address(cell.to_owned()))
    }
}
