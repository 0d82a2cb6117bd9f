//! From series of figures to what is drawn: one panel for each question that people ask.

use serde::Deserialize;

use crate::parts::numbers::{compared, grouped};

#[derive(Deserialize)]
pub(super) struct Series {
    dates: Vec<String>,
    series: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    metric: String,
    platform: Option<String>,
    values: Vec<u64>,
    #[serde(default)]
    previous: Vec<u64>,
}

/// One chart with its figures.
pub(super) struct Panel {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) caption: &'static str,
    /// Of the layers.
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<(String, Vec<u64>)>,
    /// All layers together in the time before.
    pub(super) before: Vec<u64>,
    /// The figure of the whole time, where there is one.
    pub(super) total: Option<u64>,
    total_before: Option<u64>,
    unit: &'static str,
}

impl Panel {
    /// Compared with the time before: `+12 % to the time before`.
    pub(super) fn change(&self) -> Option<String> {
        let (now, before) = (self.total?, self.total_before?);
        Some(compared(now, before, "the time before"))
    }

    pub(super) fn shown(&self, value: u64) -> String {
        format!("{}{}", grouped(value), self.unit)
    }
}

pub(super) fn panels(all: &Series, sends: &Series) -> Vec<Panel> {
    let platforms = sends.series.iter().filter(|line| line.values.iter().chain(&line.previous).any(|value| *value > 0));
    let platforms: Vec<(String, &Line)> =
        platforms.map(|line| (line.platform.clone().unwrap_or_else(|| "all".to_owned()), line)).collect();
    let adds = |panel: Panel| {
        let total: u64 = panel.rows.iter().flat_map(|(_, values)| values).sum();
        let before: u64 = panel.before.iter().sum();
        Panel { total: Some(total), total_before: Some(before), ..panel }
    };
    let at_end = |panel: Panel| Panel { total: panel.rows.last().map(|(_, values)| values.iter().sum()), ..panel };
    vec![
        adds(all.stack("sends", "Sent", "Messages that providers took, by day (UTC)", &platforms)),
        adds(all.layers("opens", "Opens", "How often the app was opened", &[("opens", "opens")])),
        adds(all.layers(
            "responses",
            "Responses",
            "Openings by way of a message, and within twelve hours of one",
            &[("direct", "by the message"), ("influenced", "after it")],
        )),
        at_end(all.devices()),
        all.layers(
            "moves",
            "Came and left",
            "Devices that registered, and devices that were uninstalled",
            &[("installs", "came"), ("uninstalls", "left")],
        ),
        all.layers(
            "active",
            "Active devices",
            "Devices on which the app was opened, by whether they take notifications",
            &[("optins", "opted in"), ("optouts", "opted out")],
        ),
        all.time_in_app(),
    ]
}

impl Series {
    fn line(&self, metric: &str) -> Option<&Line> {
        self.series.iter().find(|line| line.metric == metric)
    }

    fn layers(&self, id: &'static str, name: &'static str, caption: &'static str, layers: &[(&str, &str)]) -> Panel {
        let lines: Vec<(String, &Line)> =
            layers.iter().filter_map(|(metric, words)| Some(((*words).to_owned(), self.line(metric)?))).collect();
        self.stack(id, name, caption, &lines)
    }

    fn stack(&self, id: &'static str, name: &'static str, caption: &'static str, lines: &[(String, &Line)]) -> Panel {
        let at = |values: &[u64], index: usize| values.get(index).copied().unwrap_or(0);
        let row = |(index, date): (usize, &String)| -> (String, Vec<u64>) {
            (date.clone(), lines.iter().map(|(_, line)| at(&line.values, index)).collect())
        };
        let before = |index: usize| -> u64 { lines.iter().map(|(_, line)| at(&line.previous, index)).sum() };
        Panel {
            id,
            name,
            caption,
            names: lines.iter().map(|(words, _)| words.clone()).collect(),
            rows: self.dates.iter().enumerate().map(row).collect(),
            before: (0..self.dates.len()).map(before).collect(),
            total: None,
            total_before: None,
            unit: "",
        }
    }

    /// How many there are at the end of each day.
    fn devices(&self) -> Panel {
        let caption = "Devices at the end of the day, by whether they take notifications";
        let all = self.layers("devices", "Devices", caption, &[("opted_in", "opted in"), ("devices", "opted out")]);
        let part = |values: &[u64], index: usize| values.get(index).copied().unwrap_or(0);
        let rows = all.rows.into_iter().map(|(date, values)| {
            let (opted_in, devices) = (part(&values, 0), part(&values, 1));
            (date, vec![opted_in, devices.saturating_sub(opted_in)])
        });
        let before = self.line("devices").map(|line| line.previous.clone()).unwrap_or_default();
        Panel { rows: rows.collect(), before, ..all }
    }

    /// Seconds per session on average, of each day and of the whole time.
    fn time_in_app(&self) -> Panel {
        let (sessions, seconds) = (self.line("sessions"), self.line("session_seconds"));
        let averages = |part: fn(&Line) -> &Vec<u64>| -> (Vec<u64>, Option<u64>) {
            let (Some(sessions), Some(seconds)) = (sessions.map(part), seconds.map(part)) else {
                return (Vec::new(), None);
            };
            let each =
                seconds.iter().zip(sessions).map(|(seconds, sessions)| seconds.checked_div(*sessions).unwrap_or(0));
            let whole = seconds.iter().sum::<u64>().checked_div(sessions.iter().sum());
            (each.collect(), whole)
        };
        let (now, total) = averages(|line| &line.values);
        let (before, total_before) = averages(|line| &line.previous);
        let all = self.layers("time", "Time in the app", "Seconds per session, on average", &[]);
        let rows = all.rows.into_iter().zip(now).map(|((date, _), seconds)| (date, vec![seconds]));
        Panel {
            names: vec!["seconds".to_owned()],
            rows: rows.collect(),
            before,
            total,
            total_before,
            unit: " s",
            ..all
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn panels_are_made_of_series() {
        let line = |metric: &str, values: [u64; 2], previous: [u64; 2]| json!({"metric": metric, "values": values, "previous": previous});
        let read = |series: &Value| serde_json::from_str::<Series>(&series.to_string()).unwrap();
        let dates = ["2024-05-01 00:00:00", "2024-05-02 00:00:00"];
        let all = json!({"dates": dates, "series": [
            line("opens", [3, 4], [2, 0]), line("direct", [1, 0], [0, 0]), line("influenced", [1, 2], [0, 0]),
            line("devices", [5, 6], [3, 4]), line("opted_in", [4, 4], [1, 1]),
            line("sessions", [2, 0], [1, 1]), line("session_seconds", [25, 0], [10, 30])]});
        let sends = json!({"dates": dates, "series": [
            {"metric": "sends", "platform": "ios", "values": [1, 2], "previous": [4, 4]},
            {"metric": "sends", "platform": "web", "values": [0, 0], "previous": [0, 0]},
            {"metric": "sends", "platform": "android", "values": [0, 1], "previous": [0, 0]}]});
        let panels = panels(&read(&all), &read(&sends));
        let panel = |id: &str| panels.iter().find(|panel| panel.id == id).unwrap();
        let values = |id: &str| panel(id).rows.iter().map(|(_, values)| values.clone()).collect::<Vec<_>>();
        assert_eq!((values("sends"), &panel("sends").before), (vec![vec![1, 0], vec![2, 1]], &vec![4, 4]));
        assert_eq!(
            (panel("sends").names.clone(), panel("sends").total),
            (vec!["ios".to_owned(), "android".to_owned()], Some(4))
        );
        assert_eq!(panel("sends").change().as_deref(), Some("−50\u{202f}% to the time before"));
        assert_eq!(panel("opens").change().as_deref(), Some("+250\u{202f}% to the time before"));
        assert_eq!(panel("responses").change().as_deref(), Some("nothing in the time before"));
        assert_eq!((values("devices"), panel("devices").total), (vec![vec![4, 1], vec![4, 2]], Some(6)));
        assert_eq!((values("time"), &panel("time").before), (vec![vec![12], vec![0]], &vec![10, 30]));
        assert_eq!(panel("time").total.map(|total| panel("time").shown(total)).as_deref(), Some("12 s"));
    }
}
