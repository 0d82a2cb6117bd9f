//! Rows of results. A row is a borrowed view over the driver's own, so that reading millions of them copies
//! only the cells that the caller keeps.

use std::cell::Cell;

use model::device_type::DeviceType;
use model::ids::{AppId, Id, MessageNumber, Offset, Ordinal, TermId};
use model::time::UtcMillis;
use rusqlite::types::ValueRef;
use uuid::Uuid;

use super::Value;
use crate::error::{Cause, Error, Result};

pub struct Row<'r> {
    cells: Cells<'r>,
    /// How many cells of the driver's row come before the first of ours.
    n_before: usize,
    /// The index of the cell that [`Row::next`] reads.
    next: Cell<usize>,
}

enum Cells<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
    Written(&'r [Value]),
}

/// One cell, as both databases see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column<'r> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'r str),
    Bytes(&'r [u8]),
}

/// A type that can be read from a cell. `None` means that the cell holds something else.
pub trait FromColumn<'r>: Sized {
    fn from_column(column: Column<'r>) -> Option<Self>;
}

impl<'r> Row<'r> {
    pub(super) fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self { cells: Cells::Sqlite(row), n_before: 0, next: Cell::new(0) }
    }

    pub(super) fn postgres(row: &'r tokio_postgres::Row) -> Self {
        Self { cells: Cells::Postgres(row), n_before: 0, next: Cell::new(0) }
    }

    /// A row that begins with the number of the question that it answers.
    pub(super) fn answer_of_set(row: &'r tokio_postgres::Row) -> Self {
        Self { cells: Cells::Postgres(row), n_before: 1, next: Cell::new(0) }
    }

    /// A row that is known because it was written.
    pub(super) fn written(row: &'r [Value]) -> Self {
        Self { cells: Cells::Written(row), n_before: 0, next: Cell::new(0) }
    }

    /// The next cell, from the first one on. A row is read in the order in which its statement names the
    /// columns, so that neither has to count them.
    pub fn next<T: FromColumn<'r>>(&self) -> Result<T> {
        let index = self.next.get();
        self.next.set(index + 1);
        self.get(index)
    }

    /// The cell at `index`, counted from 0: for rows of one cell, and for rows of any number.
    pub fn get<T: FromColumn<'r>>(&self, index: usize) -> Result<T> {
        let column = self.column(index)?;
        T::from_column(column).ok_or_else(|| {
            let wanted = std::any::type_name::<T>();
            Error::corrupt(format!("column {index} holds {} where {wanted} was expected", column.kind()))
        })
    }

    fn column(&self, index: usize) -> Result<Column<'r>> {
        match self.cells {
            Cells::Sqlite(row) => {
                let cell = row.get_ref(index).map_err(|error| unreadable(index, error))?;
                Ok(match cell {
                    ValueRef::Null => Column::Null,
                    ValueRef::Integer(number) => Column::Int(number),
                    ValueRef::Real(number) => Column::Real(number),
                    ValueRef::Text(bytes) => {
                        Column::Text(std::str::from_utf8(bytes).map_err(|error| unreadable(index, error))?)
                    }
                    ValueRef::Blob(bytes) => Column::Bytes(bytes),
                })
            }
            Cells::Postgres(row) => row.try_get(self.n_before + index).map_err(|error| unreadable(index, error)),
            Cells::Written(row) => match row.get(index) {
                None => Err(Error::corrupt(format!("a row has no column {index}"))),
                Some(Value::Null) => Ok(Column::Null),
                Some(Value::Int(number)) => Ok(Column::Int(*number)),
                Some(Value::Real(number)) => Ok(Column::Real(*number)),
                Some(Value::Text(text)) => Ok(Column::Text(text)),
                Some(Value::Bytes(bytes)) => Ok(Column::Bytes(bytes)),
            },
        }
    }
}

fn unreadable(index: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Corrupt(Cause::new(format!("column {index} cannot be read"), error))
}

impl Column<'_> {
    fn kind(self) -> &'static str {
        match self {
            Column::Null => "null",
            Column::Int(_) => "a whole number",
            Column::Real(_) => "a real number",
            Column::Text(_) => "text",
            Column::Bytes(_) => "bytes",
        }
    }
}

/// Any value of the cell.
impl FromColumn<'_> for Value {
    fn from_column(column: Column<'_>) -> Option<Self> {
        Some(match column {
            Column::Null => Value::Null,
            Column::Int(number) => Value::Int(number),
            Column::Real(number) => Value::Real(number),
            Column::Text(text) => Value::from(text),
            Column::Bytes(bytes) => Value::from(bytes),
        })
    }
}

impl FromColumn<'_> for i64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        if let Column::Int(number) = column { Some(number) } else { None }
    }
}

impl FromColumn<'_> for u32 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column)?.try_into().ok()
    }
}

impl FromColumn<'_> for u16 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column)?.try_into().ok()
    }
}

impl FromColumn<'_> for u64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column)?.try_into().ok()
    }
}

impl FromColumn<'_> for bool {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match i64::from_column(column)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl FromColumn<'_> for f64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        if let Column::Real(number) = column { Some(number) } else { None }
    }
}

impl<'r> FromColumn<'r> for &'r str {
    fn from_column(column: Column<'r>) -> Option<Self> {
        if let Column::Text(text) = column { Some(text) } else { None }
    }
}

impl FromColumn<'_> for String {
    fn from_column(column: Column<'_>) -> Option<Self> {
        <&str>::from_column(column).map(str::to_owned)
    }
}

impl<'r> FromColumn<'r> for &'r [u8] {
    fn from_column(column: Column<'r>) -> Option<Self> {
        if let Column::Bytes(bytes) = column { Some(bytes) } else { None }
    }
}

impl FromColumn<'_> for Vec<u8> {
    fn from_column(column: Column<'_>) -> Option<Self> {
        <&[u8]>::from_column(column).map(<[u8]>::to_vec)
    }
}

impl<'r, T: FromColumn<'r>> FromColumn<'r> for Option<T> {
    fn from_column(column: Column<'r>) -> Option<Self> {
        if column == Column::Null { Some(None) } else { T::from_column(column).map(Some) }
    }
}

impl<Kind> FromColumn<'_> for Id<Kind> {
    fn from_column(column: Column<'_>) -> Option<Self> {
        Uuid::from_slice(<&[u8]>::from_column(column)?).ok().map(Id::from_uuid)
    }
}

impl FromColumn<'_> for DeviceType {
    fn from_column(column: Column<'_>) -> Option<Self> {
        DeviceType::from_name(<&str>::from_column(column)?)
    }
}

impl FromColumn<'_> for AppId {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(AppId)
    }
}

impl FromColumn<'_> for Ordinal {
    fn from_column(column: Column<'_>) -> Option<Self> {
        u32::from_column(column).map(Ordinal)
    }
}

impl FromColumn<'_> for TermId {
    fn from_column(column: Column<'_>) -> Option<Self> {
        u32::from_column(column).map(TermId)
    }
}

impl FromColumn<'_> for MessageNumber {
    fn from_column(column: Column<'_>) -> Option<Self> {
        u32::from_column(column).map(MessageNumber)
    }
}

impl FromColumn<'_> for Offset {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Offset)
    }
}

impl FromColumn<'_> for UtcMillis {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(UtcMillis)
    }
}
