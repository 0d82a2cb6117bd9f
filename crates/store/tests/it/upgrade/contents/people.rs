//! Rows of the people who use the console.

use std::collections::BTreeMap;

use model::account::{Email, Role};
use model::server_token::Scope;
use store::accounts::{self, Account, Totp};
use store::channel_secrets;
use store::former_secrets::{self, FormerSecret, SecretKind};
use store::login_links::{self, LinkPurpose, LoginLink};
use store::server_tokens::{self, ServerToken, TokenKind};
use store::sign_ins::{self, SignIn};

use super::*;

pub(super) fn fill_people(tx: &mut Tx<'_>) -> Result<()> {
    let account = Account {
        id: id(70),
        email: Email::new("kim@example.com").unwrap(),
        name: "Kim".to_owned(),
        password: Some("$argon2id$".to_owned()),
        totp: Some(Totp { sealed: "sealed".to_owned(), used: Some(1) }),
        is_owner: false,
        is_disabled: false,
        created: NOW,
        seen: None,
        roles: BTreeMap::from([(APP, Role::Sender)]),
    };
    accounts::insert(tx, &account)?;
    let sign_in = SignIn {
        hash: [1; 32],
        id: id(71),
        account: account.id,
        created: NOW,
        used: NOW,
        ends: NOW,
        agent: None,
        address: None,
    };
    sign_ins::insert(tx, &sign_in)?;
    login_links::insert(tx, &LoginLink { hash: [2; 32], purpose: LinkPurpose::Password(account.id), ends: NOW })?;
    server_tokens::insert(tx, &server_token())?;
    channel_secrets::put(tx, APP, CHANNEL, &[5; 32])?;
    let sealed = Some("sealed".to_owned());
    former_secrets::put(tx, APP, &FormerSecret { kind: SecretKind::App, hash: [4; 32], sealed, ends: NOW })
}

fn server_token() -> ServerToken {
    ServerToken {
        id: id(72),
        app: APP,
        kind: TokenKind::Bearer,
        name: "Shop".to_owned(),
        hash: Some([3; 32]),
        public_key: None,
        prefix: "aerogram_abcdef".to_owned(),
        role: Role::Sender,
        scopes: Some(vec![Scope::Push, Scope::NamedUsers]),
        addresses: Some(vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/48".parse().unwrap()]),
        created: NOW,
        created_by: "operator token 01234567".to_owned(),
        expires: Some(NOW),
        used: None,
    }
}
