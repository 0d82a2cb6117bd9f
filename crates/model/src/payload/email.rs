//! The override for email, which is always given whole: nothing is inherited.

use serde::Serialize;

use super::extra::{self, TextExtra};
use super::template::Template;
use crate::ids::Id;
use crate::json::{At, OneOrMany};
use crate::limits;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmailOverride {
    pub message_type: MessageType,
    pub sender_name: String,
    pub sender_address: EmailAddress,
    pub reply_to: EmailAddress,
    /// Like the plain text: given unless a template gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plaintext_body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html_body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bcc: Option<OneOrMany<EmailAddress>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Vec<Attachment>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub click_tracking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_tracking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bypass_opt_in_level: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_parameters: Option<TextExtra>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

/// Whether a message needs the recipient's consent to advertising.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    Transactional,
    Commercial,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct EmailAddress(String);

pub enum AttachmentKind {}
/// One uploaded file.
pub type AttachmentId = Id<AttachmentKind>;

/// A file uploaded earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment {
    pub id: AttachmentId,
}

impl EmailOverride {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let has_template = fields.has("template");
        let template = Template::take(&mut fields, &["subject", "plaintext_body", "html_body"]);
        let message_type = fields.required("message_type", MessageType::parse);
        let sender_name = fields.required("sender_name", |name| name.text(1..=usize::MAX));
        let sender_address = fields.required("sender_address", EmailAddress::parse);
        let reply_to = fields.required("reply_to", EmailAddress::parse);
        let subject = fields.optional("subject", |subject| subject.text(1..=usize::MAX));
        let plaintext_body = fields.optional("plaintext_body", body);
        let html_body = fields.optional("html_body", body);
        let bcc = fields.optional("bcc", |bcc| bcc.one_or_many(1..=limits::EMAIL_BCC, EmailAddress::parse));
        let attachments =
            fields.optional("attachments", |files| files.array(0..=limits::EMAIL_ATTACHMENTS, Attachment::parse));
        let click_tracking = fields.optional("click_tracking", At::boolean);
        let open_tracking = fields.optional("open_tracking", At::boolean);
        let bypass_opt_in_level = fields.optional("bypass_opt_in_level", At::boolean);
        let url_parameters = fields.optional("url_parameters", extra::text);
        for key in ["subject", "plaintext_body"] {
            if !has_template && !fields.has(key) {
                at.missing::<()>(key);
            }
        }
        fields.finish();
        Some(Self {
            message_type: message_type?,
            sender_name: sender_name?,
            sender_address: sender_address?,
            reply_to: reply_to?,
            subject,
            plaintext_body,
            html_body,
            bcc,
            attachments,
            click_tracking,
            open_tracking,
            bypass_opt_in_level,
            url_parameters,
            template,
        })
    }
}

impl MessageType {
    pub fn parse(at: &At<'_>) -> Option<Self> {
        at.choice(&[("transactional", MessageType::Transactional), ("commercial", MessageType::Commercial)])
    }
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

impl Attachment {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let id = fields.required("id", AttachmentId::parse);
        fields.finish();
        Some(Self { id: id? })
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
