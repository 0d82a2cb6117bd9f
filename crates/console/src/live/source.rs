//! What tells a page that something has happened: the log of its app, the stream of its requests, or the time that has passed.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt;

use crate::error::Result;
use crate::visit::Visit;

/// Nodes note every few seconds that they are there, and nothing tells of it.
const NODES_PAUSE: Duration = Duration::from_secs(10);

pub(super) enum Source {
    Log {
        news: tenancy::News,
        head: i64,
    },
    /// What the API streams of the requests of the app.
    Requests(BodyDataStream),
    Nodes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Something,
    /// It is time to see whether the visitor is still allowed in.
    Nothing,
}

impl Source {
    pub(super) async fn log(visit: &Visit) -> Result<Self> {
        let (tenancy, app) = (visit.console.engine.tenancy(), visit.app()?.id);
        let news = tenancy.news(app);
        Ok(Self::Log { news, head: tenancy.log_head(app).await?.0 })
    }

    pub(super) async fn requests(visit: &Visit) -> Result<Self> {
        let body: Body = visit.stream("/api/requests/stream").await?;
        Ok(Self::Requests(body.into_data_stream()))
    }

    /// `None` when there will be nothing more.
    pub(super) async fn next(&mut self, visit: &Visit) -> Option<Heard> {
        Some(match self {
            Self::Log { news, head } => {
                let (tenancy, app) = (visit.console.engine.tenancy(), visit.app.as_ref()?.id);
                tenancy.something_new(news).await;
                let now = tenancy.log_head(app).await.ok()?.0;
                let is_new = now != *head;
                *head = now;
                if is_new { Heard::Something } else { Heard::Nothing }
            }
            Self::Requests(events) => {
                let event = events.next().await?.ok()?;
                if event.starts_with(b":") { Heard::Nothing } else { Heard::Something }
            }
            Self::Nodes => {
                tokio::time::sleep(NODES_PAUSE).await;
                Heard::Something
            }
        })
    }
}
