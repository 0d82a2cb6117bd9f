//! The pushes of a period, by their names or texts.

use std::collections::HashMap;

use anyhow::Result;
use serde::Deserialize;

use super::sheet::Sheet;
use super::{Dates, Report};
use crate::client::{Client, own_path, query};
use crate::commands::progress::Progress;
use crate::output::{COUNT, ID, MOMENT, NAME, TEXT};

#[derive(Deserialize)]
struct Pushes {
    pushes: Vec<Push>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Push {
    push_id: String,
    push_time: String,
    push_type: String,
    sends: u64,
    direct_responses: u64,
}

/// A page of the listing of pushes, which knows what they say.
#[derive(Deserialize)]
struct Listed {
    pushes: Vec<Said>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    push_id: String,
    name: Option<String>,
    title: Option<String>,
    alert: Option<String>,
}

pub(super) async fn read(report: &Report, client: &Client, path: &str, dates: &Dates) -> Result<Sheet> {
    let (mut pushes, mut next) = (Vec::new(), Some(path.to_owned()));
    let progress = Progress::of_unknown()?;
    while let Some(path) = next {
        let message = format!("{} pushes", pushes.len());
        let reply = progress.during(&message, client.get(&path)).await?;
        // What is printed shows by itself how far it has got.
        let page = progress.aside(|| report.printed(reply))?.read::<Pushes>()?;
        pushes.extend(page.pushes);
        next = page.next_page.as_deref().map(own_path);
    }
    let names =
        if report.remote.json { HashMap::new() } else { progress.during("their names", names(client, dates)).await? };
    drop(progress);
    Ok(sheet(&pushes, &names))
}

/// The name, title or text of each push of the period, by its id.
async fn names(client: &Client, Dates { start, end }: &Dates) -> Result<HashMap<String, String>> {
    let (mut names, mut next) =
        (HashMap::new(), Some(query("/api/pushes", &[("from", Some(start)), ("to", Some(end))])));
    while let Some(path) = next {
        let page: Listed = client.get(&path).await?.read()?;
        let named = page.pushes.into_iter();
        names.extend(named.filter_map(|push| Some((push.push_id, push.name.or(push.title).or(push.alert)?))));
        next = page.next_page.as_deref().map(own_path);
    }
    Ok(names)
}

fn sheet(pushes: &[Push], names: &HashMap<String, String>) -> Sheet {
    let columns = [
        ("TIME", MOMENT.left_out(3)),
        ("PUSH", ID),
        ("TYPE", NAME.left_out(1)),
        ("SENDS", COUNT),
        ("DIRECT RESPONSES", COUNT.left_out(2)),
        ("NAME OR TEXT", TEXT),
    ];
    let row = |push: &Push| {
        let Push { push_id, push_time, push_type, sends, direct_responses } = push;
        let name = names.get(push_id).map_or("-", String::as_str);
        let (sends, responses) = (sends.to_string(), direct_responses.to_string());
        vec![push_time.clone(), push_id.clone(), push_type.clone(), sends, responses, name.to_owned()]
    };
    let total = |count: fn(&Push) -> u64| pushes.iter().map(count).sum::<u64>().to_string();
    let (sends, responses) = (total(|push| push.sends), total(|push| push.direct_responses));
    let totals = ["TOTAL".to_owned(), String::new(), String::new(), sends, responses, String::new()];
    Sheet {
        columns: columns.map(|(heading, column)| (heading.to_owned(), column)).into(),
        rows: pushes.iter().map(row).collect(),
        totals: Some(totals.into()),
    }
}
