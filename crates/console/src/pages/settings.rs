//! The settings of an app: name, mode, rules about named users, what holds for sending, secrets, and its end.

pub(crate) mod sending;

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::apps::MODES;
use crate::answer::Answer;
use crate::dates::time;
use crate::error::{Error, Result};
use crate::form::{Fields, encode};
use crate::parts::copy;
use crate::parts::fields::{Field, choice, problems};
use crate::parts::once::once;
use crate::visit::Visit;

const RULES: [(&str, &str); 3] = [
    ("devices", "Devices: everybody with the app secret"),
    ("signed", "Signed: devices with a proof"),
    ("servers", "Servers: only with the master secret"),
];
const ASPECTS: [(&str, &str); 4] = [
    ("associate", "Who may say whose a device is"),
    ("tags", "Who may change tags of people"),
    ("attributes", "Who may change attributes of people"),
    ("subscriptions", "Who may change subscriptions of people"),
];
const SECRETS: [(&str, &str); 3] = [
    ("app", "The app secret, which devices use"),
    ("master", "The master secret, which servers use"),
    ("both", "Both"),
];

const OVERLAPS: [(&str, &str); 4] =
    [("0", "At once"), ("3600", "After an hour"), ("86400", "After a day"), ("604800", "After a week")];

#[derive(Deserialize)]
struct FormerSecrets {
    former_secrets: Vec<FormerSecret>,
}

#[derive(Deserialize)]
struct FormerSecret {
    secret: String,
    ends: String,
}

#[derive(Deserialize)]
struct One {
    app: App,
}

#[derive(Deserialize)]
struct App {
    key: String,
    name: String,
    mode: String,
    created: String,
    named_users: Rules,
    approval_above: Option<u32>,
}

#[derive(Deserialize)]
struct Rules {
    associate: String,
    tags: String,
    attributes: String,
    subscriptions: String,
}

#[derive(Deserialize)]
struct Rotated {
    app_secret: Option<String>,
    master_secret: Option<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None, None).await
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    let One { app } = visit.get(&call(&visit)?).await?;
    match visit.change(Method::PATCH, &call(&visit)?, Some(changes(&app, &visit.form))).await {
        Ok(()) => Answer::to(visit.to("/settings")),
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

pub(crate) async fn rotate(visit: Arc<Visit>) -> Result<Answer> {
    let overlap: u32 = visit.form.text("overlap").and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
    let body = json!({"secret": visit.form.text("secret").unwrap_or_default(), "overlap": overlap});
    match visit.post_form::<Rotated>(&format!("{}/rotate", call(&visit)?), body).await {
        Ok(rotated) => draw(&visit, Some(&rotated), None).await,
        Err(error) => Ok(draw(&visit, None, Some(&error)).await?.refused(&error)),
    }
}

/// Ends a secret that was replaced, before its time.
pub(crate) async fn end_former(visit: Arc<Visit>) -> Result<Answer> {
    let path = format!("{}/former-secrets/{}", call(&visit)?, encode(visit.var("secret")));
    visit.change(Method::DELETE, &path, None).await?;
    Answer::to(visit.to("/settings"))
}

/// For owners of the installation, who type the name so that they do not delete another app.
pub(crate) async fn delete(visit: Arc<Visit>) -> Result<Answer> {
    let path = format!("/operator/apps/{}", encode(visit.var("key")));
    let One { app } = visit.get(&path).await?;
    if visit.form.text("typed") != Some(app.name.trim()) {
        let sentence = format!("Nothing was deleted. To delete this app, go back and type its name: {}", app.name);
        return Err(Error::invalid("typed", &sentence));
    }
    visit.change(Method::DELETE, &path, None).await?;
    Answer::to("/console/-/apps")
}

fn call(visit: &Visit) -> Result<String> {
    Ok(format!("/operator/apps/{}", visit.app()?.key))
}

impl Rules {
    fn of(&self, aspect: &str) -> &str {
        match aspect {
            "associate" => &self.associate,
            "tags" => &self.tags,
            "attributes" => &self.attributes,
            _ => &self.subscriptions,
        }
    }
}

/// Only what differs: a rule that nobody has chosen follows the mode, and a choice would end that.
fn changes(app: &App, typed: &Fields) -> Value {
    let mut body = Map::new();
    for (name, current) in [("name", &app.name), ("mode", &app.mode)] {
        let chosen = typed.text(name).filter(|chosen| chosen != current);
        body.extend(chosen.map(|chosen| (name.to_owned(), json!(chosen))));
    }
    let mut rules = Map::new();
    for (aspect, _) in ASPECTS {
        let chosen = typed.text(aspect).filter(|chosen| *chosen != app.named_users.of(aspect));
        rules.extend(chosen.map(|chosen| (aspect.to_owned(), json!(chosen))));
    }
    if !rules.is_empty() {
        body.insert("named_users".to_owned(), rules.into());
    }
    body.into()
}

async fn draw(visit: &Visit, rotated: Option<&Rotated>, error: Option<&Error>) -> Result<Answer> {
    let One { app } = visit.get(&call(visit)?).await?;
    let FormerSecrets { former_secrets } = visit.get(&format!("{}/former-secrets", call(visit)?)).await?;
    let typed = |name: &str, stored: &str| visit.form.text(name).unwrap_or(stored).to_owned();
    let is_owner = visit.visitor()?.account.is_owner;
    let body = html! {
        @if let Some(rotated) = rotated { (secrets(rotated)) }
        (problems(error, &["name"]))
        dl.facts { dt { "Key" } dd { (copy::inline(&app.key, "the key")) } dt { "Made" } dd { (time(&app.created)) } }
        section {
            form.narrow method="post" action=(visit.to("/settings")) {
                (Field::text("name", "Name").value(&typed("name", &app.name)).show(error))
                (choice("mode", "Mode", &MODES, &typed("mode", &app.mode)))
                fieldset {
                    legend { "Named users" }
                    p.hint { "Ids of people are easy to guess, and the app secret ships inside apps. So choose who is believed. What nobody \
                              has chosen follows the mode: devices in development, signed in production." }
                    @for (aspect, label) in ASPECTS { (choice(aspect, label, &RULES, &typed(aspect, app.named_users.of(aspect)))) }
                }
                button.main { "Save" }
            }
        }
        (sending::form(visit, app.approval_above, error).await?)
        section {
            h2 { "New secrets" }
            form.narrow method="post" action=(visit.to("/settings/rotate")) {
                (once(visit))
                p { "When the old secret stops working, your servers must have the new one, and of your app only versions with the new one \
                     reach the service. Leave no time to a secret that has leaked." }
                (choice("secret", "Replace", &SECRETS, "master"))
                (choice("overlap", "The old one stops working", &OVERLAPS, "0"))
                button.danger { "Replace" }
            }
            @for former in &former_secrets {
                form method="post" action=(visit.to(&format!("/settings/former/{}/end", former.secret))) {
                    p { "The " (former.secret) " secret that was replaced is good until " (time(&former.ends)) ". "
                        button.small.danger { "End it now" } }
                }
            }
        }
        @if is_owner {
            section {
                h2 { "Delete the app" }
                form.narrow method="post" action={ "/console/-/apps/" (app.key) "/delete" } {
                    p { "Its credentials stop working at once, and its devices, messages and reports are erased." }
                    (Field::text("typed", &format!("Type its name, {}", app.name)).show(error))
                    button.danger { "Delete for good" }
                }
            }
        }
    };
    Answer::page("Settings", body)
}

fn secrets(rotated: &Rotated) -> Markup {
    let secrets = [("APP", &rotated.app_secret), ("MASTER", &rotated.master_secret)].into_iter();
    let exports =
        secrets.filter_map(|(name, secret)| Some(format!("export AEROGRAM_{name}_SECRET={}", secret.as_ref()?)));
    let exports: Vec<String> = exports.collect();
    html! {
        div.notice.good role="status" {
            p { "The new secrets are shown only now:" }
            (copy::block(&exports.join("\n"), "the secrets"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_changed() {
        let rule = || "devices".to_owned();
        let named_users = Rules { associate: rule(), tags: rule(), attributes: rule(), subscriptions: rule() };
        let text = |text: &str| text.to_owned();
        let app = App {
            key: text("k"),
            name: text("Shop"),
            mode: text("development"),
            created: text(""),
            named_users,
            approval_above: None,
        };
        let same = Fields::parse("name=Shop&mode=development&associate=devices&tags=devices");
        assert_eq!(changes(&app, &same), json!({}));
        let other = Fields::parse("name=Store&mode=production&associate=devices&tags=servers");
        assert_eq!(
            changes(&app, &other),
            json!({"name": "Store", "mode": "production", "named_users": {"tags": "servers"}})
        );
    }
}
