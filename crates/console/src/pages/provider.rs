//! Logging in by an OpenID provider: away to it, and back from it. The way back is a GET, because that is how browsers come
//! back; what makes it safe is the cookie of the way there.

use std::sync::Arc;

use accounts::{LoginRefusal, Oidc, Returned};
use http::StatusCode;
use tenancy::AuditRows;

use super::login::{form, next};
use crate::answer::Answer;
use crate::cookies::Connection;
use crate::error::{Error, Result};
use crate::visit::Visit;

const BACK: &str = "/console/login/provider/return";

pub(crate) async fn begin(visit: Arc<Visit>) -> Result<Answer> {
    visit.connection.must_be_closed()?;
    let begun = oidc(&visit)?.begin(&back(&visit)?, &next(&visit)).await.map_err(|error| unusable(&error))?;
    Ok(Answer::To { path: begun.url, cookie: Some(visit.connection.set_login(&begun.sealed)?) })
}

pub(crate) async fn finish(visit: Arc<Visit>) -> Result<Answer> {
    visit.connection.must_be_closed()?;
    let oidc = oidc(&visit)?;
    let query = |name: &str| visit.query.exact(name).unwrap_or_default();
    if query("code").is_empty() {
        return refuse(&visit, &LoginRefusal("The provider did not let you in."));
    }
    let sealed = visit.connection.login(&visit.headers).unwrap_or_default();
    let returned = Returned { sealed, state: query("state"), code: query("code") };
    let (identity, wanted) = match oidc.finish(returned).await.map_err(|error| unusable(&error))? {
        Ok(proven) => proven,
        Err(refusal) => return refuse(&visit, &refusal),
    };
    let asked = visit.asked(identity.credential(), "account.sign_in", AuditRows::Each);
    let signing_in = visit.console.engine.accounts().sign_in_by_provider(oidc, identity, visit.origin());
    match tenancy::on_behalf_of(asked, signing_in).await? {
        Ok(secret) => Ok(Answer::To { path: wanted, cookie: Some(visit.connection.set(&secret)?) }),
        Err(refusal) => refuse(&visit, &refusal),
    }
}

fn oidc(visit: &Visit) -> Result<&Oidc> {
    visit.console.oidc.as_ref().ok_or_else(|| Error::NotFound("There is no such page.".to_owned()))
}

/// The address of the page that finishes a login, as the provider has to know it.
fn back(visit: &Visit) -> Result<String> {
    if let Some(base) = &visit.console.public_url {
        return Ok(format!("{}{BACK}", base.trim_end_matches('/')));
    }
    let scheme = if visit.connection == Connection::Secure { "https" } else { "http" };
    let host = visit.host.as_ref().and_then(|host| host.to_str().ok());
    let host = host.ok_or_else(|| Error::invalid("host", "The request does not say which host it is for."))?;
    Ok(format!("{scheme}://{host}{BACK}"))
}

fn refuse(visit: &Visit, LoginRefusal(sentence): &LoginRefusal) -> Result<Answer> {
    let error = Error::Refused { status: StatusCode::FORBIDDEN, sentence: (*sentence).to_owned() };
    Ok(Answer::door("Log in", form(visit, None, false, Some(&error)))?.refused(&error))
}

/// The provider is away, or is not what the settings say. The log says which.
fn unusable(error: &engine::Error) -> Error {
    tracing::warn!(error = error as &dyn std::error::Error, "a login by the OpenID provider failed");
    let sentence = "The provider of logins cannot be used at the moment; the log of the service says why.".to_owned();
    Error::Refused { status: StatusCode::BAD_GATEWAY, sentence }
}
