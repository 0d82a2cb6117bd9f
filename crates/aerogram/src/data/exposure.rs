//! Whether users other than the service's own can access the files of the data folder, or a settings file with secrets.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use store::DatabaseUrl;

use super::{DataFolder, FIRST_APP, OPERATOR_TOKEN, SECRETS_KEY};

/// A file, or the folder, that users other than the service's own can access.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exposed {
    pub(crate) path: PathBuf,
    /// The mode that it should have.
    pub(crate) mode: &'static str,
}

impl Exposed {
    /// A settings file with secrets, or the key of the certificate, if everybody can read or write it. Its group may: it belongs to
    /// whoever edits it, and the service reads it as a member of the group.
    pub(crate) fn to_everybody(path: &Path) -> Option<Self> {
        // One that is not there is read by nobody, and missed elsewhere.
        let mode = fs::metadata(path).ok()?.permissions().mode();
        (mode & 0o007 != 0).then(|| Self { path: path.to_owned(), mode: "o=" })
    }
}

impl DataFolder {
    /// The files of the service that others may read or write, and the folder itself if they may put other files there. Other
    /// files are ignored: the folder may be used for other things as well.
    pub(crate) fn exposed(&self, database: &DatabaseUrl) -> Result<Vec<Exposed>> {
        let folder = if self.0.as_os_str().is_empty() { Path::new(".") } else { &self.0 };
        let unknown = || format!("{} cannot be examined", folder.display());
        let mut exposed = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(exposed),
            Err(error) => return Err(error).with_context(unknown),
        };
        if fs::metadata(folder).with_context(unknown)?.permissions().mode() & 0o022 != 0 {
            exposed.push(Exposed { path: folder.to_owned(), mode: "700" });
        }
        for entry in entries {
            let entry = entry.with_context(unknown)?;
            if !is_ours(&entry.file_name(), database) {
                continue;
            }
            // Follows links, since container platforms mount secrets as links.
            match fs::metadata(entry.path()) {
                Ok(metadata) if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 => {
                    exposed.push(Exposed { path: entry.path(), mode: "600" });
                }
                Ok(_) => {}
                // Snapshots and the database's temporary files come and go.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(unknown),
            }
        }
        exposed.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(exposed)
    }
}

/// By the beginning of the name: copies that somebody made beside a file are as secret as the file.
fn is_ours(name: &OsStr, database: &DatabaseUrl) -> bool {
    let database = match database {
        DatabaseUrl::Sqlite(path) => path.file_name(),
        DatabaseUrl::Postgres(_) => None,
    };
    let ours = [OPERATOR_TOKEN, SECRETS_KEY, FIRST_APP, "audience-"].map(OsStr::new);
    ours.into_iter().chain(database).any(|ours| name.as_bytes().starts_with(ours.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exposed files, each with the mode that it should have.
    fn exposed(folder: &DataFolder) -> Vec<String> {
        let database = DatabaseUrl::Sqlite(folder.path().join("aerogram.db"));
        let exposed = folder.exposed(&database).unwrap().into_iter();
        let name = |path: &Path| path.strip_prefix(folder.path()).unwrap().display().to_string();
        exposed.map(|Exposed { path, mode }| format!("{} {mode}", name(&path))).collect()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_settings_file_is_for_its_owner_and_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("aerogram.toml");
        fs::write(&path, "").unwrap();
        for (mode, is_exposed) in [(0o600, false), (0o640, false), (0o644, true), (0o602, true)] {
            set_mode(&path, mode);
            assert_eq!(Exposed::to_everybody(&path).is_some(), is_exposed, "{mode:o}");
        }
    }

    #[test]
    fn every_file_of_ours_that_others_can_read_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = DataFolder(temporary.path().join("data"));
        folder.create().unwrap();
        folder.write_first_app("old").unwrap();
        let first_app = folder.write_first_app("new").unwrap();
        assert_eq!(fs::read_to_string(first_app).unwrap(), "new");
        let names = ["aerogram.db", "aerogram.db-wal", "audience-1.snapshot", "others.txt", "secrets.key"];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
            set_mode(&folder.path().join(name), 0o600);
        }
        assert_eq!(exposed(&folder), [""; 0]);
        for name in names {
            set_mode(&folder.path().join(name), 0o640);
        }
        // A user who can put files into the folder can replace ours.
        set_mode(folder.path(), 0o755);
        let files = ["aerogram.db 600", "aerogram.db-wal 600", "audience-1.snapshot 600", "secrets.key 600"];
        assert_eq!(exposed(&folder), files);
        set_mode(folder.path(), 0o775);
        assert_eq!(exposed(&folder), [&[" 700"], &files[..]].concat());
    }
}
