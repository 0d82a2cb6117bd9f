//! Rows of the people who use the console.

use std::collections::BTreeMap;

use model::account::{Email, Role};
use store::accounts::{self, Account, Totp};
use store::login_links::{self, LinkPurpose, LoginLink};
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
    login_links::insert(tx, &LoginLink { hash: [2; 32], purpose: LinkPurpose::Password(account.id), ends: NOW })
}
