//! `aerogram doctor`: whether the service and its files are in order, one line per check.

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use store::DatabaseUrl;

use crate::client::Client;
use crate::config::{Data, Remote};
use crate::data::DataFolder;
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

/// What a check found out, or what is wrong and what to do.
type Finding = Result<String>;

impl Doctor {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = Client::anonymous(&self.remote);
        let findings = [
            ("files", self.files()),
            ("database", self.database()),
            ("server", version(&client).await),
            ("ready", ready(&client).await),
            ("operator", self.operator().await),
        ];
        let n_wrong = findings.iter().filter(|(_, finding)| finding.is_err()).count();
        for (check, finding) in findings {
            match finding {
                Ok(text) => output::line(format_args!("ok    {check:<9} {text}"))?,
                Err(error) => output::line(format_args!("FAIL  {check:<9} {error:#}"))?,
            }
        }
        Ok(if n_wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn files(&self) -> Finding {
        let folder = DataFolder::of(&self.data);
        let exposed = folder.exposed_files()?;
        if let Some(path) = exposed.first() {
            bail!("Other users can read {0}; run `chmod 600 {0}`.", path.display());
        }
        Ok(format!("Nobody else can read the secrets in {}.", folder.path().display()))
    }

    /// Looks from outside only: opening the database would migrate it, and a running service has the file to itself.
    fn database(&self) -> Finding {
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

    async fn operator(&self) -> Finding {
        Client::operator(&self.remote, &self.data)?.get("/operator/apps").await?;
        Ok("The server accepts the operator token.".to_owned())
    }
}

async fn version(client: &Client) -> Finding {
    let (server, own) = (client.get("/health").await?.read::<Health>()?.version, env!("CARGO_PKG_VERSION"));
    if server != own {
        bail!("The server is version {server} and this program is {own}; use the same version.");
    }
    Ok(format!("The server runs version {server}, like this program."))
}

async fn ready(client: &Client) -> Finding {
    client.get("/ready").await?;
    Ok("The server reaches its database and takes requests.".to_owned())
}
