//! PostgreSQL behind TLS. The server of the tests is reached by a socket, so something in front of it ends
//! the encryption.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use store::{DatabaseUrl, PostgresSettings, Store};
use testkit::store::{Database, Home, databases};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;

use crate::{NO_APP, execute, ids, insert};

/// What a client sends to ask for TLS, and the answer to it.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const TLS_WANTED: &[u8] = b"S";

/// An authority, in a file as operators have it.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = folder.join(name);
        std::fs::write(&file, issuer.pem()).unwrap();
        Self { issuer, file }
    }

    fn acceptor_for(&self, name: &str) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap());
        TlsAcceptor::from(Arc::new(config.unwrap()))
    }
}

/// Takes encrypted connections only, and passes them on to the server.
struct Gate {
    port: u16,
    n_encrypted: Arc<AtomicUsize>,
}

impl Gate {
    async fn open(socket: PathBuf, acceptor: TlsAcceptor) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let n_encrypted = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_encrypted);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, socket.clone(), acceptor.clone(), Arc::clone(&counted)));
            }
        });
        Self { port, n_encrypted }
    }
}

async fn pass(mut client: TcpStream, socket: PathBuf, acceptor: TlsAcceptor, counted: Arc<AtomicUsize>) -> Option<()> {
    let mut request = [0; 8];
    client.read_exact(&mut request).await.ok()?;
    if request != TLS_REQUEST {
        return None;
    }
    client.write_all(TLS_WANTED).await.ok()?;
    let mut client = acceptor.accept(client).await.ok()?;
    counted.fetch_add(1, Ordering::Relaxed);
    let mut server = UnixStream::connect(socket).await.ok()?;
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}

/// The socket of the server, and the name of the database.
fn parts(url: &DatabaseUrl) -> (PathBuf, String) {
    let DatabaseUrl::Postgres(url) = url else { panic!("{url} is not of PostgreSQL") };
    let (host, database) = url.split_once('@').unwrap().1.split_once('/').unwrap();
    let database = database.split('?').next().unwrap_or_default();
    (Path::new(&host.replace("%2F", "/")).join(".s.PGSQL.5432"), database.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_reached_by_tls_and_is_who_it_says() {
    if !databases().contains(&Database::Postgres) {
        return;
    }
    let home = Home::new(Database::Postgres);
    let folder = tempfile::tempdir().unwrap();
    let (ours, other) = (Authority::new(folder.path(), "ours.pem"), Authority::new(folder.path(), "other.pem"));
    let (socket, database) = parts(&home.url);
    let gate = Gate::open(socket, ours.acceptor_for("localhost")).await;
    let open = async |host: &str, options: &str| {
        let url = format!("postgres://aerogram@{host}:{}/{database}?{options}", gate.port);
        Store::open(&DatabaseUrl::parse(&url).unwrap()).await
    };
    let (our_file, other_file) = (ours.file.as_path(), other.file.as_path());
    let (ours, other) = (our_file.display(), other_file.display());

    let store = open("localhost", &format!("sslmode=verify-full&sslrootcert={ours}")).await.unwrap();
    execute(&store, "create table item (id bigint primary key)").await;
    insert(&store, NO_APP, 7).await.unwrap();
    assert_eq!(ids(&store).await, [7]);
    store.close().await;
    assert_ne!(gate.n_encrypted.load(Ordering::Relaxed), 0);

    let any_name = [format!("sslmode=verify-ca&sslrootcert={ours}"), format!("sslmode=require&sslrootcert={ours}")];
    for options in any_name.iter().map(String::as_str).chain(["sslmode=require", "sslmode=prefer", ""]) {
        let store = open("127.0.0.1", options).await.unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(ids(&store).await, [7]);
        store.close().await;
    }
    // Each host of a URL has to be who it says.
    let strict = format!("sslmode=verify-full&sslrootcert={ours}");
    let other_name = format!("127.0.0.1:{}", gate.port);
    let store = open(&format!("{other_name},localhost"), &strict).await.unwrap();
    assert_eq!(ids(&store).await, [7]);
    store.close().await;
    let error = open(&format!("localhost:1,{other_name},127.0.0.1"), &strict).await.err().unwrap().to_string();
    assert!(error.contains("localhost:1: ") && error.matches("it is for another name").count() == 2, "{error}");

    let refused = [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={ours}"), "it is for another name"),
        (
            "localhost",
            format!("sslmode=verify-full&sslrootcert={other}"),
            "has issued it; name the file of its authority with sslrootcert",
        ),
        ("localhost", format!("sslmode=verify-ca&sslrootcert={other}"), "its certificate is not trusted: no authority"),
        ("localhost", "sslmode=verify-full".to_owned(), "no authority that is trusted here"),
        ("localhost", "sslmode=verify-full&sslrootcert=/nowhere.pem".to_owned(), "/nowhere.pem"),
        ("localhost", "sslmode=disable".to_owned(), "cannot be reached"),
    ];
    for (host, options, why) in refused {
        let error = open(host, &options).await.err().unwrap_or_else(|| panic!("{options} is not refused"));
        assert!(error.to_string().contains(why), "{options}: {error}");
    }

    // The file that the service trusts as well counts where the URL names none.
    let open_with = async |ca_file: &Path, options: &str| {
        let url = format!("postgres://aerogram@localhost:{}/{database}?{options}", gate.port);
        Store::open_with(&DatabaseUrl::parse(&url).unwrap(), Some(ca_file), PostgresSettings::default()).await
    };
    let named = format!("sslmode=verify-full&sslrootcert={ours}");
    for (ca_file, options) in [
        (our_file, "sslmode=verify-full"),
        (our_file, "sslmode=verify-ca"),
        (our_file, "sslmode=verify-full&sslrootcert=system"),
        (other_file, named.as_str()),
        (Path::new("/nowhere.pem"), named.as_str()),
    ] {
        let store = open_with(ca_file, options).await.unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(ids(&store).await, [7]);
        store.close().await;
    }
    let refused = [
        (other_file, "sslmode=verify-full".to_owned(), "or without that with AEROGRAM_CA_FILE"),
        (our_file, format!("sslmode=verify-full&sslrootcert={other}"), "its certificate is not trusted: no authority"),
        (Path::new("/nowhere.pem"), "sslmode=verify-full".to_owned(), "ca_file: /nowhere.pem cannot be read"),
    ];
    for (ca_file, options, why) in refused {
        let error = open_with(ca_file, &options).await.err().unwrap_or_else(|| panic!("{options} is not refused"));
        assert!(error.to_string().contains(why), "{options}: {error}");
    }
}
