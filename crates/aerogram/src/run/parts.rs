//! The running parts of a node: the server, and the tasks behind it.

use anyhow::{Context, Error, Result, anyhow};
use engine::Engine;
use providers::Trust;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::{limits, workers};
use crate::config::{Node, Role, Token};

pub(super) struct Parts {
    server: JoinHandle<()>,
    stop_listening: watch::Sender<bool>,
    background: JoinSet<()>,
    stop_working: watch::Sender<bool>,
}

/// How others reach the node, and whom it trusts of them.
pub(super) struct Outside {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<api::Tls>,
    pub(super) trust: Trust,
}

impl Parts {
    pub(super) fn start(node: &Node, engine: Engine, outside: Outside, operator_token: &Token) -> Result<Self> {
        let Outside { listener, tls, trust } = outside;
        let (stop_listening, listening_stops) = watch::channel(false);
        let (stop_working, working_stops) = watch::channel(false);
        let mut background = JoinSet::new();
        let (follower, stops) = (engine.clone(), working_stops.clone());
        background.spawn(async move { follower.follow(stops).await });
        if node.has(Role::Worker) {
            workers::start(&mut background, &engine, &working_stops)?;
        }
        let console = console_settings(node, &trust)?;
        let pages = node.serves_console().then(|| console::pages(engine.clone(), console));
        let settings = api::Settings {
            public_url: node.public_url.as_ref().map(|url| url.as_str().to_owned()),
            operator_token: operator_token.reveal().to_owned(),
            serves_api: node.has(Role::Api),
            keep_alive: api::KEEP_ALIVE,
            drain: node.callers.drain(),
            limits: limits::of(node),
            tls,
            trusted_proxies: node.callers.trusted_proxies.clone(),
            demo: node.callers.demo,
            pages,
        };
        let server = tokio::spawn(api::serve(listener, engine, settings, listening_stops));
        Ok(Self { server, stop_listening, background, stop_working })
    }

    /// Completes only if a part ends unexpectedly.
    pub(super) async fn end_of_any(&mut self) -> Error {
        tokio::select! {
            _ = &mut self.server => anyhow!("The server ended unexpectedly."),
            Some(_) = self.background.join_next() => anyhow!("The background work ended unexpectedly."),
        }
    }

    /// Answers the requests received already, and then lets the work reach its next checkpoint.
    pub(super) async fn stop(mut self) -> Result<()> {
        self.stop_listening.send_replace(true);
        self.server.await.context("The server failed while it stopped")?;
        self.stop_working.send_replace(true);
        while let Some(ended) = self.background.join_next().await {
            ended.context("The background work failed while it stopped")?;
        }
        Ok(())
    }
}

fn console_settings(node: &Node, trust: &Trust) -> Result<console::Settings> {
    let oidc = node.oidc.settings(node.allow_private_addresses, trust)?;
    Ok(console::Settings {
        public_url: node.public_url.as_ref().map(|url| url.as_str().to_owned()),
        oidc,
        trusted_proxies: node.callers.trusted_proxies.clone(),
    })
}
