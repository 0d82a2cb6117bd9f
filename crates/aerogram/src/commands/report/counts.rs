//! The counts of a report over time, by platform.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde::Deserialize;
use serde_json::Number;

use super::Report;
use super::sheet::Sheet;
use crate::client::{Client, own_path};
use crate::output::{COUNT, MOMENT};

/// A page of counts over time. Its rows are under the name of the report.
#[derive(Deserialize)]
struct Counts {
    #[serde(alias = "sends", alias = "opens", alias = "optins", alias = "optouts", alias = "timeinapp")]
    #[serde(alias = "responses")]
    rows: Vec<Bucket>,
    next_page: Option<String>,
}

#[derive(Deserialize)]
struct Bucket {
    date: String,
    #[serde(flatten)]
    platforms: BTreeMap<String, Figure>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Figure {
    Count(Number),
    Responses { direct: u64, influenced: u64 },
}

/// A row with the figures by the name of their column.
type Row = (String, BTreeMap<String, Number>);

pub(super) async fn read(report: &Report, client: &Client, path: &str, has_totals: bool) -> Result<Sheet> {
    let (mut rows, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = report.printed(client.get(&path).await?)?.read::<Counts>()?;
        rows.extend(page.rows.into_iter().map(Bucket::row));
        next = page.next_page.as_deref().map(own_path);
    }
    Ok(sheet(&rows, has_totals))
}

fn sheet(rows: &[Row], has_totals: bool) -> Sheet {
    let names: BTreeSet<&str> = rows.iter().flat_map(|(_, figures)| figures.keys().map(String::as_str)).collect();
    // None is missed less than another: the last is left out first.
    let counts =
        names.iter().zip((0..names.len()).rev()).map(|(name, turn)| (name.to_uppercase(), COUNT.left_out(turn)));
    let columns = std::iter::once(("DATE".to_owned(), MOMENT)).chain(counts).collect();
    let cells = |(date, figures): &Row| {
        let figure = |column: &&str| figures.get(*column).map_or_else(|| "0".to_owned(), ToString::to_string);
        std::iter::once(date.clone()).chain(names.iter().map(figure)).collect()
    };
    let total = |column: &&str| {
        let counts = rows.iter().filter_map(|(_, figures)| figures.get(*column)?.as_u64());
        counts.sum::<u64>().to_string()
    };
    let totals = has_totals.then(|| std::iter::once("TOTAL".to_owned()).chain(names.iter().map(total)).collect());
    Sheet { columns, rows: rows.iter().map(cells).collect(), totals }
}

impl Bucket {
    fn row(self) -> Row {
        let columns = |(platform, figure)| match figure {
            Figure::Count(count) => vec![(platform, count)],
            Figure::Responses { direct, influenced } => {
                vec![
                    (format!("{platform} direct"), direct.into()),
                    (format!("{platform} influenced"), influenced.into()),
                ]
            }
        };
        (self.date, self.platforms.into_iter().flat_map(columns).collect())
    }
}
