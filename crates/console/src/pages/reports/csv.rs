//! Tables for spreadsheets. Names that devices made up are quoted, and cannot become formulas.

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use model::csv_cell::CsvFile;

use super::Events;
use super::panels::Panel;
use crate::answer::Answer;
use crate::error::{Error, Result};

pub(super) fn answer(file: &str, text: String) -> Result<Answer> {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let disposition = format!("attachment; filename=\"{file}\"");
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_str(&disposition).map_err(Error::internal)?);
    Ok(Answer::Raw(response))
}

pub(super) fn of_panel(panel: &Panel) -> String {
    let mut text = line(["date"].into_iter().chain(panel.names.iter().map(String::as_str)).chain(["time before"]));
    for (index, (date, values)) in panel.rows.iter().enumerate() {
        let before = panel.before.get(index).copied().unwrap_or(0);
        let numbers: Vec<String> = values.iter().chain([&before]).map(u64::to_string).collect();
        text.push_str(&line([date.as_str()].into_iter().chain(numbers.iter().map(String::as_str))));
    }
    text
}

pub(super) fn of_events(events: &Events) -> String {
    let mut text = line(["name", "conversion", "location", "count", "value"]);
    for event in &events.events {
        let (count, value) = (event.count.to_string(), event.value.to_string());
        text.push_str(&line([event.name.as_str(), &event.conversion, &event.location, &count, &value]));
    }
    text
}

fn line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let cells: Vec<_> = cells.into_iter().map(|cell| CsvFile::ForPeople.cell(cell)).collect();
    format!("{}\r\n", cells.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_formulas_or_columns() {
        let cells = ["bought", "-1.5", "=1+1", "@a", "a,b", "say \"hi\"", "-x,\ny"];
        assert_eq!(line(cells), "bought,-1.5,'=1+1,'@a,\"a,b\",\"say \"\"hi\"\"\",\"'-x,\ny\"\r\n");
    }
}
