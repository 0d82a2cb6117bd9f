//! Audiences that cannot be evaluated, with problems at the paths of the request.

use geo::Code;
use model::problem::{Problem, ProblemKind};
use model::selector::{self, Atomic, Location, Selector};

use crate::places::find_place;

/// Why an audience that is at `path` cannot be evaluated: unsupported selectors and unknown places.
pub fn audience_problems(selector: &Selector, path: &str) -> Vec<Problem> {
    let problem =
        |path: &str, atom: &Atomic| unsupported_atom(path, atom).or_else(|| unknown_place(path, atom.location()?));
    selector.atoms_with_paths(path).iter().filter_map(|(path, atom)| problem(path, atom)).collect()
}

/// Why this version cannot evaluate an audience that is at `path`.
pub(crate) fn unsupported(selector: &Selector, path: &str) -> Vec<Problem> {
    selector.atoms_with_paths(path).iter().filter_map(|(path, atom)| unsupported_atom(path, atom)).collect()
}

fn unsupported_atom(path: &str, atom: &Atomic) -> Option<Problem> {
    if let Atomic::Activity(activity) = atom {
        let message = activity.question().err()?.to_owned();
        return Some(Problem { path: format!("{path}.activity"), message, kind: ProblemKind::Invalid });
    }
    let selector::Place::Alias { kind, .. } = &atom.location()?.place else { return None };
    let known: Vec<&str> = Code::ALL.into_iter().map(Code::name).collect();
    let message = format!("Places are not known by '{kind}', only by id, {}.", known.join(", "));
    let is_known = known.contains(&kind.as_str());
    (!is_known).then(|| Problem { path: format!("{path}.location.{kind}"), message, kind: ProblemKind::Invalid })
}

fn unknown_place(path: &str, location: &Location) -> Option<Problem> {
    // If the atlas cannot be read, resolving the push reports it.
    let atlas = geo::atlas().ok()?;
    let (key, name) = location.place.named_by();
    let message = format!("There is no place with the {key} '{name}'; GET /api/location/?q=NAME finds places.");
    let is_known = find_place(atlas, &location.place).is_some();
    (!is_known).then(|| Problem { path: format!("{path}.location.{key}"), message, kind: ProblemKind::Invalid })
}
