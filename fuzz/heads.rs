//! hyper sees no request, and no body, that a strict reader of the same bytes does not see in the same place, however the bytes are
//! cut: nothing can be hidden from a proxy that reads strictly, or from us.
#![no_main]

#[path = "../crates/api/src/serve/head_scan.rs"]
#[allow(dead_code, reason = "the guard of connections asks more than this")]
mod head_scan;

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use head_scan::{END_OF_REFUSED_HEAD, HeadScan};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;

/// A request: its method, and its body if it is complete.
type Seen = (String, Option<Vec<u8>>);

/// The bytes of a caller, in pieces, and somewhere to put the answers.
struct Pieces {
    bytes: Vec<u8>,
    n_read: usize,
    piece: usize,
}

impl Read for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let n_bytes = self.piece.min(self.bytes.len() - self.n_read).min(buffer.remaining());
        buffer.put_slice(&self.bytes[self.n_read..][..n_bytes]);
        self.n_read += n_bytes;
        Poll::Ready(Ok(()))
    }
}

impl Write for Pieces {
    fn poll_write(self: Pin<&mut Self>, _context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What passes the scan, as hyper gets to read it.
fn scanned(bytes: &[u8], piece: usize) -> Vec<u8> {
    let (mut scan, mut passed) = (HeadScan::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        match scan.scan(piece) {
            Ok(()) => passed.extend_from_slice(piece),
            Err(refused) => {
                passed.extend_from_slice(&piece[..refused.n_before]);
                if refused.is_in_head {
                    passed.extend_from_slice(END_OF_REFUSED_HEAD);
                }
                break;
            }
        }
    }
    passed
}

fn seen_by_hyper(bytes: Vec<u8>, piece: usize) -> Vec<Seen> {
    let seen: Rc<RefCell<Vec<Seen>>> = Rc::default();
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let seen = seen.clone();
        async move {
            let method = request.method().to_string();
            let body = request.into_body().collect().await.ok().map(|body| body.to_bytes().to_vec());
            seen.borrow_mut().push((method, body));
            Ok::<_, Infallible>(hyper::Response::new(String::new()))
        }
    });
    {
        let connection = http1::Builder::new().serve_connection(Pieces { bytes, n_read: 0, piece }, service);
        let (mut connection, mut context) = (pin!(connection), Context::from_waker(Waker::noop()));
        // Reading never waits, but hyper takes a break now and then.
        let is_ended = (0..100_000).any(|_| connection.as_mut().poll(&mut context).is_ready());
        assert!(is_ended, "a connection that has ended is left");
    }
    seen.take()
}

/// The requests in these bytes, up to the first that breaks a rule about where lines and bodies end.
fn seen_by_a_strict_reader(mut bytes: &[u8]) -> Vec<Seen> {
    let mut seen = Vec::new();
    loop {
        while let Some(rest) = bytes.strip_prefix(b"\r\n") {
            bytes = rest;
        }
        let Some((head, rest)) = head(bytes) else { return seen };
        let method =
            String::from_utf8_lossy(head[0].split(|byte| *byte == b' ').next().unwrap_or_default()).into_owned();
        let (mut length, mut is_chunked) = (None, None);
        for line in &head[1..] {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { return seen };
            let value = line[colon + 1..].trim_ascii();
            match line[..colon].to_ascii_lowercase().as_slice() {
                b"content-length" => {
                    let parsed: Option<usize> = str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                    if parsed.is_none() || length.is_some_and(|length| Some(length) != parsed) {
                        return seen;
                    }
                    length = parsed;
                }
                b"transfer-encoding" => {
                    let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
                    is_chunked = Some(last.eq_ignore_ascii_case(b"chunked"));
                }
                _ => {}
            }
        }
        let body = match (length, is_chunked) {
            (None, None) => Some((Vec::new(), rest)),
            (Some(length), None) => rest.split_at_checked(length).map(|(body, rest)| (body.to_vec(), rest)),
            (None, Some(true)) => chunks(rest),
            (Some(_), Some(_)) | (None, Some(false)) => return seen,
        };
        let Some((body, rest)) = body else {
            seen.push((method, None));
            return seen;
        };
        seen.push((method, Some(body)));
        bytes = rest;
    }
}

/// A line without its end, and the bytes after it. Both characters of a line's end are nowhere else.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
    let rest = bytes[end..].strip_prefix(b"\r\n")?;
    Some((&bytes[..end], rest))
}

/// At least one line, up to an empty one.
fn head(mut bytes: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let mut lines = Vec::new();
    loop {
        let (line, rest) = line(bytes)?;
        bytes = rest;
        match line {
            [] if lines.is_empty() => {}
            [] => return Some((lines, bytes)),
            line => lines.push(line),
        }
    }
}

fn chunks(mut bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut body = Vec::new();
    loop {
        let (size, rest) = line(bytes)?;
        let n_digits = size.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let size = usize::from_str_radix(str::from_utf8(&size[..n_digits]).ok()?, 16).ok()?;
        if size == 0 {
            bytes = rest;
            break;
        }
        let (chunk, rest) = rest.split_at_checked(size)?;
        body.extend_from_slice(chunk);
        bytes = rest.strip_prefix(b"\r\n")?;
    }
    loop {
        let (trailer, rest) = line(bytes)?;
        bytes = rest;
        if trailer.is_empty() {
            return Some((body, bytes));
        }
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let piece = 1 + input.len() % 7;
    let passed = scanned(input, input.len().max(1));
    assert_eq!(scanned(input, piece), passed, "pieces make no difference");
    let strict = seen_by_a_strict_reader(input);
    for piece in [piece, passed.len().max(1)] {
        let seen = seen_by_hyper(passed.clone(), piece);
        for (index, (method, body)) in seen.iter().enumerate() {
            let Some((strict_method, strict_body)) = strict.get(index) else {
                panic!("request {index} ({method}) is there for hyper only; strictly: {strict:?}");
            };
            assert_eq!(method, strict_method, "request {index}");
            match body {
                Some(_) => assert_eq!(body, strict_body, "the body of request {index}"),
                None => assert_eq!(index + 1, seen.len(), "nothing is read after a body that cannot be"),
            }
        }
    }
});
