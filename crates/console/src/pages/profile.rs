//! The visitor's own account: password, one-time codes, and where the visitor is logged in.

use std::sync::Arc;

use accounts::{SignInView, TotpSecret};
use maud::{Markup, html};
use tenancy::AuditRows;

use crate::answer::Answer;
use crate::dates::moment;
use crate::error::{Error, Result};
use crate::form::encode;
use crate::parts::copy;
use crate::parts::fields::{Field, problems};
use crate::visit::Visit;

const PAGE: &str = "/console/-/profile";

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

pub(crate) async fn change_password(visit: Arc<Visit>) -> Result<Answer> {
    let visitor = visit.visitor()?;
    let field = |name: &str| visit.form.exact(name).unwrap_or_default().to_owned();
    let new = field("new");
    let changing = visit.console.engine.accounts().change_password(visitor, visit.origin(), field("current"), &new);
    let change = visit.asked(visitor.credential(), "account.change_password", AuditRows::Each);
    done(&visit, tenancy::on_behalf_of(change, changing).await).await
}

pub(crate) async fn begin_codes(visit: Arc<Visit>) -> Result<Answer> {
    let visitor = visit.visitor()?;
    let secret = visit.form.text("secret").and_then(TotpSecret::from_text);
    let secret = secret.ok_or_else(|| Error::invalid("code", "Load the page again, and use its new secret."))?;
    let code = visit.form.text("code").unwrap_or_default().to_owned();
    let changing = visit.console.engine.accounts().begin_codes(visitor, &secret, &code);
    let change = visit.asked(visitor.credential(), "account.begin_codes", AuditRows::Each);
    done(&visit, tenancy::on_behalf_of(change, changing).await).await
}

pub(crate) async fn end_codes(visit: Arc<Visit>) -> Result<Answer> {
    let visitor = visit.visitor()?;
    let password = visit.form.exact("current").unwrap_or_default().to_owned();
    let changing = visit.console.engine.accounts().end_own_codes(visitor, visit.origin(), password);
    let change = visit.asked(visitor.credential(), "account.end_codes", AuditRows::Each);
    done(&visit, tenancy::on_behalf_of(change, changing).await).await
}

pub(crate) async fn end_sign_in(visit: Arc<Visit>) -> Result<Answer> {
    let visitor = visit.visitor()?;
    let ending = visit.console.engine.accounts().end_sign_in(visitor.account.id, visit.id("sign_in")?);
    let change = visit.asked(visitor.credential(), "account.end_sign_in", AuditRows::Each);
    done(&visit, tenancy::on_behalf_of(change, ending).await).await
}

async fn done(visit: &Visit, outcome: engine::Result<()>) -> Result<Answer> {
    match outcome {
        Ok(()) => Answer::to(PAGE),
        Err(error) => draw(visit, Some(&error.into())).await,
    }
}

async fn draw(visit: &Visit, error: Option<&Error>) -> Result<Answer> {
    let visitor = visit.visitor()?;
    let account = &visitor.account;
    let sign_ins = visit.console.engine.accounts().sign_ins(account.id).await?;
    let body = html! {
        (problems(error, &["current", "new", "code"]))
        section {
            h2 { "Account" }
            dl.facts {
                dt { "Name" } dd { (account.name) }
                dt { "E-mail address" } dd { (account.email) }
                dt { "May" } dd { @if account.is_owner { "everything: you own this installation" } @else { "what your role in each app allows" } }
            }
        }
        section {
            h2 { "Password" }
            form.narrow method="post" action={ (PAGE) "/password" } {
                (Field::password("current", "Current password", "current-password").show(error))
                (Field::password("new", "New password", "new-password").hint("At least 12 characters.").show(error))
                button { "Change the password" }
                p.hint { "You are then logged out everywhere else." }
            }
        }
        section { h2 { "One-time codes" } (codes(visit, account.totp.is_some(), error)?) }
        section { h2 { "Where you are logged in" } (table(&sign_ins, visitor.sign_in)) }
    };
    let page = Answer::page("Profile", body)?;
    Ok(match error {
        Some(error) => page.refused(error),
        None => page,
    })
}

fn codes(visit: &Visit, is_on: bool, error: Option<&Error>) -> Result<Markup> {
    if is_on {
        return Ok(html! {
            p { "Logging in needs a code of your authenticator app." }
            form.narrow method="post" action={ (PAGE) "/codes/end" } {
                (Field { id: "codes-current", ..Field::password("current", "Current password", "current-password") }.show(None))
                button { "Switch codes off" }
            }
        });
    }
    // After a wrong code it is still the one that the app has by now.
    let secret = match visit.form.text("secret").and_then(TotpSecret::from_text) {
        Some(secret) => secret.text(),
        None => TotpSecret::new()?.text(),
    };
    let spaced = secret.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ");
    Ok(html! {
        p { "With codes, a stolen password alone lets nobody in. Add this secret to an authenticator app, and type the code that it shows." }
        p.big { (copy::inline(&spaced, "the secret")) }
        form.narrow method="post" action={ (PAGE) "/codes" } {
            input type="hidden" name="secret" value=(secret);
            (Field { autocomplete: "one-time-code", ..Field::text("code", "Code") }.show(error))
            button { "Switch codes on" }
        }
    })
}

fn table(sign_ins: &[SignInView], own: model::ids::SignInId) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption.quiet { "The newest first; each ends by itself after twelve hours without use." }
                thead { tr { th scope="col" { "Since" } th scope="col" { "Last used" } th scope="col" { "Browser" } th scope="col" { "Address" } th scope="col" { span.hidden { "Actions" } } } }
                tbody {
                    @for sign_in in sign_ins {
                        tr {
                            td { (moment(sign_in.created)) }
                            td { (moment(sign_in.used)) }
                            td { (sign_in.agent.as_deref().unwrap_or("unknown")) }
                            td { (sign_in.address.as_deref().unwrap_or("unknown")) }
                            td {
                                @if sign_in.id == own { "this one" }
                                @else {
                                    form method="post" action={ (PAGE) "/sign-ins/" (encode(&sign_in.id.to_string())) "/end" } {
                                        button.small { "Log out there" }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
