//! A server that accepts connections and never says anything.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub struct Tarpit {
    address: SocketAddr,
    accepted: Arc<Mutex<Vec<TcpStream>>>,
    accepting: JoinHandle<()>,
}

impl Tarpit {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let accepted: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let kept = accepted.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                kept.lock().push(stream);
            }
        });
        Self { address, accepted, accepting }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn n_accepted(&self) -> usize {
        self.accepted.lock().len()
    }

    /// Connections whose other side has not given up.
    pub fn n_open(&self) -> usize {
        let is_open = |stream: &&TcpStream| loop {
            match stream.try_read(&mut [0; 1024]) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        };
        self.accepted.lock().iter().filter(is_open).count()
    }
}

impl Drop for Tarpit {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
