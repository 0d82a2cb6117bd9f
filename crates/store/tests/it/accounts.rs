//! Accounts, who is logged in, and links.

use std::collections::BTreeMap;

use model::account::{Email, Role};
use model::ids::AppId;
use model::time::UtcMillis;
use store::accounts::{self, Account, Totp};
use store::login_links::{self, LinkPurpose, LoginLink};
use store::sign_ins::{self, SignIn};
use store::{Constraint, Error, Tx, apps};

use crate::on_both;
use crate::sample::{NOW, id, make_app};

const NOBODYS: AppId = AppId(0);

fn account(n: u32, email: &str) -> Account {
    Account {
        id: id(n),
        email: Email::new(email).unwrap(),
        name: email.to_owned(),
        password: None,
        totp: None,
        is_owner: false,
        is_disabled: false,
        created: NOW,
        seen: None,
        roles: BTreeMap::new(),
    }
}

fn sign_in(n: u8, account: u32, ends: i64) -> SignIn {
    SignIn {
        hash: [n; 32],
        id: id(u32::from(n)),
        account: id(account),
        created: NOW,
        used: NOW,
        ends: UtcMillis(ends),
        agent: Some("a browser".to_owned()),
        address: None,
    }
}

#[tokio::test]
async fn accounts_are_read_as_they_were_written() {
    on_both(async |store, _| {
        let (first, second) = (make_app(store, 1).await, make_app(store, 2).await);
        let mut kim = account(1, "kim@example.com");
        kim.roles = BTreeMap::from([(first, Role::Viewer), (second, Role::Admin)]);
        kim.totp = Some(Totp { sealed: "x".to_owned(), used: None });
        let (made, lee) = (kim.clone(), account(2, "lee@example.com"));
        let write = move |tx: &mut Tx<'_>| {
            accounts::insert(tx, &made)?;
            accounts::insert(tx, &lee)
        };
        store.write(NOBODYS, write).await.unwrap();
        let expected = kim.clone();
        let read = move |tx: &mut Tx<'_>| {
            assert_eq!(accounts::get(tx, id(1))?, Some(expected.clone()));
            assert_eq!(accounts::by_email(tx, &expected.email)?, Some(expected.clone()));
            let both = [expected.clone(), account(2, "lee@example.com")];
            assert_eq!(accounts::page(tx, "", 10)?, both);
            assert_eq!(
                (accounts::page(tx, "", 1)?, accounts::page(tx, "l", 10)?),
                (both[..1].to_vec(), both[1..].to_vec())
            );
            assert_eq!((accounts::count(tx)?, accounts::get(tx, id(3))?), (2, None));
            Ok::<_, Error>(())
        };
        store.read(read).await.unwrap();
        let twice = store.write(NOBODYS, |tx| accounts::insert(tx, &account(3, "kim@example.com"))).await;
        assert!(matches!(twice, Err(Error::Conflict(Constraint::Index(name))) if name == "account_by_email"));
        // The roles of an app go with it, and nothing else does.
        store.write(first, move |tx| apps::delete(tx, first)).await.unwrap();
        kim.roles.remove(&first);
        assert_eq!(store.read(|tx| accounts::get(tx, id(1))).await.unwrap(), Some(kim));
        let write = |tx: &mut Tx<'_>| {
            assert!(accounts::delete(tx, id(1))? && !accounts::delete(tx, id(1))?);
            accounts::count(tx)
        };
        assert_eq!(store.write(NOBODYS, write).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_owner_counts_who_can_log_in() {
    on_both(async |store, _| {
        let owner = |n: u32, password: Option<&str>, is_disabled| Account {
            is_owner: true,
            password: password.map(str::to_owned),
            is_disabled,
            ..account(n, &format!("owner{n}@example.com"))
        };
        let all = [owner(1, Some("x"), false), owner(2, Some("x"), true), owner(3, None, false)];
        store.write(NOBODYS, move |tx| all.iter().try_for_each(|one| accounts::insert(tx, one))).await.unwrap();
        let count = |tx: &mut Tx<'_>| {
            Ok::<_, Error>((
                accounts::count_owners_besides(tx, id(1), None)?,
                accounts::count_owners_besides(tx, id(2), None)?,
            ))
        };
        assert_eq!(store.read(count).await.unwrap(), (0, 1));
        // Somebody without a password counts who logs in by the provider in use, and by no other.
        let write = |tx: &mut Tx<'_>| accounts::set_subject(tx, id(3), "https://login.example", "kim");
        store.write(NOBODYS, write).await.unwrap();
        for (provider, n_others) in [(None, 0), (Some("https://login.example"), 1), (Some("https://other.example"), 0)]
        {
            let counted = store.read(move |tx| accounts::count_owners_besides(tx, id(1), provider)).await.unwrap();
            assert_eq!(counted, n_others, "{provider:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn logins_end_one_by_one_or_all_at_once() {
    on_both(async |store, _| {
        let write = |tx: &mut Tx<'_>| {
            for (n, account, ends) in [(1, 1, 100), (2, 1, 200), (3, 1, 300), (4, 2, 100)] {
                sign_ins::insert(tx, &sign_in(n, account, ends))?;
            }
            sign_ins::extend(tx, &[1; 32], UtcMillis(5), UtcMillis(400))?;
            assert!(sign_ins::end(tx, id(1), id(3))? && !sign_ins::end(tx, id(2), id(1))?);
            assert_eq!(sign_ins::delete_ended(tx, UtcMillis(150), 10)?, 1);
            let left = sign_ins::of_account(tx, id(1))?;
            assert_eq!(left.iter().map(|left| left.hash[0]).collect::<Vec<_>>(), [2, 1]);
            assert_eq!((left[1].used, left[1].ends), (UtcMillis(5), UtcMillis(400)));
            assert_eq!(sign_ins::end_others(tx, id(1), Some(&[2; 32]))?, 1);
            assert!(sign_ins::by_hash(tx, &[2; 32])?.is_some() && sign_ins::by_hash(tx, &[1; 32])?.is_none());
            assert!(sign_ins::delete(tx, &[2; 32])? && !sign_ins::delete(tx, &[2; 32])?);
            Ok::<_, Error>(())
        };
        store.write(NOBODYS, write).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_link_is_found_once() {
    on_both(async |store, _| {
        let write = |tx: &mut Tx<'_>| {
            let owner = LoginLink { hash: [1; 32], purpose: LinkPurpose::NewOwner, ends: UtcMillis(100) };
            let reset = LoginLink { hash: [2; 32], purpose: LinkPurpose::Password(id(1)), ends: UtcMillis(200) };
            login_links::insert(tx, &owner)?;
            login_links::insert(tx, &reset)?;
            assert_eq!(login_links::by_hash(tx, &[1; 32])?, Some(owner));
            assert_eq!(login_links::by_hash(tx, &[2; 32])?, Some(reset));
            assert_eq!(login_links::delete_ended(tx, UtcMillis(150), 10)?, 1);
            assert!(!login_links::delete(tx, &[1; 32])?);
            assert_eq!((login_links::delete_of(tx, id(2))?, login_links::delete_of(tx, id(1))?), (0, 1));
            Ok::<_, Error>(())
        };
        store.write(NOBODYS, write).await.unwrap();
    })
    .await;
}
