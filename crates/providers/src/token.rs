//! Tokens that prove who we are to a provider: fetched or signed once, shared by all senders, renewed before they expire.

use std::time::Duration;

use http::HeaderValue;
use model::time::{LONGEST_WAIT, UtcMillis};
use parking_lot::{Mutex, MutexGuard};

use crate::outcome::Outcome;

/// While a token that still works cannot be renewed, this long until the next try.
const RENEWAL_PAUSE: Duration = Duration::from_secs(60);

/// One token, ready to be sent as the `authorization` header.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) header: HeaderValue,
    /// From here on a new one is fetched.
    pub(crate) renew_at: UtcMillis,
    /// Until then this one is used if no new one can be fetched.
    pub(crate) expires_at: UtcMillis,
}

/// The current token of one set of credentials.
#[derive(Debug, Default)]
pub(crate) struct TokenCache {
    state: Mutex<State>,
    /// The task that holds it fetches; the others use the current token, or wait for the result.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    token: Option<Token>,
    /// When it came.
    since: UtcMillis,
    /// How many fetches have ended, and how the last one failed, if it did.
    n_fetches: u64,
    failure: Option<Outcome>,
}

impl Token {
    /// An OAuth access token as providers hand them out; renewed when a tenth of its life is left, but at most five minutes
    /// before its end.
    pub(crate) fn bearer(access_token: &str, lifetime: Duration, now: UtcMillis) -> Result<Self, Outcome> {
        let Ok(header) = HeaderValue::try_from(format!("Bearer {access_token}")) else {
            let reason = "The access token from the provider contains characters that no header can carry.".to_owned();
            return Err(Outcome::Unauthorized { reason });
        };
        let margin = (lifetime / 10).min(Duration::from_secs(5 * 60));
        Ok(Self { header, renew_at: now.plus(lifetime.saturating_sub(margin)), expires_at: now.plus(lifetime) })
    }
}

impl TokenCache {
    /// The current token, after `fetch` if there is none or it is due. Concurrent callers share one fetch and how it ended;
    /// a token that is due but still good serves them meanwhile.
    /// The header is not marked as sensitive: it is the same in thousands of requests and should be compressed.
    pub(crate) async fn get(
        &self,
        now: UtcMillis,
        fetch: impl AsyncFnOnce() -> Result<Token, Outcome>,
    ) -> Result<HeaderValue, Outcome> {
        let n_fetches = {
            let state = self.state();
            if let Some(header) = state.fresh(now) {
                return Ok(header);
            }
            state.n_fetches
        };
        // Seldom needed, and too large to be part of the future of every message.
        Box::pin(self.renewed(now, n_fetches, fetch)).await
    }

    async fn renewed(
        &self,
        now: UtcMillis,
        n_fetches: u64,
        fetch: impl AsyncFnOnce() -> Result<Token, Outcome>,
    ) -> Result<HeaderValue, Outcome> {
        let usable = self.state().usable(now);
        let _turn = match (self.fetching.try_lock(), usable) {
            (Ok(turn), _) => turn,
            // Another task is renewing it, and until then it is valid.
            (Err(_), Some(header)) => return Ok(header),
            (Err(_), None) => self.fetching.lock().await,
        };
        {
            let state = self.state();
            if let Some(header) = state.fresh(now) {
                return Ok(header);
            }
            // Another task failed while we waited; asking again at once would only add to the provider's load.
            if let Some(failure) = state.failure.as_ref().filter(|_| state.n_fetches != n_fetches) {
                return Err(failure.clone());
            }
        }
        let fetched = fetch().await;
        self.state().settle(fetched, now)
    }

    pub(crate) fn is_current(&self, header: &HeaderValue) -> bool {
        self.state().token.as_ref().is_some_and(|token| token.header == *header)
    }

    /// Forgets the token that the provider refused, unless it has been replaced already.
    pub(crate) fn discard(&self, refused: &HeaderValue) {
        let mut state = self.state();
        if state.token.as_ref().is_some_and(|token| token.header == *refused) {
            state.token = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn fresh(&self, now: UtcMillis) -> Option<HeaderValue> {
        self.current(now).filter(|token| now < token.renew_at).map(|token| token.header.clone())
    }

    fn usable(&self, now: UtcMillis) -> Option<HeaderValue> {
        self.current(now).filter(|token| now < token.expires_at).map(|token| token.header.clone())
    }

    /// Not one from a time that is far ahead: the clock was wrong then, and what it says of when the token ends as well. Providers
    /// refuse tokens that say so themselves.
    fn current(&self, now: UtcMillis) -> Option<&Token> {
        self.token.as_ref().filter(|_| self.since <= now.plus(LONGEST_WAIT))
    }

    fn settle(&mut self, fetched: Result<Token, Outcome>, now: UtcMillis) -> Result<HeaderValue, Outcome> {
        self.n_fetches += 1;
        match fetched {
            Ok(token) => {
                (self.failure, self.since) = (None, now);
                Ok(self.token.insert(token).header.clone())
            }
            Err(failure) => match self.usable(now) {
                Some(header) => {
                    if let Some(token) = &mut self.token {
                        token.renew_at = now.plus(RENEWAL_PAUSE).min(token.expires_at);
                    }
                    self.failure = None;
                    Ok(header)
                }
                None => {
                    self.failure = Some(failure.clone());
                    Err(failure)
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use tokio::sync::Notify;

    const HOUR: Duration = Duration::from_secs(3600);

    fn token(text: &str, now: UtcMillis) -> Token {
        Token::bearer(text, HOUR, now).unwrap()
    }

    fn down() -> Outcome {
        Outcome::Unauthorized { reason: "down".to_owned() }
    }

    #[tokio::test]
    async fn kept_until_it_is_due_and_renewed_before_it_expires() {
        let cache = TokenCache::default();
        let at = |seconds: u64| UtcMillis(0).plus(Duration::from_secs(seconds));
        assert_eq!(cache.get(at(0), async || Ok(token("a", at(0)))).await.unwrap(), "Bearer a");
        let unasked = async || panic!("the token is still good");
        assert_eq!(cache.get(at(3299), unasked).await.unwrap(), "Bearer a");
        assert_eq!(cache.get(at(3300), async || Ok(token("b", at(3300)))).await.unwrap(), "Bearer b");
    }

    #[tokio::test]
    async fn an_old_token_serves_while_no_new_one_is_to_be_had() {
        let cache = TokenCache::default();
        let at = |seconds: u64| UtcMillis(0).plus(Duration::from_secs(seconds));
        cache.get(at(0), async || Ok(token("a", at(0)))).await.unwrap();
        assert_eq!(cache.get(at(3300), async || Err(down())).await.unwrap(), "Bearer a");
        let unasked = async || panic!("asked again within the pause");
        assert_eq!(cache.get(at(3359), unasked).await.unwrap(), "Bearer a");
        assert_eq!(cache.get(at(3599), async || Err(down())).await.unwrap(), "Bearer a");
        assert_eq!(cache.get(at(3600), async || Err(down())).await, Err(down()));
    }

    #[tokio::test]
    async fn a_token_of_a_wrong_clock_is_not_used_when_the_clock_is_right() {
        let (cache, noon) = (TokenCache::default(), UtcMillis(0));
        let tomorrow = noon.plus(24 * HOUR);
        cache.get(tomorrow, async || Ok(token("a", tomorrow))).await.unwrap();
        assert_eq!(cache.get(noon, async || Err(down())).await, Err(down()));
        assert_eq!(cache.get(noon, async || Ok(token("b", noon))).await.unwrap(), "Bearer b");
    }

    #[tokio::test]
    async fn only_the_refused_token_is_forgotten() {
        let cache = TokenCache::default();
        let now = UtcMillis(0);
        let first = cache.get(now, async || Ok(token("a", now))).await.unwrap();
        cache.discard(&first);
        let second = cache.get(now, async || Ok(token("b", now))).await.unwrap();
        // Requests that were still under way with the first one come back late.
        cache.discard(&first);
        assert_eq!(cache.get(now, async || panic!("the second one is good")).await.unwrap(), second);
    }

    /// Many tasks wait before the only fetch ends; all of them get its result.
    async fn crowd(ends: Result<Token, Outcome>) -> (Vec<Result<HeaderValue, Outcome>>, u64) {
        let (cache, n_fetches) = (Arc::new(TokenCache::default()), Arc::new(AtomicU64::new(0)));
        let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let mut callers = Vec::new();
        for _ in 0..20 {
            let (cache, n_fetches, ends) = (cache.clone(), n_fetches.clone(), ends.clone());
            let (started, go) = (started.clone(), go.clone());
            callers.push(tokio::spawn(async move {
                let fetch = async || {
                    n_fetches.fetch_add(1, Ordering::SeqCst);
                    started.notify_one();
                    go.notified().await;
                    ends
                };
                cache.get(UtcMillis(0), fetch).await
            }));
        }
        started.notified().await;
        // The test's runtime has one thread and takes turns: by now every caller has had one.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        go.notify_one();
        let mut answers = Vec::new();
        for caller in callers {
            answers.push(caller.await.unwrap());
        }
        (answers, n_fetches.load(Ordering::SeqCst))
    }

    #[tokio::test]
    async fn a_crowd_shares_one_fetch() {
        let (answers, n_fetches) = crowd(Ok(token("a", UtcMillis(0)))).await;
        assert_eq!(n_fetches, 1);
        assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|header| header == "Bearer a")), "{answers:?}");

        let (answers, n_fetches) = crowd(Err(down())).await;
        assert_eq!(n_fetches, 1);
        assert!(answers.iter().all(|answer| *answer == Err(down())), "{answers:?}");
    }

    #[tokio::test]
    async fn a_token_that_is_still_good_serves_while_somebody_renews_it() {
        let (cache, started, go) = (TokenCache::default(), Notify::new(), Notify::new());
        let (first, due) = (UtcMillis(0), UtcMillis(0).plus(HOUR - Duration::from_secs(60)));
        cache.get(first, async || Ok(token("a", first))).await.unwrap();
        let renewal = cache.get(due, async || {
            started.notify_one();
            go.notified().await;
            Ok(token("b", due))
        });
        let meanwhile = async {
            started.notified().await;
            let header = cache.get(due, async || panic!("one renewal is enough")).now_or_never();
            go.notify_one();
            header
        };
        let (renewed, meanwhile) = tokio::join!(renewal, meanwhile);
        assert_eq!(meanwhile.expect("there is nothing to wait for").unwrap(), "Bearer a");
        assert_eq!(renewed.unwrap(), "Bearer b");
    }

    #[test]
    fn short_lives_are_renewed_early_enough_and_odd_tokens_are_refused() {
        let short = Token::bearer("a", Duration::from_secs(60), UtcMillis(0)).unwrap();
        assert_eq!((short.renew_at, short.expires_at), (UtcMillis(54_000), UtcMillis(60_000)));
        assert!(matches!(Token::bearer("a\nb", HOUR, UtcMillis(0)), Err(Outcome::Unauthorized { .. })));
    }
}
