//! A visitor with a browser that knows cookies and forms, but runs no scripts: everything works without them.

use bytes::{Bytes, BytesMut};
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};
use parking_lot::Mutex;
use testkit::app::{OPERATOR_TOKEN, TestApp};
use testkit::client::Caller;
use testkit::store::databases;

pub(crate) const PASSWORD: &str = "correct horse battery";

pub(crate) struct Visitor {
    caller: Caller,
    cookie: Mutex<Option<String>>,
}

pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// Runs a test against a service with pages on each database.
pub(crate) async fn on_each_database(test: impl AsyncFn(TestApp)) {
    for database in databases() {
        let app = Box::pin(TestApp::with_pages(database, &pages)).await;
        Box::pin(test(app)).await;
    }
}

/// For a test that would see the same on any database, and takes long.
pub(crate) async fn on_one_database(test: impl AsyncFn(TestApp)) {
    let database = databases().into_iter().next().expect("there is at least the embedded one");
    Box::pin(test(Box::pin(TestApp::with_pages(database, &pages)).await)).await;
}

pub(crate) fn pages(engine: engine::Engine) -> api::Pages {
    console::pages(engine, console::Settings::default())
}

impl Visitor {
    pub(crate) fn stranger(app: &TestApp) -> Self {
        Self { caller: app.nobody().clone(), cookie: Mutex::default() }
    }

    /// Somebody who owns the installation.
    pub(crate) async fn owner(app: &TestApp) -> Self {
        let reply = app.operator().post("/operator/accounts/owner-link", "{}").await.expect(200);
        Self::by_link(app, reply["link"].as_str().unwrap(), "owner@example.com").await
    }

    /// Somebody with a role in the app of the test.
    pub(crate) async fn with_role(app: &TestApp, role: &str) -> Self {
        Self::with_role_in(app, &app.app.key, role).await
    }

    pub(crate) async fn with_role_in(app: &TestApp, key: &str, role: &str) -> Self {
        let email = format!("{role}-{}@example.com", &key[..6].to_lowercase());
        let body = format!(r#"{{"email": "{email}", "role": "{role}"}}"#);
        let added =
            app.nobody().bearer(OPERATOR_TOKEN).post(&format!("/operator/apps/{key}/team"), body).await.expect(201);
        Self::by_link(app, added["link"].as_str().unwrap(), &email).await
    }

    /// Somebody who uses a link and chooses a password.
    pub(crate) async fn by_link(app: &TestApp, link: &str, email: &str) -> Self {
        let visitor = Self::stranger(app);
        let (_, code) = link.split_once("code=").unwrap();
        let fields = [("code", code), ("email", email), ("name", "Kim"), ("password", PASSWORD)];
        let entered = visitor.post("/console/start", &fields).await;
        assert!(entered.location().starts_with("/console"), "{}", entered.text);
        visitor
    }

    pub(crate) async fn get(&self, path: &str) -> Page {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Page {
        let request = self.caller.request(Method::GET, path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request, "").await
    }

    /// Posts a form as a page of ours does.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_with(path, fields, "sec-fetch-site", "same-origin").await
    }

    pub(crate) async fn post_with(&self, path: &str, fields: &[(&str, &str)], header: &str, value: &str) -> Page {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        let request = self.caller.request(Method::POST, path).header(header, value);
        self.send(request.header("content-type", "application/x-www-form-urlencoded"), &pairs.join("&")).await
    }

    /// Presses the button of a page whose fields are all hidden.
    pub(crate) async fn press(&self, page: &Page, path: &str) -> Page {
        let fields = page.hidden_fields();
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.post(path, &fields).await
    }

    /// Posts a form with a file.
    pub(crate) async fn post_file(&self, path: &str, fields: &[(&str, &str)], file: (&str, &str)) -> Page {
        let head = "--x\r\nContent-Disposition: form-data; name=";
        let plain = fields.iter().map(|(name, value)| format!("{head}\"{name}\"\r\n\r\n{value}\r\n"));
        let (name, text) = file;
        let file = format!("{head}\"{name}\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n{text}\r\n--x--\r\n");
        let body: String = plain.chain([file]).collect();
        let request = self.caller.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        self.send(request.header("content-type", "multipart/form-data; boundary=x"), &body).await
    }

    /// What a page hears of what happens, piece by piece.
    pub(crate) async fn follow(&self, path: &str) -> (StatusCode, impl AsyncFnMut() -> String) {
        let request = self.with_own_cookie(self.caller.request(Method::GET, path));
        let (head, mut rest) = self.caller.open(request.body(Bytes::new()).unwrap()).await;
        let next = async move || String::from_utf8(rest.chunk().await.unwrap().unwrap().to_vec()).unwrap();
        (head.status, next)
    }

    pub(crate) async fn call(&self, method: Method, path: &str) -> Page {
        self.send(self.caller.request(method, path), "").await
    }

    fn with_own_cookie(&self, request: http::request::Builder) -> http::request::Builder {
        match self.cookie.lock().clone() {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    async fn send(&self, request: http::request::Builder, body: &str) -> Page {
        let request = self.with_own_cookie(request);
        let (head, mut rest) = self.caller.open(request.body(body.to_owned().into()).unwrap()).await;
        let mut text = BytesMut::new();
        while let Some(chunk) = rest.chunk().await.unwrap() {
            text.extend_from_slice(&chunk);
        }
        if let Some(set) = head.headers.get(SET_COOKIE) {
            let set = set.to_str().unwrap();
            let pair = set.split(';').next().unwrap().to_owned();
            *self.cookie.lock() = (!set.contains("Max-Age=0")).then_some(pair);
        }
        Page { status: head.status, headers: head.headers, text: String::from_utf8(text.to_vec()).unwrap() }
    }

    pub(crate) fn cookie(&self) -> Option<String> {
        self.cookie.lock().clone()
    }

    pub(crate) fn with_cookie(app: &TestApp, cookie: Option<String>) -> Self {
        Self { caller: app.nobody().clone(), cookie: Mutex::new(cookie) }
    }
}

impl Page {
    /// The text, after checking the status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> &str {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        &self.text
    }

    #[track_caller]
    pub(crate) fn expect_to(&self, path: &str) {
        assert_eq!((self.status.as_u16(), self.location()), (303, path), "{}", self.text);
    }

    #[track_caller]
    pub(crate) fn shows(&self, words: &str) {
        assert!(self.text.contains(words), "{words:?} is not in {}", self.text);
    }

    /// Where its first link with these words leads.
    #[track_caller]
    pub(crate) fn link_of(&self, words: &str) -> String {
        let (before, _) = self.text.split_once(&format!(">{words}<")).unwrap_or_else(|| panic!("{}", self.text));
        let (_, link) = before.rsplit_once("href=\"").unwrap();
        link.split('"').next().unwrap().replace("&amp;", "&")
    }

    /// The hidden fields of its forms.
    pub(crate) fn hidden_fields(&self) -> Vec<(String, String)> {
        let field = |field: &str| {
            let (name, rest) = field.split_once("\" value=\"").unwrap();
            let value = rest.split_once('"').unwrap().0;
            let value = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
            (name.to_owned(), value)
        };
        self.text.split("<input type=\"hidden\" name=\"").skip(1).map(field).collect()
    }

    pub(crate) fn location(&self) -> &str {
        self.headers.get(LOCATION).map_or("", |location| location.to_str().unwrap())
    }
}

fn encode(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric();
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
