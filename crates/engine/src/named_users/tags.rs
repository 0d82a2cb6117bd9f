//! What a named user holds, and what a change of it means for the user's channels.

use model::channel::TagOperation;
use model::ids::{AppId, NamedUserId};
use store::{Tx, named_users};

use crate::desk::{Desk, union};
use crate::holdings::Holdings;
use crate::{Engine, Result};

impl Engine {
    /// Changes the tags of users, who are made if need be.
    pub async fn tag_named_users(&self, app: AppId, users: Vec<NamedUserId>, operation: TagOperation) -> Result<()> {
        let index = self.index(app).await?;
        let now = self.clock().now();
        self.0
            .store
            .write(app, move |tx| {
                let mut desk = Desk::new(app, &index, now);
                for user in &users {
                    desk.change_user(tx, user, |holdings| operation.apply(&mut holdings.tags))?;
                }
                desk.journal.write(tx, app)?;
                Ok(())
            })
            .await
    }
}

impl Desk<'_> {
    /// Changes what a user holds, and with it what all the user's channels can be addressed by.
    pub(crate) fn change_user(
        &mut self,
        tx: &mut Tx<'_>,
        id: &NamedUserId,
        change: impl FnOnce(&mut Holdings),
    ) -> Result<()> {
        let mut user = named_users::ensure(tx, self.app, id, self.journal.now())?;
        let before = Holdings::of(self.names(tx, &user.terms)?);
        let mut after = before.clone();
        change(&mut after);
        after.check_number_of_tags()?;
        let terms = self.numbers(tx, &after.terms())?;
        if terms == user.terms {
            return Ok(());
        }
        for channel in named_users::channels_of(tx, self.app, id)?.iter().filter(|channel| channel.installed) {
            let (held, holds) = (union(&channel.terms, &user.terms), union(&channel.terms, &terms));
            self.journal.change_terms(channel.ordinal, &held, &holds);
            self.journal.change_tags(channel.ordinal, &before.tags_told(), &after.tags)?;
        }
        user.terms = terms;
        user.modified = self.journal.now();
        Ok(named_users::save(tx, self.app, &user)?)
    }
}
