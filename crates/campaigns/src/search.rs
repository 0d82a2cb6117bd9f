//! Finding schedules, templates, pipelines and experiments by id and name.

use base::{Findings, FoundKind, Result, SearchText, search_documents};
use boxed::boxed;
use model::ids::AppId;
use serde::Deserialize;
use store::documents::{Document, DocumentKind};

use crate::Campaigns;

/// As much of each stored form as a search needs: reading a whole push a thousand times would take long.
#[derive(Deserialize)]
struct Named {
    name: Option<String>,
}

#[derive(Deserialize)]
struct NamedSchedule {
    scheduled: NamedPush,
}

#[derive(Deserialize)]
struct NamedPush {
    name: Option<String>,
    push: Named,
}

#[derive(Deserialize)]
struct NamedPipeline {
    pipeline: Named,
}

#[derive(Deserialize)]
struct NamedExperiment {
    experiment: Named,
}

/// The kinds with how the name of each is read.
type Title = fn(&Document) -> Option<String>;
const KINDS: [(DocumentKind, FoundKind, Title); 4] = [
    (DocumentKind::Schedule, FoundKind::Schedule, schedule),
    (DocumentKind::Template, FoundKind::Template, template),
    (DocumentKind::Pipeline, FoundKind::Pipeline, pipeline),
    (DocumentKind::Experiment, FoundKind::Experiment, experiment),
];

#[boxed]
impl Campaigns {
    pub async fn search(&self, app: AppId, text: SearchText) -> Result<Vec<Findings>> {
        self.0
            .store
            .read(move |tx| {
                let search = |(kind, found, title)| search_documents(tx, app, (kind, found), &text, title);
                KINDS.into_iter().map(search).collect()
            })
            .await
    }
}

/// Its own name, or that of its push.
fn schedule(document: &Document) -> Option<String> {
    let NamedSchedule { scheduled } = serde_json::from_str(&document.body).ok()?;
    scheduled.name.or(scheduled.push.name)
}

fn template(document: &Document) -> Option<String> {
    serde_json::from_str::<Named>(&document.body).ok()?.name
}

fn pipeline(document: &Document) -> Option<String> {
    serde_json::from_str::<NamedPipeline>(&document.body).ok()?.pipeline.name
}

fn experiment(document: &Document) -> Option<String> {
    serde_json::from_str::<NamedExperiment>(&document.body).ok()?.experiment.name
}
