//! `aerogram secrets`: what to do when the key that the database belongs to is lost.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use engine::{Lost, LostThing};
use model::time::Clock;
use serde_json::{Value, json};
use store::{PostgresSettings, Store};

use crate::config::{Answering, Authorities, Data, Logging, Sealing};
use crate::data::DataFolder;
use crate::{output, telemetry};

#[derive(Args, Debug)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make the database belong to this node's key, or to a new one, and forget what it cannot read; all nodes must be stopped
    Accept(Accept),
}

#[derive(Args, Debug)]
struct Accept {
    /// Confirm that the old key is lost for good
    #[arg(long)]
    yes: bool,

    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    sealing: Sealing,
    #[command(flatten)]
    authorities: Authorities,
    #[command(flatten)]
    logging: Logging,
    #[command(flatten)]
    answering: Answering,
}

impl Secrets {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        match &self.action {
            Action::Accept(accept) => accept.run().await,
        }
    }
}

impl Accept {
    async fn run(&self) -> Result<ExitCode> {
        if !self.yes {
            bail!(
                "What was encrypted with the old key will not be readable even if it is found again; add --yes if that is meant."
            );
        }
        let _log = telemetry::start(&self.logging)?;
        let folder = DataFolder::of(&self.data);
        folder.refuse_lost_database(&self.data.database)?;
        folder.create()?;
        let database = &self.data.database;
        let ca_file = self.authorities.ca_file.as_deref();
        let opened = Store::open_with(database, ca_file, PostgresSettings::least()).await;
        let store = opened.with_context(|| format!("The database {database} cannot be opened"))?;
        if !engine::has_key(&store).await? {
            store.close().await;
            bail!(
                "{database} belongs to no key yet, so there is nothing to accept; is it the database of the service?"
            );
        }
        let key = match &self.sealing.secrets_key {
            Some(key) => key.clone(),
            None => folder.ensure_secrets_key()?,
        };
        let now = Clock::System.now();
        let request = tenancy::request_of_command(now, "secrets.accept");
        let lost = tenancy::on_behalf_of(request, engine::accept_key(&store, &key.seal_key(), now)).await;
        store.close().await;
        let (lost, file) = (lost?, self.sealing.secrets_key.is_none().then(|| folder.secrets_key_path()));
        if self.answering.json {
            let lost: Vec<Value> = lost
                .iter()
                .map(|Lost { app, thing }| {
                    let app = app.as_ref().map(ToString::to_string);
                    json!({"app": app, "consequence": consequence(thing)})
                })
                .collect();
            let file = file.map(|file| file.display().to_string());
            output::line(format_args!("{}", json!({"ok": true, "lost": lost, "secrets_key": file})))?;
            return Ok(ExitCode::SUCCESS);
        }
        for Lost { app, thing } in lost {
            let whose = app.map_or_else(|| "installation".to_owned(), |app| app.to_string());
            output::line(format_args!("{whose}: {}", consequence(&thing)))?;
        }
        let place = file.map_or("the one in the settings".to_owned(), |file| format!("in {}", file.display()));
        output::line(format_args!("The database belongs to this key now: {place}. Give it to every node."))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn consequence(thing: &LostThing) -> String {
    match thing {
        LostThing::Platform(name) => {
            format!("the configuration of {name} cannot be read; enter it again with `aerogram platform set`")
        }
        LostThing::WebKeys => "a new key pair for web push is made; browsers have to subscribe again".to_owned(),
        LostThing::AppSecret => {
            "signed requests are refused until a device presents the app secret itself, or it is replaced".to_owned()
        }
        LostThing::OneTimeCodes(_, email) => format!(
            "the one-time codes of {email} are lost, and the password counts no more without them; make a link with `aerogram console \
             link --account {email}`"
        ),
        LostThing::OauthKey => "access tokens of OAuth clients are refused; clients get new ones".to_owned(),
        LostThing::Webhook(id) => format!("the webhook {id} was deleted; add it again with `aerogram webhook add`"),
    }
}
