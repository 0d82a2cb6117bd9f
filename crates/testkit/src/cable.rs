//! The cable between a node and PostgreSQL, which a test can damage at the worst moment: when a transaction commits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use crate::postgres::Cluster;

/// The name that PostgreSQL gives its socket.
const SOCKET: &str = ".s.PGSQL.5432";

/// What happens to one commit.
#[derive(Clone, Copy, Debug)]
pub enum Damage {
    /// It never gets to the server.
    RequestLost,
    /// The server commits, and nobody hears of it.
    AnswerLost,
    /// It takes this long to get there.
    Slow(Duration),
}

pub struct Cable {
    _folder: TempDir,
    url: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    /// Whether nodes listen to signals that nobody sends.
    is_quiet: bool,
    next: Mutex<Option<Damage>>,
    n_damaged: AtomicUsize,
}

impl Cable {
    /// A cable to a database of the server.
    pub fn to(cluster: &Cluster, url: &str) -> Self {
        Self::with(cluster, url, Shared::default())
    }

    /// A cable over which a node does not hear the signals of others, however good it is otherwise.
    pub fn without_signals(cluster: &Cluster, url: &str) -> Self {
        Self::with(cluster, url, Shared { is_quiet: true, ..Shared::default() })
    }

    fn with(cluster: &Cluster, url: &str, shared: Shared) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("the folder is empty");
        let here = folder.path().to_string_lossy().replace('/', "%2F");
        let url = url.replace(&cluster.host(), &here);
        let shared = Arc::new(shared);
        let accepting = tokio::spawn(accept(listener, cluster.folder().join(SOCKET), shared.clone()));
        Self { _folder: folder, url, shared, accepting }
    }

    /// The URL of the database by way of this cable.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Damages the next commit that comes this way.
    pub fn damage(&self, damage: Damage) {
        *self.shared.next.lock() = Some(damage);
    }

    pub fn mend(&self) {
        *self.shared.next.lock() = None;
    }

    /// The commits so far that were damaged.
    pub fn n_damaged(&self) -> usize {
        self.shared.n_damaged.load(Ordering::Relaxed)
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: UnixListener, server: PathBuf, shared: Arc<Shared>) {
    while let Ok((node, _)) = listener.accept().await {
        let (server, shared) = (server.clone(), shared.clone());
        tokio::spawn(async move {
            if let Ok(server) = UnixStream::connect(server).await {
                connect(node, server, &shared).await;
            }
        });
    }
}

/// Both directions end together, as those of a cable that is cut.
async fn connect(node: UnixStream, server: UnixStream, shared: &Shared) {
    let (from_node, to_node) = node.into_split();
    let (from_server, to_server) = server.into_split();
    let is_deaf = Mutex::new(false);
    tokio::select! {
        () = ask(from_node, to_server, shared, &is_deaf) => {}
        () = answer(from_server, to_node, &is_deaf) => {}
    }
}

async fn ask(mut node: OwnedReadHalf, mut server: OwnedWriteHalf, shared: &Shared, is_deaf: &Mutex<bool>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(n @ 1..) = node.read(&mut bytes).await {
        if shared.is_quiet {
            listen_elsewhere(&mut bytes[..n]);
        }
        // The service sends it by itself, as text, at the end of what it sends at once.
        let damage = if bytes[..n].ends_with(b"commit\0") { shared.next.lock().take() } else { None };
        shared.n_damaged.fetch_add(usize::from(damage.is_some()), Ordering::Relaxed);
        match damage {
            Some(Damage::RequestLost) => return,
            Some(Damage::AnswerLost) => *is_deaf.lock() = true,
            Some(Damage::Slow(time)) => tokio::time::sleep(time).await,
            None => {}
        }
        if server.write_all(&bytes[..n]).await.is_err() {
            return;
        }
    }
}

/// Has the node listen to a channel that nobody speaks on.
fn listen_elsewhere(bytes: &mut [u8]) {
    const LISTEN: &[u8] = b"listen aerogram\0";
    if let Some(at) = bytes.windows(LISTEN.len()).position(|part| part == LISTEN) {
        bytes[at + LISTEN.len() - 2] = b'_';
    }
}

async fn answer(mut server: OwnedReadHalf, mut node: OwnedWriteHalf, is_deaf: &Mutex<bool>) {
    let mut bytes = vec![0; 1 << 16];
    let mut swallowed = Vec::new();
    while let Ok(n @ 1..) = server.read(&mut bytes).await {
        if *is_deaf.lock() {
            swallowed.extend_from_slice(&bytes[..n]);
            let says = |tag: &[u8]| swallowed.windows(tag.len()).any(|part| part == tag);
            if says(b"COMMIT\0") || says(b"ROLLBACK\0") {
                return;
            }
        } else if node.write_all(&bytes[..n]).await.is_err() {
            return;
        }
    }
}
