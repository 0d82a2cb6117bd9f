//! Finding out whether a segment would become part of itself.

use std::collections::HashMap;

use base::Result;
use model::ids::{AppId, SegmentId};
use model::segment::SegmentBody;
use store::Tx;

use super::{references, stored};

/// How a segment was reached: its name, and the segment whose criteria mention it.
struct Met {
    name: String,
    inside: Option<SegmentId>,
}

/// The names of the segments on a way from `body`, as the new content of `id`, back to `id`; `None` when there is no such way.
pub(super) fn through(tx: &mut Tx<'_>, app: AppId, id: SegmentId, body: &SegmentBody) -> Result<Option<Vec<String>>> {
    let mut met: HashMap<SegmentId, Met> = HashMap::new();
    let mut pending: Vec<(SegmentId, Option<SegmentId>)> = references(&body.criteria).map(|id| (id, None)).collect();
    while let Some((next, inside)) = pending.pop() {
        if next == id {
            return Ok(Some(names(&body.display_name, &met, inside)));
        }
        if met.contains_key(&next) {
            continue;
        }
        // A deleted segment contains nothing.
        let Some(segment) = stored(tx, app, next)? else { continue };
        pending.extend(references(&segment.criteria).map(|id| (id, Some(next))));
        met.insert(next, Met { name: segment.display_name, inside });
    }
    Ok(None)
}

fn names(own: &str, met: &HashMap<SegmentId, Met>, last: Option<SegmentId>) -> Vec<String> {
    let mut names = vec![format!("'{own}'")];
    let mut inside = last;
    while let Some(Met { name, inside: outer }) = inside.and_then(|id| met.get(&id)) {
        names.push(format!("'{name}'"));
        inside = *outer;
    }
    names.push(format!("'{own}'"));
    names.reverse();
    names
}
