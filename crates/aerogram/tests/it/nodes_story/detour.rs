//! A way to a PostgreSQL server that can be cut: nothing passes any more, and nobody is told.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const SOCKET: &str = ".s.PGSQL.5432";

pub(super) struct Detour {
    url: String,
    /// How often the way was cut, and whether it is cut now.
    state: watch::Sender<State>,
    accepting: JoinHandle<()>,
    _folder: TempDir,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct State {
    n_cuts: usize,
    is_cut: bool,
}

impl Detour {
    pub(super) async fn start(url: &str) -> Self {
        let (user, rest) = url.split_once('@').unwrap();
        let (host, rest) = rest.split_once('/').unwrap();
        let server = Path::new(&host.replace("%2F", "/").replace("%25", "%")).join(SOCKET);
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let host = folder.path().to_str().unwrap().replace('%', "%25").replace('/', "%2F");
        let state = watch::Sender::new(State::default());
        let accepting = tokio::spawn(accept(listener, server, state.subscribe()));
        Self { url: format!("{user}@{host}/{rest}"), state, accepting, _folder: folder }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// From here on nothing passes; connections stay.
    pub(super) fn cut(&self) {
        self.state.send_modify(|state| *state = State { n_cuts: state.n_cuts + 1, is_cut: true });
    }

    /// Ends the connections that were cut; new ones pass.
    pub(super) fn mend(&self) {
        self.state.send_modify(|state| state.is_cut = false);
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: UnixListener, server: PathBuf, state: watch::Receiver<State>) {
    loop {
        let (near, _) = listener.accept().await.unwrap();
        let (server, mut state) = (server.clone(), state.clone());
        tokio::spawn(async move {
            state.wait_for(|state| !state.is_cut).await.unwrap();
            let n_cuts = state.borrow().n_cuts;
            let Ok(far) = UnixStream::connect(server).await else { return };
            let (near, far) = (near.into_split(), far.into_split());
            tokio::join!(pass(near.0, far.1, state.clone(), n_cuts), pass(far.0, near.1, state, n_cuts));
        });
    }
}

async fn pass(
    mut from: tokio::net::unix::OwnedReadHalf,
    mut to: tokio::net::unix::OwnedWriteHalf,
    mut state: watch::Receiver<State>,
    n_cuts: usize,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        tokio::select! {
            biased;
            () = async { drop(state.wait_for(|state| state.n_cuts != n_cuts).await) } => {
                // What is under way is lost when the way is mended, and until then nobody hears of it.
                drop(state.wait_for(|state| !state.is_cut).await);
                return;
            }
            read = from.read(&mut buffer) => match read {
                Ok(n_bytes) if n_bytes > 0 && to.write_all(&buffer[..n_bytes]).await.is_ok() => {}
                _ => return,
            },
        }
    }
}
