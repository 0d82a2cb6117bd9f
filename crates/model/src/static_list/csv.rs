//! Reading an uploaded list from chunks of any size, in memory that does not grow with the lines.
//!
//! No cell of a list can hold a line break, so every row ends with its line, whatever is quoted. A quote that is never closed
//! therefore spoils one row, which says so, and hides none of those after it.

use csv_core::{ReadFieldResult, Reader};

use super::{Member, RowError};
use crate::byte_order_mark::ByteOrderMark;
use crate::ids::ChannelId;
use crate::limits;

const N_COLUMNS: usize = 2;

/// A row and the line it begins on, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    pub line: u64,
    pub member: Result<Member, RowError>,
}

/// The rows of one upload. A header and empty lines are skipped.
pub struct CsvRows {
    reader: Reader,
    most_rows: u64,
    n_rows: u64,
    mark: ByteOrderMark,
    is_first: bool,
    line: u64,
    /// Whether the last byte was a carriage return, which ends a line together with a line feed after it.
    is_after_return: bool,
    row: PartialRow,
}

/// The part of a row that has been read.
struct PartialRow {
    /// The line it begins on; `None` before its first byte.
    line: Option<u64>,
    cells: [Cell; N_COLUMNS],
    n_cells: usize,
    is_too_long: bool,
    /// Whether the line ended inside of quotes.
    is_open: bool,
}

struct Cell {
    bytes: Vec<u8>,
    n_bytes: usize,
}

impl CsvRows {
    pub fn new(most_rows: u64) -> Self {
        let cell = || Cell { bytes: vec![0; limits::LIST_CELL_BYTES], n_bytes: 0 };
        Self {
            reader: new_reader(),
            most_rows,
            n_rows: 0,
            mark: ByteOrderMark::default(),
            is_first: true,
            line: 1,
            is_after_return: false,
            row: PartialRow { line: None, cells: [cell(), cell()], n_cells: 0, is_too_long: false, is_open: false },
        }
    }

    /// The rows that end in this chunk.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<ListRow> {
        let mut rows = Vec::new();
        let (held, rest) = self.mark.skip(chunk);
        self.read(held, &mut rows);
        self.read(rest, &mut rows);
        rows
    }

    /// The row that the upload ended in, if it did not end with a line break.
    pub fn finish(mut self) -> Option<ListRow> {
        let mut rows = Vec::new();
        let held = self.mark.finish();
        self.read(held, &mut rows);
        self.read(b"\n", &mut rows);
        rows.pop()
    }

    fn read(&mut self, input: &[u8], rows: &mut Vec<ListRow>) {
        for line in input.split_inclusive(|byte| is_line_end(*byte)) {
            self.read_line(line, rows);
            let is_second_half = self.is_after_return && line == b"\n";
            self.line += u64::from(has_end(line) && !is_second_half);
            self.is_after_return = line.ends_with(b"\r");
        }
    }

    /// Reads a line, or a part of one. Its end may be its last byte.
    fn read_line(&mut self, mut line: &[u8], rows: &mut Vec<ListRow>) {
        let has_end = has_end(line);
        if self.row.line.is_none() && has_end && line.len() == 1 {
            return;
        }
        self.row.line.get_or_insert(self.line);
        while !line.is_empty() {
            let (result, n_read) = self.read_cell(line);
            line = &line[n_read..];
            if let ReadFieldResult::Field { record_end: true } = result {
                rows.extend(self.end_row());
            }
        }
        if has_end && self.row.line.is_some() {
            // To the reader, the line break is quoted. It would misread the rest.
            self.reader = new_reader();
            self.row.is_open = true;
            rows.extend(self.end_row());
        }
    }

    /// Continues reading the current cell. Bytes that do not fit are dropped.
    fn read_cell(&mut self, input: &[u8]) -> (ReadFieldResult, usize) {
        let mut dropped = [0; 256];
        let row = &mut self.row;
        let cell = row.cells.get_mut(row.n_cells);
        let (result, n_read) = match cell {
            Some(cell) if cell.n_bytes < cell.bytes.len() => {
                let (result, n_read, n_written) = self.reader.read_field(input, &mut cell.bytes[cell.n_bytes..]);
                cell.n_bytes += n_written;
                (result, n_read)
            }
            Some(_) | None => {
                let (result, n_read, n_written) = self.reader.read_field(input, &mut dropped);
                row.is_too_long |= n_written > 0 && row.n_cells < N_COLUMNS;
                (result, n_read)
            }
        };
        if let ReadFieldResult::Field { .. } = result {
            row.n_cells += 1;
        }
        (result, n_read)
    }

    /// The content of the row, unless it is a header or beyond the most rows.
    fn end_row(&mut self) -> Option<ListRow> {
        let line = self.row.line.take()?;
        let is_first = std::mem::replace(&mut self.is_first, false);
        let member = self.row.member();
        let is_header = is_first && matches!(member, Err(RowError::IdentifierType(_))) && self.row.may_be_header();
        self.row.clear();
        if is_header {
            return None;
        }
        self.n_rows = self.n_rows.saturating_add(1);
        match self.n_rows.checked_sub(self.most_rows) {
            None | Some(0) => Some(ListRow { line, member }),
            Some(1) => Some(ListRow { line, member: Err(RowError::TooManyRows(self.most_rows)) }),
            Some(_) => None,
        }
    }
}

impl PartialRow {
    fn member(&self) -> Result<Member, RowError> {
        if self.is_open {
            return Err(RowError::OpenQuote);
        }
        if self.n_cells != N_COLUMNS {
            return Err(RowError::Columns(self.n_cells));
        }
        if self.is_too_long {
            return Err(RowError::CellTooLong);
        }
        let [identifier_type, identifier] = &self.cells;
        Member::new(identifier_type.text()?, identifier.text()?)
    }

    /// Whether two cells that are not a member name columns, rather than being a member with a mistake in it.
    fn may_be_header(&self) -> bool {
        let [first, second] = self.cells.each_ref().map(|cell| cell.text().unwrap_or_default().trim());
        let is_misspelled = Member::TYPES.iter().any(|name| name.eq_ignore_ascii_case(first));
        !is_misspelled && second.parse::<ChannelId>().is_err()
    }

    fn clear(&mut self) {
        self.line = None;
        self.n_cells = 0;
        self.is_too_long = false;
        self.is_open = false;
        for cell in &mut self.cells {
            cell.n_bytes = 0;
        }
    }
}

impl Cell {
    fn text(&self) -> Result<&str, RowError> {
        str::from_utf8(&self.bytes[..self.n_bytes]).map_err(|_| RowError::NotText)
    }
}

/// The reader skips byte order marks, but only at the very beginning and only if they come in one piece. After an empty line
/// it leaves them to us.
fn new_reader() -> Reader {
    let mut reader = Reader::new();
    reader.read_field(b"\n", &mut [0]);
    reader
}

fn has_end(line: &[u8]) -> bool {
    line.last().is_some_and(|byte| is_line_end(*byte))
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}
