//! The rows of any file are the same however it is cut into chunks, and the members among them print as a file that has them.
#![no_main]

use model::static_list::{CsvRows, ListRow, Member};

const MOST_ROWS: u64 = 20;

fn rows<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<ListRow> {
    let mut reader = CsvRows::new(MOST_ROWS);
    let mut rows: Vec<ListRow> = chunks.into_iter().flat_map(|chunk| reader.feed(chunk)).collect();
    rows.extend(reader.finish());
    rows
}

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    let whole = rows([file]);
    let chunk_bytes = 1 + file.len() % 5;
    assert_eq!(rows(file.chunks(chunk_bytes)), whole, "chunks make no difference");
    let members: Vec<Member> = whole.into_iter().filter_map(|row| row.member.ok()).collect();
    let printed: String = members.iter().map(Member::to_csv).collect();
    let again: Result<Vec<Member>, _> = rows([printed.as_bytes()]).into_iter().map(|row| row.member).collect();
    assert_eq!(again, Ok(members), "printed members read as the same members");
});
