//! Forms with a file (`multipart/form-data`), read as a whole: files of the console are texts of a few megabytes.

use super::Fields;

/// `None` for what is no such form, or has a part that is no text.
pub(crate) fn parse(content_type: &str, body: &[u8]) -> Option<Fields> {
    let boundary = parameter(content_type, "boundary")?;
    let mark = format!("--{boundary}");
    let mut fields = Vec::new();
    let mut rest = after(body, mark.as_bytes())?;
    loop {
        // The last mark is followed by two dashes.
        if rest.starts_with(b"--") {
            return Some(Fields(fields));
        }
        let part = rest.strip_prefix(b"\r\n")?;
        let end = find(part, format!("\r\n{mark}").as_bytes())?;
        let (part, next) = (&part[..end], &part[end + 2 + mark.len()..]);
        let head = find(part, b"\r\n\r\n")?;
        let (head, value) = (std::str::from_utf8(&part[..head]).ok()?, std::str::from_utf8(&part[head + 4..]).ok()?);
        let disposition = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-disposition").then_some(value)
        })?;
        fields.push((parameter(disposition, "name")?, value.to_owned()));
        rest = next;
    }
}

/// A parameter of a header, with or without quotes.
fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"').to_owned())
    })
}

fn after<'b>(bytes: &'b [u8], mark: &[u8]) -> Option<&'b [u8]> {
    find(bytes, mark).map(|at| &bytes[at + mark.len()..])
}

/// Where a mark first is. It begins with a byte that few texts have often, by which the places to look at are found.
fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let first = *mark.first()?;
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| *byte == first) {
        if bytes[from + at..].starts_with(mark) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=\"----x\"";

    #[test]
    fn files_and_fields_come_through() {
        let body = "------x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nreaders\r\n------x\r\n\
                    content-disposition: form-data; name=\"file\"; filename=\"a;b.csv\"\r\nContent-Type: text/csv\r\n\r\n\
                    named_user,kim-7\r\nnamed_user,grün\r\n\r\n------x--\r\n";
        let fields = parse(TYPE, body.as_bytes()).unwrap();
        assert_eq!(fields.text("name"), Some("readers"));
        assert_eq!(fields.exact("file"), Some("named_user,kim-7\r\nnamed_user,grün\r\n"));
        assert!(parse(TYPE, b"------x--\r\n").is_some());
    }

    #[test]
    fn what_is_no_form_or_no_text_is_refused() {
        let part = |value: &[u8]| {
            [b"------x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n", value, b"\r\n------x--"].concat()
        };
        assert!(parse(TYPE, &part(b"fine")).is_some());
        assert!(parse(TYPE, &part(&[0xff, 0xfe])).is_none(), "no text");
        assert!(parse("multipart/form-data", &part(b"fine")).is_none(), "no boundary");
        for cut in [0, 5, 20, 60] {
            assert!(parse(TYPE, &part(b"fine")[..cut]).is_none(), "{cut}");
        }
    }
}
