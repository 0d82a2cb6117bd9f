//! The web pages of an app: the origins whose pages may register browsers with the key of the app, and the lines that make a page
//! one of its devices.

use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::app::{Mode, ORIGIN_SHAPE, WebOrigin};
use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::parts::copy;
use crate::parts::fields::{Field, problems};
use crate::visit::Visit;

#[derive(Deserialize)]
struct One {
    app: App,
}

#[derive(Deserialize)]
struct App {
    web_origins: Vec<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, None).await
}

pub(crate) async fn allow(visit: Arc<Visit>) -> Result<Answer> {
    let typed = visit.form.text("origin").unwrap_or_default();
    let allowed = match origin_of(typed) {
        Some(origin) => change(&visit, |origins| origins.push(origin.as_str().to_owned())).await,
        None => Err(Error::invalid("origin", ORIGIN_SHAPE)),
    };
    finish(&visit, allowed).await
}

/// Browsers that are registered stay so.
pub(crate) async fn forbid(visit: Arc<Visit>) -> Result<Answer> {
    let chosen = visit.form.text("origin").unwrap_or_default();
    let forbidden = change(&visit, |origins| origins.retain(|origin| origin != chosen)).await;
    finish(&visit, forbidden).await
}

async fn finish(visit: &Visit, changed: Result<()>) -> Result<Answer> {
    match changed {
        Ok(()) => Answer::to(visit.to("/web-pages")),
        Err(error) => Ok(draw(visit, Some(&error)).await?.refused(&error)),
    }
}

/// The call takes all origins at once.
async fn change(visit: &Visit, change: impl FnOnce(&mut Vec<String>)) -> Result<()> {
    let One { app: App { web_origins: mut origins } } = visit.get(&call(visit)?).await?;
    change(&mut origins);
    origins.sort_unstable();
    origins.dedup();
    visit.change(Method::PATCH, &call(visit)?, Some(json!({ "web_origins": origins }))).await
}

/// The origin of what was typed, which may be the address of a page.
fn origin_of(typed: &str) -> Option<WebOrigin> {
    let host = typed.find("://").map_or(0, |at| at + 3);
    let end = typed[host..].find(['/', '?', '#']).map_or(typed.len(), |at| host + at);
    typed[..end].parse().ok()
}

fn call(visit: &Visit) -> Result<String> {
    Ok(format!("/operator/apps/{}", visit.app()?.key))
}

async fn draw(visit: &Visit, error: Option<&Error>) -> Result<Answer> {
    let One { app: App { web_origins } } = visit.get(&call(visit)?).await?;
    let is_in_development = visit.app()?.mode == Mode::Development;
    let typed = visit.form.text("origin").filter(|_| error.is_some()).unwrap_or_default();
    let body = html! {
        (problems(error, &["origin"]))
        p.line {
            "Pages of these origins register browsers with nothing but the key of the app, which is public; no secret stands in a page."
            @if is_in_development { " While the app is in development, pages of your own machine may do so, too." }
        }
        @if web_origins.is_empty() {
            div.empty { p { "No page on the web may register browsers yet. Allow the site that your visitors see." } }
        } @else { (table(visit, &web_origins)) }
        section {
            h2 { "Allow a site" }
            form.narrow method="post" action=(visit.to("/web-pages")) {
                (Field { kind: "url", ..Field::text("origin", "Address of the site").value(typed)
                    .hint("Such as https://shop.example. Of a longer address, the scheme and the host count.") }.show(error))
                button.main { "Allow it" }
            }
        }
        (lines(visit)?)
    };
    Answer::page("Web pages", body)
}

fn table(visit: &Visit, origins: &[String]) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                caption.hidden { "Origins whose pages may register browsers" }
                thead { tr { th scope="col" { "Site" } th scope="col" { span.hidden { "Actions" } } } }
                tbody {
                    @for origin in origins {
                        tr {
                            td.wide { code { (origin) } }
                            td {
                                details.ask {
                                    summary.small { "Forbid…" }
                                    form method="post" action=(visit.to("/web-pages/forbid")) {
                                        input type="hidden" name="origin" value=(origin);
                                        p { "Its pages register no browsers any more. Those that are registered stay." }
                                        button.small.danger aria-label={ "Forbid " (origin) } { "Forbid it" }
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

/// What the developers of the site put into it.
fn lines(visit: &Visit) -> Result<Markup> {
    let (address, key) = (visit.address(), &visit.app()?.key);
    let worker = format!("importScripts('{address}/sdk/1/aerogram-sw.js');");
    let page = format!(
        "<script type=\"module\">\n  import {{ Aerogram }} from '{address}/sdk/1/aerogram.js';\n  \
         const push = await Aerogram.init({{ url: '{address}', appKey: '{key}' }});\n  \
         push.addEventListener('message', ({{ detail }}) => console.log(detail.push.alert));\n  \
         document.querySelector('#allow').onclick = () => push.enablePush();\n</script>"
    );
    Ok(html! {
        section {
            h2 { "Make a page a device" }
            ol.lines {
                li { "A file " code { "/aerogram-sw.js" } " on your site, with one line:" (copy::block(&worker, "the worker")) }
                li { "In the page, with a button whose id is " code { "allow" } ":" (copy::block(&page, "the lines for the page")) }
            }
            p { "A page gets messages while it is open; after a click on the button, also when it is closed. How browsers are reached then is \
                 under " a href=(visit.to("/platforms")) { "Platforms" } "." }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_page_is_as_good_as_its_origin() {
        let origin = |typed: &str| origin_of(typed).map(|origin| origin.as_str().to_owned());
        for typed in ["https://shop.example", "https://Shop.example/", "https://shop.example/sale?a=/#b"] {
            assert_eq!(origin(typed).as_deref(), Some("https://shop.example"), "{typed}");
        }
        assert_eq!(origin("http://localhost:3000/x").as_deref(), Some("http://localhost:3000"));
        for typed in ["", "shop.example", "http://shop.example", "https://", "ftp://shop.example/"] {
            assert_eq!(origin(typed), None, "{typed}");
        }
    }
}
