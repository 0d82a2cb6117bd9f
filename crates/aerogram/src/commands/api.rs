//! `aerogram api`: any call of the API, with the credentials that are set.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use bytes::{Buf, Bytes};
use clap::Args;
use http::Method;
use providers::http::Outgoing;

use super::list::opened;
use crate::client::{Client, JSON};
use crate::config::{AppLogin, Data, Remote};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Api {
    /// GET, POST, PUT, PATCH or DELETE
    #[arg(value_name = "METHOD", value_parser = method)]
    method: Method,
    /// Such as /api/channels or /operator/apps; the latter and /metrics with the operator token, all else as the app, and without
    /// credentials what anybody may ask, such as /ready
    #[arg(value_name = "PATH", value_parser = path)]
    path: String,
    /// The body, `@PATH` for that of a file, or `@-` for standard input
    #[arg(long, short = 'd', value_name = "BODY")]
    body: Option<String>,
    /// What the body is; application/json when absent
    #[arg(long, value_name = "TYPE", requires = "body")]
    content_type: Option<String>,

    #[command(flatten)]
    files: Data,
    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

/// As whom a path is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    Operator,
    App,
    Anybody,
}

impl Api {
    /// Prints the answer as it comes: there are streams that do not end.
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = match Caller::of(&self.path) {
            Caller::Operator => Client::operator(&self.remote, &self.files)?,
            Caller::App => Client::app(&self.remote, &self.login)?,
            Caller::Anybody => Client::anonymous(&self.remote)?,
        };
        let content_type = self.content_type.as_deref().unwrap_or(JSON);
        let body = self.given()?.map(|body| (content_type, body));
        let mut answer = client.stream_of(self.method.clone(), &self.path, body).await?;
        let mut last = None;
        while let Some(piece) = client.piece(&mut answer).await? {
            output::bytes(&piece)?;
            last = piece.last().copied().or(last);
        }
        if last.is_some_and(|byte| byte != b'\n') {
            output::line(format_args!(""))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn given(&self) -> Result<Option<Outgoing>> {
        match self.body.as_deref().map(|body| (body, body.strip_prefix('@'))) {
            None => Ok(None),
            Some((_, Some(file))) => Ok(Some(opened(Path::new(file))?.0)),
            Some((text, None)) => {
                let text = Bytes::from(text.to_owned());
                let n_bytes = text.len() as u64;
                Ok(Some(Outgoing::new(text.reader(), Some(n_bytes))))
            }
        }
    }
}

impl Caller {
    fn of(path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        let is_below = |folder: &str| path.starts_with(folder);
        if is_below("/operator/") || path == "/metrics" {
            Caller::Operator
        } else if is_below("/api/remote-data/") {
            Caller::Anybody
        } else if is_below("/api/") || is_below("/live") || path == "/warp9" {
            Caller::App
        } else {
            Caller::Anybody
        }
    }
}

fn method(text: &str) -> Result<Method, &'static str> {
    let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let wanted = text.to_ascii_uppercase();
    known.into_iter().find(|method| method.as_str() == wanted).ok_or("It must be GET, POST, PUT, PATCH or DELETE.")
}

fn path(text: &str) -> Result<String, &'static str> {
    let is_path = text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_path { Ok(text.to_owned()) } else { Err("It must be a path of the API such as /api/channels.") }
}

#[cfg(test)]
mod tests {
    use api::Access;

    use super::*;

    #[test]
    fn every_route_is_asked_for_as_somebody_whom_it_may_let_in() {
        for route in api::routes() {
            let wanted = match route.access {
                Access::Operator | Access::Scrape => Caller::Operator,
                Access::Probe | Access::Public | Access::Open => Caller::Anybody,
                Access::Device
                | Access::Channel
                | Access::OwnChannel
                | Access::Page
                | Access::Signed
                | Access::Contact
                | Access::Events
                | Access::Inbox
                | Access::Master => Caller::App,
            };
            assert_eq!(Caller::of(route.path), wanted, "{} {}", route.method, route.path);
        }
        assert_eq!(Caller::of("/ready?verbose"), Caller::Anybody);
        assert_eq!(Caller::of("/metrics?app=a"), Caller::Operator);
    }
}
