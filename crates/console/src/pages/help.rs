//! The keys of the console, and where to read more. The key `?` shows this page above the one that is open.

use std::sync::Arc;

use maud::html;

use crate::answer::Answer;
use crate::error::Result;
use crate::visit::Visit;

const KEYS: [(&[&str], &str); 11] = [
    (&["/"], "to the field that finds messages, people, devices and ids"),
    (&["c"], "compose a message"),
    (&["g", "h"], "go to Home"),
    (&["g", "m"], "go to Messages"),
    (&["g", "p"], "go to People"),
    (&["g", "s"], "go to the Sandbox"),
    (&["g", "a"], "go to Audience"),
    (&["g", "r"], "go to Reports"),
    (&["g", "e"], "go to Events"),
    (&["g", "q"], "go to Requests"),
    (&["?"], "show these keys"),
];

pub(crate) async fn show(_: Arc<Visit>) -> Result<Answer> {
    let body = html! {
        p { "Everything can be done with the keyboard: Tab leads through a page, Enter follows a link or presses a button, and these keys \
             lead around. They work in an app, unless a field has the focus, and lead only where your role lets you." }
        div.scroll tabindex="0" {
            table {
                caption.hidden { "Keys and what they do" }
                thead { tr { th scope="col" { "Keys" } th scope="col" { "What they do" } } }
                tbody {
                    @for (keys, words) in KEYS {
                        tr { td.still { @for key in keys { kbd { (key) } " " } } td { (words) } }
                    }
                }
            }
        }
        p { "Every page of an app can show the calls of the API that it consists of: see " strong { "Show as API call" } " below it. All \
             calls are in the " a href="/docs" { "API reference" } "." }
    };
    Answer::page("Keys and help", body)
}
