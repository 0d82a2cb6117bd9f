//! `aerogram audit`: who asked for which change.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use model::app::AppKey;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Operator;
use crate::client::{Reply, query};
use crate::config::{app_key, number_in};
use crate::output::{self, COUNT, ID, MOMENT, NAME, TEXT};

#[derive(Args, Debug)]
pub(crate) struct Audit {
    /// Only changes of the app with this key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
    app: Option<AppKey>,
    /// Only by this credential, such as "master secret 3f9a12bc", or by this kind, such as "operator token"
    #[arg(long)]
    credential: Option<String>,
    /// Only changes of this name, such as push.send
    #[arg(long)]
    action: Option<String>,
    /// Only from this time on, such as 2030-01-01 or "2030-01-01 10:00" (UTC)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only before this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number_in(1_u32..=1000))]
    limit: u32,

    #[command(flatten)]
    operator: Operator,
}

#[derive(Deserialize)]
struct Page {
    entries: Vec<Entry>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    at: String,
    n: u64,
    app: Option<String>,
    credential: String,
    address: Option<String>,
    action: String,
    object: Map<String, Value>,
}

impl Audit {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let Self { app, credential, action, from, to, limit, .. } = self;
        let values = [
            ("app", app.as_ref().map(AppKey::as_str)),
            ("credential", credential.as_deref()),
            ("action", action.as_deref()),
            ("from", from.as_deref()),
            ("to", to.as_deref()),
            ("limit", Some(&limit.to_string())),
        ];
        let path = query("/operator/audit", &values);
        self.operator.run(async |client| client.get(&path).await, show).await
    }
}

fn show(reply: &Reply) -> Result<()> {
    let Page { entries, next_page } = reply.read()?;
    let rows: Vec<_> = entries.iter().map(Entry::row).collect();
    let columns = [
        ("AT", MOMENT),
        ("N", COUNT.left_out(1)),
        ("APP", ID.left_out(4)),
        ("CREDENTIAL", TEXT.left_out(3)),
        ("ADDRESS", NAME.left_out(2)),
        ("ACTION", NAME),
        ("OBJECT", TEXT),
    ];
    output::table(columns, &rows)?;
    if next_page.is_some() {
        output::line(format_args!("There are more; --limit shows up to 1000, and --to older ones."))?;
    }
    Ok(())
}

impl Entry {
    fn row(&self) -> [String; 7] {
        let Self { at, n, app, credential, address, action, object } = self;
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let object: Vec<String> = object.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
        [
            at.clone(),
            n.to_string(),
            or_dash(app),
            credential.clone(),
            or_dash(address),
            action.clone(),
            object.join(" "),
        ]
    }
}

/// An id, or how many there are.
fn shown(value: &Value) -> String {
    match value {
        Value::String(id) => id.clone(),
        Value::Array(ids) => format!("({} of them)", ids.len()),
        other => other.to_string(),
    }
}
