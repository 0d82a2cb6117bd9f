//! Work on rows of several apps, cut into parts that do not wait for each other.
//!
//! One database holds all apps together, and then there is one part. Citus spreads the apps over several servers, of which one may
//! be away: rows of all apps are then read server by server and written app by app, and what fails for one part does not fail for
//! the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future;
use model::app::AppKey;
use model::ids::AppId;
use parking_lot::Mutex;

use crate::apps::{self, OPERATOR};
use crate::db::answer::Answer;
use crate::{Error, Result, Store, Tx, Value};

/// How long it is remembered where apps are: a new one has its first job looked for after this at the latest.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// How long a server that did not answer is left out, so that apps of other servers do not wait for it each time.
const LEFT_OUT_FOR: Duration = Duration::from_secs(2);

/// Rows that are read or written together: those of all apps, or of some.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part(Option<Arc<[AppId]>>);

/// The number of a server that holds apps.
pub(crate) type ServerNumber = i64;
type Servers = BTreeMap<ServerNumber, Part>;

/// The apps of each server, and which of the servers are away.
#[derive(Default)]
pub(crate) struct Places {
    known: Mutex<Option<(Instant, Arc<Servers>)>>,
    away: Mutex<BTreeMap<ServerNumber, Instant>>,
}

impl Part {
    pub const ALL: Part = Part(None);

    fn of(app: AppId) -> Self {
        Self(Some([app].into()))
    }

    /// The apps, unless it is all of them.
    pub fn apps(&self) -> Option<&[AppId]> {
        self.0.as_deref()
    }

    /// All apps, whether they are together or spread over servers.
    pub fn every(tx: &mut Tx<'_>) -> Result<Self> {
        if !tx.is_spread() {
            return Ok(Self::ALL);
        }
        Ok(Self(Some(apps::keys(tx)?.into_iter().map(|(app, _)| app).collect())))
    }

    /// The apps with their keys, which are on another server than their rows; none if it is all apps.
    pub(crate) fn keys(&self, tx: &mut Tx<'_>) -> Result<Option<Vec<(AppId, AppKey)>>> {
        let Some(apps) = self.apps() else { return Ok(None) };
        let mut keys = apps::keys(tx)?;
        keys.retain(|(app, _)| apps.contains(app));
        Ok(Some(keys))
    }

    /// A statement about the rows of all apps, narrowed down to those of the part. The app of a part that has one becomes its last
    /// parameter.
    pub(crate) fn narrow<'s>(&self, sql: &'s str, params: &mut Vec<Value>) -> Cow<'s, str> {
        self.narrow_column("app", sql, params)
    }

    /// As [`Part::narrow`], by the column that is the app.
    pub(crate) fn narrow_column<'s>(&self, column: &str, sql: &'s str, params: &mut Vec<Value>) -> Cow<'s, str> {
        let condition = match self.apps() {
            None => return Cow::Borrowed(sql),
            Some([app]) => {
                params.push((*app).into());
                format!("{column} = ${}", params.len())
            }
            Some(apps) => {
                let numbers: Vec<String> = apps.iter().map(|app| app.0.to_string()).collect();
                format!("{column} in ({})", numbers.join(", "))
            }
        };
        Cow::Owned(sql.replacen(" where ", &format!(" where {condition} and "), 1))
    }
}

impl Places {
    fn known(&self) -> Option<Arc<Servers>> {
        let known = self.known.lock();
        known.as_ref().filter(|(read, _)| read.elapsed() < KNOWN_FOR).map(|(_, places)| Arc::clone(places))
    }

    fn is_left_out(&self, server: ServerNumber) -> bool {
        self.away.lock().get(&server).is_some_and(|since| since.elapsed() < LEFT_OUT_FOR)
    }

    fn note(&self, server: ServerNumber, is_away: bool) {
        let mut away = self.away.lock();
        if is_away && away.insert(server, Instant::now()).is_none() {
            tracing::warn!(group = server, "a server of Citus does not answer: its apps have to wait");
        } else if !is_away && away.remove(&server).is_some() {
            tracing::info!(group = server, "a server of Citus answers again");
        }
    }
}

impl Store {
    /// Whether apps are spread over several servers.
    pub fn is_spread(&self) -> bool {
        self.shared.places.is_some()
    }

    /// The part by which rows of an app are written.
    pub fn part_of(&self, app: AppId) -> Part {
        if self.is_spread() { Part::of(app) } else { Part::ALL }
    }

    /// Reads rows of all apps, server by server. What cannot be read because its server is away is left out, unless all are.
    pub async fn read_all<T, E>(
        &self,
        body: impl Fn(&mut Tx<'_>, &Part) -> Result<Vec<T>, E> + Clone + Send + 'static,
    ) -> Result<Vec<T>, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let Some(places) = &self.shared.places else { return self.read(move |tx| body(tx, &Part::ALL)).await };
        let servers = self.servers(places).await?;
        let wanted = servers.iter().filter(|(server, _)| !places.is_left_out(**server));
        let reads = wanted.map(|(server, part)| {
            let (body, part) = (body.clone(), part.clone());
            let read = self.read(move |tx| {
                let found = body(tx, &part);
                Ok::<_, E>((found, tx.is_away()))
            });
            async move { (*server, read.await) }
        });
        let (mut all, mut is_any_read, mut failure) = (Vec::new(), false, None);
        for (server, read) in future::join_all(reads).await {
            let (found, is_away) = read?;
            places.note(server, is_away);
            match found {
                Ok(found) => {
                    is_any_read = true;
                    all.extend(found);
                }
                Err(error) if is_away => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        match failure {
            _ if is_any_read => Ok(all),
            Some(error) => Err(error),
            None => Err(Error::unavailable("no server that holds apps answers").into()),
        }
    }

    /// As [`Store::write`] for the operator, for rows of a part: it does not wait for other changes of the app, and does not keep
    /// them waiting.
    pub fn write_part<T, E>(
        &self,
        part: &Part,
        body: impl Fn(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Answer<'_, T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let place = part.apps().and_then(<[AppId]>::first).copied().unwrap_or(OPERATOR);
        Answer::to_change(body, move |change| self.change(OPERATOR, place, change))
    }

    /// As [`Store::write_part`] for all parts, one after the other. What cannot be written because its server is away is left out,
    /// unless all are.
    pub async fn write_all<T: Send + 'static>(
        &self,
        body: impl Fn(&mut Tx<'_>, &Part) -> Result<T> + Clone + Send + 'static,
    ) -> Result<Vec<T>> {
        let (mut all, mut failure) = (Vec::new(), None);
        for part in self.parts_to_write().await? {
            let (body, of) = (body.clone(), part.clone());
            match self.write_part(&part, move |tx| body(tx, &of)).await {
                Ok(done) => all.push(done),
                Err(error @ Error::Unavailable(_)) => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        failure.filter(|_| all.is_empty()).map_or(Ok(all), Err)
    }

    async fn parts_to_write(&self) -> Result<Vec<Part>> {
        let Some(places) = &self.shared.places else { return Ok(vec![Part::ALL]) };
        let servers = self.servers(places).await?;
        Ok(servers.values().filter_map(Part::apps).flatten().copied().map(Part::of).collect())
    }

    /// The apps of each server, the operator's rows among them.
    async fn servers(&self, places: &Places) -> Result<Arc<Servers>> {
        if let Some(known) = places.known() {
            return Ok(known);
        }
        let mut found = BTreeMap::<ServerNumber, Vec<AppId>>::new();
        for (app, server) in self.read(|tx| tx.places()).await? {
            found.entry(server).or_default().push(app);
        }
        let found = found.into_iter().map(|(server, apps)| (server, Part(Some(apps.into()))));
        let found: Arc<Servers> = Arc::new(found.collect());
        *places.known.lock() = Some((Instant::now(), Arc::clone(&found)));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_narrows_a_statement_down_to_its_apps() {
        let sql = "select id from job where due <= $1 and app in (select app from t where x = 1)";
        let narrowed = |part: &Part| {
            let mut params = vec![Value::from(1_i64)];
            (part.narrow(sql, &mut params).into_owned(), params.len())
        };
        assert_eq!(narrowed(&Part::ALL), (sql.to_owned(), 1));
        let rest = "due <= $1 and app in (select app from t where x = 1)";
        assert_eq!(narrowed(&Part::of(AppId(7))), (format!("select id from job where app = $2 and {rest}"), 2));
        let two = Part(Some([AppId(7), AppId(8)].into()));
        assert_eq!(narrowed(&two), (format!("select id from job where app in (7, 8) and {rest}"), 1));
    }
}
