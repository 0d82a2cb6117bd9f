//! `aerogram platform set`: the flags of every provider, and the request made of them. The server checks their combination.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Which;
use super::pkcs12::{self, Identity};
use crate::client::{Client, Reply};
use crate::commands::{read_input, read_text};
use crate::output;

#[derive(Args, Debug)]
pub(super) struct Set {
    #[command(flatten)]
    which: Which,
    /// URL of an open platform; messages are posted to URL/push
    #[arg(value_name = "URL")]
    open_url: Option<String>,
    /// Read the whole configuration as JSON from a file, or from standard input with `-`
    #[arg(long, value_name = "PATH", conflicts_with_all = ["open_url", "open", "provider"])]
    file: Option<PathBuf>,
    /// Add a key behind those that are there, to take over when the provider refuses them
    #[arg(long)]
    add_key: bool,
    #[command(flatten)]
    open: Open,
    #[command(flatten)]
    provider: Provider,
}

#[derive(Args, Debug)]
#[group(id = "open", multiple = true)]
struct Open {
    /// How an open platform recognizes the service
    #[arg(long, help_heading = "Open platforms")]
    auth: Option<Auth>,
    /// User name for --auth basic
    #[arg(long, allow_hyphen_values = true, help_heading = "Open platforms")]
    user: Option<String>,
    /// File with the password for --auth basic, or with the shared secret for --auth signature; `-` for standard input
    #[arg(long, value_name = "PATH", help_heading = "Open platforms")]
    secret_file: Option<PathBuf>,
    /// The same as a word of the command line, which other users of the machine can see
    #[arg(long, allow_hyphen_values = true, conflicts_with = "secret_file", help_heading = "Open platforms")]
    secret: Option<String>,
    /// Save without asking the URL for its confirmation code
    #[arg(long, help_heading = "Open platforms")]
    no_validate: bool,
    /// Save without sending to the platform
    #[arg(long, help_heading = "Open platforms")]
    disabled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Auth {
    None,
    Basic,
    Signature,
}

#[derive(Args, Debug)]
#[group(id = "provider", multiple = true)]
struct Provider {
    /// apns: bundle id of the app
    #[arg(long, help_heading = "Providers")]
    topic: Option<String>,
    /// apns: production (unless told otherwise) or sandbox
    #[arg(long, help_heading = "Providers")]
    environment: Option<String>,
    /// apns: the .p8 file, or the key of the certificate; webpush: the private key
    #[arg(long, value_name = "PATH", help_heading = "Providers")]
    key_file: Option<PathBuf>,
    /// apns: id of the .p8 key
    #[arg(long, help_heading = "Providers")]
    key_id: Option<String>,
    /// apns: id of the developer team
    #[arg(long, help_heading = "Providers")]
    team_id: Option<String>,
    /// apns: file of a certificate: PKCS#12 (.p12), or PEM with its key, unless that is in --key-file
    #[arg(long, value_name = "PATH", help_heading = "Providers")]
    certificate_file: Option<PathBuf>,
    /// apns: file with the password of a .p12 file; `-` for standard input
    #[arg(long, value_name = "PATH", requires = "certificate_file", help_heading = "Providers")]
    certificate_password_file: Option<PathBuf>,
    /// fcm: the JSON file of a service account, as downloaded
    #[arg(long, value_name = "PATH", help_heading = "Providers")]
    service_account_file: Option<PathBuf>,
    /// adm, wns: client id
    #[arg(long, help_heading = "Providers")]
    client_id: Option<String>,
    /// adm, wns: file with the client secret; `-` for standard input
    #[arg(long, value_name = "PATH", help_heading = "Providers")]
    client_secret_file: Option<PathBuf>,
    /// wns: package SID of an app in the Microsoft Store
    #[arg(long, help_heading = "Providers")]
    package_sid: Option<String>,
    /// wns: tenant of an app of the Windows App SDK
    #[arg(long, help_heading = "Providers")]
    tenant_id: Option<String>,
    /// webpush: whom push services may contact, such as mailto:push@example.com
    #[arg(long, help_heading = "Providers")]
    subject: Option<String>,
    /// webpush: public key that belongs to --key-file; without these two the app's own pair is used
    #[arg(long, help_heading = "Providers")]
    public_key: Option<String>,
    /// Where the provider is, if not at its public address (a simulator, a proxy)
    #[arg(long, value_name = "URL", help_heading = "Providers")]
    endpoint: Option<String>,
    /// PEM file of the certificate authority to trust for --endpoint
    #[arg(long, value_name = "PATH", requires = "endpoint", help_heading = "Providers")]
    endpoint_ca_file: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Saved {
    #[serde(default)]
    validation_code: Option<String>,
}

impl Set {
    pub(super) async fn ask(&self, client: &Client) -> Result<Reply> {
        let body = self.body()?;
        match self.add_key {
            true => client.send_raw(Method::POST, &format!("{}/keys", self.which.path()), body).await,
            false => client.send_raw(Method::PUT, &self.which.path(), body).await,
        }
    }

    pub(super) fn show(&self, reply: &Reply) -> Result<()> {
        output::line(format_args!("{} is configured.", self.which.platform))?;
        if let Some(code) = reply.read::<Saved>()?.validation_code {
            let answer = json!({ "confirmation_code": code });
            output::line(format_args!("Its endpoint must answer GET URL/validate with {answer}."))?;
        }
        Ok(())
    }

    fn body(&self) -> Result<Bytes> {
        if let Some(path) = &self.file {
            return read_input(path);
        }
        let mut body = self.provider.fields(self.which.platform.as_str())?;
        if self.which.platform.as_str().starts_with("open::") {
            let url = self.open_url.as_deref().context("An open platform needs the URL of its endpoint.")?;
            body.insert("url".to_owned(), json!(url));
            self.open.add_to(&mut body)?;
        } else if self.open_url.is_some() {
            bail!("Only open platforms have a URL; the address of a provider is changed with --endpoint.");
        }
        Ok(Value::Object(body).to_string().into())
    }
}

impl Open {
    fn add_to(&self, body: &mut Map<String, Value>) -> Result<()> {
        body.insert("auth".to_owned(), self.auth()?);
        body.insert("validate".to_owned(), json!(!self.no_validate));
        body.insert("enabled".to_owned(), json!(!self.disabled));
        Ok(())
    }

    fn auth(&self) -> Result<Value> {
        let secret = match &self.secret_file {
            Some(path) => Some(read_text(path)?.trim().to_owned()),
            None => self.secret.clone(),
        };
        match (self.auth.unwrap_or(Auth::None), &self.user, secret) {
            (Auth::None, None, None) => Ok(json!({ "type": "none" })),
            (Auth::Basic, Some(user), Some(password)) => {
                Ok(json!({ "type": "basic", "user": user, "password": password }))
            }
            (Auth::Signature, None, Some(secret)) => Ok(json!({ "type": "signature", "secret": secret })),
            (Auth::None | Auth::Basic | Auth::Signature, _, _) => bail!(
                "--auth none goes with neither --user nor --secret-file, --auth basic with both, --auth signature with \
                 --secret-file."
            ),
        }
    }
}

impl Provider {
    fn fields(&self, platform: &str) -> Result<Map<String, Value>> {
        let mut fields = Map::new();
        let texts = [
            ("topic", &self.topic),
            ("environment", &self.environment),
            ("key_id", &self.key_id),
            ("team_id", &self.team_id),
            ("client_id", &self.client_id),
            ("package_sid", &self.package_sid),
            ("tenant_id", &self.tenant_id),
            ("subject", &self.subject),
            ("public_key", &self.public_key),
        ];
        for (name, value) in texts {
            fields.extend(value.as_ref().map(|value| (name.to_owned(), json!(value))));
        }
        let identity = self.certificate_file.as_ref();
        let identity = identity.map(|path| pkcs12::read(path, self.certificate_password_file.as_ref())).transpose()?;
        let (certificate, key) = identity.map(|Identity { certificate, key }| (certificate, key)).unzip();
        fields.extend(certificate.map(|certificate| ("certificate".to_owned(), json!(certificate))));
        if let Some(key) = self.key_file.as_ref().map(|path| read_text(path)).transpose()?.or(key) {
            let name = if platform == "webpush" { "private_key" } else { "key" };
            fields.insert(name.to_owned(), json!(key.trim()));
        }
        if let Some(path) = &self.service_account_file {
            let account: Value = serde_json::from_slice(&read_input(path)?)
                .with_context(|| format!("{} is not the JSON file of a service account", path.display()))?;
            fields.insert("service_account".to_owned(), account);
        }
        if let Some(path) = &self.client_secret_file {
            fields.insert("client_secret".to_owned(), json!(read_text(path)?.trim()));
        }
        if let Some(url) = &self.endpoint {
            let mut endpoint = json!({ "url": url });
            if let Some(path) = &self.endpoint_ca_file {
                endpoint["ca"] = json!(read_text(path)?);
            }
            fields.insert("endpoint".to_owned(), endpoint);
        }
        Ok(fields)
    }
}
