//! The faults of the sandbox: how its next answers differ from a provider that takes everything.

use crate::device_type::DeviceType;
use crate::json::body::{Body, Words};
use crate::limits;

/// The answers that the sandbox gives next, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Body)]
pub struct SandboxFaults {
    /// Each is used up before the next. An empty list ends all faults.
    #[body(length = 0..=limits::SANDBOX_FAULTS)]
    pub faults: Vec<SandboxFault>,
}

/// An answer of the sandbox, and for how many messages.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SandboxFault {
    /// What the messages are answered.
    pub answer: SandboxAnswer,
    /// How many messages are answered so.
    #[body(range = 1..=limits::SANDBOX_FAULT_MESSAGES, default = 1, always)]
    pub count: u32,
    /// Only messages to devices of this type; any message if it is left out.
    pub device_type: Option<DeviceType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum SandboxAnswer {
    /// The device is not there any more: its channel is uninstalled.
    Gone,
    /// Not now: the message is tried again later.
    Busy,
    /// The message is not taken, and has failed.
    Refused,
}

impl SandboxFaults {
    /// Takes the answers for up to `n_messages` to devices of a type.
    pub fn take(&mut self, device_type: &DeviceType, n_messages: usize) -> Vec<SandboxAnswer> {
        let mut taken = Vec::new();
        for fault in &mut self.faults {
            if fault.device_type.as_ref().is_some_and(|only| only != device_type) {
                continue;
            }
            while fault.count > 0 && taken.len() < n_messages {
                taken.push(fault.answer);
                fault.count -= 1;
            }
        }
        self.faults.retain(|fault| fault.count > 0);
        taken
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::json::parse;

    fn read(body: &Value) -> Result<SandboxFaults, String> {
        parse(body.to_string().as_bytes(), SandboxFaults::parse).map_err(|problems| problems.first().path.clone())
    }

    #[test]
    fn faults_are_used_up_in_their_order() {
        let body = json!({"faults": [
            {"answer": "gone", "device_type": "ios"}, {"answer": "busy", "count": 2}, {"answer": "refused", "count": 1},
        ]});
        let mut faults = read(&body).unwrap();
        assert_eq!(faults.take(&DeviceType::Android, 1), [SandboxAnswer::Busy]);
        assert_eq!(faults.take(&DeviceType::Ios, 2), [SandboxAnswer::Gone, SandboxAnswer::Busy]);
        assert_eq!(json!(faults), json!({"faults": [{"answer": "refused", "count": 1}]}));
        assert_eq!(faults.take(&DeviceType::Web, 9), [SandboxAnswer::Refused]);
        assert_eq!(faults, SandboxFaults::default());
    }

    #[test]
    fn wrong_faults_are_refused() {
        for (body, path) in [
            (json!({}), "faults"),
            (json!({"faults": [{}]}), "faults[0].answer"),
            (json!({"faults": [{"answer": "slow"}]}), "faults[0].answer"),
            (json!({"faults": [{"answer": "gone", "count": 0}]}), "faults[0].count"),
            (json!({"faults": [{"answer": "gone", "device_type": "toaster"}]}), "faults[0].device_type"),
            (json!({"faults": vec![json!({"answer": "gone"}); 101]}), "faults"),
        ] {
            assert_eq!(read(&body).unwrap_err(), path, "{body}");
        }
    }
}
