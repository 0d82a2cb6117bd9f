//! Cells of the CSV files that we write. Some files are opened in spreadsheets, which take some texts for formulas; others are read
//! back by our own uploads.

use std::borrow::Cow;

/// What a file is for, which decides what becomes of the texts in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvFile {
    /// People open it in a spreadsheet. A text that would be a formula there begins with an apostrophe.
    ForPeople,
    /// An upload of ours reads it. No text is altered.
    RoundTrip,
}

impl CsvFile {
    /// A cell, in quotes if it would be taken for more than one without.
    pub fn cell(self, text: &str) -> Cow<'_, str> {
        if text.contains([',', '"', '\r', '\n']) {
            return self.quoted(text).into();
        }
        match self.guard(text) {
            "" => text.into(),
            guard => format!("{guard}{text}").into(),
        }
    }

    /// A cell that is in quotes whatever it says.
    pub fn quoted(self, text: &str) -> String {
        format!("\"{}{}\"", self.guard(text), text.replace('"', "\"\""))
    }

    fn guard(self, text: &str) -> &'static str {
        match self {
            CsvFile::ForPeople if is_formula(text) => "'",
            CsvFile::ForPeople | CsvFile::RoundTrip => "",
        }
    }
}

/// Whether a spreadsheet would compute a text, by the first characters that OWASP lists. Numbers with a sign are what they say, and
/// a sign alone is no formula.
fn is_formula(text: &str) -> bool {
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    text.len() > 1 && !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_records::CsvRecords;

    const TEXTS: [&str; 18] = [
        "",
        "bought",
        "a b",
        "a,b",
        "say \"hi\"",
        "a\nb",
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-x,\ny",
        "@SUM(1,\"2\")",
        "\tx",
        "\rx",
        "-inf",
        "-7",
        "+4712345678",
        "-1.5",
        "-",
        "a=b",
    ];

    #[test]
    fn people_get_no_formulas() {
        let cells = [
            "",
            "bought",
            "a b",
            "\"a,b\"",
            "\"say \"\"hi\"\"\"",
            "\"a\nb\"",
            "'=1+1",
            "'+cmd|' /C calc'!A0",
            "\"'-x,\ny\"",
            "\"'@SUM(1,\"\"2\"\")\"",
            "'\tx",
            "\"'\rx\"",
            "'-inf",
            "-7",
            "+4712345678",
            "-1.5",
            "-",
            "a=b",
        ];
        assert_eq!(TEXTS.map(|text| CsvFile::ForPeople.cell(text)), cells);
        assert_eq!(
            ["", "a", "=\"a\""].map(|text| CsvFile::ForPeople.quoted(text)),
            ["\"\"", "\"a\"", "\"'=\"\"a\"\"\""]
        );
    }

    #[test]
    fn what_is_read_back_is_what_was_written() {
        let file: String = TEXTS.map(|text| format!("x,{},y\r\n", CsvFile::RoundTrip.cell(text))).concat();
        let read = CsvRecords::default().feed(file.as_bytes()).unwrap();
        let cells: Vec<_> = read.into_iter().map(|record| record.cells).collect();
        assert_eq!(cells, TEXTS.map(|text| vec![b"x".to_vec(), text.as_bytes().to_vec(), b"y".to_vec()]));
        assert_eq!(CsvFile::RoundTrip.quoted("=1"), "\"=1\"");
    }
}
