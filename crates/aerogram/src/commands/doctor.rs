//! `aerogram doctor`: whether the service and its files are in order, one line per check.

mod certificate;
mod file;
mod finding;
mod postgres;
mod server;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use model::time::Clock;
use serde::Deserialize;
use store::DatabaseUrl;
use store::examine::{Examined, ServerFacts};

use crate::client::{Client, Reply};
use crate::config::{Data, DatabaseUse, HEADING, Remote, Sealing, Sources};
use crate::data::{DataFolder, Exposed};
use finding::{Finding, Report};

/// How long the credentials of the first app may lie in the data folder.
const PUT_AWAY_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    sealing: Sealing,
    #[command(flatten)]
    database_use: DatabaseUse,
    /// The key of the server's certificate, which others must not read
    #[arg(long, hide = true, value_name = "PATH", help_heading = HEADING)]
    tls_key: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Health {
    version: String,
}

impl Doctor {
    pub(crate) async fn run(&self, sources: &Sources) -> Result<ExitCode> {
        let mut report = Report::default();
        report.add("files", self.files(sources).into());
        report.add_all("files", self.forgotten().into_iter().collect());
        if let Some(certificate) = self.remote.own_certificate() {
            report.add("tls", certificate::finding(certificate).into());
        }
        let mut facts = None;
        let database = Finding::from(self.database(&mut facts).await);
        let is_usable = !matches!(database, Finding::Wrong(_));
        report.add("database", database);
        report.add_all("database", file::findings(&self.data.database, is_usable).await?);
        let of_server = facts.map(|facts| postgres::findings(&facts, self.database_use.settings()));
        report.add_all("database", of_server.unwrap_or_default());
        let client = Client::anonymous(&self.remote)?;
        match client.get("/health").await {
            Ok(health) => {
                report.add("server", version(&health).into());
                self.ask(&client, &mut report).await;
            }
            Err(error) => {
                report.add("server", Finding::wrong(&error));
                report.add(
                    "service",
                    Finding::Note("Nothing else was checked, because the server cannot be asked.".to_owned()),
                );
            }
        }
        report.print(self.remote.json)
    }

    fn files(&self, sources: &Sources) -> Result<Finding> {
        let folder = DataFolder::of(&self.data);
        let mut exposed = folder.exposed(&self.data.database)?;
        let named = [sources.secrets_file.as_deref(), self.tls_key.as_deref()];
        exposed.extend(named.into_iter().flatten().filter_map(Exposed::to_everybody));
        if !exposed.is_empty() {
            let commands = exposed.iter().map(|Exposed { path, mode }| format!("chmod {mode} {}", path.display()));
            bail!("Other users can get at files of the service; run `{}`.", commands.collect::<Vec<_>>().join(" && "));
        }
        if !folder.exists() {
            let text = format!("There is no folder {} here, so no files were checked.", folder.path().display());
            return Ok(Finding::Note(text));
        }
        if self.sealing.secrets_key.is_none() && self.has_started(&folder)? && folder.secrets_key()?.is_none() {
            return Err(folder.no_secrets_key());
        }
        Ok(Finding::Fine(format!("Nobody else can read the files in {}.", folder.path().display())))
    }

    /// The credentials that the first start wrote down, if nobody has put them away since.
    fn forgotten(&self) -> Option<Finding> {
        let (path, written) = DataFolder::of(&self.data).first_app()?;
        (Clock::System.now() > written.plus(PUT_AWAY_WITHIN)).then(|| {
            Finding::Soon(format!(
                "{} has the secrets of the first app since {}; put them where they belong, and delete it.",
                path.display(),
                written.to_date()
            ))
        })
    }

    /// Whether a node has run with this folder, and so bound the database to a key.
    fn has_started(&self, folder: &DataFolder) -> Result<bool> {
        match &self.data.database {
            DatabaseUrl::Sqlite(path) => Ok(path.exists()),
            DatabaseUrl::Postgres(_) => Ok(folder.operator_token()?.is_some()),
        }
    }

    /// Looks without changing anything: opening the database as the service does would migrate it.
    async fn database(&self, facts: &mut Option<ServerFacts>) -> Result<Finding> {
        match &self.data.database {
            DatabaseUrl::Sqlite(path) => match std::fs::OpenOptions::new().read(true).write(true).open(path) {
                Ok(_) => self.examine(&path.display().to_string(), facts).await,
                Err(error) if error.kind() == ErrorKind::NotFound && !is_in_a_folder(path) => {
                    Ok(Finding::Note(format!("There is no {} here, so it was not checked.", path.display())))
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    DataFolder::of(&self.data).refuse_lost_database(&self.data.database)?;
                    bail!("There is no {}; it is made when the service starts.", path.display())
                }
                Err(error) => Err(error).with_context(|| format!("{} cannot be used", path.display())),
            },
            DatabaseUrl::Postgres(_) => {
                let database = &self.data.database;
                match self.examine(&database.to_string(), facts).await {
                    Err(error) if is_away(&error) => Ok(Finding::Note(format!(
                        "{database} was not asked; `ready` says whether the server reaches its database. {}.",
                        error.root_cause()
                    ))),
                    examined => examined,
                }
            }
        }
    }

    /// Whether this program can start on a database that is there.
    async fn examine(&self, shown: &str, facts: &mut Option<ServerFacts>) -> Result<Finding> {
        let key = match &self.sealing.secrets_key {
            Some(key) => Some(key.clone()),
            // That it is missing is told with the files.
            None => DataFolder::of(&self.data).secrets_key()?,
        };
        let seal_key = key.map(|key| key.seal_key());
        let look = move |tx: &mut store::Tx<'_>| seal_key.map(|key| engine::is_open_to(tx, &key)).transpose();
        let ca_file = self.remote.authorities.ca_file.as_deref();
        let examined = store::examine::examine(&self.data.database, ca_file, look).await;
        let (examined, server) = examined.with_context(|| format!("{shown} is not what a node could start on"))?;
        *facts = server;
        let server = facts.as_ref().map(postgres::summary).unwrap_or_default();
        Ok(match examined {
            Examined::Empty => {
                Finding::Note(format!("{shown} is empty; tables are made when the service starts.{server}"))
            }
            Examined::Older => Finding::Note(format!(
                "{shown} is of a version before this program, which brings it up to date when it starts; its key was not \
                 looked at.{server}"
            )),
            Examined::Current(Some(false)) => bail!("{shown}: {}", engine::WRONG_KEY),
            Examined::Current(Some(true)) => {
                Finding::Fine(format!("{shown} can be read and written, and the secrets key fits it.{server}"))
            }
            Examined::Current(None) => {
                Finding::Fine(format!("{shown} can be read and written; there is no secrets key to try.{server}"))
            }
        })
    }

    /// The checks that need a running server.
    async fn ask(&self, client: &Client, report: &mut Report) {
        let asked = match Client::operator(&self.remote, &self.data) {
            Ok(operator) => server::findings(&operator).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(found) => {
                report.add("operator", Finding::Fine("The server accepts the operator token.".to_owned()));
                found.into_iter().for_each(|(check, finding)| report.add(check, finding));
            }
            Err(error) => {
                report.add("operator", Finding::wrong(&error));
                let (check, finding) = server::ready(client).await;
                report.add(check, finding);
                report.skip(&server::CHECKS);
            }
        }
    }
}

/// Whether the server of the database cannot be asked from here, as where only the service reaches it.
fn is_away(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref();
    error.is_some_and(|error| matches!(error, store::Error::Unavailable(_)) && !store::examine::is_refusal(error))
}

/// Whether the folder of the file exists, so that this may be the machine of the service.
fn is_in_a_folder(path: &Path) -> bool {
    path.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.is_dir())
}

fn version(health: &Reply) -> Result<Finding> {
    let (server, own) = (health.read::<Health>()?.version, env!("CARGO_PKG_VERSION"));
    if server != own {
        bail!("The server is version {server} and this program is {own}; use the same version.");
    }
    Ok(Finding::Fine(format!("The server runs version {server}, like this program.")))
}
