//! The files of an import: read piece by piece, unpacked if they are gzip, and taken apart into rows.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result};
use flate2::bufread::MultiGzDecoder;
use model::csv_records::{CsvRecord, CsvRecords};
use serde_json::Value;

use super::items::Item;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const PIECE: usize = 64 * 1024;

/// One row of a source.
pub(super) struct Row {
    /// Where it is, for people: the line, and the file if there are several.
    pub(super) place: String,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// A channel, or what a named user holds itself, as a line of the bulk call.
    Line(Vec<u8>),
    /// Something else that an app has.
    Item(Item),
    /// Not to be imported, and why.
    LeftOut(String),
}

/// The rows of a source, until one cannot be read.
pub(super) type Rows = Box<dyn Iterator<Item = Result<Row>>>;

/// How much of the files was read.
#[derive(Clone, Default)]
pub(super) struct BytesRead(Rc<Cell<u64>>);

/// A file, or standard input, that counts what is read of it.
struct Counted {
    inner: Box<dyn Read>,
    n_bytes: BytesRead,
}

impl Content {
    pub(super) fn line(line: &Value) -> Self {
        Content::Line(line.to_string().into_bytes())
    }
}

impl BytesRead {
    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.n_bytes.0.set(self.n_bytes.0.get() + n as u64);
        Ok(n)
    }
}

/// A file, or standard input for `-`, as it is when unpacked.
pub(super) fn open(path: &Path, n_bytes: &BytesRead) -> Result<Box<dyn BufRead>> {
    let inner: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).with_context(|| format!("{} cannot be read", path.display()))?),
    };
    let mut reader = BufReader::with_capacity(PIECE, Counted { inner, n_bytes: n_bytes.clone() });
    let is_packed =
        reader.fill_buf().with_context(|| format!("{} cannot be read", path.display()))?.starts_with(&GZIP_MAGIC);
    Ok(if is_packed {
        Box::new(BufReader::with_capacity(PIECE, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

/// The lines of files that are not blank, each with its place.
pub(super) fn lines(files: &[PathBuf], n_bytes: &BytesRead) -> impl Iterator<Item = Result<(String, Vec<u8>)>> + use<> {
    let (files, n_bytes) = (files.to_vec(), n_bytes.clone());
    let names_files = files.len() > 1;
    files.into_iter().flat_map(move |file| {
        let opened = open(&file, &n_bytes);
        let lines: Box<dyn Iterator<Item = Result<(String, Vec<u8>)>>> = match opened {
            Err(error) => Box::new(std::iter::once(Err(error))),
            Ok(reader) => Box::new(lines_of(reader, file, names_files)),
        };
        lines
    })
}

fn lines_of(
    reader: Box<dyn BufRead>,
    file: PathBuf,
    names_file: bool,
) -> impl Iterator<Item = Result<(String, Vec<u8>)>> {
    let lines = (1_u64..).zip(reader.split(b'\n')).map(move |(n, line)| {
        let line = line.with_context(|| format!("{} cannot be read beyond line {n}", file.display()))?;
        let place = if names_file { format!("{}, line {n}", file.display()) } else { format!("line {n}") };
        Ok((place, line))
    });
    lines.filter(|line| line.as_ref().map_or(true, |(_, line)| !line.trim_ascii().is_empty()))
}

/// The records of a CSV file that are not blank, with the lines that they begin on.
pub(super) fn records(file: &Path, n_bytes: &BytesRead) -> Result<impl Iterator<Item = Result<CsvRecord>> + use<>> {
    let mut reader = open(file, n_bytes)?;
    let (mut csv, name) = (CsvRecords::default(), file.display().to_string());
    let (mut is_begun, mut is_ended) = (false, false);
    let pieces = std::iter::from_fn(move || {
        if is_ended {
            return None;
        }
        let read = (|| -> Result<Vec<CsvRecord>> {
            let piece = reader.fill_buf().with_context(|| format!("{name} cannot be read"))?;
            let n_read = piece.len();
            // Spreadsheets begin a file with a mark of its encoding.
            let text = if is_begun { piece } else { piece.strip_prefix(b"\xef\xbb\xbf").unwrap_or(piece) };
            is_begun = true;
            let records = match n_read {
                0 => csv.finish().map(|last| last.into_iter().collect()),
                _ => csv.feed(text),
            };
            reader.consume(n_read);
            is_ended = n_read == 0;
            records.map_err(|_| anyhow::anyhow!("{name}: A row is too long; maybe a quote is not closed."))
        })();
        is_ended |= read.is_err();
        Some(read)
    });
    Ok(pieces.flat_map(|read: Result<Vec<CsvRecord>>| match read {
        Ok(records) => records.into_iter().filter(|record| !is_blank(record)).map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }))
}

/// Spreadsheets write the rows below the last one as well.
fn is_blank(record: &CsvRecord) -> bool {
    record.cells.iter().all(|cell| cell.trim_ascii().is_empty())
}

/// The cells of a record by the names of their columns. Cells that are empty say nothing.
pub(super) struct Cells<'a> {
    header: &'a [String],
    cells: Vec<String>,
}

impl<'a> Cells<'a> {
    /// Of a file by anybody, where a short record may have broken off, or lack a cell in the middle.
    pub(super) fn read(header: &'a [String], record: CsvRecord) -> Result<Self, String> {
        match record.cells.len() < header.len() {
            true => Err(uneven(header, &record)),
            false => Self::read_short(header, record),
        }
    }

    /// Of a file that some program has made, or a spreadsheet saved again: empty cells at the end may be left out.
    pub(super) fn read_short(header: &'a [String], record: CsvRecord) -> Result<Self, String> {
        if record.cells.len() > header.len() {
            return Err(uneven(header, &record));
        }
        let cells =
            record.cells.into_iter().map(|cell| String::from_utf8(cell).map_err(|_| "It is not UTF-8.".to_owned()));
        Ok(Self { header, cells: cells.collect::<Result<_, String>>()? })
    }

    pub(super) fn get(&self, column: &str) -> Option<&str> {
        self.given().find(|(name, _)| *name == column).map(|(_, cell)| cell)
    }

    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.header.iter().zip(&self.cells).map(|(name, cell)| (name.as_str(), cell.trim()));
        all.filter(|(_, cell)| !cell.is_empty())
    }
}

fn uneven(header: &[String], record: &CsvRecord) -> String {
    format!("It has {} columns, and the header has {}.", record.cells.len(), header.len())
}

/// The names of the columns, from the first record.
pub(super) fn header(first: Option<Result<CsvRecord>>) -> Result<Vec<String>> {
    let first = first.context("The file is empty")??;
    let names = first.cells.into_iter().map(|cell| String::from_utf8(cell).context("The header is not UTF-8"));
    names.map(|name| Ok(name?.trim().to_owned())).collect()
}
