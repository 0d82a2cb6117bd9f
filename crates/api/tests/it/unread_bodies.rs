//! Requests that are answered before their body is read: a connection serves the next request, or the answer says that it will not.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use testkit::app::{TestApp, on_each_database};

/// Keeps a test from hanging.
const PATIENCE: Duration = Duration::from_secs(120);

/// A request whose body nobody needs.
struct Unneeded {
    status: u16,
    request_line: &'static str,
    headers: &'static str,
}

const fn unneeded(status: u16, request_line: &'static str, headers: &'static str) -> Unneeded {
    Unneeded { status, request_line, headers }
}

/// `MASTER` stands for the header with the master secret.
const UNNEEDED: [Unneeded; 7] = [
    unneeded(401, "POST /api/push", ""),
    unneeded(404, "POST /api/nothing", "MASTER"),
    unneeded(404, "POST /api/channels/email", "MASTER"),
    unneeded(405, "PUT /api/push", "MASTER"),
    unneeded(406, "POST /api/push", "MASTERAccept: application/vnd.urbanairship+json; version=2\r\n"),
    unneeded(404, "POST /api/push/00000000-0000-4000-8000-000000000000/pause", "MASTER"),
    unneeded(200, "GET /health", ""),
];

struct Connection {
    reader: BufReader<TcpStream>,
    master: String,
}

struct Answer {
    status: u16,
    /// In small letters, without the status line.
    headers: String,
}

impl Answer {
    fn says_that_it_is_the_last(&self) -> bool {
        self.headers.contains("connection: close\r\n")
    }
}

impl Connection {
    fn open(app: &TestApp) -> Self {
        let stream = TcpStream::connect(app.url("").strip_prefix("http://").unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let request = app.master().request(http::Method::POST, "/").body(()).unwrap();
        let master = format!("Authorization: {}\r\n", request.headers()["authorization"].to_str().unwrap());
        Self { reader: BufReader::new(stream), master }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    fn send_head(&mut self, Unneeded { request_line, headers, .. }: &Unneeded, more: &str) {
        let headers = headers.replace("MASTER", &self.master);
        let head = format!("{request_line} HTTP/1.1\r\nHost: x\r\n{headers}{more}\r\n");
        self.send(head.as_bytes()).unwrap();
    }

    /// The next answer, or an error if the connection ends before.
    fn answer(&mut self) -> io::Result<Answer> {
        let (mut first, mut headers) = (String::new(), String::new());
        self.reader.read_line(&mut first)?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no answer but {first:?}")))?;
        while !headers.ends_with("\r\n\r\n") && self.reader.read_line(&mut headers)? > 0 {}
        let headers = headers.to_ascii_lowercase();
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.parse().unwrap()];
        self.reader.read_exact(&mut body)?;
        Ok(Answer { status, headers })
    }

    fn has_ended(&mut self) -> bool {
        // With a body left unread, the end is a reset.
        self.reader.read(&mut [0]).map_or_else(|error| error.kind() == io::ErrorKind::ConnectionReset, |n| n == 0)
    }

    fn serves_another_request(&mut self) -> bool {
        self.send(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").is_ok()
            && self.answer().is_ok_and(|answer| answer.status == 200)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_goes_on_after_a_body_that_nobody_read() {
    on_each_database(async |app| {
        for case in UNNEEDED {
            let sent: [(&str, &[u8]); 3] = [
                ("Content-Length: 14\r\n", b"{\"channel\":{}}"),
                ("Transfer-Encoding: chunked\r\n", b"e\r\n{\"channel\":{}}\r\n0\r\n\r\n"),
                ("Content-Length: 300000\r\n", &[b' '; 300_000]),
            ];
            for (length, body) in sent {
                let mut connection = Connection::open(&app);
                for _ in 0..5 {
                    // In two packets, as most clients send them: the first is enough for the answer.
                    connection.send_head(&case, length);
                    connection.send(body).unwrap();
                    let answer = connection.answer().unwrap();
                    let what = format!("{}, {length}", case.request_line);
                    assert_eq!(answer.status, case.status, "{what}");
                    if answer.says_that_it_is_the_last() {
                        // Only a machine that is very busy takes so long between two packets.
                        connection = Connection::open(&app);
                        continue;
                    }
                    assert!(connection.serves_another_request(), "{what}");
                }
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_says_when_it_is_the_last() {
    on_each_database(async |app| {
        let [case, ..] = UNNEEDED;
        for (headers, body) in [
            // It never comes.
            ("Content-Length: 14\r\n", &b""[..]),
            ("Transfer-Encoding: chunked\r\n", b""),
            // It is not worth the wait.
            ("Content-Length: 5242881\r\n", b" "),
            // It has not been asked for, and will not be.
            ("Content-Length: 14\r\nExpect: 100-continue\r\n", b""),
        ] {
            let mut connection = Connection::open(&app);
            connection.send_head(&case, headers);
            connection.send(body).unwrap();
            let answer = connection.answer().unwrap();
            assert_eq!(answer.status, case.status, "{headers}");
            assert!(answer.says_that_it_is_the_last(), "{headers}: {}", answer.headers);
            assert!(connection.has_ended(), "{headers}");
        }
        let mut connection = Connection::open(&app);
        connection.send_head(&case, "");
        assert!(!connection.answer().unwrap().says_that_it_is_the_last(), "without a body");
        assert!(connection.serves_another_request());
    })
    .await;
}
