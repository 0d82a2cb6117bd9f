//! Searching an app for anything by id or name.

use axum::extract::State;
use engine::{Findings, Found, SearchText};
use model::account::Role;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::query::{Params, plain_text};
use crate::roles::OwnRole;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchResults")]
pub(super) struct Results {
    /// By kind, the newest of each first.
    results: Vec<Record>,
    /// Whether everything was looked at and everything that was found is shown.
    complete: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchResult")]
pub(super) struct Record {
    /// `push`, `channel`, `named_user`, `segment`, `list`, `schedule`, `template`, `pipeline` or `experiment`.
    kind: &'static str,
    id: String,
    /// The name, or else what people recognize it by.
    title: Option<String>,
    /// The text of a push that has what was looked for, if that is not the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<String>,
}

pub(super) async fn search(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    own: OwnRole,
    mut params: Params,
) -> Result<Answer> {
    params.require("q", "an id, the beginning of the id of a named user, an address, or a part of a name");
    let text = params.parsed("q", plain_text);
    let text = params.finish_with(text)?;
    let Findings { found, is_cut } = edge.engine.search(app.id, SearchText::new(&text)).await?;
    let record = |Found { kind, id, title, matched }: Found| Record { kind: kind.name(), id, title, matched };
    // Who may not see people does not find them either.
    let found = found.into_iter().filter(|found| own.may(Role::Support) || !found.kind.is_somebody());
    let results = found.map(record).collect();
    Ok(Answer::ok(Results { results, complete: !is_cut })?.data_attribute("results"))
}
