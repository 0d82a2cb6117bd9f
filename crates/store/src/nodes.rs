//! The processes that share a database, by numbers that they choose at their start. On PostgreSQL each holds a lock that ends with
//! its connection, so that the others notice within moments when it dies.

use serde::{Deserialize, Serialize};

use crate::{Part, Result, Tx};

/// A process that has, or had, the database open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Node(pub(crate) i64);

impl Node {
    /// Two processes choose the same number once in a billion starts.
    pub fn random() -> Self {
        enum NodeIdKind {}
        let id = model::ids::Id::<NodeIdKind>::random();
        let [.., a, b, c, d] = *id.as_bytes();
        Self(i64::from(u32::from_be_bytes([a & 0x7f, b, c, d])) + 1)
    }
}

/// Whether a node other than this one has the database open.
pub fn are_others(tx: &mut Tx<'_>, own: Node) -> Result<bool> {
    Ok(tx.living_nodes()?.is_some_and(|living| living.iter().any(|node| *node != own)))
}

/// The nodes that hold jobs and whose locks are gone: they have died, or have lost their connection this moment.
pub fn missing(tx: &mut Tx<'_>, part: &Part) -> Result<Vec<Node>> {
    let mut params = Vec::new();
    let sql = part.narrow("select distinct leased from job where leased > 0", &mut params);
    let holders: Vec<i64> = tx.query(&sql, &params, |row| row.get(0))?;
    if holders.is_empty() {
        return Ok(Vec::new());
    }
    let Some(living) = tx.living_nodes()? else { return Ok(Vec::new()) };
    Ok(holders.into_iter().map(Node).filter(|node| !living.contains(node)).collect())
}
