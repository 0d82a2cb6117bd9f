//! The secrets of the simulated world: a certificate authority, and the credentials that its providers hand out.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::channel::WebSubscription;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PublicKeyData,
};
use ring::digest::{SHA256, digest};
use ring::rsa;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::browser::Browser;

/// The identities by which every simulator knows its client. The values mean nothing anywhere else.
pub const APNS_TEAM_ID: &str = "SIMTEAM001";
pub const APNS_KEY_ID: &str = "SIMKEY0001";
pub const FCM_PROJECT_ID: &str = "aerogram-sim";
pub const FCM_CLIENT_EMAIL: &str = "sim@aerogram-sim.iam.gserviceaccount.com";
pub const ADM_CLIENT_ID: &str = "amzn1.application-oa2-client.sim";
pub const WNS_PACKAGE_SID: &str = "ms-app://s-1-15-2-0000000001";
/// The same for an app of the Windows App SDK.
pub const WNS_TENANT_ID: &str = "00000000-0000-0000-0000-000000000001";
pub const WNS_CLIENT_ID: &str = "00000000-0000-0000-0000-000000000002";
/// The client secret at Amazon's and at Microsoft's.
pub const CLIENT_SECRET: &str = "simulated-client-secret";

/// Making a key of this kind takes seconds, and only simulators trust it, so all of them have the same.
pub(crate) const FCM_PRIVATE_KEY: &str = include_str!("../keys/service-account.pem");
pub(crate) const FCM_PRIVATE_KEY_ID: &str = "5157000000000000000000000000000000000001";

/// Keys and certificates in PEM.
#[derive(Clone)]
pub struct Keys {
    ca: Pair,
    /// Apple's term for it is authentication key.
    pub(crate) apns: String,
    pub(crate) apns_certificate: Pair,
    /// The private key of every simulated browser.
    pub(crate) browser: String,
}

#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Keys {
    pub fn generate() -> io::Result<Self> {
        let ca_key = KeyPair::generate().map_err(io::Error::other)?;
        let ca = ca_params().self_signed(&ca_key).map_err(io::Error::other)?;
        let ca = Pair { certificate: ca.pem(), key: ca_key.serialize_pem() };
        let apns_certificate = issue(&ca, &[], "Apple Push Services: simulated", ExtendedKeyUsagePurpose::ClientAuth)?;
        let apns = KeyPair::generate().map_err(io::Error::other)?.serialize_pem();
        let browser = KeyPair::generate().map_err(io::Error::other)?.serialize_pem();
        Ok(Self { ca, apns, apns_certificate, browser })
    }

    /// The keys in a folder; absent keys are made, so that a restarted simulator has the same ones.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let names = FILES.map(|name| folder.join(name));
        if names.iter().all(|path| path.exists()) {
            let [certificate, key, apns, apns_certificate, apns_certificate_key, browser] =
                names.map(fs::read_to_string);
            return Ok(Self {
                ca: Pair { certificate: certificate?, key: key? },
                apns: apns?,
                apns_certificate: Pair { certificate: apns_certificate?, key: apns_certificate_key? },
                browser: browser?,
            });
        }
        let keys = Self::generate()?;
        let contents = [
            &keys.ca.certificate,
            &keys.ca.key,
            &keys.apns,
            &keys.apns_certificate.certificate,
            &keys.apns_certificate.key,
            &keys.browser,
        ];
        for (path, content) in names.iter().zip(contents) {
            fs::write(path, content)?;
        }
        Ok(keys)
    }

    /// The certificate that a client has to trust.
    pub fn ca_pem(&self) -> &str {
        &self.ca.certificate
    }

    /// The keys of every simulated browser's subscription.
    pub fn web_subscription(&self) -> io::Result<WebSubscription> {
        Ok(Browser::new(&self.browser)?.subscription())
    }

    /// A certificate for the names or addresses by which the simulator is reached.
    pub(crate) fn server(&self, names: &[String]) -> io::Result<Pair> {
        issue(&self.ca, names, "Aerogram simulator", ExtendedKeyUsagePurpose::ServerAuth)
    }

    pub(crate) fn ca_certificate(&self) -> io::Result<CertificateDer<'static>> {
        CertificateDer::from_pem_slice(self.ca.certificate.as_bytes()).map_err(io::Error::other)
    }

    /// The uncompressed point by which Apple would know the key.
    pub(crate) fn apns_public_key(&self) -> io::Result<Vec<u8>> {
        let pair = KeyPair::from_pem(&self.apns).map_err(io::Error::other)?;
        Ok(pair.public_key_raw().to_vec())
    }
}

pub const CA_FILE: &str = "ca.pem";
pub const APNS_KEY_FILE: &str = "apns-key.p8";
pub const APNS_CERTIFICATE_FILE: &str = "apns-certificate.pem";
pub const APNS_CERTIFICATE_KEY_FILE: &str = "apns-certificate-key.pem";
const FILES: [&str; 6] =
    [CA_FILE, "ca-key.pem", APNS_KEY_FILE, APNS_CERTIFICATE_FILE, APNS_CERTIFICATE_KEY_FILE, "browser-key.pem"];

impl Pair {
    /// The SHA-256 of the public key, in base64, by which browsers can be told to trust it.
    pub(crate) fn key_digest(&self) -> io::Result<String> {
        let key = KeyPair::from_pem(&self.key).map_err(io::Error::other)?;
        Ok(STANDARD.encode(digest(&SHA256, &key.subject_public_key_info())))
    }

    pub(crate) fn certificate_der(&self) -> io::Result<CertificateDer<'static>> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes()).map_err(io::Error::other)
    }

    pub(crate) fn key_der(&self) -> io::Result<PrivateKeyDer<'static>> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(io::Error::other)
    }
}

/// The public half of the key that service accounts sign with.
pub(crate) fn fcm_public_key() -> io::Result<Vec<u8>> {
    let key = PrivateKeyDer::from_pem_slice(FCM_PRIVATE_KEY.as_bytes()).map_err(io::Error::other)?;
    let pair = rsa::KeyPair::from_pkcs8(key.secret_der()).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(pair.public().as_ref().to_vec())
}

fn ca_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Aerogram simulator authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params
}

/// The issuer is identified by its name and its key, so the parameters need not be read from its certificate.
fn issue(ca: &Pair, names: &[String], subject: &str, usage: ExtendedKeyUsagePurpose) -> io::Result<Pair> {
    let ca_key = KeyPair::from_pem(&ca.key).map_err(io::Error::other)?;
    let issuer = Issuer::new(ca_params(), ca_key);
    let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, subject);
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
    Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
}
