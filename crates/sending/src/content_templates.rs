//! Content templates as pushes use them: found by either id, and put in the places of pushes that name them when these are
//! accepted, so that what was accepted does not change with a template. An app has few enough of them that those with external ids
//! are found among all.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result, readable};
use boxed::boxed;
use model::content_template::{ContentTemplate, ContentTemplateId, ContentTemplateType};
use model::ids::AppId;
use model::json;
use model::payload::template::TemplateSource;
use model::payload::{Push, StoredTexts};
use model::problem::Problem;
use model::time::UtcMillis;
use store::Tx;
use store::documents::{self, Document, DocumentKind, Order};

use crate::Sending;

const KIND: DocumentKind = DocumentKind::ContentTemplate;

/// How a caller names a content template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContentTemplateName {
    Id(ContentTemplateId),
    External { kind: ContentTemplateType, external_id: String },
}

#[derive(Clone, Debug, PartialEq)]
pub struct ContentTemplateView {
    pub id: ContentTemplateId,
    pub template: ContentTemplate,
    pub created: UtcMillis,
    pub modified: UtcMillis,
}

#[boxed]
impl Sending {
    /// Puts the texts of content templates into pushes that name them, and refuses those whose texts are wrong then, as their
    /// parser would have done. Each push comes with the beginning of its paths in the request (`RequestPath::of_each`). Where a
    /// template of another type is named, or none, the name stays, and is refused with everything else that is wrong with the push.
    pub async fn fill_in_content_templates(&self, app: AppId, mut pushes: Vec<(String, &mut Push)>) -> Result<()> {
        let mut names = BTreeSet::new();
        pushes.retain_mut(|(_, push)| {
            let places = push.stored_texts();
            names.extend(places.iter().filter_map(name));
            !places.is_empty()
        });
        if names.is_empty() {
            return Ok(());
        }
        let found = self.0.store.read(move |tx: &mut Tx<'_>| find_all(tx, app, &names)).await?;
        let mut problems = Vec::new();
        for (beginning, push) in pushes {
            for mut place in push.stored_texts() {
                let view = name(&place).and_then(|name| found.get(&name));
                if let Some(view) = view.filter(|view| view.template.kind == place.kind) {
                    place.fill(&view.template);
                }
            }
            problems.extend(push.mistakes_in_texts().into_iter().map(|problem| in_request(problem, &beginning)));
        }
        Error::refuse(problems)
    }
}

/// A problem of a push, in whose request a template is named where the push has texts now.
fn in_request(problem: Problem, beginning: &str) -> Problem {
    let Problem { path, message, kind } = problem;
    let (path, message) = match path.split_once(".template.fields.") {
        Some((place, text)) => (format!("{beginning}{place}.template"), format!("In the text '{text}': {message}")),
        None => (format!("{beginning}{path}"), message),
    };
    Problem { path, message, kind }
}

fn name(place: &StoredTexts<'_>) -> Option<ContentTemplateName> {
    match place.source() {
        TemplateSource::TemplateId(id) => Some(ContentTemplateName::Id(ContentTemplateId::from_uuid(id.uuid()))),
        TemplateSource::ExternalId(external_id) => {
            Some(ContentTemplateName::External { kind: place.kind, external_id: external_id.clone() })
        }
        TemplateSource::Fields(_) => None,
    }
}

pub fn find_content_template(
    tx: &mut Tx<'_>,
    app: AppId,
    name: &ContentTemplateName,
) -> Result<Option<ContentTemplateView>> {
    Ok(find_all(tx, app, &BTreeSet::from([name.clone()]))?.remove(name))
}

/// Those of the names that there are. All content templates are read once at most.
fn find_all(
    tx: &mut Tx<'_>,
    app: AppId,
    names: &BTreeSet<ContentTemplateName>,
) -> Result<BTreeMap<ContentTemplateName, ContentTemplateView>> {
    let mut found = BTreeMap::new();
    let mut has_external = false;
    for name in names {
        match name {
            ContentTemplateName::Id(id) => {
                if let Some(document) = documents::get(tx, app, KIND, &id.to_string())? {
                    found.insert(name.clone(), view(&document)?);
                }
            }
            ContentTemplateName::External { .. } => has_external = true,
        }
    }
    if !has_external {
        return Ok(found);
    }
    // One at a time, because all of them may be a lot of text.
    documents::visit(tx, app, KIND, Order::Ascending, |document| {
        if let Some(view) = readable(KIND, &document.id, view(&document))
            && let Some(name) = external_name(&view)
            && names.contains(&name)
        {
            found.entry(name).or_insert(view);
        }
        Ok(())
    })?;
    Ok(found)
}

fn external_name(view: &ContentTemplateView) -> Option<ContentTemplateName> {
    let external_id = view.template.external_id.clone()?;
    Some(ContentTemplateName::External { kind: view.template.kind, external_id })
}

/// Those that can be read: another one does not hide them.
pub fn all_content_templates(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<ContentTemplateView>> {
    let found = documents::list(tx, app, KIND)?;
    Ok(found.iter().filter_map(|document| readable(KIND, &document.id, view(document))).collect())
}

fn view(document: &Document) -> Result<ContentTemplateView> {
    let id = document.id.parse().map_err(Error::internal)?;
    let template = json::parse(document.body.as_bytes(), ContentTemplate::parse).map_err(Error::internal)?;
    Ok(ContentTemplateView { id, template, created: document.created, modified: document.modified })
}
