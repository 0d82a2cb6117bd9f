//! Apps by key, and tokens of servers, so that authentication does not cost a query. Emptied whenever any app or token changes, on
//! any node.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use base::Result;
use parking_lot::RwLock;
use tokio::sync::OnceCell;

use super::KnownApp;

/// The thing with a key, once it was read; `None` when there is none.
type Found<V> = OnceCell<Option<Arc<V>>>;

pub(crate) struct Known<K, V>(RwLock<HashMap<K, Arc<Found<V>>>>);

pub(crate) type KnownApps = Known<String, KnownApp>;

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Hash + Eq + Clone, V> Known<K, V> {
    /// A thing that was read since the last change of any.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
    {
        self.0.read().get(key)?.get()?.clone()
    }

    /// Reads a thing, once for all who ask for it at the same time: after a change everybody does. What is read while the cache is
    /// emptied is given to those who wait for it, and not kept. Keys of nothing are not kept either, because there is no end of
    /// them.
    pub(crate) async fn read(
        &self,
        key: K,
        reading: impl Future<Output = Result<Option<V>>>,
    ) -> Result<Option<Arc<V>>> {
        let cell = self.cell(&key);
        let found = cell.get_or_try_init(|| async { Ok(reading.await?.map(Arc::new)) }).await;
        if !matches!(found, Ok(Some(_))) {
            self.forget(&key, &cell);
        }
        found.cloned()
    }

    pub(crate) fn clear(&self) {
        self.0.write().clear();
    }

    /// Has one thing read again. What is being read of it is not kept, as when all are.
    pub(crate) fn clear_one<Q: Hash + Eq + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.0.write().remove(key);
    }

    fn cell(&self, key: &K) -> Arc<Found<V>> {
        let mut cells = self.0.write();
        cells.entry(key.clone()).or_default().clone()
    }

    /// Unless another has taken its place.
    fn forget(&self, key: &K, useless: &Arc<Found<V>>) {
        let mut cells = self.0.write();
        if cells.get(key).is_some_and(|cell| Arc::ptr_eq(cell, useless)) {
            cells.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use model::app::{AppKey, Mode, UserRules};
    use model::ids::AppId;
    use model::time::UtcMillis;
    use store::apps::{App, SecretHashes};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::former_secrets::Formers;
    use base::Error;

    const KEY: &str = "an-app-with-22-letters";

    fn named(name: &str) -> KnownApp {
        let app = App {
            id: AppId(1),
            key: AppKey::new(KEY).expect("the form of a key"),
            name: name.to_owned(),
            mode: Mode::Development,
            user_rules: UserRules::default(),
            approval_above: None,
            web_origins: Vec::new(),
            proof_public_key: None,
            created: UtcMillis(0),
            data_changed: UtcMillis(0),
        };
        let hashes = SecretHashes { app: [1; 32], master: [2; 32] };
        KnownApp {
            app: Arc::new(app),
            hashes,
            master_credential: "".into(),
            signing: None,
            formers: Formers::default(),
        }
    }

    #[tokio::test]
    async fn all_who_ask_at_once_share_one_read() {
        let (apps, n_reads) = (KnownApps::default(), Cell::new(0));
        let read = async |found: Option<KnownApp>| {
            n_reads.set(n_reads.get() + 1);
            tokio::task::yield_now().await;
            Ok(found)
        };
        let asked = (0..100).map(|_| apps.read(KEY.to_owned(), read(Some(named("A")))));
        let answers = futures_util::future::try_join_all(asked).await.unwrap();
        assert!(answers.iter().all(|app| app.as_ref().is_some_and(|app| app.app.name == "A")));
        assert_eq!(n_reads.get(), 1);
        assert_eq!(apps.get(KEY).unwrap().app.name, "A");
        apps.clear();
        assert!(apps.get(KEY).is_none());
        let asked = (0..100).map(|_| apps.read(KEY.to_owned(), read(None)));
        let answers = futures_util::future::try_join_all(asked).await.unwrap();
        assert!(answers.iter().all(Option::is_none));
        assert_eq!(n_reads.get(), 2);
    }

    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_kept() {
        let (apps, gate) = (KnownApps::default(), Semaphore::new(0));
        let early = apps.read(KEY.to_owned(), async {
            let _turn = gate.acquire().await.map_err(Error::internal)?;
            Ok(Some(named("old")))
        });
        let change = async {
            apps.clear();
            let late = apps.read(KEY.to_owned(), async { Ok(Some(named("new"))) }).await.unwrap();
            gate.add_permits(1);
            late.unwrap().app.name.clone()
        };
        let (early, late) = tokio::join!(early, change);
        assert_eq!((early.unwrap().unwrap().app.name.as_str(), late.as_str()), ("old", "new"));
        assert_eq!(apps.get(KEY).unwrap().app.name, "new");
    }

    #[tokio::test]
    async fn one_is_read_again_and_the_others_stay() {
        let (apps, other) = (KnownApps::default(), "another-with-22-letter");
        for key in [KEY, other] {
            apps.read(key.to_owned(), async { Ok(Some(named("old"))) }).await.unwrap();
        }
        apps.clear_one(KEY);
        assert!(apps.get(KEY).is_none() && apps.get(other).is_some());
        apps.read(KEY.to_owned(), async { Ok(Some(named("new"))) }).await.unwrap();
        assert_eq!(apps.get(KEY).unwrap().app.name, "new");
    }

    #[tokio::test]
    async fn only_apps_are_kept() {
        let apps = KnownApps::default();
        assert!(apps.read("nobody".to_owned(), async { Ok(None) }).await.unwrap().is_none());
        assert!(apps.read(KEY.to_owned(), async { Err(Error::NotFound("app")) }).await.is_err());
        assert!(apps.0.read().is_empty());
    }
}
