//! Bodies, and reading files cut anywhere.

use super::*;
use crate::json;

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

type Read = (Vec<Result<ChangeRow, ChangeFault>>, Vec<String>);

fn read(kind: ChangeKind, text: &str, piece: usize) -> Result<Read, FileFault> {
    let mut csv = ChangeCsv::new(kind);
    let mut rows = Vec::new();
    for chunk in text.as_bytes().chunks(piece) {
        rows.extend(csv.feed(chunk)?);
    }
    let (last, columns) = csv.finish()?;
    rows.extend(last);
    Ok((rows, columns))
}

#[test]
fn a_file_is_the_same_however_it_is_cut() {
    let text = "named_user,plan,note\r\nkim,gold,\"two\nlines, \"\"quoted\"\"\"\r\n\r\nlee,,x\nmo,7";
    for piece in [1, 2, 3, 7, 1000] {
        let (rows, columns) = read(ChangeKind::Attributes, text, piece).unwrap();
        assert_eq!(columns, ["plan", "note"]);
        let lines: Vec<u64> = rows.iter().map(|row| row.as_ref().map_or_else(|bad| bad.line, |row| row.line)).collect();
        assert_eq!(lines, [2, 5, 6], "in pieces of {piece}");
        assert_eq!(rows[0].as_ref().unwrap().cells, ["gold", "two\nlines, \"quoted\""]);
        assert_eq!(rows[1].as_ref().unwrap().cells, ["", "x"]);
        let short = rows[2].as_ref().unwrap_err();
        assert_eq!(short.problem, "The row has 2 cells, and none for 'note'.");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_column() {
    for first in ["named_user", "\"named_user\""] {
        for piece in [1, 2, 3, 4, 1000] {
            let (rows, columns) =
                read(ChangeKind::Attributes, &format!("\u{feff}{first},plan\nkim,gold\n"), piece).unwrap();
            assert_eq!((columns, rows.len()), (vec!["plan".to_owned()], 1), "{first} in pieces of {piece}");
            assert_eq!(rows[0].as_ref().unwrap().line, 2);
        }
    }
    assert_eq!(read(ChangeKind::Tags, "\u{feff}", 2), Err(FileFault::Empty));
}

#[test]
fn tag_lists_skip_other_columns_and_bad_rows_name_themselves() {
    let text = format!("channel_id,firstName\n{A},Kim\nnobody,Lee\n");
    let (rows, columns) = read(ChangeKind::Tags, &text, 5).unwrap();
    assert!(columns.is_empty());
    let kim = ChangeRow { line: 2, target: ChangeTarget::Channel(A.parse().unwrap()), cells: Vec::new() };
    assert_eq!(rows[0], Ok(kim));
    let problem = "The id of a channel is a UUID.".to_owned();
    assert_eq!(rows[1], Err(ChangeFault { line: 3, identifier: "nobody".to_owned(), problem }));
}

#[test]
fn files_that_are_refused_say_why() {
    let many = |n: usize| (0..n).map(|i| format!("a{i}")).collect::<Vec<_>>().join(",");
    assert!(read(ChangeKind::Attributes, &format!("named_user,{}\n", many(100)), 64).is_ok());
    for (text, expected) in [
        (String::new(), FileFault::Empty),
        ("kim\n".to_owned(), FileFault::NoTarget("kim".to_owned())),
        ("email_address\nkim@example.com\n".to_owned(), FileFault::OtherTarget("email_address".to_owned())),
        ("named_user,a,b,a\n".to_owned(), FileFault::Duplicate("a".to_owned())),
        (format!("named_user,{}\n", many(101)), FileFault::TooManyColumns),
        (format!("named_user,a\nkim,\"{}", "x".repeat(limits::LIST_ROW_BYTES + 1)), FileFault::RowTooLong),
    ] {
        assert_eq!(read(ChangeKind::Attributes, &text, 4096), Err(expected), "{}", &text[..text.len().min(40)]);
    }
    assert!(matches!(read(ChangeKind::Attributes, "named_user,a#b\n", 9), Err(FileFault::Attribute(..))));
}

#[test]
fn cells_become_numbers_dates_and_texts() {
    let change =
        |cell: &str| attribute_change("plan", cell, EmptyCells::Stay).unwrap().map(|operation| operation.action);
    let set = |value: AttributeValue| Some(AttributeAction::Set(value));
    assert_eq!(change("12.5"), set(AttributeValue::Number(serde_json::Number::from_f64(12.5).unwrap())));
    for number in ["0", "-7", "12", "9223372036854775807", "0.1", "-12.25", "100.0"] {
        let Some(AttributeAction::Set(AttributeValue::Number(read))) = change(number) else { panic!("{number}") };
        assert_eq!(read.to_string(), number);
    }
    assert_eq!(change(" 12 "), change("12"));
    let codes =
        ["007", "12E5", "1e3", "1.10", "-0", "12345678901234567890123", "9223372036854775808", "0.1000000000000000055"];
    for code in codes {
        assert_eq!(change(code), set(AttributeValue::Text(code.to_owned())), "it may be a code");
    }
    assert!(matches!(change("2030-05-01T08:00:00"), Some(AttributeAction::Set(AttributeValue::Date(_)))));
    assert_eq!(change(""), None);
    assert_eq!(attribute_change("plan", "", EmptyCells::Remove).unwrap().unwrap().action, AttributeAction::Remove);
    assert!(attribute_change("plan", &"x".repeat(limits::ATTRIBUTE_TEXT_CHARS + 1), EmptyCells::Stay).is_err());
    let of = |name: &str| EmptyCells::of(&ListName::new(name).unwrap());
    assert_eq!((of("ua_attributes_snapshot_crm"), of("ua_attributes_crm")), (EmptyCells::Remove, EmptyCells::Stay));
}

#[test]
fn the_tags_of_a_list_may_be_set_and_changed_at_once() {
    let body = br#"{"name":"ua_tags_vip","set":{"g":["a"]},"add":{"h":["b"]},"remove":{"h":["c"]}}"#;
    let list = json::parse(body, NewTagList::parse).unwrap();
    assert_eq!(list.tags.operations().len(), 2);
    assert!(json::parse(br#"{"name":"x"}"#, NewTagList::parse).unwrap().tags.operations().is_empty());
    for wrong in [r#"{"name":"x","add":{"g":["a"]},"remove":{"g":["a"]}}"#, r#"{"name":"x","add":[]}"#] {
        assert!(json::parse(wrong.as_bytes(), NewTagList::parse).is_err(), "{wrong}");
    }
}
