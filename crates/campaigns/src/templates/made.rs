//! Pushes made from templates, with the template texts they were made from: they are made before the transaction that writes
//! them, and made again there if a template has been changed in between.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};
use model::ids::AppId;
use model::payload::Push;
use model::payload::template::TemplateId;
use model::problem::{Problem, ProblemKind, Problems};
use model::template::{Template, TemplateUse};
use model::time::UtcMillis;
use sending::RequestPath;
use store::Tx;
use store::documents::{self, DocumentKind};

use super::stored;

/// The stored texts of templates, as far as there are any.
pub(super) type Bodies = BTreeMap<TemplateId, Option<String>>;

pub(super) struct Made<T> {
    of: Bodies,
    /// A repeated request is answered even if its template has changed, so problems wait until that is known.
    outcome: Result<T, Problems>,
}

/// The current templates.
pub(super) fn bodies(tx: &mut Tx<'_>, app: AppId, uses: &[TemplateUse]) -> Result<Bodies> {
    let mut bodies = Bodies::new();
    let wanted: BTreeSet<TemplateId> = uses.iter().map(|usage| usage.merge_data.template_id).collect();
    for id in wanted {
        let document = documents::get(tx, app, DocumentKind::Template, &id.to_string())?;
        bodies.insert(id, document.map(|document| document.body));
    }
    Ok(bodies)
}

impl<T> Made<T> {
    pub(super) fn of(
        bodies: Bodies,
        uses: &[TemplateUse],
        request_path: RequestPath,
        make: impl Fn(Vec<Push>) -> Result<T>,
    ) -> Result<Self> {
        let outcome = match filled_in(&bodies, uses, request_path).and_then(make) {
            Ok(made) => Ok(made),
            Err(Error::Invalid(problems)) => Err(problems),
            Err(other) => return Err(other),
        };
        Ok(Self { of: bodies, outcome })
    }

    /// The pushes of the templates in this transaction, if these have changed since.
    pub(super) fn made_again(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        uses: &[TemplateUse],
        request_path: RequestPath,
        make: impl Fn(Vec<Push>) -> Result<T>,
    ) -> Result<Option<Self>> {
        let current = bodies(tx, app, uses)?;
        (current != self.of).then(|| Self::of(current, uses, request_path, make)).transpose()
    }

    pub(super) fn outcome(&self) -> Result<&T> {
        self.outcome.as_ref().map_err(|problems| Error::Invalid(problems.clone()))
    }

    /// Notes that the templates were used.
    pub(super) fn set_used(&self, tx: &mut Tx<'_>, app: AppId, now: UtcMillis) -> Result<()> {
        self.of.keys().try_for_each(|id| stored::set_used(tx, app, *id, now))
    }
}

fn filled_in(bodies: &Bodies, uses: &[TemplateUse], request_path: RequestPath) -> Result<Vec<Push>> {
    let mut templates: BTreeMap<TemplateId, Template> = BTreeMap::new();
    for (id, body) in bodies {
        if let Some(body) = body {
            templates.insert(*id, stored::read(body)?);
        }
    }
    let mut pushes = Vec::with_capacity(uses.len());
    let mut problems = Vec::new();
    for (n, usage) in uses.iter().enumerate() {
        let id = usage.merge_data.template_id;
        match templates.get(&id).map_or_else(|| Err(vec![unknown(id)]), |template| template.render(usage)) {
            Ok(push) => pushes.push(push),
            Err(found) => problems.extend(
                found
                    .into_iter()
                    .map(|problem| Problem { path: request_path.beside_push(n, &problem.path), ..problem }),
            ),
        }
    }
    Error::refuse(problems)?;
    Ok(pushes)
}

fn unknown(id: TemplateId) -> Problem {
    Problem {
        path: "merge_data.template_id".to_owned(),
        message: format!("There is no template {id}."),
        kind: ProblemKind::Invalid,
    }
}
