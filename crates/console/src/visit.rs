//! One request for a page: who asks, in which app, and with what. Pages get it once the visitor is known to be allowed to see them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use accounts::{Origin, Visitor};
use api::{CallerAddress, RequestId};
use axum::body::Body;
use axum::extract::Request;
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Limited};
use model::account::Role;
use model::app::AppKey;
use model::ids::OperationId;
use model::schedule::WallTime;
use model::time::UtcMillis;
use parking_lot::Mutex;
use tenancy::{App, AuditRows, AuditedChange, AuditedRequest};

use crate::Console;
use crate::calls::Call;
use crate::cookies::{self, Connection};
use crate::error::{Error, Result};
use crate::form::{Fields, multipart};
use crate::protection::refuse_cross_site;
use crate::routes::Needs;

/// The largest form without a file that a page takes.
pub(crate) const MOST_FORM_BYTES: usize = 256 * 1024;
/// The largest one that is read: what is too long for a page is shown again, to be shortened.
const MOST_READ_BYTES: usize = 1024 * 1024;
/// The largest form with one; larger files are uploaded by calls of the API.
const MOST_FILE_BYTES: usize = 8 * 1024 * 1024;
/// Of strangers, who log in, and may bring along what they have written before.
const MOST_STRANGERS_BYTES: usize = 64 * 1024;
/// How long a form may take to arrive: it holds the place of another request.
const PATIENCE: Duration = Duration::from_secs(10);
const FILE_PATIENCE: Duration = Duration::from_secs(120);

const FRAGMENT: HeaderName = HeaderName::from_static("x-fragment");

pub(crate) struct Visit {
    pub(crate) console: Console,
    visitor: Option<Arc<Visitor>>,
    /// The app that the page is about.
    pub(crate) app: Option<Arc<App>>,
    pub(crate) connection: Connection,
    pub(crate) method: Method,
    /// Of the page, without the query.
    pub(crate) path: String,
    vars: HashMap<String, String>,
    pub(crate) query: Fields,
    pub(crate) form: Fields,
    /// Whether only the content of the page is wanted, to bring what is shown up to date.
    pub(crate) is_fragment: bool,
    /// Tells the forms of the page from those of every other.
    pub(crate) once: OperationId,
    pub(crate) request_id: String,
    /// Whoever is connected, which may be a proxy.
    peer: Option<CallerAddress>,
    pub(crate) host: Option<HeaderValue>,
    pub(crate) scheme: Option<HeaderValue>,
    pub(crate) agent: Option<String>,
    pub(crate) headers: HeaderMap,
    calls: Mutex<Vec<Call>>,
}

impl Visit {
    /// Reads a request, and refuses it if its visitor may not see the page.
    pub(crate) async fn of(
        console: &Console,
        needs: Needs,
        vars: HashMap<String, String>,
        request: Request,
    ) -> Result<Self, Box<Refused>> {
        let (parts, body) = request.into_parts();
        let address = parts.extensions.get().copied();
        let connection = Connection::of(&parts.headers, address, console.is_public_https);
        let mut visit = Self::new(console, connection, vars, &parts);
        let admitted = match refuse_cross_site(&visit.method, &parts.headers) {
            Ok(()) => visit.admit(needs).await,
            Err(refusal) => Err(refusal),
        };
        if let Err(error) = admitted {
            // Who was logged out while writing gets it back after logging in.
            if matches!(error, Error::NotSignedIn) && visit.method == Method::POST {
                visit.form = read_form(console, &parts, body, false).await.map(|form| form.fields).unwrap_or_default();
            }
            return Err(Box::new(Refused { visit, error }));
        }
        if ![Method::GET, Method::HEAD].contains(&visit.method) {
            match read_form(console, &parts, body, visit.is_signed_in()).await {
                Ok(Form { fields, is_too_long }) => {
                    visit.form = fields;
                    if is_too_long {
                        return Err(Box::new(Refused { visit, error: too_long() }));
                    }
                }
                Err(error) => return Err(Box::new(Refused { visit, error })),
            }
        }
        Ok(visit)
    }

    fn new(console: &Console, connection: Connection, vars: HashMap<String, String>, parts: &Parts) -> Self {
        let header = |name: HeaderName| parts.headers.get(name).cloned();
        let RequestId(request_id) = parts.extensions.get().cloned().unwrap_or(RequestId(String::new()));
        Self {
            console: console.clone(),
            visitor: None,
            app: None,
            connection,
            method: parts.method.clone(),
            path: parts.uri.path().to_owned(),
            vars,
            query: Fields::parse(parts.uri.query().unwrap_or_default()),
            form: Fields::default(),
            is_fragment: header(FRAGMENT).is_some(),
            once: OperationId::random(),
            request_id,
            peer: parts.extensions.get().copied(),
            host: header(HOST),
            scheme: (connection == Connection::Secure).then(|| HeaderValue::from_static("https")),
            agent: header(USER_AGENT).and_then(|agent| agent.to_str().map(str::to_owned).ok()),
            headers: parts.headers.clone(),
            calls: Mutex::default(),
        }
    }

    async fn admit(&mut self, needs: Needs) -> Result<()> {
        if let Some(secret) = self.connection.secret(&self.headers) {
            let accounts = self.console.engine.accounts();
            // An open page asks by itself, which is no sign that somebody is there.
            let asks_by_itself = self.is_fragment || self.path.ends_with("/live");
            self.visitor =
                if asks_by_itself { accounts.watcher(secret).await? } else { accounts.visitor(secret).await? };
        }
        let wanted = match needs {
            Needs::Nobody => return Ok(()),
            Needs::Account => return self.visitor().map(drop),
            Needs::Owner => {
                let is_owner = self.visitor()?.account.is_owner;
                return if is_owner { Ok(()) } else { Err(not_allowed("owners of the installation")) };
            }
            Needs::Role(role) => role,
        };
        let visitor = self.visitor()?.clone();
        let no_app = || Error::NotFound("There is no such app, or you have no role in it.".to_owned());
        let key = AppKey::new(self.var("app")).ok_or_else(no_app)?;
        let app = self.console.engine.tenancy().app(key.as_str()).await.map_err(|_| no_app())?;
        // Whoever has no role does not learn whether the app exists.
        if !visitor.may(app.id, Role::Viewer) {
            return Err(no_app());
        }
        let is_allowed = visitor.may(app.id, wanted);
        self.app = Some(app);
        if is_allowed { Ok(()) } else { Err(not_allowed(&format!("people with the role {}", wanted.word()))) }
    }

    pub(crate) fn visitor(&self) -> Result<&Arc<Visitor>> {
        self.visitor.as_ref().ok_or(Error::NotSignedIn)
    }

    pub(crate) fn is_signed_in(&self) -> bool {
        self.visitor.is_some()
    }

    /// The app of a page that is about one.
    pub(crate) fn app(&self) -> Result<&Arc<App>> {
        self.app.as_ref().ok_or_else(|| Error::internal("a page without an app asks for it"))
    }

    /// Whether the visitor may do in the app what a role may: what somebody may not do is not offered.
    pub(crate) fn may(&self, role: Role) -> bool {
        let Some((visitor, app)) = self.visitor.as_ref().zip(self.app.as_ref()) else { return false };
        visitor.may(app.id, role)
    }

    /// Where the visitor comes from, which a trusted proxy tells.
    pub(crate) fn origin(&self) -> Origin {
        let trusted = &self.console.trusted_proxies;
        let address = self.peer.and_then(|peer| match trusted.as_slice() {
            [] => Some(self.address_behind_neighbour(peer)),
            trusted => api::address_behind(trusted, peer, &self.headers),
        });
        Origin { address, agent: self.agent.clone() }
    }

    /// Where no proxies are named, one on this machine or network says for whom it asks, so that a login that is guessed at does
    /// not keep everybody behind it out. What it says last, it has seen itself.
    fn address_behind_neighbour(&self, CallerAddress(peer): CallerAddress) -> IpAddr {
        let is_neighbour = match peer {
            IpAddr::V4(v4) => v4.is_loopback() || v4.is_private(),
            IpAddr::V6(v6) => v6.is_unspecified() || v6.is_loopback() || v6.is_unique_local(),
        };
        let forwarded = self.headers.get_all("x-forwarded-for").iter().next_back().and_then(|list| list.to_str().ok());
        let forwarded = forwarded.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
        forwarded.filter(|_| is_neighbour).unwrap_or(peer)
    }

    /// What the audit log gets of a change that is no call of the API.
    pub(crate) fn asked(&self, credential: String, action: &'static str, rows: AuditRows) -> AuditedRequest {
        let change = AuditedChange {
            credential: credential.into(),
            address: self.origin().address,
            action,
            rows,
            object: Vec::new(),
            request_id: Some(self.request_id.clone()),
        };
        AuditedRequest::new(self.console.engine.clock().now(), change)
    }

    /// The time zone of the visitor, if the browser has told one that is known here, and else that of UTC.
    pub(crate) fn zone(&self) -> &str {
        let is_known = |zone: &&str| WallTime::at_named(UtcMillis(0), zone).is_some();
        cookies::zone(&self.headers).filter(is_known).unwrap_or("UTC")
    }

    /// A variable of the path.
    pub(crate) fn var(&self, name: &str) -> &str {
        self.vars.get(name).map_or("", String::as_str)
    }

    /// An id in the path.
    pub(crate) fn id<T: FromStr>(&self, name: &str) -> Result<T> {
        self.var(name).parse().map_err(|_| Error::NotFound("There is nothing with this id.".to_owned()))
    }

    /// The path of a page of the app.
    pub(crate) fn to(&self, below: &str) -> String {
        match &self.app {
            Some(app) => format!("/console/{}{below}", app.key),
            None => format!("/console{below}"),
        }
    }

    pub(crate) fn note_call(&self, call: Call) {
        self.calls.lock().push(call);
    }

    /// A call that the page leads to, which people look for before those that it consists of.
    pub(crate) fn note_first_call(&self, call: Call) {
        self.calls.lock().insert(0, call);
    }

    /// Where the service is found, as far as is known: by its settings, or as the browser has asked for it.
    pub(crate) fn address(&self) -> String {
        let asked = || {
            let host = self.host.as_ref().and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:8080");
            format!("{}://{host}", if self.connection == Connection::Secure { "https" } else { "http" })
        };
        self.console.public_url.as_ref().map_or_else(asked, |url| url.trim_end_matches('/').to_owned())
    }

    /// The calls that were made for the page so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().clone()
    }
}

/// A form as it arrived.
struct Form {
    fields: Fields,
    is_too_long: bool,
}

/// The fields of a form, which has to arrive soon. Strangers share a few places, so that they cannot take those of visitors, and so
/// do forms with a file.
async fn read_form(console: &Console, parts: &Parts, body: Body, is_signed_in: bool) -> Result<Form> {
    let refused = |status, sentence: &str| Error::Refused { status, sentence: sentence.to_owned() };
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let has_file = is_signed_in && kind.starts_with("multipart/form-data");
    let (places, most_bytes, patience) = match (is_signed_in, has_file) {
        (false, _) => (Some(&console.door), MOST_STRANGERS_BYTES, PATIENCE),
        (true, true) => (Some(&console.uploads), MOST_FILE_BYTES, FILE_PATIENCE),
        (true, false) => (None, MOST_READ_BYTES, PATIENCE),
    };
    let busy = |_| Error::Later {
        status: StatusCode::TOO_MANY_REQUESTS,
        sentence: "Too many people do this at once; try again in a moment.".to_owned(),
        seconds: 1,
    };
    let _place = places.map(|places| places.clone().try_acquire_owned().map_err(busy)).transpose()?;
    let read = tokio::time::timeout(patience, Limited::new(body, most_bytes).collect()).await;
    let body = match read {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) if has_file => return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, FILE_TOO_LARGE)),
        Ok(Err(_)) => return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, FORM_TOO_LARGE)),
        Err(_) => return Err(refused(StatusCode::REQUEST_TIMEOUT, "The form did not arrive in time.")),
    };
    if has_file {
        let fields = multipart::parse(kind, &body);
        let fields = fields
            .ok_or_else(|| refused(StatusCode::BAD_REQUEST, "The file is not a text in UTF-8; save it as such."))?;
        return Ok(Form { fields, is_too_long: false });
    }
    let is_form = kind.starts_with("application/x-www-form-urlencoded");
    let fields = if is_form { Fields::parse(&String::from_utf8_lossy(&body)) } else { Fields::default() };
    Ok(Form { fields, is_too_long: body.len() > MOST_FORM_BYTES })
}

const FILE_TOO_LARGE: &str = "The file has more than 8 MiB, or did not arrive completely. Go back and try it once more; a larger list \
                              goes to PUT /api/lists/<name>/csv.";
const FORM_TOO_LARGE: &str = "What you have typed is too long for a form, or did not arrive completely. Nothing was sent or saved. \
                              Go back, where your browser still has it, and shorten it; the API takes up to 5 MiB.";

fn too_long() -> Error {
    let sentence = "What you have typed has more than 256 KiB, which is too long for a form.";
    Error::Refused { status: StatusCode::PAYLOAD_TOO_LARGE, sentence: sentence.to_owned() }
}

/// A visit that ends at the door.
pub(crate) struct Refused {
    pub(crate) visit: Visit,
    pub(crate) error: Error,
}

fn not_allowed(who: &str) -> Error {
    Error::NotAllowed(format!("This is for {who}. Ask an administrator if you need it."))
}
