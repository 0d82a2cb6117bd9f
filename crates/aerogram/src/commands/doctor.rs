//! `aerogram doctor`: whether the service and its files are in order, one line per check.

mod file;
mod finding;
mod metrics;
mod platforms;

use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use model::time::Clock;
use serde::Deserialize;
use store::DatabaseUrl;
use store::examine::{Examined, ServerFacts};

use crate::client::{Client, Refused, Reply};
use crate::config::{Data, Remote, Sealing, Sources};
use crate::data::{DataFolder, Exposed};
use finding::{Finding, Report};
use metrics::Metrics;

/// The code of a healthy node that does not serve the API.
const ONLY_SENDS: u32 = 50303;

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    sealing: Sealing,
}

#[derive(Deserialize)]
struct Health {
    version: String,
}

impl Doctor {
    pub(crate) async fn run(&self, sources: &Sources) -> Result<ExitCode> {
        let mut report = Report::default();
        report.add("files", self.files(sources).into());
        let database = Finding::from(self.database().await);
        let is_usable = !matches!(database, Finding::Wrong(_));
        report.add("database", database);
        report.add_all("database", Ok(file::findings(&self.data.database, is_usable).await));
        let client = Client::anonymous(&self.remote)?;
        match client.get("/health").await {
            Ok(health) => {
                report.add("server", version(&health).into());
                self.ask(&client, &mut report).await;
            }
            Err(error) => {
                report.add("server", Finding::wrong(&error));
                report.add("service", Finding::Note("Nothing else was checked, because no server answers.".to_owned()));
            }
        }
        report.print(self.remote.json)
    }

    fn files(&self, sources: &Sources) -> Result<Finding> {
        let folder = DataFolder::of(&self.data);
        let mut exposed = folder.exposed(&self.data.database)?;
        exposed.extend(sources.secrets_file.as_deref().and_then(Exposed::settings_file));
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

    /// Whether a node has run with this folder, and so bound the database to a key.
    fn has_started(&self, folder: &DataFolder) -> Result<bool> {
        match &self.data.database {
            DatabaseUrl::Sqlite(path) => Ok(path.exists()),
            DatabaseUrl::Postgres(_) => Ok(folder.operator_token()?.is_some()),
        }
    }

    /// Looks without changing anything: opening the database as the service does would migrate it.
    async fn database(&self) -> Result<Finding> {
        match &self.data.database {
            DatabaseUrl::Sqlite(path) => match std::fs::OpenOptions::new().read(true).write(true).open(path) {
                Ok(_) => self.examine(&path.display().to_string()).await,
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
                match self.examine(&database.to_string()).await {
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
    async fn examine(&self, shown: &str) -> Result<Finding> {
        let key = match &self.sealing.secrets_key {
            Some(key) => Some(key.clone()),
            // That it is missing is told with the files.
            None => DataFolder::of(&self.data).secrets_key()?,
        };
        let seal_key = key.map(|key| key.seal_key());
        let look = move |tx: &mut store::Tx<'_>| seal_key.map(|key| engine::is_open_to(tx, &key)).transpose();
        let examined = store::examine::examine(&self.data.database, look).await;
        let (examined, server) = examined.with_context(|| format!("{shown} is not what a node could start on"))?;
        let server = server.map(|facts| {
            let ServerFacts { version, n_connections, most_connections } = facts;
            format!(" PostgreSQL {version} has {n_connections} of {most_connections} connections in use.")
        });
        let server = server.unwrap_or_default();
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
        report.add("ready", ready(client).await.into());
        let operator = match Client::operator(&self.remote, &self.data) {
            Ok(operator) => operator,
            Err(error) => {
                report.add("operator", Finding::wrong(&error));
                return report.skip(&["platforms", "jobs", "live", "webhooks"]);
            }
        };
        match operator.get("/operator/apps").await {
            Ok(_) => {
                report.add("operator", Finding::Fine("The server accepts the operator token.".to_owned()));
                let found = platforms::findings(&operator, Clock::System.now()).await;
                report.add_all("platforms", found);
            }
            Err(error) => {
                let elsewhere = error.downcast_ref::<Refused>().filter(|refused| refused.code == Some(ONLY_SENDS));
                let note = |refused: &Refused| Finding::Note(refused.text.clone());
                report.add("operator", elsewhere.map_or_else(|| Finding::wrong(&error), note));
                report.skip(&["platforms"]);
            }
        }
        match Metrics::ask(&operator).await {
            Ok(metrics) => {
                report.add("jobs", metrics.jobs());
                report.add("live", metrics.live_connections());
                report.add_all("webhooks", Ok(metrics.webhooks()));
            }
            Err(error) => {
                report.add("jobs", Finding::wrong(&error));
                report.skip(&["live", "webhooks"]);
            }
        }
    }
}

/// Whether the server of the database cannot be asked from here.
fn is_away(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(store::Error::Unavailable(_)))
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

async fn ready(client: &Client) -> Result<Finding> {
    client.get("/ready").await?;
    Ok(Finding::Fine("The server reaches its database and is ready.".to_owned()))
}
