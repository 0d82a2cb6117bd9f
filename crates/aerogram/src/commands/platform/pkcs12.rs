//! Certificates in PKCS#12, the `.p12` files in which they are handed around, as PEM, which the service takes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKeyChain};
use pem::Pem;

use crate::commands::{read_input, read_text};

/// A certificate with those that vouch for it, and its key, as PEM.
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// Reads a file: PKCS#12 with its password if it has one, or PEM, in which often both are.
pub(super) fn read(path: &Path, password_file: Option<&PathBuf>) -> Result<Identity> {
    if password_file.is_some_and(|password| password == path) {
        bail!("The certificate and its password cannot both come from {}.", path.display());
    }
    let bytes = read_input(path)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) if password_file.is_none() => Ok(Identity { certificate: text.to_owned(), key: text.to_owned() }),
        Ok(_) => bail!("{} is not PKCS#12 (.p12), and only that has a password here.", path.display()),
        Err(_) => {
            let password = password_file.map(|path| read_text(path)).transpose()?;
            let password = password.as_deref().map_or("", |text| text.trim_end_matches(['\r', '\n']));
            let store = KeyStore::from_pkcs12(&bytes, password);
            let store = store.with_context(|| refusal(path, password_file.is_some()))?;
            only_one(&store).with_context(|| format!("{} cannot be used", path.display()))
        }
    }
}

/// What is exported from a keychain often has several, and with the wrong one nothing is delivered.
fn only_one(store: &KeyStore) -> Result<Identity> {
    let entries = store.entries().map(|(_, entry)| entry);
    let found: Vec<&PrivateKeyChain> = entries.filter_map(with_key).collect();
    let found = match found[..] {
        [one] => one,
        [] => bail!("it has no certificate with a key"),
        _ => {
            let subjects = found.iter().filter_map(|found| found.chain().first()).map(Certificate::subject);
            let subjects = subjects.collect::<Vec<_>>().join("; ");
            bail!("it has {} certificates with keys; export only the one that is meant of {subjects}", found.len())
        }
    };
    let chain = found.chain().iter().map(|certificate| Pem::new("CERTIFICATE", certificate.as_der()));
    let certificate = pem::encode_many(&chain.collect::<Vec<_>>());
    Ok(Identity { certificate, key: pem::encode(&Pem::new("PRIVATE KEY", found.key())) })
}

fn with_key(entry: &KeyStoreEntry) -> Option<&PrivateKeyChain> {
    match entry {
        KeyStoreEntry::PrivateKeyChain(found) => Some(found),
        KeyStoreEntry::Certificate(_) | KeyStoreEntry::Secret(_) => None,
    }
}

fn refusal(path: &Path, has_password: bool) -> String {
    let shown = path.display();
    let password = match has_password {
        true => "with the password of --certificate-password-file",
        false => "without a password, which --certificate-password-file would give",
    };
    format!(
        "{shown} is not PEM, and cannot be read as PKCS#12 (.p12) {password}. If the password is right, convert it with \
         `openssl pkcs12 -in {shown} -nodes -out certificate.pem` (with -legacy if OpenSSL asks for it)"
    )
}
