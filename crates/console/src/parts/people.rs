//! Whoever did something, as the API names them, for people: `kim@example.com` and not `account kim@example.com`.

/// The address of somebody who has an account; other credentials are called what they are.
pub(crate) fn person(credential: &str) -> &str {
    credential.strip_prefix("account ").unwrap_or(credential)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_called_by_their_addresses() {
        let named = ["account kim@example.com", "account", "master secret", "token 3f"].map(person);
        assert_eq!(named, ["kim@example.com", "account", "master secret", "token 3f"]);
    }
}
