//! Of those who came, how many come back.

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::retention::CohortLength;
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;
use targeting::Cohort;

use super::statistics::{FORMATS, Format};
use crate::answer::Answer;
use crate::auth::CallingApp;
use crate::edge::Edge;
use crate::error::Result;
use crate::query::Params;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Retention")]
pub(in crate::routes) struct Record {
    /// `day` or `week`: how long the periods are in which a cohort comes and comes back.
    cohort: &'static str,
    /// The oldest first. The last is that of the period that has not ended.
    cohorts: Vec<CohortRecord>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RetentionCohort")]
pub(in crate::routes) struct CohortRecord {
    /// When its period begins, in UTC.
    date: String,
    /// How many channels registered in the period, whether they are still installed or not.
    channels: u64,
    /// How many of them opened the app in each period after that one. The last is the period that has not ended.
    returned: Vec<u64>,
}

pub(in crate::routes) async fn retention(
    State(edge): State<Edge>,
    CallingApp(app): CallingApp,
    mut params: Params,
) -> Result<Response> {
    let length = params.choice("cohort", &CohortLength::NAMED).unwrap_or(CohortLength::Week);
    let n_cohorts = params.number("cohorts", 1..=length.most()).unwrap_or(length.usual());
    let format = params.choice("format", &FORMATS).unwrap_or(Format::Json);
    params.finish()?;
    let cohorts = edge.engine.targeting().retention(app.id, length, n_cohorts).await?;
    match format {
        Format::Json => {
            let cohorts = cohorts.into_iter().map(CohortRecord::from).collect();
            Ok(Answer::ok(Record { cohort: length.name(), cohorts })?.data_attribute("cohorts").into_response())
        }
        Format::Csv => {
            let mut response = Response::new(Body::from(csv(length, &cohorts)));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
            Ok(response)
        }
    }
}

impl From<Cohort> for CohortRecord {
    fn from(Cohort { first_day, n_channels, returned }: Cohort) -> Self {
        Self { date: UtcMillis::of_day(first_day).to_report(), channels: n_channels, returned }
    }
}

/// A row for each cohort and a column for each period after its own.
fn csv(length: CohortLength, cohorts: &[Cohort]) -> String {
    let names: Vec<String> = (1..cohorts.len()).map(|n| format!(",{} {n}", length.name())).collect();
    let mut text = format!("date,channels{}\r\n", names.concat());
    for Cohort { first_day, n_channels, returned } in cohorts {
        let returned: Vec<String> = returned.iter().map(|n| format!(",{n}")).collect();
        text.push_str(&format!("{},{n_channels}{}\r\n", UtcMillis::of_day(*first_day).to_report(), returned.concat()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_column_for_each_period() {
        let cohorts = [
            Cohort { first_day: 19_835, n_channels: 3, returned: vec![2] },
            Cohort { first_day: 19_842, n_channels: 1, returned: Vec::new() },
        ];
        let expected = "date,channels,week 1\r\n2024-04-22 00:00:00,3,2\r\n2024-04-29 00:00:00,1\r\n";
        assert_eq!(csv(CohortLength::Week, &cohorts), expected);
    }
}
