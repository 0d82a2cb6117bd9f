//! Records of a CSV file, from chunks of any size. Their cells are bytes: the reader of each kind of file knows what they mean.

use csv_core::{ReadFieldResult, Reader};

use crate::byte_order_mark::ByteOrderMark;
use crate::limits;

/// A row of a file and the line it begins on, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvRecord {
    pub line: u64,
    pub cells: Vec<Vec<u8>>,
}

/// A row is longer than a row may be; maybe a quote is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The records of one file.
pub struct CsvRecords {
    reader: Reader,
    /// The reader knows marks that come in one piece, and a chunk may end within one.
    mark: ByteOrderMark,
    /// Line ends that were read.
    n_lines: u64,
    row: Row,
}

/// The part of a row that has been read.
#[derive(Default)]
struct Row {
    /// The line it begins on; `None` before its first byte.
    line: Option<u64>,
    cells: Vec<Vec<u8>>,
    open: Vec<u8>,
    n_bytes: usize,
}

impl Default for CsvRecords {
    /// The default of the reader itself has no table to read by.
    fn default() -> Self {
        Self { reader: Reader::new(), mark: ByteOrderMark::default(), n_lines: 0, row: Row::default() }
    }
}

impl CsvRecords {
    /// The records that end in this chunk.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<Vec<CsvRecord>, TooLong> {
        let (held, rest) = self.mark.skip(chunk);
        let mut records = self.read(held)?;
        records.extend(self.read(rest)?);
        Ok(records)
    }

    fn read(&mut self, mut chunk: &[u8]) -> Result<Vec<CsvRecord>, TooLong> {
        let mut records = Vec::new();
        while !chunk.is_empty() {
            if self.row.line.is_none() {
                let n_blank = chunk.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
                self.pass(&chunk[..n_blank]);
                chunk = &chunk[n_blank..];
                if chunk.is_empty() {
                    break;
                }
                self.row.line = Some(self.n_lines + 1);
            }
            let mut text = [0; 1024];
            let (result, n_read, n_written) = self.reader.read_field(chunk, &mut text);
            self.pass(&chunk[..n_read]);
            chunk = &chunk[n_read..];
            records.extend(self.take(&text[..n_written], &result)?);
        }
        Ok(records)
    }

    /// The record that the file ended in, if it did not end with a line break.
    pub fn finish(&mut self) -> Result<Option<CsvRecord>, TooLong> {
        let held = self.mark.finish();
        // It has no end of a row.
        self.read(held)?;
        let mut last = None;
        while self.row.line.is_some() {
            let mut text = [0; 1024];
            let (result, _, n_written) = self.reader.read_field(&[], &mut text);
            last = self.take(&text[..n_written], &result)?.or(last);
        }
        Ok(last)
    }

    fn pass(&mut self, read: &[u8]) {
        self.n_lines += read.iter().filter(|byte| **byte == b'\n').count() as u64;
    }

    /// Adds to the open cell, and ends the cell and the row when they do.
    fn take(&mut self, text: &[u8], result: &ReadFieldResult) -> Result<Option<CsvRecord>, TooLong> {
        self.row.open.extend_from_slice(text);
        self.row.n_bytes += text.len();
        if self.row.n_bytes > limits::LIST_ROW_BYTES {
            return Err(TooLong);
        }
        match result {
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            ReadFieldResult::Field { record_end } => {
                let cell = std::mem::take(&mut self.row.open);
                self.row.cells.push(cell);
                if *record_end {
                    let Row { line, cells, .. } = std::mem::take(&mut self.row);
                    return Ok(Some(CsvRecord { line: line.unwrap_or(1), cells }));
                }
            }
            // The file ends where a row could begin.
            ReadFieldResult::End => self.row = Row::default(),
        }
        Ok(None)
    }
}
