//! Searching an app for anything by id or name. Every room looks for what it has.

use base::{Findings, Result, SearchText};
use boxed::boxed;
use model::ids::AppId;

use crate::Engine;

#[boxed]
impl Engine {
    /// What has the text as its id, in its name, or, of a named user, at the beginning of its id. Each room looks at a bounded
    /// number of the newest things.
    pub async fn search(&self, app: AppId, text: SearchText) -> Result<Findings> {
        let mut all = vec![self.sending().search(app, text.clone()).await?];
        all.extend(self.devices().search(app, text.clone()).await?);
        all.extend(self.targeting().search(app, text.clone()).await?);
        all.extend(self.campaigns().search(app, text).await?);
        let is_cut = all.iter().any(|findings| findings.is_cut);
        Ok(Findings { found: all.into_iter().flat_map(|findings| findings.found).collect(), is_cut })
    }
}
