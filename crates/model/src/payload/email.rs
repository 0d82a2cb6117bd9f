//! The override for email, which is always given whole: nothing is inherited.

use schemars::json_schema;
use serde::Serialize;

use super::extra::TextExtra;
use super::template::{self, TemplateReference};
use crate::ids::Id;
use crate::json::body::{Body, Read, Words};
use crate::json::{At, OneOrMany};
use crate::limits;

/// An email, which is always given whole: nothing is inherited.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(keys = |fields| template::require_without(fields, &["subject", "plaintext_body"]))]
pub struct EmailOverride {
    /// Whether it is advertising.
    pub message_type: MessageType,
    /// The name of the sender.
    #[body(length = 1..=usize::MAX)]
    pub sender_name: String,
    /// The address it comes from.
    pub sender_address: EmailAddress,
    /// The address that answers go to.
    pub reply_to: EmailAddress,
    /// Like the plain text: given unless a template gives it.
    #[body(length = 1..=usize::MAX)]
    pub subject: Option<String>,
    /// The text for programs that show no HTML.
    #[body(length = 1..=limits::EMAIL_BODY_BYTES, read = body)]
    pub plaintext_body: Option<String>,
    /// The text in HTML.
    #[body(length = 1..=limits::EMAIL_BODY_BYTES, read = body)]
    pub html_body: Option<String>,
    #[body(length = 1..=limits::EMAIL_BCC)]
    pub bcc: Option<OneOrMany<EmailAddress>>,
    #[body(length = 0..=limits::EMAIL_ATTACHMENTS)]
    pub attachments: Option<Vec<Attachment>>,
    pub click_tracking: Option<bool>,
    pub open_tracking: Option<bool>,
    pub bypass_opt_in_level: Option<bool>,
    pub url_parameters: Option<TextExtra>,
    /// Where the texts come from instead.
    #[body(first, take = |fields| TemplateReference::take(fields, &["subject", "plaintext_body", "html_body"]))]
    pub template: Option<TemplateReference>,
}

/// Whether a message needs the recipient's consent to advertising.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Words)]
pub enum MessageType {
    Transactional,
    Commercial,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read)]
#[body(schema = json_schema!({"type": "string", "format": "email", "maxLength": limits::EMAIL_ADDRESS_CHARS}))]
pub struct EmailAddress(String);

pub enum AttachmentKind {}
/// One uploaded file.
pub type AttachmentId = Id<AttachmentKind>;

/// A file uploaded earlier.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct Attachment {
    /// Of the uploaded file.
    pub id: AttachmentId,
}

impl EmailAddress {
    fn parse(at: &At<'_>) -> Option<Self> {
        let text = at.text(1..=limits::EMAIL_ADDRESS_CHARS)?;
        let has_two_sides =
            text.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
        if !has_two_sides || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return at.invalid(format!("'{text}' is not an email address."));
        }
        Some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn body(at: &At<'_>) -> Option<String> {
    let text = at.text(1..=usize::MAX)?;
    if text.len() > limits::EMAIL_BODY_BYTES {
        let most = limits::EMAIL_BODY_BYTES;
        return at.invalid(format!("This must have at most {most} bytes in UTF-8; it has {}.", text.len()));
    }
    Some(text)
}

#[cfg(test)]
mod tests;
