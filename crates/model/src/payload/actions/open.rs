//! The target that a tap opens: a URL, a place in the app, or a page made for this push.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::At;
use crate::json::body::{Body, Read};
use crate::limits;
use crate::payload::content::{ContentEncoding, ContentType};
use crate::payload::http_url::HttpUrl;
use crate::payload::template::TemplateId;

/// The target that a tap opens.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
#[body(tag = "type")]
pub enum OpenAction {
    /// Usually a web address, but `tel:` and others work too.
    Url {
        #[body(length = 1..=usize::MAX)]
        content: String,
    },
    DeepLink {
        #[body(length = 1..=limits::DEEP_LINK_CHARS)]
        content: String,
        /// For browsers, which cannot follow a link into an app.
        fallback_url: Option<HttpUrl>,
    },
    LandingPage {
        content: LandingPage,
        /// For browsers, in place of the page.
        fallback_url: Option<HttpUrl>,
    },
    Scene {
        content: SceneContent,
    },
    /// The front page of the website, or the app as a tap without actions opens it.
    Home,
}

/// A page that opens inside the app.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Read, JsonSchema)]
#[serde(untagged)]
pub enum LandingPage {
    /// The service hosts the page.
    Inline(InlinePage),
    /// Another server hosts the page.
    Hosted { url: HttpUrl },
}

/// A page that the service hosts. Its body follows its encoding.
#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct InlinePage {
    #[body(length = 1..=limits::LANDING_PAGE_CHARS, read = |at| page_body(at, content_encoding))]
    pub body: String,
    /// The MIME type of the body.
    pub content_type: ContentType,
    #[body(first)]
    pub content_encoding: Option<ContentEncoding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SceneContent {
    pub template: SceneTemplate,
}

#[derive(Clone, Debug, PartialEq, Eq, Body)]
pub struct SceneTemplate {
    pub template_id: TemplateId,
}

impl LandingPage {
    fn parse(at: &At<'_>) -> Option<Self> {
        if at.json().get("url").is_none() {
            return InlinePage::parse(at).map(LandingPage::Inline);
        }
        let mut fields = at.object()?;
        let url = fields.required("url", HttpUrl::parse);
        fields.finish();
        Some(LandingPage::Hosted { url: url? })
    }
}

fn page_body(at: &At<'_>, encoding: Option<ContentEncoding>) -> Option<String> {
    let text = at.text(1..=limits::LANDING_PAGE_CHARS)?;
    if encoding.unwrap_or(ContentEncoding::Utf8).decode(&text).is_none() {
        return at.invalid("This is not valid base64, which 'content_encoding' says it is.");
    }
    Some(text)
}

impl InlinePage {
    /// The bytes to serve.
    pub fn bytes(&self) -> Vec<u8> {
        let encoding = self.content_encoding.unwrap_or(ContentEncoding::Utf8);
        encoding.decode(&self.body).expect("the body was decoded once when the page was parsed")
    }

    /// The type to serve them as.
    pub fn mime_type(&self) -> String {
        self.content_type.served(self.content_encoding)
    }
}
