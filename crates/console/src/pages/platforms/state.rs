//! The state of a platform: the first thing about it that somebody has to act upon.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    NotSetUp,
    Unreadable,
    Refused,
    Paused,
    Disabled,
    Expired,
    Waiting,
    NotTested,
    Ok,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            State::NotSetUp => "not set up",
            State::Unreadable => "unreadable",
            State::Refused => "refused",
            State::Paused => "paused",
            State::Disabled => "disabled",
            State::Expired => "expired",
            State::Waiting => "waiting",
            State::NotTested => "not tested",
            State::Ok => "ok",
        }
    }

    pub(super) fn sentence(self) -> &'static str {
        match self {
            State::NotSetUp => "No credentials yet.",
            State::Unreadable => {
                "The stored credentials cannot be decrypted. Restore the file secrets.key of the service, or set the platform up again."
            }
            State::Refused => {
                "The provider refuses us, so messages wait. Mend the credentials, test them, then resume."
            }
            State::Paused => "Somebody has paused it. Messages wait until it is resumed.",
            State::Disabled => "It is switched off: its devices get nothing.",
            State::Expired => "Its certificate has expired.",
            State::Waiting => {
                "The provider cannot be reached or is busy. The service tries again by itself; messages wait."
            }
            State::NotTested => "The credentials are stored, and nobody knows yet whether they are good. Test them.",
            State::Ok => "Messages go out.",
        }
    }
}

#[cfg(test)]
mod tests {
    use model::time::UtcMillis;
    use serde_json::{Value, json};

    use super::super::shown::Shown;
    use super::*;

    fn shown(more: &Value) -> Shown {
        let mut fields =
            json!({"platform": "apns", "modified": "2024-05-01T08:00:00", "keys": [{"fingerprint": "ab"}]});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_str(&fields.to_string()).unwrap()
    }

    #[test]
    fn the_state_is_what_somebody_has_to_act_upon() {
        let now = UtcMillis::parse_api("2024-05-01T08:00:00").unwrap();
        let since = |by: Value| json!({"by": by, "reason": "403", "since": "2024-05-01T07:00:00"});
        let expiring = |at: &str| json!({"keys": [{"fingerprint": "ab", "expires": at}]});
        let cases = [
            (json!({}), State::NotTested),
            (json!({"proven": "2024-05-01T08:00:00"}), State::Ok),
            (json!({"modified": null}), State::NotSetUp),
            (json!({"unreadable": true, "paused": since(json!("operator"))}), State::Unreadable),
            (json!({"paused": since(json!("provider"))}), State::Refused),
            (json!({"modified": null, "paused": since(json!("operator"))}), State::Paused),
            (json!({"enabled": false}), State::Disabled),
            (json!({"waiting": since(Value::Null)}), State::Waiting),
            (expiring("2024-05-01T07:59:59"), State::Expired),
            (expiring("2024-05-02T08:00:00"), State::NotTested),
        ];
        for (fields, state) in cases {
            assert_eq!(shown(&fields).state(now), state, "{fields}");
        }
        let notice = |at: &str| shown(&expiring(at)).notice(now).unwrap_or_default();
        assert!(notice("2024-05-13T09:00:00").contains("in 12 days"));
        assert!(
            notice("2024-05-01T09:00:00").contains("within a day")
                && notice("2024-04-01T09:00:00").contains("has expired")
        );
        assert_eq!(notice("2025-05-13T09:00:00"), "");
        assert_eq!(shown(&json!({})).notice(now), None, "a key without an end");
    }
}
