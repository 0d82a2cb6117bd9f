//! Hashing and checking passwords. A hash takes a processor a twentieth of a second and 19 MiB, on purpose; so a few are made at a
//! time, on threads of their own.

use std::sync::{Arc, LazyLock};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use base::{Error, Result};
use model::account::Password;
use tenancy::credentials;
use tokio::sync::Semaphore;

/// Hashes that are made at once.
const AT_ONCE: usize = 2;
/// Hashes that wait for their turn. Whoever comes after that is asked to try again.
const WAITING: usize = 30;

pub(crate) struct Passwords {
    turns: Arc<Semaphore>,
    queue: Arc<Semaphore>,
}

/// Compared with passwords for accounts that there are not, so that those take as long.
static NOBODYS: LazyLock<String> = LazyLock::new(|| hash_with("nobody has this password", [7; 16]).unwrap_or_default());

impl Default for Passwords {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)), queue: Arc::new(Semaphore::new(AT_ONCE + WAITING)) }
    }
}

impl Passwords {
    /// A salted hash, which says how it was made.
    pub(crate) async fn hash(&self, password: Password) -> Result<String> {
        let salt = credentials::random_bytes()?;
        self.in_turn(move || hash_with(password.reveal(), salt)).await?
    }

    /// Whether the password is the one that a hash was made of. It takes as long without a hash.
    pub(crate) async fn is_right(&self, password: String, hash: Option<String>) -> Result<bool> {
        self.in_turn(move || {
            let known = hash.as_deref().unwrap_or(&NOBODYS);
            let Ok(parsed) = PasswordHash::new(known) else {
                return Err(Error::internal("the hash of a password cannot be read"));
            };
            Ok(Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok() && hash.is_some())
        })
        .await?
    }

    async fn in_turn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let text = "Too many people log in at the same time; try again in a moment.";
        let busy = |_| Error::TooMany { text, retry_after: std::time::Duration::from_secs(1) };
        let _place = self.queue.clone().try_acquire_owned().map_err(busy)?;
        let turn = self.turns.clone().acquire_owned().await.map_err(Error::internal)?;
        let work = move || {
            let _turn = turn;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::internal)
    }
}

fn hash_with(password: &str, salt: [u8; 16]) -> Result<String> {
    // The defaults are those that OWASP asks for: argon2id, 19 MiB, two passes.
    let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn only_the_right_password_is_right() {
        let passwords = Passwords::default();
        let hash = passwords.hash(Password::new("correct horse battery").unwrap()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(passwords.is_right("correct horse battery".to_owned(), Some(hash.clone())).await.unwrap());
        assert!(!passwords.is_right("correct horse batterx".to_owned(), Some(hash)).await.unwrap());
        assert!(!passwords.is_right("nobody has this password".to_owned(), None).await.unwrap());
    }

    #[tokio::test]
    async fn a_crowd_is_asked_to_come_again() {
        let passwords = Passwords::default();
        // Nobody has a turn before all have come, however quick the machine is.
        let mut held = Some(passwords.turns.acquire_many(u32::try_from(AT_ONCE).unwrap()).await.unwrap());
        let mut crowd: Vec<_> = (0..AT_ONCE + WAITING + 10).map(|_| Box::pin(passwords.in_turn(|| ()))).collect();
        let mut answers: Vec<Result<()>> = Vec::new();
        std::future::poll_fn(|context| {
            crowd.retain_mut(|one| match one.as_mut().poll(context) {
                Poll::Ready(answer) => {
                    answers.push(answer);
                    false
                }
                Poll::Pending => true,
            });
            held = None;
            if crowd.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), AT_ONCE + WAITING);
        let is_busy = |answer: &Result<()>| matches!(answer, Err(Error::TooMany { .. }));
        assert_eq!(answers.iter().filter(|answer| is_busy(answer)).count(), 10);
    }
}
