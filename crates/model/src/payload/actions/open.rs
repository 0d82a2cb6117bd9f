//! The target that a tap opens: a URL, a place in the app, or a page made for this push.

use serde::Serialize;

use crate::json::At;
use crate::limits;
use crate::payload::content::{ContentEncoding, ContentType};
use crate::payload::http_url::HttpUrl;
use crate::payload::template::TemplateId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OpenAction {
    /// Usually a web address, but `tel:` and others work too.
    Url {
        content: String,
    },
    DeepLink {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        fallback_url: Option<HttpUrl>,
    },
    LandingPage {
        content: LandingPage,
    },
    Scene {
        content: SceneContent,
    },
    /// The front page of the website, or the app as a tap without actions opens it.
    Home,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LandingPage {
    /// The service hosts the page.
    Inline(InlinePage),
    /// Another server hosts the page.
    Hosted { url: HttpUrl },
}

/// A page whose body follows its encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InlinePage {
    pub body: String,
    pub content_type: ContentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<ContentEncoding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SceneContent {
    pub template: SceneTemplate,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SceneTemplate {
    pub template_id: TemplateId,
}

#[derive(Clone, Copy)]
enum Kind {
    Url,
    DeepLink,
    LandingPage,
    Scene,
    Home,
}

impl OpenAction {
    pub(super) fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let kinds = [
            ("url", Kind::Url),
            ("deep_link", Kind::DeepLink),
            ("landing_page", Kind::LandingPage),
            ("scene", Kind::Scene),
            ("home", Kind::Home),
        ];
        let kind = fields.required("type", |kind| kind.choice(&kinds))?;
        let action = match kind {
            Kind::Url => {
                fields.required("content", |url| url.text(1..=usize::MAX)).map(|content| OpenAction::Url { content })
            }
            Kind::DeepLink => {
                let content = fields.required("content", |link| link.text(1..=limits::DEEP_LINK_CHARS));
                let fallback_url = fields.optional("fallback_url", HttpUrl::parse);
                content.map(|content| OpenAction::DeepLink { content, fallback_url })
            }
            Kind::LandingPage => {
                fields.required("content", LandingPage::parse).map(|content| OpenAction::LandingPage { content })
            }
            Kind::Scene => fields.required("content", SceneContent::parse).map(|content| OpenAction::Scene { content }),
            Kind::Home => Some(OpenAction::Home),
        };
        fields.finish();
        action
    }
}

impl LandingPage {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        if fields.has("url") {
            let url = fields.optional("url", HttpUrl::parse);
            fields.finish();
            return Some(LandingPage::Hosted { url: url? });
        }
        let content_encoding = fields.optional("content_encoding", ContentEncoding::parse);
        let body = fields.required("body", |body| {
            let text = body.text(1..=limits::LANDING_PAGE_CHARS)?;
            if content_encoding.unwrap_or(ContentEncoding::Utf8).decode(&text).is_none() {
                return body.invalid("This is not valid base64, which 'content_encoding' says it is.");
            }
            Some(text)
        });
        let content_type = fields.required("content_type", ContentType::parse);
        fields.finish();
        Some(LandingPage::Inline(InlinePage { body: body?, content_type: content_type?, content_encoding }))
    }
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

impl SceneContent {
    fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let template = fields.required("template", |template| {
            let mut fields = template.object()?;
            let template_id = fields.required("template_id", TemplateId::parse);
            fields.finish();
            Some(SceneTemplate { template_id: template_id? })
        });
        fields.finish();
        Some(Self { template: template? })
    }
}
