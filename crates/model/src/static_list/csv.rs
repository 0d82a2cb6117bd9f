//! Reading an uploaded list from chunks of any size, in memory that does not grow with the lines.

use csv_core::{ReadFieldResult, Reader};

use super::{Member, RowError};
use crate::limits;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
const N_COLUMNS: usize = 2;

/// A row and the line it begins on, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub line: u64,
    pub member: Result<Member, RowError>,
}

/// The rows of one upload. A first row of two cells that does not begin with an identifier type is a header and is
/// passed over; so are empty lines.
pub struct CsvRows {
    reader: Reader,
    most_rows: u64,
    n_rows: u64,
    /// How much of a byte order mark the upload has begun with; `None` once that is settled.
    n_mark: Option<usize>,
    is_first: bool,
    line: u64,
    row: PartialRow,
}

/// What has been read of a row.
struct PartialRow {
    /// The line it begins on; `None` before its first byte.
    line: Option<u64>,
    cells: [Cell; N_COLUMNS],
    n_cells: usize,
    is_too_long: bool,
}

struct Cell {
    bytes: Vec<u8>,
    n_bytes: usize,
}

impl CsvRows {
    pub fn new(most_rows: u64) -> Self {
        let mut reader = Reader::new();
        // The reader passes over byte order marks, but only at the very beginning and only if they come in one piece.
        // After this empty line it leaves them to us.
        reader.read_field(b"\n", &mut [0]);
        let cell = || Cell { bytes: vec![0; limits::LIST_CELL_BYTES], n_bytes: 0 };
        Self {
            reader,
            most_rows,
            n_rows: 0,
            n_mark: Some(0),
            is_first: true,
            line: 1,
            row: PartialRow { line: None, cells: [cell(), cell()], n_cells: 0, is_too_long: false },
        }
    }

    /// The rows that end in this chunk.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<Row> {
        let mut rows = Vec::new();
        let rest = self.skip_mark(chunk, &mut rows);
        self.read(rest, &mut rows);
        rows
    }

    /// The row that the upload ended in, if it did not end with a line break.
    pub fn finish(mut self) -> Option<Row> {
        if let Some(n_mark) = self.n_mark.take() {
            self.read(&BYTE_ORDER_MARK[..n_mark], &mut Vec::new()); // ends no row
        }
        self.row.line?;
        self.read_cell(&[]); // to the reader, an empty input is the end
        self.end_row()
    }

    /// Passes over a byte order mark, of which a chunk may hold any part.
    fn skip_mark<'a>(&mut self, mut chunk: &'a [u8], rows: &mut Vec<Row>) -> &'a [u8] {
        while let (Some(n_mark), [byte, rest @ ..]) = (self.n_mark, chunk) {
            if *byte != BYTE_ORDER_MARK[n_mark] {
                self.n_mark = None;
                self.read(&BYTE_ORDER_MARK[..n_mark], rows);
                break;
            }
            self.n_mark = (n_mark + 1 < BYTE_ORDER_MARK.len()).then_some(n_mark + 1);
            chunk = rest;
        }
        chunk
    }

    fn read(&mut self, mut input: &[u8], rows: &mut Vec<Row>) {
        loop {
            // Line breaks between rows are ours to count, so that a row knows the line it begins on.
            while let (None, [byte @ (b'\r' | b'\n'), rest @ ..]) = (self.row.line, input) {
                self.line += u64::from(*byte == b'\n');
                input = rest;
            }
            if input.is_empty() {
                return;
            }
            self.row.line.get_or_insert(self.line);
            let (result, n_read) = self.read_cell(input);
            let (read, rest) = input.split_at(n_read);
            self.line += read.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            input = rest;
            if let ReadFieldResult::Field { record_end: true } = result {
                rows.extend(self.end_row());
            }
        }
    }

    /// Reads on in the current cell. What does not fit is dropped.
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

    /// What the row says, unless it is a header or beyond the most rows.
    fn end_row(&mut self) -> Option<Row> {
        let line = self.row.line.take()?;
        let is_first = std::mem::replace(&mut self.is_first, false);
        let member = self.row.member();
        self.row.clear();
        if is_first && matches!(member, Err(RowError::IdentifierType(_))) {
            return None;
        }
        self.n_rows = self.n_rows.saturating_add(1);
        match self.n_rows.checked_sub(self.most_rows) {
            None | Some(0) => Some(Row { line, member }),
            Some(1) => Some(Row { line, member: Err(RowError::TooManyRows(self.most_rows)) }),
            Some(_) => None,
        }
    }
}

impl PartialRow {
    fn member(&self) -> Result<Member, RowError> {
        if self.n_cells != N_COLUMNS {
            return Err(RowError::Columns(self.n_cells));
        }
        if self.is_too_long {
            return Err(RowError::CellTooLong);
        }
        let [identifier_type, identifier] = &self.cells;
        Member::new(identifier_type.text()?, identifier.text()?)
    }

    fn clear(&mut self) {
        self.line = None;
        self.n_cells = 0;
        self.is_too_long = false;
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
