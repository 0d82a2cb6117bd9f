//! `aerogram doctor`: whether the service and its files are in order, one line per check.

mod platforms;

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use model::time::Clock;
use serde::Deserialize;
use store::DatabaseUrl;

use crate::client::Client;
use crate::config::{Data, Remote};
use crate::data::{DataFolder, Exposed};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Doctor {
    #[command(flatten)]
    remote: Remote,
    #[command(flatten)]
    data: Data,
}

#[derive(Deserialize)]
struct Health {
    version: String,
}

/// What a check found out, with what to do when something is wrong.
enum Finding {
    Fine(String),
    /// Fine so far, but not for long.
    Soon(String),
    Wrong(String),
}

impl From<Result<String>> for Finding {
    fn from(found: Result<String>) -> Self {
        match found {
            Ok(text) => Finding::Fine(text),
            Err(error) => Finding::Wrong(format!("{error:#}")),
        }
    }
}

impl Doctor {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::anonymous(&self.remote);
        let mut findings = vec![
            ("files", Finding::from(self.files())),
            ("database", Finding::from(self.database())),
            ("server", Finding::from(version(&client).await)),
            ("ready", Finding::from(ready(&client).await)),
            ("operator", Finding::from(self.operator().await)),
        ];
        findings.extend(self.platforms().await.into_iter().map(|finding| ("platforms", finding)));
        let mut exit = ExitCode::SUCCESS;
        for (check, finding) in findings {
            match finding {
                Finding::Fine(text) => output::line(format_args!("ok    {check:<9} {text}"))?,
                Finding::Soon(text) => output::line(format_args!("warn  {check:<9} {text}"))?,
                Finding::Wrong(text) => {
                    output::line(format_args!("FAIL  {check:<9} {text}"))?;
                    exit = ExitCode::FAILURE;
                }
            }
        }
        Ok(exit)
    }

    fn files(&self) -> Result<String> {
        let folder = DataFolder::of(&self.data);
        let exposed = folder.exposed(&self.data.database)?;
        if !exposed.is_empty() {
            let commands = exposed.iter().map(|Exposed { path, mode }| format!("chmod {mode} {}", path.display()));
            bail!("Other users can get at files of the service; run `{}`.", commands.collect::<Vec<_>>().join(" && "));
        }
        Ok(format!("Nobody else can read the files in {}.", folder.path().display()))
    }

    /// Looks from outside only: opening the database would migrate it, and a running service has the file to itself.
    fn database(&self) -> Result<String> {
        match &self.data.database {
            DatabaseUrl::Sqlite(path) => match std::fs::OpenOptions::new().read(true).write(true).open(path) {
                Ok(_) => Ok(format!("{} can be read and written.", path.display())),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    bail!("There is no {}; it is made when the service starts.", path.display())
                }
                Err(error) => Err(error).with_context(|| format!("{} cannot be used", path.display())),
            },
            DatabaseUrl::Postgres(_) => Ok(format!("{}; the server says whether it is reachable.", self.data.database)),
        }
    }

    async fn operator(&self) -> Result<String> {
        Client::operator(&self.remote, &self.data)?.get("/operator/apps").await?;
        Ok("The server accepts the operator token.".to_owned())
    }

    async fn platforms(&self) -> Vec<Finding> {
        let asked = async {
            let client = Client::operator(&self.remote, &self.data)?;
            platforms::findings(&client, Clock::System.now()).await
        };
        asked.await.unwrap_or_else(|error| vec![Finding::Wrong(format!("{error:#}"))])
    }
}

async fn version(client: &Client) -> Result<String> {
    let (server, own) = (client.get("/health").await?.read::<Health>()?.version, env!("CARGO_PKG_VERSION"));
    if server != own {
        bail!("The server is version {server} and this program is {own}; use the same version.");
    }
    Ok(format!("The server runs version {server}, like this program."))
}

async fn ready(client: &Client) -> Result<String> {
    client.get("/ready").await?;
    Ok("The server reaches its database and takes requests.".to_owned())
}
