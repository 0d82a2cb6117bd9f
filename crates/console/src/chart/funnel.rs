//! How many are left after each step: bars below each other, each with its share of the first.

use maud::{Markup, html};

use crate::parts::numbers::{grouped, percent, progress};

pub(crate) fn funnel(steps: &[(&str, u64)]) -> Markup {
    let Some((_, all)) = steps.first().filter(|(_, all)| *all > 0) else {
        return html! { div.empty { p { "Nobody so far." } } };
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Funnel" {
            table {
                caption.hidden { "How many are left after each step" }
                thead {
                    tr {
                        th scope="col" { "Step" } th scope="col" { span.hidden { "As a bar" } }
                        th.number scope="col" { "Devices" } th.number scope="col" { "Of all" }
                    }
                }
                tbody {
                    @for (name, n) in steps {
                        tr {
                            th scope="row" { (name) }
                            td { (progress(*n, *all)) }
                            td.number { (grouped(*n)) }
                            td.number { (percent(*n, *all)) }
                        }
                    }
                }
            }
        }
    }
}
