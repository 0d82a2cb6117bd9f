//! Names, bodies, and reading CSV cut anywhere.

use proptest::prelude::*;

use super::*;
use crate::json;

const A: &str = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";

#[test]
fn names() {
    for name in ["a", "VIP_customers-2024", "ua", "UA_x", "x_ua_y", &"x".repeat(64)] {
        assert!(!ListName::new(name).unwrap().is_reserved(), "{name}");
    }
    for name in ["ua_", "ua_has_not_opened_last_7_days"] {
        assert!(ListName::new(name).unwrap().is_reserved(), "{name}");
    }
    for name in ["", "a b", "é", "a.b", "a/b", "a\n", &"x".repeat(65)] {
        assert!(ListName::new(name).is_err(), "{name}");
    }
}

fn paths<T>(body: &str, read: impl FnOnce(&At<'_>) -> Option<T>) -> Vec<String> {
    let problems = json::parse(body.as_bytes(), read).err().unwrap_or_else(|| panic!("{body} was accepted"));
    problems.iter().map(|problem| problem.path.clone()).collect()
}

#[test]
fn creation() {
    let list = json::parse(br#"{"name":"vip","description":"d","extra":{"k":"v"}}"#, NewList::parse).unwrap();
    assert_eq!(list.name.as_str(), "vip");
    assert_eq!(serde_json::to_string(&list.details).unwrap(), r#"{"description":"d","extra":{"k":"v"}}"#);
    let bare = json::parse(br#"{"name":"vip","description":null,"extra":null}"#, NewList::parse).unwrap();
    assert_eq!(serde_json::to_string(&bare.details).unwrap(), "{}");
    let extra = |n: usize| (0..n).map(|i| format!(r#""k{i}":"v""#)).collect::<Vec<_>>().join(",");
    assert!(json::parse(format!(r#"{{"name":"x","extra":{{{}}}}}"#, extra(100)).as_bytes(), NewList::parse).is_ok());
    for (body, wanted) in [
        ("{}".to_owned(), &["name"][..]),
        (r#"{"name":"a b","description":7,"extra":[],"more":1}"#.to_owned(), &["name", "description", "extra", "more"]),
        (format!(r#"{{"name":"x","description":"{}"}}"#, "é".repeat(1001)), &["description"]),
        (format!(r#"{{"name":"x","extra":{{"k":"{}"}}}}"#, "é".repeat(1025)), &["extra.k"]),
        (r#"{"name":"x","extra":{"k":1}}"#.to_owned(), &["extra.k"]),
        (r#"{"name":"x","extra":{"":"v"}}"#.to_owned(), &["extra."]),
        (format!(r#"{{"name":"x","extra":{{{}}}}}"#, extra(101)), &["extra"]),
    ] {
        assert_eq!(paths(&body, NewList::parse), wanted, "{body:.80}");
    }
}

#[test]
fn an_update_replaces_what_it_gives_and_never_renames() {
    let [vip, other] = ["vip", "other"].map(|name| ListName::new(name).unwrap());
    let mut details =
        ListDetails { description: Some("old".to_owned()), extra: Some([("k".into(), "v".into())].into()) };
    let update = json::parse(br#"{"name":"vip","description":"new"}"#, ListUpdate::parse).unwrap();
    assert!(!update.renames(&vip) && update.renames(&other));
    update.apply(&mut details);
    assert_eq!(serde_json::to_string(&details).unwrap(), r#"{"description":"new","extra":{"k":"v"}}"#);
    let update = json::parse(br#"{"extra":{}}"#, ListUpdate::parse).unwrap();
    assert!(!update.renames(&other));
    update.apply(&mut details);
    assert_eq!(serde_json::to_string(&details).unwrap(), r#"{"description":"new","extra":{}}"#);
    assert_eq!(paths(r#"{"name":"","status":"ready"}"#, ListUpdate::parse), ["name", "status"]);
}

/// Reads a file that arrives in chunks of one size.
fn read(file: &[u8], chunk: usize) -> Vec<ListRow> {
    let mut csv = CsvRows::new(limits::ROWS_PER_LIST);
    let mut rows: Vec<ListRow> = file.chunks(chunk).flat_map(|chunk| csv.feed(chunk)).collect();
    rows.extend(csv.finish());
    rows
}

fn word(error: &RowError) -> &'static str {
    match error {
        RowError::TooManyRows(_) => "rows",
        RowError::Columns(_) => "columns",
        RowError::OpenQuote => "quote",
        RowError::IdentifierType(_) => "type",
        RowError::ChannelId => "channel",
        RowError::EmptyIdentifier => "empty",
        RowError::NamedUser(_) => "user",
        RowError::Alias => "alias",
        RowError::CellTooLong => "long",
        RowError::NotText => "bytes",
    }
}

/// The rows as text: the line and the member, or the line and the problem.
fn summary(file: &str) -> Vec<String> {
    let whole = read(file.as_bytes(), usize::MAX);
    for chunk in [1, 2, 3, 7] {
        assert_eq!(read(file.as_bytes(), chunk), whole, "{file:?} in chunks of {chunk}");
    }
    let text = |row: &ListRow| match &row.member {
        Ok(member) => format!("{} {} {}", row.line, member.identifier_type(), member.identifier()),
        Err(error) => format!("{} {}", row.line, word(error)),
    };
    whole.iter().map(text).collect()
}

#[test]
fn files() {
    let line = |column: &str| format!("{column},{A}\n");
    assert_eq!(summary(&line("ios_channel")), [format!("1 ios_channel {A}")]);
    for column in &Member::TYPES[1..8] {
        assert_eq!(summary(&line(column)), [format!("1 {column} {A}")]);
    }
    for (file, wanted) in [
        ("", &[][..]),
        ("\n\r\n\n", &[]),
        ("named_user,kim", &["1 named_user kim"]),
        ("named_user,kim\nalias,jo\n", &["1 named_user kim", "2 alias jo"]),
        ("named_user,kim\r\nalias,jo\r\n", &["1 named_user kim", "2 alias jo"]),
        ("\u{feff}named_user,kim\r\n", &["1 named_user kim"]),
        ("\u{feff}", &[]),
        ("\u{feff}\u{feff}named_user,a\nnamed_user,b", &["2 named_user b"]),
        ("\n\nnamed_user,kim\n\r\n\nalias,jo", &["3 named_user kim", "6 alias jo"]),
        ("\"named_user\",\"O\"\"Hara, Kim\"\n", &["1 named_user O\"Hara, Kim"]),
        ("named_user,a\rnamed_user,b\r\rnamed_user,c", &["1 named_user a", "2 named_user b", "4 named_user c"]),
        ("named_user,\"\"\nnamed_user,\"\"\"\"", &["1 empty", "2 named_user \""]),
        // Quotes that are not closed hide nothing.
        ("named_user,\"two\nlines\"\nalias,jo", &["1 quote", "2 columns", "3 alias jo"]),
        ("alias,\"a\r\n\r\nb\"\r\nalias,jo", &["1 quote", "3 columns", "4 alias jo"]),
        ("alias,\"a\ralias,jo\ralias,b\"", &["1 quote", "2 alias jo", "3 alias b\""]),
        ("\"alias,jo\nalias,zoe", &["1 quote", "2 alias zoe"]),
        ("alias,\"jo\"\"\nalias,zoe", &["1 quote", "2 alias zoe"]),
        ("alias,\"", &["1 quote"]),
        // Headers.
        ("identifier_type,identifier\nnamed_user,kim", &["2 named_user kim"]),
        ("a,b\nc,d", &["2 type"]),
        ("a,b,c\nnamed_user,kim", &["1 columns", "2 named_user kim"]),
        ("a\nnamed_user,kim", &["1 columns", "2 named_user kim"]),
        ("Named_User,kim\nnamed_user,jo", &["1 type", "2 named_user jo"]),
        ("named_user ,kim\nnamed_user,jo", &["1 type", "2 named_user jo"]),
        ("channel,9C36E8C7-5a73-47c0-9716-99fd3d4197d5\nnamed_user,jo", &["1 type", "2 named_user jo"]),
        // Mistakes.
        ("named_user\nnamed_user,a,b\n,\nnamed_user,", &["1 columns", "2 columns", "3 type", "4 empty"]),
        ("ios_channel,x\nios_channel,\n IOS_CHANNEL,y", &["1 channel", "2 empty", "3 type"]),
        ("ios_channel,9c36e8c75a7347c0971699fd3d4197d5", &["1 channel"]),
        ("named_user, kim\nnamed_user,kim ", &["1 user", "2 user"]),
        ("named_user,\"never closed\nalias,jo\n", &["1 quote", "2 alias jo"]),
    ] {
        assert_eq!(summary(file), wanted, "{file:?}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let rows = read(b"\xef\xbbx,y\nnamed_user,\xff\nnamed_user,kim\n\xef\xbb", 1);
    let wrong: Vec<_> = rows.iter().map(|row| (row.line, row.member.as_ref().map_err(word).err())).collect();
    assert_eq!(wrong, [(1, Some("bytes")), (2, Some("bytes")), (3, None), (4, Some("columns"))]);
}

#[test]
fn long_lines_cost_no_memory_and_harm_no_other() {
    let mut csv = CsvRows::new(limits::ROWS_PER_LIST);
    let mut rows = csv.feed(b"named_user,");
    for _ in 0..1000 {
        rows.extend(csv.feed(&[b'x'; 10_000]));
    }
    rows.extend(csv.feed(b",more"));
    for _ in 0..1000 {
        rows.extend(csv.feed(&[b','; 10_000]));
    }
    rows.extend(csv.feed(b"\nalias,jo\n"));
    let wanted = [
        ListRow { line: 1, member: Err(RowError::Columns(10_000_003)) },
        ListRow { line: 2, member: Ok(Member::Alias("jo".to_owned())) },
    ];
    assert_eq!(rows, wanted);

    let cell = |n: usize| format!("ios_channel,{}\nalias,jo\n", "x".repeat(n));
    assert_eq!(read(cell(1024).as_bytes(), 100)[0].member, Err(RowError::ChannelId));
    assert_eq!(read(cell(1025).as_bytes(), 100)[0].member, Err(RowError::CellTooLong));
    assert_eq!(read(cell(1025).as_bytes(), 100)[1].line, 2);
    let header = format!("{},x\nalias,jo", "y".repeat(2000));
    assert_eq!(read(header.as_bytes(), 100)[0].member, Err(RowError::CellTooLong));
}

#[test]
fn rows_are_counted() {
    let mut csv = CsvRows::new(2);
    let rows = csv.feed(b"type,id\nalias,a\n,\nalias,b\nalias,c\nalias,d");
    let members: Vec<_> = rows.into_iter().map(|row| (row.line, row.member.is_ok())).collect();
    assert_eq!(members, [(2, true), (3, false), (4, false)]);
    assert_eq!(csv.finish(), None);
    let mut csv = CsvRows::new(1);
    assert_eq!(csv.feed(b"alias,a\nalias,b\n")[1].member, Err(RowError::TooManyRows(1)));
}

#[test]
fn errors_are_sentences() {
    for (cells, wanted) in [
        (
            ("ios_chanel", "x"),
            "'ios_chanel' is not an identifier type; use one of named_user, ios_channel, android_channel, \
            amazon_channel, web_channel, email_channel, sms_channel, open_channel, alias.",
        ),
        (("named_user", " x"), "A named user id must not begin or end with white space."),
        (("alias", ""), "The identifier must not be empty."),
    ] {
        assert_eq!(Member::new(cells.0, cells.1).unwrap_err().to_string(), wanted);
    }
    assert_eq!(
        RowError::Columns(3).to_string(),
        "A row has two columns, identifier_type and identifier; this one has 3."
    );
}

fn member() -> impl Strategy<Value = Member> {
    let text = "[ -~é]{0,20}".prop_map(|text: String| format!("x{}y", text));
    let column = proptest::sample::select(&Member::TYPES[1..8]);
    prop_oneof![
        text.clone().prop_map(|text| Member::new("named_user", &text).unwrap()),
        text.prop_map(|text| Member::new("alias", &text).unwrap()),
        (column, any::<u128>())
            .prop_map(|(column, id)| Member::new(column, &uuid::Uuid::from_u128(id).to_string()).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_downloaded_can_be_uploaded(members in proptest::collection::vec(member(), 0..20), chunk in 1usize..50) {
        let file: String = members.iter().map(Member::to_csv).collect();
        let rows = read(file.as_bytes(), chunk);
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        prop_assert_eq!(lines, (1..=members.len() as u64).collect::<Vec<_>>());
        let read: Vec<Member> = rows.into_iter().map(|row| row.member.unwrap()).collect();
        prop_assert_eq!(read, members);
    }

    #[test]
    fn cutting_a_file_changes_nothing(file in "(named_user|alias|x|[\",\r\n]|\u{feff}){0,40}", chunk in 1usize..9) {
        prop_assert_eq!(read(file.as_bytes(), chunk), read(file.as_bytes(), usize::MAX));
    }
}
