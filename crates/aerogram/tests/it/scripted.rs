//! A service that answers as a test tells it, one request after the other, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

pub(crate) struct Scripted {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Clone)]
pub(crate) struct Asked {
    method: String,
    pub(crate) path: String,
    pub(crate) content_type: Option<String>,
    pub(crate) body: String,
}

pub(crate) enum Answer {
    /// All bytes of it.
    Text(String),
    /// The connection breaks instead.
    Break,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::with(status, "", &body.to_string())
    }

    /// With a line of the head more.
    pub(crate) fn with(status: u16, header: &str, body: &str) -> Self {
        let length = body.len();
        Answer::Text(format!(
            "HTTP/1.1 {status} Told\r\nContent-Length: {length}\r\n{header}Connection: close\r\n\r\n{body}"
        ))
    }
}

impl Scripted {
    pub(crate) fn start(mut answer: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = asked.clone();
        // Until the test ends.
        std::thread::spawn(move || {
            loop {
                let (mut stream, _) = listener.accept().unwrap();
                // A client may give up.
                let Some(request) = read(&stream) else { continue };
                heard.lock().push(request.clone());
                if let Answer::Text(text) = answer(&request) {
                    drop(stream.write_all(text.as_bytes()));
                }
            }
        });
        Self { url, asked }
    }

    /// The methods and paths of all requests.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().iter().map(|Asked { method, path, .. }| format!("{method} {path}")).collect()
    }

    /// The requests for a path, and nothing of them afterwards.
    pub(crate) fn take(&self, path: &str) -> Vec<Asked> {
        std::mem::take(&mut *self.asked.lock()).into_iter().filter(|asked| asked.path == path).collect()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (method, rest) = line.split_once(' ')?;
    let (path, _) = rest.split_once(' ')?;
    let (method, path) = (method.to_owned(), path.to_owned());
    let (mut length, mut content_type) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        match header.to_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(("content-type", value)) => content_type = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, content_type, body: String::from_utf8(body).ok()? })
}
