//! Reading the file of a tag list or an attribute list from chunks of any size. The first line names the columns; of these the
//! first says whom the rows are about.

use std::collections::BTreeSet;

use super::{ChangeKind, ChangeTarget, EmptyCells, attribute_change};
use crate::attribute::AttributeKey;
use crate::csv_records::{CsvRecord, CsvRecords, TooLong};
use crate::ids::NamedUserId;
use crate::limits;

/// A row of a file and the line it begins on, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    pub line: u64,
    pub target: ChangeTarget,
    /// One for each attribute; none for a tag list.
    pub cells: Vec<String>,
}

/// A row that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFault {
    pub line: u64,
    /// Whom it would be about, as it was given.
    pub identifier: String,
    pub problem: String,
}

/// Why a file is refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    #[error("The file is empty; its first line has to name the columns.")]
    Empty,
    #[error("A file has at most {0} rows.")]
    TooManyRows(u64),
    #[error("A file has at most {} columns besides the first.", limits::LIST_ATTRIBUTE_COLUMNS)]
    TooManyColumns,
    #[error("The first column must be channel_id or named_user, not '{0}'.")]
    NoTarget(String),
    #[error(
        "There are no email and no SMS channels here, so '{0}' cannot be the first column; use channel_id or named_user."
    )]
    OtherTarget(String),
    #[error("The column '{0}' is there twice.")]
    Duplicate(String),
    #[error("'{0}' cannot be the name of an attribute: {1}")]
    Attribute(String, String),
    #[error("A row is longer than {} bytes; maybe a quote is not closed.", limits::LIST_ROW_BYTES)]
    RowTooLong,
    #[error(
        "The first line must name one column ua_channel_id with the ids of channels or, for an open platform, ua_address \
         with addresses."
    )]
    NoRecipient,
    #[error("'{0}' cannot be the name of a column: {1}")]
    Column(String, String),
    #[error("Line {line}: {problem}")]
    Row { line: u64, problem: String },
}

/// The rows of one upload.
pub struct ChangeCsv {
    kind: ChangeKind,
    records: CsvRecords,
    columns: Option<Columns>,
    n_rows: u64,
}

/// Rows, and those that cannot be used.
type Rows = Vec<Result<ChangeRow, ChangeFault>>;

struct Columns {
    target: TargetColumn,
    attributes: Vec<String>,
}

/// The column that says whom rows are about.
#[derive(Clone, Copy)]
enum TargetColumn {
    Channel,
    NamedUser,
}

impl ChangeCsv {
    pub fn new(kind: ChangeKind) -> Self {
        Self { kind, records: CsvRecords::default(), columns: None, n_rows: 0 }
    }

    /// The rows that end in this chunk, or why the file cannot be used.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Rows, FileFault> {
        let mut rows = Vec::new();
        for record in self.records.feed(chunk)? {
            rows.extend(self.take(&record)?);
        }
        Ok(rows)
    }

    /// The row that the file ended in, if it did not end with a line break, and the names of the attributes.
    pub fn finish(mut self) -> Result<(Rows, Vec<String>), FileFault> {
        let mut rows = Vec::new();
        if let Some(record) = self.records.finish()? {
            rows.extend(self.take(&record)?);
        }
        let columns = self.columns.ok_or(FileFault::Empty)?;
        Ok((rows, columns.attributes))
    }

    fn take(
        &mut self,
        CsvRecord { line, cells }: &CsvRecord,
    ) -> Result<Option<Result<ChangeRow, ChangeFault>>, FileFault> {
        let Some(columns) = &self.columns else {
            self.columns = Some(Columns::read(self.kind, cells)?);
            return Ok(None);
        };
        self.n_rows += 1;
        if self.n_rows > limits::ROWS_PER_LIST {
            return Err(FileFault::TooManyRows(limits::ROWS_PER_LIST));
        }
        let identifier = cells.first().map(|cell| String::from_utf8_lossy(cell).into_owned()).unwrap_or_default();
        let row = columns.row(*line, cells, &identifier);
        Ok(Some(row.map_err(|problem| ChangeFault { line: *line, identifier: short(&identifier), problem })))
    }
}

impl From<TooLong> for FileFault {
    fn from(TooLong: TooLong) -> Self {
        FileFault::RowTooLong
    }
}

impl Columns {
    fn read(kind: ChangeKind, cells: &[Vec<u8>]) -> Result<Self, FileFault> {
        let mut names = cells.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned());
        let first = names.next().unwrap_or_default();
        let target = match first.as_str() {
            "channel_id" => TargetColumn::Channel,
            "named_user" => TargetColumn::NamedUser,
            "email_address" | "msisdn" => return Err(FileFault::OtherTarget(first)),
            _ => return Err(FileFault::NoTarget(short(&first))),
        };
        if kind == ChangeKind::Tags {
            // Other columns are for people who read the file.
            return Ok(Self { target, attributes: Vec::new() });
        }
        let attributes: Vec<String> = names.collect();
        if attributes.len() > limits::LIST_ATTRIBUTE_COLUMNS {
            return Err(FileFault::TooManyColumns);
        }
        let mut seen = BTreeSet::new();
        for name in &attributes {
            let fault = |why: &str| FileFault::Attribute(short(name), why.to_owned());
            AttributeKey::new(name).map_err(fault)?;
            if name.contains('#') {
                return Err(fault("Files have no attributes that are objects."));
            }
            if !seen.insert(name) {
                return Err(FileFault::Duplicate(name.clone()));
            }
        }
        Ok(Self { target, attributes })
    }

    fn row(&self, line: u64, cells: &[Vec<u8>], identifier: &str) -> Result<ChangeRow, String> {
        let target = match self.target {
            TargetColumn::Channel => {
                ChangeTarget::Channel(identifier.parse().map_err(|_| "The id of a channel is a UUID.".to_owned())?)
            }
            TargetColumn::NamedUser => ChangeTarget::NamedUser(NamedUserId::new(identifier)?),
        };
        let mut texts = Vec::with_capacity(self.attributes.len());
        for (index, name) in self.attributes.iter().enumerate() {
            let Some(cell) = cells.get(index + 1) else {
                return Err(format!("The row has {} cells, and none for '{name}'.", cells.len()));
            };
            let text = str::from_utf8(cell).map_err(|_| format!("The cell of '{name}' is not text in UTF-8."))?;
            attribute_change(name, text, EmptyCells::Stay)?;
            texts.push(text.to_owned());
        }
        Ok(ChangeRow { line, target, cells: texts })
    }
}

/// A cell may be long, and a caller needs no more than this to find it.
pub(crate) fn short(cell: &str) -> String {
    cell.chars().take(limits::NAMED_USER_ID_CHARS).collect()
}
