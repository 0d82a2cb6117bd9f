//! Sets up a new installation before its first use: creates an app, and shows its secrets to a person.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;

use anyhow::{Context, Result};
use engine::{Engine, Error};
use model::app::{Mode, NewApp};
use tenancy::CreatedApp;

use crate::config::{AppCredentials, Node};
use crate::data::DataFolder;
use crate::output;

/// Creates the app that the settings name, or a development app when there is none at all.
pub(crate) async fn ensure_app(
    engine: &Engine,
    node: &Node,
    address: SocketAddr,
    folder: &DataFolder,
    named: Option<AppCredentials>,
) -> Result<()> {
    let request = tenancy::request_of_command(engine.clock().now(), "app.create");
    tenancy::on_behalf_of(request, make_app(engine, node, address, folder, named)).await
}

async fn make_app(
    engine: &Engine,
    node: &Node,
    address: SocketAddr,
    folder: &DataFolder,
    named: Option<AppCredentials>,
) -> Result<()> {
    if let Some(credentials) = named {
        return ensure_named_app(engine, credentials).await;
    }
    if !engine.tenancy().apps().await?.is_empty() {
        return Ok(());
    }
    let new = new_app("Development", None);
    let app = engine.tenancy().create_app(new, None).await.context("The first app cannot be made")?;
    let code = engine.tenancy().demo_code(app.key.as_str()).await?;
    show(&app, &code, node, address, folder)
}

async fn ensure_named_app(engine: &Engine, credentials: AppCredentials) -> Result<()> {
    let key = credentials.key.clone();
    match engine.tenancy().create_app(new_app(key.as_str(), Some(credentials)), None).await {
        Ok(_) => tracing::info!(app = %key, "created the app named by the settings"),
        // The app exists already, with its current secrets.
        Err(Error::Conflict(_)) => {}
        Err(error) => return Err(error).context("The app named by app_key cannot be made"),
    }
    Ok(())
}

fn new_app(name: &str, credentials: Option<AppCredentials>) -> NewApp {
    let (key, app_secret, master_secret) = match credentials {
        Some(AppCredentials { key, app_secret, master_secret }) => (Some(key), Some(app_secret), Some(master_secret)),
        None => (None, None, None),
    };
    NewApp { name: name.to_owned(), mode: Mode::Development, key, app_secret, master_secret }
}

/// Shows a link that makes the first account of the console, as long as nobody has one. It lets in whoever has it, so it is
/// shown on a terminal only.
pub(crate) async fn offer_account(engine: &Engine, node: &Node, address: SocketAddr) -> Result<()> {
    if !engine.accounts().is_without_accounts().await? {
        return Ok(());
    }
    if !io::stdout().is_terminal() {
        tracing::info!("nobody has an account of the console; `aerogram console link` makes a link for the first one");
        return Ok(());
    }
    let request = tenancy::request_of_command(engine.clock().now(), "account.owner_link");
    let secret = tenancy::on_behalf_of(request, engine.accounts().new_owner_link()).await?;
    let url = node.url(address);
    output::line(format_args!("Open the console, within an hour:\n\n  {url}/console/start?code={secret}\n"))
}

/// Shows the secrets on a terminal. Nobody else is to see them: the output of a service ends up in a log, so without a
/// terminal they go to a file that only the service's user can read.
fn show(app: &CreatedApp, code: &str, node: &Node, address: SocketAddr, folder: &DataFolder) -> Result<()> {
    let url = node.url(address);
    if !io::stdout().is_terminal() {
        let path = folder.write_first_app(&exports(app, &url.to_string(), ""))?;
        return output::line(format_args!(
            "This is the first start. A development app was made; its credentials are in {}, which only this user can read: \
             keep them elsewhere, and delete the file.",
            path.display()
        ));
    }
    let token = match &node.data.operator_token {
        Some(_) => "the one in the settings".to_owned(),
        None => format!("in {}", folder.operator_token_path().display()),
    };
    let (rule, exports) = ("=".repeat(78), exports(app, &url.to_string(), "  "));
    let CreatedApp { key, master_secret, .. } = app;
    output::line(format_args!(
        r#"{rule}
This is the first start. A development app was made; its secrets are shown
only now:

{exports}
The app secret is for devices, the master secret for your servers. Operator
token: {token}

See a push arrive, in a browser on this machine:

  {url}/demo#{key}.{code}

Send a push to every device of the app:

  curl {url}/api/push -u {key}:{master_secret} -d \
    '{{"audience": "all", "device_types": "all", "notification": {{"alert": "Hello"}}}}'
{rule}"#
    ))
}

/// The settings of the command line and of the lines that the console shows.
fn exports(app: &CreatedApp, url: &str, indent: &str) -> String {
    let CreatedApp { key, app_secret, master_secret, .. } = app;
    let exports =
        [("URL", url), ("APP_KEY", key.as_str()), ("APP_SECRET", app_secret), ("MASTER_SECRET", master_secret)];
    exports.map(|(name, value)| format!("{indent}export AEROGRAM_{name}={value}\n")).concat()
}
