//! Why a server was not believed: what is wrong with its certificate.

use std::error::Error;
use std::fmt;

use rustls::CertificateError;

/// What is wrong with the certificate of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Complaint {
    UnknownIssuer,
    Expired,
    NotValidYet,
    /// With the names that it is for.
    OtherName(Vec<String>),
    /// A certain certificate was expected.
    OtherCertificate,
    Other(String),
}

/// What is wrong with a certificate, if that is why a connection failed.
pub fn complaint(error: &(dyn Error + 'static)) -> Option<Complaint> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(reason)) = error.downcast_ref() {
            return Some(Complaint::of(reason));
        }
        // The source of an I/O error is that of the error inside, which itself would be passed over.
        cause = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inside) => Some(inside),
            None => error.source(),
        };
    }
    None
}

impl Complaint {
    fn of(reason: &CertificateError) -> Self {
        match reason {
            // An authority that is called the same has another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotValidYet,
            CertificateError::NotValidForName => Self::OtherName(Vec::new()),
            CertificateError::NotValidForNameContext { presented, .. } => Self::OtherName(presented.clone()),
            CertificateError::ApplicationVerificationFailure => Self::OtherCertificate,
            // rustls may come to know more reasons.
            other => Self::Other(other.to_string()),
        }
    }
}

/// Half a sentence about the certificate.
impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownIssuer => f.write_str("no authority that is trusted here has issued it"),
            Self::Expired => f.write_str("it has expired"),
            Self::NotValidYet => f.write_str("it is not valid yet, by the clock of this machine"),
            Self::OtherName(names) if names.is_empty() => f.write_str("it is for another name"),
            Self::OtherName(names) => write!(f, "it is for another name, {}", names.join(", ")),
            Self::OtherCertificate => f.write_str("it is not the one that this server should have"),
            Self::Other(reason) => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn the_reason_is_found_below_what_hides_it() {
        let reason = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let hidden = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, reason));
        assert_eq!(complaint(&hidden), Some(Complaint::UnknownIssuer));
        assert_eq!(complaint(&io::Error::other("closed")), None);
        let names = CertificateError::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("a.example").unwrap(),
            presented: vec!["b.example".to_owned()],
        };
        let found = complaint(&rustls::Error::InvalidCertificate(names)).unwrap();
        assert_eq!(found.to_string(), "it is for another name, b.example");
    }
}
