//! `aerogram app named-users`: who may say what about the named users of an app.

use anyhow::Result;
use clap::{Args, ValueEnum};
use http::Method;
use model::app::AppKey;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::{Client, Reply};
use crate::config::app_key;
use crate::output::{self, NAME};

// Shows the rules, after those that are given have been set.
#[derive(Args, Debug)]
pub(super) struct NamedUsers {
    /// Key of the app
    #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
    app: AppKey,
    /// Who may say whose a channel is
    #[arg(long, value_name = "WHO")]
    associate: Option<Who>,
    /// Who may change tags of named users
    #[arg(long, value_name = "WHO")]
    tags: Option<Who>,
    /// Who may change attributes of named users
    #[arg(long, value_name = "WHO")]
    attributes: Option<Who>,
    /// Who may change subscriptions of named users
    #[arg(long, value_name = "WHO")]
    subscriptions: Option<Who>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Who {
    /// Everybody with the app secret, which ships inside apps
    Devices,
    /// Devices with a proof: a token of the user's contact, or one that a server of the app has signed
    Signed,
    /// Servers only
    Servers,
    /// What the mode of the app says: `devices` in development, `signed` in production
    Default,
}

#[derive(Deserialize)]
struct Changed {
    app: Shown,
}

#[derive(Deserialize)]
struct Shown {
    named_users: Rules,
}

#[derive(Deserialize)]
struct Rules {
    associate: String,
    tags: String,
    attributes: String,
    subscriptions: String,
}

impl NamedUsers {
    pub(super) async fn ask(&self, client: &Client) -> Result<Reply> {
        let Self { app, associate, tags, attributes, subscriptions } = self;
        let given =
            [("associate", associate), ("tags", tags), ("attributes", attributes), ("subscriptions", subscriptions)];
        let given = given.into_iter().filter_map(|(name, who)| Some((name.to_owned(), who.as_ref()?.rule())));
        let (rules, path): (Map<String, Value>, String) = (given.collect(), format!("/operator/apps/{app}"));
        if rules.is_empty() {
            return client.get(&path).await;
        }
        client.send(Method::PATCH, &path, &json!({ "named_users": rules })).await
    }

    pub(super) fn show(reply: &Reply) -> Result<()> {
        let Rules { associate, tags, attributes, subscriptions } = reply.read::<Changed>()?.app.named_users;
        let rows = [
            ["associate".to_owned(), associate],
            ["tags".to_owned(), tags],
            ["attributes".to_owned(), attributes],
            ["subscriptions".to_owned(), subscriptions],
        ];
        output::table([("NAMED USERS", NAME), ("WHO", NAME)], &rows)
    }
}

impl Who {
    fn rule(self) -> Value {
        match self {
            Who::Devices => "devices".into(),
            Who::Signed => "signed".into(),
            Who::Servers => "servers".into(),
            Who::Default => Value::Null,
        }
    }
}
