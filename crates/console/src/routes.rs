//! The table of contents: every page, who may see it, and the function that draws it.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, any, on};
use http::{Method, StatusCode};
use model::account::Role;

use crate::Console;
use crate::answer::{self, Answer};
use crate::assets;
use crate::error::{Error, Result};
use crate::live;
use crate::pages::{
    accounts, apps, audience, audit, automation, calendar, compose, doctor, drafts, events, experiments, find, first,
    help, home, login, message, messages, nodes, people, person, platforms, profile, provider, recipients, reports,
    requests, sandbox, schedules, settings, start, team, templates, tokens, web_pages, webhooks,
};
use crate::visit::{Refused, Visit};

/// What may stand where otherwise the key of an app is.
const OF_ALL_APPS: [&str; 5] = ["", "-", "login", "logout", "start"];

/// What a visitor needs to see a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: the pages by which people get in.
    Nobody,
    /// To be logged in.
    Account,
    /// At least this role in the app of the path.
    Role(Role),
    /// To own the installation.
    Owner,
}

/// One entry of the table.
#[derive(Clone, Debug)]
pub struct PageRoute {
    pub method: Method,
    /// Segments in braces are variable.
    pub path: &'static str,
    pub needs: Needs,
}

type Drawing = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

pub(crate) struct Page {
    route: PageRoute,
    draw: Arc<dyn Fn(Arc<Visit>) -> Drawing + Send + Sync>,
}

/// All pages, as data.
pub fn routes() -> Vec<PageRoute> {
    all().into_iter().map(|page| page.route).collect()
}

fn all() -> Vec<Page> {
    use Needs::{Account, Nobody, Owner};
    const VIEWER: Needs = Needs::Role(Role::Viewer);
    const SUPPORT: Needs = Needs::Role(Role::Support);
    const EDITOR: Needs = Needs::Role(Role::Editor);
    const SENDER: Needs = Needs::Role(Role::Sender);
    const ADMIN: Needs = Needs::Role(Role::Admin);
    vec![
        get("/console", Nobody, login::enter),
        get("/console/login", Nobody, login::show),
        post("/console/login", Nobody, login::log_in),
        get("/console/login/provider", Nobody, provider::begin),
        get("/console/login/provider/return", Nobody, provider::finish),
        post("/console/logout", Account, login::log_out),
        get("/console/start", Nobody, start::show),
        post("/console/start", Nobody, start::accept),
        get("/console/-/profile", Account, profile::show),
        post("/console/-/profile/password", Account, profile::change_password),
        post("/console/-/profile/codes", Account, profile::begin_codes),
        post("/console/-/profile/codes/end", Account, profile::end_codes),
        post("/console/-/profile/sign-ins/{sign_in}/end", Account, profile::end_sign_in),
        get("/console/-/apps", Owner, apps::list),
        post("/console/-/apps", Owner, apps::create),
        post("/console/-/apps/{key}/delete", Owner, settings::delete),
        get("/console/-/accounts", Owner, accounts::list),
        post("/console/-/accounts", Owner, accounts::invite),
        post("/console/-/accounts/{account}/link", Owner, accounts::link),
        post("/console/-/accounts/{account}/change", Owner, accounts::change),
        post("/console/-/accounts/{account}/delete", Owner, accounts::delete),
        get("/console/-/audit", Owner, audit::of_installation),
        get("/console/-/nodes", Owner, nodes::list),
        get("/console/-/doctor", Owner, doctor::show),
        get("/console/-/help", Account, help::show),
        get("/console/{app}", VIEWER, home::show),
        get("/console/{app}/find", VIEWER, find::show),
        get("/console/{app}/messages", VIEWER, messages::list),
        get("/console/{app}/messages/{push}", VIEWER, message::show),
        get("/console/{app}/messages/{push}/people", SUPPORT, recipients::list),
        get("/console/{app}/messages/{push}/people/csv", SUPPORT, recipients::csv),
        post("/console/{app}/messages/{push}/people/segment", EDITOR, recipients::segment),
        post("/console/{app}/messages/{push}/{action}", SENDER, message::act),
        get("/console/{app}/compose", EDITOR, compose::show),
        post("/console/{app}/compose", EDITOR, compose::post),
        get("/console/{app}/compose/sending/{schedule}", SENDER, compose::sending::show),
        post("/console/{app}/compose/sending/{schedule}", SENDER, compose::sending::undo),
        get("/console/{app}/drafts", EDITOR, drafts::list),
        get("/console/{app}/drafts/{draft}", EDITOR, drafts::show),
        post("/console/{app}/drafts/{draft}/{action}", EDITOR, drafts::act),
        get("/console/{app}/first", SENDER, first::show),
        post("/console/{app}/first", SENDER, first::send),
        post("/console/{app}/first/token", ADMIN, first::token),
        get("/console/{app}/calendar", VIEWER, calendar::show),
        get("/console/{app}/schedules", VIEWER, schedules::list),
        get("/console/{app}/schedules/{schedule}", VIEWER, schedules::one::show),
        post("/console/{app}/schedules/{schedule}", SENDER, schedules::one::save),
        post("/console/{app}/schedules/{schedule}/{action}", SENDER, schedules::act),
        get("/console/{app}/automation", VIEWER, automation::list),
        get("/console/{app}/automation/new", SENDER, automation::edit::new),
        post("/console/{app}/automation/new", SENDER, automation::edit::create),
        get("/console/{app}/automation/{pipeline}/edit", SENDER, automation::edit::edit),
        post("/console/{app}/automation/{pipeline}/edit", SENDER, automation::edit::change),
        post("/console/{app}/automation/{pipeline}/{action}", SENDER, automation::act),
        get("/console/{app}/experiments", VIEWER, experiments::list),
        get("/console/{app}/experiments/{experiment}", VIEWER, experiments::show),
        post("/console/{app}/experiments/{experiment}/delete", SENDER, experiments::delete),
        get("/console/{app}/reports", VIEWER, reports::show),
        get("/console/{app}/reports/{panel}", VIEWER, reports::download),
        get("/console/{app}/platforms", ADMIN, platforms::list),
        post("/console/{app}/platforms", ADMIN, platforms::open),
        get("/console/{app}/platforms/{platform}", ADMIN, platforms::show),
        post("/console/{app}/platforms/{platform}", ADMIN, platforms::save),
        post("/console/{app}/platforms/{platform}/keys/{fingerprint}/remove", ADMIN, platforms::remove_key),
        post("/console/{app}/platforms/{platform}/{action}", ADMIN, platforms::act),
        get("/console/{app}/web-pages", ADMIN, web_pages::show),
        post("/console/{app}/web-pages", ADMIN, web_pages::allow),
        post("/console/{app}/web-pages/forbid", ADMIN, web_pages::forbid),
        get("/console/{app}/webhooks", ADMIN, webhooks::list),
        post("/console/{app}/webhooks", ADMIN, webhooks::create),
        get("/console/{app}/webhooks/{webhook}", ADMIN, webhooks::show),
        post("/console/{app}/webhooks/{webhook}", ADMIN, webhooks::change),
        post("/console/{app}/webhooks/{webhook}/{action}", ADMIN, webhooks::act),
        get("/console/{app}/people", SUPPORT, people::find),
        get("/console/{app}/people/user", SUPPORT, person::user),
        get("/console/{app}/people/channels/{channel}", SUPPORT, person::channel),
        post("/console/{app}/people/test", SENDER, person::changing::test),
        post("/console/{app}/people/change", SENDER, person::changing::change),
        post("/console/{app}/people/inbox/{push}/delete", SENDER, person::inbox::delete),
        post("/console/{app}/people/export", ADMIN, person::privacy::export),
        get("/console/{app}/people/erase", ADMIN, person::privacy::confirm),
        post("/console/{app}/people/erase", ADMIN, person::privacy::erase),
        get("/console/{app}/people/requests/{privacy}", ADMIN, person::privacy::show),
        get("/console/{app}/people/requests/{privacy}/result", ADMIN, person::privacy::result),
        get("/console/{app}/audience", VIEWER, audience::show),
        get("/console/{app}/audience/segments/new", EDITOR, audience::segment::new),
        post("/console/{app}/audience/segments/new", EDITOR, audience::segment::create),
        get("/console/{app}/audience/segments/{segment}", EDITOR, audience::segment::edit),
        post("/console/{app}/audience/segments/{segment}", EDITOR, audience::segment::change),
        post("/console/{app}/audience/segments/{segment}/delete", EDITOR, audience::delete),
        post("/console/{app}/audience/lists", EDITOR, audience::lists::upload),
        get("/console/{app}/audience/lists/{list}/csv", SUPPORT, audience::lists::download),
        get("/console/{app}/audience/lists/{list}/errors", SUPPORT, audience::lists::errors),
        post("/console/{app}/audience/lists/{list}/delete", EDITOR, audience::lists::delete),
        get("/console/{app}/events", SUPPORT, events::list),
        get("/console/{app}/requests", SUPPORT, requests::list),
        get("/console/{app}/sandbox", SUPPORT, sandbox::show),
        post("/console/{app}/sandbox/clear", EDITOR, sandbox::clear),
        post("/console/{app}/sandbox/faults", EDITOR, sandbox::set_faults),
        post("/console/{app}/sandbox/again/{push}", SENDER, sandbox::send_again),
        get("/console/{app}/templates", EDITOR, templates::list),
        get("/console/{app}/templates/new", EDITOR, templates::edit::new),
        post("/console/{app}/templates/new", EDITOR, templates::edit::create),
        get("/console/{app}/templates/{template}", EDITOR, templates::edit::edit),
        post("/console/{app}/templates/{template}", EDITOR, templates::edit::change),
        post("/console/{app}/templates/{template}/delete", EDITOR, templates::delete),
        get("/console/{app}/team", ADMIN, team::list),
        post("/console/{app}/team", ADMIN, team::add),
        post("/console/{app}/team/{account}/change", ADMIN, team::change),
        post("/console/{app}/team/{account}/remove", ADMIN, team::remove),
        post("/console/{app}/settings/former/{secret}/end", ADMIN, settings::end_former),
        get("/console/{app}/tokens", ADMIN, tokens::list),
        post("/console/{app}/tokens", ADMIN, tokens::create),
        get("/console/{app}/tokens/clients", ADMIN, tokens::clients::list),
        post("/console/{app}/tokens/clients", ADMIN, tokens::clients::create),
        post("/console/{app}/tokens/clients/{client}/revoke", ADMIN, tokens::clients::revoke),
        post("/console/{app}/tokens/{token}/revoke", ADMIN, tokens::revoke),
        get("/console/{app}/settings", ADMIN, settings::show),
        post("/console/{app}/settings", ADMIN, settings::change),
        post("/console/{app}/settings/sending", ADMIN, settings::sending::change),
        post("/console/{app}/settings/rotate", ADMIN, settings::rotate),
        get("/console/{app}/audit", ADMIN, audit::of_app),
    ]
}

fn get<F, D>(path: &'static str, needs: Needs, draw: F) -> Page
where
    F: Fn(Arc<Visit>) -> D + Send + Sync + 'static,
    D: Future<Output = Result<Answer>> + Send + 'static,
{
    page(Method::GET, path, needs, draw)
}

fn post<F, D>(path: &'static str, needs: Needs, draw: F) -> Page
where
    F: Fn(Arc<Visit>) -> D + Send + Sync + 'static,
    D: Future<Output = Result<Answer>> + Send + 'static,
{
    page(Method::POST, path, needs, draw)
}

fn page<F, D>(method: Method, path: &'static str, needs: Needs, draw: F) -> Page
where
    F: Fn(Arc<Visit>) -> D + Send + Sync + 'static,
    D: Future<Output = Result<Answer>> + Send + 'static,
{
    Page { route: PageRoute { method, path, needs }, draw: Arc::new(move |visit| Box::pin(draw(visit))) }
}

/// Puts the pages of the table together, with what belongs to all of them.
pub(crate) fn router(console: Console) -> Router {
    let mut router = Router::new();
    for Page { route: PageRoute { method, path, needs }, draw } in all() {
        let filter = if method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let handler =
            async move |State(console): State<Console>, request: Request| serve(&console, needs, draw, request).await;
        router = router.route(path, on(filter, handler));
    }
    let asset = async |request: Request| match assets::answer(request.uri().path(), request.headers()) {
        Ok(response) => answer::protected(response),
        Err(error) => answer::bare(&error),
    };
    let nothing = async |State(console): State<Console>, request: Request| {
        let draw =
            Arc::new(|_| Box::pin(async { Err(Error::NotFound("There is no such page.".to_owned())) }) as Drawing);
        // Below an app, it has the menu of that.
        let below = request.uri().path().strip_prefix("/console/").and_then(|below| below.split('/').next());
        let (needs, vars) = match below.filter(|key| !OF_ALL_APPS.contains(key)) {
            Some(key) => (Needs::Role(Role::Viewer), HashMap::from([("app".to_owned(), key.to_owned())])),
            None => (Needs::Account, HashMap::new()),
        };
        answer_to(&console, needs, vars, draw, request).await
    };
    // A person may have followed the address of a form; a program gets the shortest answer.
    let other_method = async |State(console): State<Console>, request: Request| {
        let refusal = || Error::Refused {
            status: StatusCode::METHOD_NOT_ALLOWED,
            sentence: "This address is that of a form, or takes none; go on from another page.".to_owned(),
        };
        if request.method() != Method::GET {
            return answer::bare(&refusal());
        }
        let draw = Arc::new(move |_| Box::pin(async move { Err(refusal()) }) as Drawing);
        serve(&console, Needs::Nobody, draw, request).await
    };
    router
        .route("/console/{app}/live", on(MethodFilter::GET, live::follow))
        .route("/console/-/live", on(MethodFilter::GET, live::follow_installation))
        .route("/console/-/assets/{tag}/{name}", any(asset))
        .fallback(nothing)
        .method_not_allowed_fallback(other_method)
        .with_state(console)
}

async fn serve(
    console: &Console,
    needs: Needs,
    draw: Arc<dyn Fn(Arc<Visit>) -> Drawing + Send + Sync>,
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let vars = RawPathParams::from_request_parts(&mut parts, console).await;
    let vars: HashMap<String, String> = vars.map_or_else(
        |_| HashMap::new(),
        |vars| vars.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    );
    answer_to(console, needs, vars, draw, Request::from_parts(parts, body)).await
}

async fn answer_to(
    console: &Console,
    needs: Needs,
    vars: HashMap<String, String>,
    draw: Arc<dyn Fn(Arc<Visit>) -> Drawing + Send + Sync>,
    request: Request,
) -> Response {
    let visit = Visit::of(console, needs, vars, request).await;
    let (visit, answer) = match visit {
        Ok(visit) => {
            let visit = Arc::new(visit);
            let answer = draw(visit.clone()).await;
            (visit, answer)
        }
        Err(refused) => {
            let Refused { visit, error } = *refused;
            (Arc::new(visit), Err(error))
        }
    };
    answer::finish(&visit, answer).await
}
