//! Certificates for Apple, as operators have them.

use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKeyChain};
use rcgen::{CertificateParams, DnType, KeyPair};

use crate::operator_story::{KEY, Story};

/// Made with `openssl pkcs12 -export`, as it encrypts today and with `-legacy`, as most tools do.
#[test]
fn certificates_are_read_as_they_are_handed_around() {
    let story = Story::begin();
    let kept = |name: &str| format!("{}/tests/certificates/{name}.p12", env!("CARGO_MANIFEST_DIR"));
    for (name, text) in [("password", "grüße\n"), ("wrong", "gruesse\n"), ("broken.p12", "0")] {
        std::fs::write(story.folder.path().join(name), text).unwrap();
    }
    let set = ["platform", "set", KEY, "apns", "--topic", "com.example.app", "--certificate-file"];
    for (name, password) in [("aes", "password"), ("triple-des", "password")] {
        let file = kept(name);
        story.says(&[&set[..], &[&file, "--certificate-password-file", password]].concat());
        let shown = story.json(&["platform", "show", KEY, "apns"]);
        assert_eq!(shown["keys"][0]["auth"], "certificate", "{name}: {shown}");
        story.says(&["platform", "delete", KEY, "apns", "--yes"]);
        let refused = story.refused(&[&set[..], &[&file, "--certificate-password-file", "wrong"]].concat());
        assert!(refused.contains("openssl pkcs12") && refused.contains("password"), "{refused}");
        let refused = story.refused(&[&set[..], &[&file]].concat());
        assert!(refused.contains("--certificate-password-file would give"), "{refused}");
    }
    story.says(&[&set[..], &[&kept("no-password")]].concat());
    std::fs::write(story.folder.path().join("garbage.p12"), [0x30, 0x82, 0xff]).unwrap();
    assert!(story.refused(&[&set[..], &["garbage.p12"]].concat()).contains("openssl pkcs12"));
    let refused = story.refused(&[&set[..], &["-", "--certificate-password-file", "-"]].concat());
    assert!(refused.contains("cannot both come from"), "{refused}");
    let refused = story.refused(&[&set[..], &["broken.p12", "--certificate-password-file", "password"]].concat());
    assert!(refused.contains("is not PKCS#12"), "{refused}");
}

/// As a keychain exports them: a key for each year, and for the sandbox.
#[test]
fn a_file_with_several_certificates_is_not_guessed_from() {
    let story = Story::begin();
    let path = story.folder.path().join("keychain.p12");
    let set = ["platform", "set", KEY, "apns", "--topic", "com.example.app", "--certificate-file", "keychain.p12"];
    let mut keychain = KeyStore::new();
    for (n_before, name) in ["Apple Push: com.example.app", "Apple Push: com.example.other"].into_iter().enumerate() {
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::default());
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap();
        let identity = PrivateKeyChain::new(key.serialize_der(), [u8::try_from(n_before).unwrap()], [certificate]);
        keychain.add_entry(name, KeyStoreEntry::PrivateKeyChain(identity));
        std::fs::write(&path, keychain.writer("").write().unwrap()).unwrap();
        if n_before == 0 {
            story.says(&set);
            story.says(&["platform", "delete", KEY, "apns", "--yes"]);
        }
    }
    let refused = story.refused(&set);
    assert!(refused.contains("keychain.p12 cannot be used: it has 2 certificates with keys"), "{refused}");
    assert!(refused.contains("com.example.app") && refused.contains("com.example.other"), "{refused}");
    assert!(story.json(&["platform", "list", KEY])["platforms"].as_array().unwrap().is_empty());
}
