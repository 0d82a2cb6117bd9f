//! `aerogram api`: any call of the API, with the credentials that are set.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use bytes::Bytes;
use clap::Args;
use http::Method;

use crate::client::Client;
use crate::config::{AppLogin, Data, Remote};

#[derive(Args, Debug)]
pub(crate) struct Api {
    /// GET, POST, PUT, PATCH or DELETE
    #[arg(value_name = "METHOD", value_parser = method)]
    method: Method,
    /// Such as /api/channels or /operator/apps; the latter and /metrics with the operator token, all else as the app
    #[arg(value_name = "PATH", value_parser = path)]
    path: String,
    /// The body: JSON, `@PATH` for that of a file, or `@-` for standard input
    #[arg(long, short = 'd', value_name = "BODY")]
    body: Option<String>,

    #[command(flatten)]
    files: Data,
    #[command(flatten)]
    login: AppLogin,
    #[command(flatten)]
    remote: Remote,
}

impl Api {
    pub(crate) async fn run(&self) -> Result<ExitCode> {
        let client = if is_of_operator(&self.path) {
            Client::operator(&self.remote, &self.files)?
        } else {
            Client::app(&self.remote, &self.login)?
        };
        let reply = match self.given()? {
            Some(body) => client.send_raw(self.method.clone(), &self.path, body).await?,
            None => client.without_body(self.method.clone(), &self.path).await?,
        };
        reply.print()?;
        Ok(ExitCode::SUCCESS)
    }

    fn given(&self) -> Result<Option<Bytes>> {
        match self.body.as_deref().map(|body| (body, body.strip_prefix('@'))) {
            None => Ok(None),
            Some((_, Some(file))) => Ok(Some(super::read_input(Path::new(file))?)),
            Some((text, None)) => Ok(Some(text.to_owned().into())),
        }
    }
}

fn is_of_operator(path: &str) -> bool {
    path.starts_with("/operator/") || path.split('?').next() == Some("/metrics")
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
