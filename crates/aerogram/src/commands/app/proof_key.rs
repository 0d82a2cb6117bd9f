//! `aerogram app proof-key`: the public key of those who sign who the user of a device is.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use http::Method;
use model::app::AppKey;
use model::p256::{PublicKey, SHAPE};
use serde::Deserialize;
use serde_json::json;

use crate::client::{Client, Reply};
use crate::commands::read_text;
use crate::config::app_key;
use crate::output;

// Shows the key, after it was set or removed.
#[derive(Args, Debug)]
pub(super) struct ProofKey {
    /// Key of the app
    #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
    app: AppKey,
    /// Take proofs (ES256) that are signed with the private key of this public one: a PEM file, or `-` for standard input
    #[arg(long, value_name = "PATH", conflicts_with = "remove")]
    set: Option<PathBuf>,
    /// Take no such proofs any more
    #[arg(long)]
    remove: bool,
}

#[derive(Deserialize)]
struct Answered {
    app: Shown,
}

#[derive(Deserialize)]
struct Shown {
    proof_public_key: Option<String>,
}

impl ProofKey {
    pub(super) async fn ask(&self, client: &Client) -> Result<Reply> {
        let path = format!("/operator/apps/{}", self.app);
        let key = match &self.set {
            Some(file) => {
                let pem = read_text(file)?;
                ensure!(PublicKey::new(&pem).is_some(), "{}: {SHAPE}", file.display());
                Some(pem)
            }
            None if self.remove => None,
            None => return client.get(&path).await,
        };
        client.send(Method::PATCH, &path, &json!({ "proof_public_key": key })).await
    }

    pub(super) fn show(reply: &Reply) -> Result<()> {
        let key = reply.read::<Answered>()?.app.proof_public_key;
        let none = "There is no public key: proofs are signed with the key of GET /api/auth/proof-key.";
        output::line(format_args!("{}", key.as_deref().unwrap_or(none).trim_end()))
    }
}
