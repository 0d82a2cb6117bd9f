//! Settings about TLS: the certificate of the server, and whom we trust.

use std::path::PathBuf;

use api::TlsFiles;
use clap::Args;
use providers::Trust;

use super::{HEADING, Unusable};

/// The certificate of the server, both or none.
#[derive(Args, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct OwnTls {
    /// PEM file with the certificate of the server and those between it and its authority, to serve https; needs tls_key
    #[arg(long, value_name = "PATH")]
    tls_cert: Option<PathBuf>,

    /// PEM file with the key of that certificate
    #[arg(long, value_name = "PATH")]
    pub(crate) tls_key: Option<PathBuf>,
}

/// Whom we trust as a client of TLS.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Authorities {
    /// PEM file of certificate authorities to trust beside those that this machine trusts
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) ca_file: Option<PathBuf>,
}

impl OwnTls {
    pub(crate) fn is_on(&self) -> bool {
        self.tls_cert.is_some()
    }

    pub(crate) fn read(&self) -> Result<Option<api::Tls>, Unusable> {
        let missing = match (&self.tls_cert, &self.tls_key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => {
                let files = TlsFiles { certificate: certificate.clone(), key: key.clone() };
                let read = api::Tls::read(files);
                return read.map(Some).map_err(|why| Unusable(format!("The settings tls_cert and tls_key: {why}")));
            }
            (None, Some(_)) => "tls_cert",
            (Some(_), None) => "tls_key",
        };
        Err(Unusable(format!("The settings tls_cert and tls_key go together; {missing} is not set.")))
    }
}

impl Authorities {
    pub(crate) fn trust(&self) -> Result<Trust, Unusable> {
        let system = Trust::of_system();
        if system.is_empty() {
            let why = "There is no certificate of an authority where SSL_CERT_FILE or SSL_CERT_DIR leads; correct or unset it.";
            return Err(Unusable(why.to_owned()));
        }
        match &self.ca_file {
            None => Ok(system),
            Some(file) => system.and_file(file).map_err(|why| Unusable(format!("The setting ca_file: {why}"))),
        }
    }
}
