//! The connection under a WebSocket: a bare socket, or one with our own TLS. It is written to and read from without waiting.

use std::io::{self, Read as _, Write as _};

use bytes::BytesMut;
use parking_lot::Mutex;
use rustls::ServerConnection;
use tokio::net::TcpStream;

/// Bytes read at once.
const READ: usize = 2048;
/// Encrypted at once: one record of TLS. No more than this waits inside the session for the socket.
const MOST_RECORD: usize = 16 * 1024;

pub struct Stream(Kind);

enum Kind {
    Plain(TcpStream),
    /// Boxed, so that a connection without TLS does not grow by the size of a session.
    Encrypted(Box<Encrypted>),
}

struct Encrypted {
    socket: TcpStream,
    session: Mutex<ServerConnection>,
}

impl From<TcpStream> for Stream {
    fn from(socket: TcpStream) -> Self {
        Self(Kind::Plain(socket))
    }
}

impl Stream {
    /// Goes on with a session whose handshake is over.
    pub fn encrypted(socket: TcpStream, session: ServerConnection) -> Self {
        Self(Kind::Encrypted(Box::new(Encrypted { socket, session: Mutex::new(session) })))
    }

    pub(crate) async fn readable(&self) -> io::Result<()> {
        match &self.0 {
            Kind::Plain(socket) => socket.readable().await,
            // The socket does not tell of bytes that the session has read already.
            Kind::Encrypted(encrypted) if encrypted.is_ready() => Ok(()),
            Kind::Encrypted(encrypted) => encrypted.socket.readable().await,
        }
    }

    pub(crate) async fn writable(&self) -> io::Result<()> {
        self.socket().writable().await
    }

    /// Reads what has arrived. Returns whether that was anything; the end is an error.
    pub(crate) fn read_some(&self, input: &mut BytesMut) -> io::Result<bool> {
        // On the stack: a buffer in every connection would be most of what it takes.
        let mut bytes = [0; READ];
        let read = match &self.0 {
            Kind::Plain(socket) => socket.try_read(&mut bytes),
            Kind::Encrypted(encrypted) => encrypted.read(&mut bytes),
        };
        match read {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n_read) => {
                input.extend_from_slice(&bytes[..n_read]);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes some of the bytes. Those that it took may still be unsent.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Kind::Plain(socket) => socket.try_write(bytes),
            Kind::Encrypted(encrypted) => encrypted.write(bytes),
        }
    }

    /// Whether bytes that were taken wait for the socket to be writable.
    pub(crate) fn has_unsent(&self) -> bool {
        match &self.0 {
            Kind::Plain(_) => false,
            Kind::Encrypted(encrypted) => encrypted.session.lock().wants_write(),
        }
    }

    /// Sends unsent bytes, as far as the socket takes them.
    pub(crate) fn send_unsent(&self) -> io::Result<()> {
        match &self.0 {
            Kind::Plain(_) => Ok(()),
            Kind::Encrypted(encrypted) => unless_blocked(encrypted.send(&mut encrypted.session.lock())),
        }
    }

    fn socket(&self) -> &TcpStream {
        match &self.0 {
            Kind::Plain(socket) => socket,
            Kind::Encrypted(encrypted) => &encrypted.socket,
        }
    }
}

impl Encrypted {
    /// Whether a read has something to tell: bytes, the end, or a fault.
    fn is_ready(&self) -> bool {
        let state = self.session.lock().process_new_packets();
        state.map_or(true, |state| state.plaintext_bytes_to_read() > 0 || state.peer_has_closed())
    }

    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut session = self.session.lock();
        loop {
            match session.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
            if session.read_tls(&mut Unwaiting(&self.socket))? == 0 {
                return Ok(0);
            }
            let processed = session.process_new_packets();
            // What the session has to say to this: an alert, or the answer to new keys.
            unless_blocked(self.send(&mut session))?;
            processed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut session = self.session.lock();
        // Nothing more is taken before the last bytes are sent, so that a device that does not read costs one record.
        self.send(&mut session)?;
        let n_taken = session.writer().write(&bytes[..bytes.len().min(MOST_RECORD)])?;
        unless_blocked(self.send(&mut session))?;
        Ok(n_taken)
    }

    fn send(&self, session: &mut ServerConnection) -> io::Result<()> {
        while session.wants_write() {
            if session.write_tls(&mut Unwaiting(&self.socket))? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }
}

impl Drop for Encrypted {
    /// Says that the end is no accident, if there is room for it.
    fn drop(&mut self) {
        let mut session = self.session.lock();
        session.send_close_notify();
        drop(self.send(&mut session));
    }
}

fn unless_blocked(sent: io::Result<()>) -> io::Result<()> {
    sent.or_else(|error| if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) })
}

/// A socket in the form that a session reads from and writes to.
struct Unwaiting<'s>(&'s TcpStream);

impl io::Read for Unwaiting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(into)
    }
}

impl io::Write for Unwaiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
