//! `aerogram migrate`: brings the tables up to date, for operators who want that apart from starting the service.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use model::time::Clock;
use serde_json::json;
use store::{PostgresSettings, Store};

use super::progress::Progress;
use crate::config::{Answering, Authorities, Data, Distributed, Logging};
use crate::data::DataFolder;
use crate::{output, telemetry};

#[derive(Args, Debug)]
pub(crate) struct Migrate {
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    authorities: Authorities,
    #[command(flatten)]
    logging: Logging,
    #[command(flatten)]
    answering: Answering,
}

impl Migrate {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let _log = telemetry::start(&self.logging)?;
        let folder = DataFolder::of(&self.data);
        folder.refuse_lost_database(&self.data.database)?;
        folder.create()?;
        let (database, ca_file) = (&self.data.database, self.authorities.ca_file.as_deref());
        let opened = async {
            if let Some(Distributed::Citus) = self.data.distributed {
                Store::spread(database, ca_file).await?;
            }
            // Opening a database is what migrates it.
            Store::open_with(database, ca_file, PostgresSettings::least()).await
        };
        let request = tenancy::request_of_command(Clock::System.now(), "database.migrate");
        let opened = tenancy::on_behalf_of(request, opened);
        let opened = Progress::of_unknown()?.during(&format!("Bringing {database} up to date"), opened).await;
        let store = opened.with_context(|| format!("The database {database} cannot be opened"))?;
        store.close().await;
        if self.answering.json {
            let done = json!({"ok": true, "database": database.to_string(), "up_to_date": true});
            output::line(format_args!("{done}"))?;
        } else {
            output::line(format_args!("{database} is up to date."))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
