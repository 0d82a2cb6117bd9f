//! A pooler between the service and PostgreSQL that gives sessions away transaction by transaction. It is played here, with one
//! session for all clients; PgBouncer itself was tried by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::{DatabaseUrl, Error, Store};
use testkit::postgres::cluster;
use testkit::store::{Database, databases};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Version 3.0 of the protocol.
const STARTUP: u32 = 196_608;
/// Authenticated, a made-up key to cancel statements by, and ready for the first.
const WELCOME: &[u8] =
    &[b'R', 0, 0, 0, 8, 0, 0, 0, 0, b'K', 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 2, b'Z', 0, 0, 0, 5, b'I'];

/// A message with its type and length.
async fn message(from: &mut (impl AsyncReadExt + Unpin)) -> Option<Vec<u8>> {
    let mut whole = vec![0; 5];
    from.read_exact(&mut whole).await.ok()?;
    let length = u32::from_be_bytes([whole[1], whole[2], whole[3], whole[4]]);
    whole.resize(1 + usize::try_from(length).ok()?, 0);
    from.read_exact(&mut whole[5..]).await.ok()?;
    Some(whole)
}

async fn session(socket: &Path, database: &str) -> UnixStream {
    let mut server = UnixStream::connect(socket).await.unwrap();
    let wanted = format!("user\0aerogram\0database\0{database}\0application_name\0aerogram\0\0");
    server.write_u32(u32::try_from(wanted.len()).unwrap() + 8).await.unwrap();
    server.write_u32(STARTUP).await.unwrap();
    server.write_all(wanted.as_bytes()).await.unwrap();
    while message(&mut server).await.unwrap()[0] != b'Z' {}
    server
}

async fn serve(mut client: TcpStream, shared: Arc<Mutex<UnixStream>>) -> Option<()> {
    let length = client.read_u32().await.ok()?;
    let mut startup = vec![0; usize::try_from(length).ok()? - 4];
    client.read_exact(&mut startup).await.ok()?;
    client.write_all(WELCOME).await.ok()?;
    let mut held: Option<OwnedMutexGuard<UnixStream>> = None;
    loop {
        let request = message(&mut client).await.filter(|request| request[0] != b'X')?;
        let mut server = match held.take() {
            Some(server) => server,
            None => Arc::clone(&shared).lock_owned().await,
        };
        server.write_all(&request).await.ok()?;
        // A query, or the end of a group of messages, is answered.
        if !matches!(request[0], b'Q' | b'S') {
            held = Some(server);
            continue;
        }
        loop {
            let answer = message(&mut *server).await?;
            client.write_all(&answer).await.ok()?;
            match (answer[0], answer.get(5)) {
                (b'Z', Some(b'I')) => break,
                (b'Z', _) => {
                    held = Some(server);
                    break;
                }
                _ => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_shared_by_transactions_are_refused_at_the_start() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let url = cluster().fresh_database();
    let (host, database) = url.split_once('@').unwrap().1.split_once('/').unwrap();
    let socket: PathBuf = Path::new(&host.replace("%2F", "/")).join(".s.PGSQL.5432");
    let database = database.split('?').next().unwrap();
    let shared = Arc::new(Mutex::new(session(&socket, database).await));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(serve(client, Arc::clone(&shared)));
        }
    });
    let pooled = format!("postgres://aerogram@127.0.0.1:{port}/{database}?sslmode=disable");
    let error = Store::open(&DatabaseUrl::parse(&pooled).unwrap()).await.err().unwrap();
    assert!(matches!(error, Error::Corrupt(_)), "trying again would not help: {error:?}");
    for advice in ["pool_mode=transaction", "the address of the server itself", "pool_mode=session"] {
        assert!(error.to_string().contains(advice), "{error}");
    }
    let tables = "select count(*) from pg_namespace where nspname = 'aerogram'";
    assert_eq!(cluster().ask(&url, tables), "0", "nothing is made through it");
}
