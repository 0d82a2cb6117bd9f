//! Settings of commands: which server they talk to, and how they answer.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Authorities, BaseUrl, HEADING, LISTEN, Unusable, listen_address};

/// Which server a command talks to, and how it answers.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Remote {
    /// The server to talk to; the one that listens on this machine, by the same settings, when absent
    #[arg(long, global = true, value_name = "URL")]
    pub(super) url: Option<BaseUrl>,

    /// Where that one listens. A setting of the server, which commands only read, and only without a URL.
    #[arg(long, global = true, hide = true, value_name = "ADDRESS", default_value = LISTEN)]
    pub(super) listen: String,

    /// The certificate of that one, if it serves https. The same.
    #[arg(long, global = true, hide = true, value_name = "PATH")]
    pub(super) tls_cert: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) authorities: Authorities,

    /// Print JSON, as the server has it, instead of text
    #[arg(long, global = true, help_heading = "Options")]
    pub(crate) json: bool,
}

/// How a command answers that asks no server.
#[derive(Args, Debug)]
pub(crate) struct Answering {
    /// Print JSON instead of text
    #[arg(long, help_heading = "Options")]
    pub(crate) json: bool,
}

impl Remote {
    pub(crate) fn url(&self) -> Result<BaseUrl, Unusable> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        match listen_address(&self.listen) {
            Ok(address) => Ok(BaseUrl::on_this_machine(address, self.tls_cert.is_some())),
            Err(reason) => Err(Unusable(format!("The setting 'listen' cannot be '{}'. {reason}", self.listen))),
        }
    }

    /// The certificate of the server, if that is the one on this machine and serves https.
    pub(crate) fn own_certificate(&self) -> Option<&Path> {
        self.tls_cert.as_deref().filter(|_| self.url.is_none())
    }
}
