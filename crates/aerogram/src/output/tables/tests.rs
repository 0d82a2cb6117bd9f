//! Tables as they are drawn on terminals of many widths.

use super::super::column::{COUNT, ID, MOMENT, NAME, TEXT};
use super::*;

const UUID: &str = "0190a000-0000-4000-8000-000000000001";
const TIME: &str = "2030-01-31T12:00:00";

/// The lines of a table on a terminal that is so wide, and the notes below it.
fn table_on<const N: usize>(columns: [(&str, Column); N], rows: &[[&str; N]], room: usize) -> Vec<String> {
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.map(str::to_owned)).collect();
    let mut shown = Shown::all(&columns, &rows);
    let left_out = fit(&mut shown, room);
    let lines = drawn(&shown, &rows).map(|line| within(line, Some(room)));
    lines.chain(told_of(&left_out)).chain(told_of_cuts(&shown)).collect()
}

#[test]
fn columns_line_up_and_lines_have_no_trailing_blanks() {
    assert_eq!(table_on([("KEY", NAME), ("NAME", TEXT)], &[["first", ""]], 80), ["KEY    NAME", "first"]);
    let wide = table_on([("TOWN", TEXT), ("X", NAME)], &[["東京", "a"], ["🎉", "b"], ["e\u{301}", "c"]], 80);
    assert_eq!(wide, ["TOWN  X", "東京  a", "🎉    b", "e\u{301}     c"]);
}

#[test]
fn numbers_end_below_each_other_also_with_words() {
    let rows = [["7", "0 s", "1 of 12"], ["1200", "17 s", "10 of 12"], ["-", "", ""]];
    assert_eq!(
        table_on([("N", COUNT), ("BEHIND", COUNT), ("DELIVERED", COUNT)], &rows, 80),
        ["   N  BEHIND  DELIVERED", "   7     0 s    1 of 12", "1200    17 s   10 of 12", "   -"]
    );
}

#[test]
fn texts_are_cut_first_and_then_moments() {
    let columns = [("PUSH", ID), ("TIME", MOMENT), ("DIRECT RESPONSES", COUNT), ("STATE", NAME), ("NAME", TEXT)];
    let rows =
        [[UUID, TIME, "12345678", "done", "Sale today"], ["", "TOTAL", "12345678", "", "Sale today and tomorrow"]];
    let whole = format!("{:36}  {:19}  DIRECT RESPONSES  STATE  NAME", "PUSH", "TIME");
    assert_eq!(table_on(columns, &rows, 107)[0], whole);
    let narrower = table_on(columns, &rows, 98);
    assert_eq!(narrower[0], whole);
    assert_eq!(narrower[1], format!("{UUID}  {TIME}          12345678  done   Sale today"));
    let total = format!("{:36}  {:19}          12345678         Sale today an…", "", "TOTAL");
    assert_eq!(narrower[2], total);
    assert_eq!(
        table_on(columns, &rows, 90)[1],
        format!("{UUID}  2030-01-31T12:…          12345678  done   Sale today")
    );
    assert_eq!(table_on(columns, &rows, 86)[1], format!("{UUID}  2030-01-31…          12345678  done   Sale today"));
}

#[test]
fn columns_are_left_out_before_names_and_ids_are_cut() {
    let columns = [("PUSH", ID), ("TIME", MOMENT.left_out(2)), ("N", COUNT.left_out(1)), ("STATE", NAME)];
    let rows = [[UUID, TIME, "12345678", "IN_APP_MESSAGE_RESOLUTION"]];
    let state = rows[0][3];
    assert_eq!(table_on(columns, &rows, 94)[1], format!("{UUID}  {TIME}  12345678  {state}"));
    assert_eq!(table_on(columns, &rows, 86)[1], format!("{UUID}  2030-01-31…  12345678  {state}"));
    let left = table_on(columns, &rows, 85);
    assert_eq!(left[1], format!("{UUID}  {TIME}  {state}"), "what is left out makes room for the rest");
    assert_eq!(left[2], "1 column is left out: N; make the terminal wider or use --json.");
    let both = "2 columns are left out: N, TIME; make the terminal wider or use --json.";
    assert_eq!(table_on(columns, &rows, 63)[1..], [format!("{UUID}  {state}"), both.to_owned()]);
    let cut = table_on(columns, &rows, 62);
    assert_eq!(cut[1], format!("{UUID}  IN_APP_MESSAGE_RESOLUTI…"));
    assert_eq!(cut[3], "Names are cut to fit the terminal; in a pipe and with --json they are whole.");
    let narrow = table_on(columns, &rows, 26);
    assert_eq!(narrow[1], "0190a00…  IN_APP_MESSAGE_…");
    assert_eq!(narrow[3], "Ids and names are cut to fit the terminal; in a pipe and with --json they are whole.");
    assert_eq!(table_on(columns, &rows, 10)[1], "0190a00… …");
}

#[test]
fn a_wide_column_that_is_left_out_makes_room_for_another() {
    let columns = [("NODE", ID.left_out(2)), ("VERSION", NAME.left_out(1)), ("NAME", NAME)];
    assert_eq!(
        table_on(columns, &[[UUID, "0.1.0", "one"]], 20),
        ["VERSION  NAME", "0.1.0    one", "1 column is left out: NODE; make the terminal wider or use --json."]
    );
}

#[test]
fn numbers_and_headings_are_never_cut_while_a_line_has_room_for_them() {
    let columns = [("PUSH", ID), ("DATABASE MS", COUNT), ("DESCRIPTION", TEXT)];
    let rows = [[UUID, "1234567 of 4000000", "A text of twenty-nine columns"]];
    let lines = table_on(columns, &rows, 41);
    assert_eq!(lines[0], format!("{:8}  {:>18}  DESCRIPTION", "PUSH", "DATABASE MS"));
    assert_eq!(lines[1], "0190a00…  1234567 of 4000000  A text of …");
}

#[test]
fn a_line_fits_the_terminal() {
    assert_eq!(within("abcdef".to_owned(), Some(4)), "abc…");
    assert_eq!(within("abcdef".to_owned(), Some(6)), "abcdef");
    assert_eq!(within("abcdef".to_owned(), None), "abcdef");
    assert_eq!(within("東京東京".to_owned(), Some(8)), "東京東京");
    assert_eq!(within("東京東京".to_owned(), Some(6)), "東京…");
    assert_eq!(table_on([("TOWN", TEXT)], &[["東京東京東京"]], 10)[1], "東京東京…");
}
