//! The data folder: the files made on the first start, readable by the service's own user only.

mod exposure;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::time::UtcMillis;
use ring::rand::{SecureRandom, SystemRandom};
use store::DatabaseUrl;

use crate::config::{Data, SecretsKey, Token};

pub(crate) use exposure::Exposed;

const OPERATOR_TOKEN: &str = "operator-token";
const SECRETS_KEY: &str = "secrets.key";
const FIRST_APP: &str = "first-app.env";
const KEY_BYTES: usize = 32;

#[derive(Debug)]
pub(crate) struct DataFolder(PathBuf);

impl DataFolder {
    pub(crate) fn of(data: &Data) -> Self {
        if let Some(folder) = &data.data {
            return Self(folder.clone());
        }
        match &data.database {
            DatabaseUrl::Sqlite(path) => Self(path.parent().unwrap_or(Path::new("")).to_owned()),
            DatabaseUrl::Postgres(_) => Self(PathBuf::from("aerogram-data")),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn exists(&self) -> bool {
        self.0.as_os_str().is_empty() || self.0.is_dir()
    }

    pub(crate) fn create(&self) -> Result<()> {
        if self.0.as_os_str().is_empty() {
            return Ok(());
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.with_context(|| format!("The data folder {} cannot be made", self.0.display()))
    }

    pub(crate) fn operator_token_path(&self) -> PathBuf {
        self.0.join(OPERATOR_TOKEN)
    }

    /// The operator token, if there is one.
    pub(crate) fn operator_token(&self) -> Result<Option<Token>> {
        let path = self.operator_token_path();
        let Some(text) = read_private(&path)? else { return Ok(None) };
        let token = text.parse().map_err(|reason| anyhow!("{} holds no token. {reason}", path.display()))?;
        Ok(Some(token))
    }

    /// The operator token; it is made if there is none.
    pub(crate) fn ensure_operator_token(&self) -> Result<Token> {
        let path = self.operator_token_path();
        make_private(&path, &URL_SAFE_NO_PAD.encode(random_key()?))?;
        self.operator_token()?.with_context(|| format!("{} vanished.", path.display()))
    }

    pub(crate) fn secrets_key_path(&self) -> PathBuf {
        self.0.join(SECRETS_KEY)
    }

    /// The key that everything secret in the database is encrypted with, if there is one.
    pub(crate) fn secrets_key(&self) -> Result<Option<SecretsKey>> {
        let path = self.secrets_key_path();
        let Some(text) = read_private(&path)? else { return Ok(None) };
        let key = text.parse().map_err(|form| {
            anyhow!("{} is damaged. {form} Restore it from a backup, or copy that of another node.", path.display())
        })?;
        Ok(Some(key))
    }

    /// Refuses to begin anew where there was a database: its disk may not be mounted, or somebody has deleted it by mistake, and
    /// callers would be told that all they have stored is gone.
    pub(crate) fn refuse_lost_database(&self, database: &DatabaseUrl) -> Result<()> {
        let DatabaseUrl::Sqlite(path) = database else { return Ok(()) };
        let state = match fs::metadata(path) {
            Ok(file) if file.len() == 0 => "is empty",
            Err(error) if error.kind() == ErrorKind::NotFound => "is missing",
            // What else is wrong with it is told by opening it.
            Ok(_) | Err(_) => return Ok(()),
        };
        let traces = [self.secrets_key_path(), store::positions::path(path)];
        let traces: Vec<String> =
            traces.iter().filter(|trace| trace.exists()).map(|trace| trace.display().to_string()).collect();
        if traces.is_empty() {
            return Ok(());
        }
        bail!(
            "The database {} {state}, but there was one: {} belongs to it. See whether its disk is mounted, or restore it from a \
             backup. To begin anew without its data, move {} elsewhere, and keep it: without the key no copy of the database can be \
             read. A key of your own for a first start is set as AEROGRAM_SECRETS_KEY.",
            path.display(),
            traces.join(" and "),
            traces.join(" and ")
        )
    }

    /// The error when there is no key for a database that needs one.
    pub(crate) fn no_secrets_key(&self) -> anyhow::Error {
        anyhow!(
            "There is no {}, and what is encrypted in the database cannot be read without it. Copy it from another node \
             or from a backup, or set AEROGRAM_SECRETS_KEY to its content. If it is lost for good, stop all nodes and run \
             `aerogram secrets accept`, which says what has to be entered again.",
            self.secrets_key_path().display()
        )
    }

    /// The key; it is made if there is none. Only right for a database that belongs to no key yet.
    pub(crate) fn ensure_secrets_key(&self) -> Result<SecretsKey> {
        let path = self.secrets_key_path();
        make_private(&path, &SecretsKey::new(random_key()?).reveal())?;
        self.secrets_key()?.with_context(|| format!("{} vanished.", path.display()))
    }

    /// The file with the credentials of the first app, and when it was written, if it is there.
    pub(crate) fn first_app(&self) -> Option<(PathBuf, UtcMillis)> {
        let path = self.0.join(FIRST_APP);
        let written = path.metadata().and_then(|file| file.modified()).ok()?;
        let since_epoch = written.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some((path, UtcMillis(i64::try_from(since_epoch.as_millis()).ok()?)))
    }

    /// Writes the credentials of the app that the first start made, replacing those of an earlier installation.
    pub(crate) fn write_first_app(&self, content: &str) -> Result<PathBuf> {
        let path = self.0.join(FIRST_APP);
        let written = (|| {
            remove_if_there(&path)?;
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            file.write_all(content.as_bytes())?;
            file.sync_all()
        })();
        written.with_context(|| {
            format!(
                "{} cannot be written; the app was made, and its secrets are replaced with `aerogram app rotate`",
                path.display()
            )
        })?;
        Ok(path)
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[expect(clippy::disallowed_methods, reason = "the secrets of the installation are made here")]
fn random_key() -> Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    SystemRandom::new().fill(&mut key).map_err(|_| anyhow!("The system gave no random bytes."))?;
    Ok(key)
}

fn read_private(path: &Path) -> Result<Option<String>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
    };
    let mut text = String::new();
    file.read_to_string(&mut text).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Some(text.trim().to_owned()))
}

/// Writes a file that is whole or absent in any case, and leaves an existing one alone, also when two nodes start
/// at once: the content is written aside and then linked to its name, which fails when the name is taken.
fn make_private(path: &Path, content: &str) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    let made = (|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        writeln!(file, "{content}")?;
        file.sync_all()?;
        fs::hard_link(&aside, path)
    })();
    let cleaned = fs::remove_file(&aside);
    match made {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be made", path.display()));
        }
    }
    if let Err(error) = cleaned {
        bail!("{} cannot be removed: {error}.", aside.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> (tempfile::TempDir, DataFolder) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = DataFolder(temporary.path().join("data"));
        folder.create().unwrap();
        (temporary, folder)
    }

    #[test]
    fn secrets_are_made_once_and_kept_private() {
        let (_temporary, folder) = folder();
        assert!(folder.operator_token().unwrap().is_none());
        let token = folder.ensure_operator_token().unwrap();
        assert_eq!(folder.ensure_operator_token().unwrap(), token);
        assert_eq!(folder.operator_token().unwrap(), Some(token.clone()));
        assert_eq!(folder.secrets_key().unwrap(), None);
        let key = folder.ensure_secrets_key().unwrap();
        assert_eq!(folder.secrets_key().unwrap(), Some(key.clone()));
        assert_eq!(folder.ensure_secrets_key().unwrap(), key);
        assert_ne!(token.reveal(), key.reveal());

        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [OPERATOR_TOKEN, SECRETS_KEY]);
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_damaged_key_is_not_replaced() {
        let (_temporary, folder) = folder();
        fs::write(folder.path().join(SECRETS_KEY), "short").unwrap();
        let message = folder.ensure_secrets_key().unwrap_err().to_string();
        assert!(message.contains("secrets.key is damaged"), "{message}");
    }
}
