//! Tokens of servers, and secrets that were replaced.

use model::account::Role;
use model::ids::AppId;
use model::server_token::Scope;
use model::time::UtcMillis;
use store::former_secrets::{self, FormerSecret, SecretKind};
use store::server_tokens::{self, ServerToken, TokenKind};
use store::{Constraint, Error, Tx, apps};

use crate::on_both;
use crate::sample::{NOW, id, make_app};

fn token(n: u8, app: AppId) -> ServerToken {
    ServerToken {
        id: id(u32::from(n)),
        app,
        kind: TokenKind::Bearer,
        name: "Shop".to_owned(),
        hash: Some([n; 32]),
        public_key: None,
        prefix: "aerogram_abcdef".to_owned(),
        role: Role::Sender,
        scopes: Some(vec![Scope::Push, Scope::NamedUsers]),
        addresses: Some(vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/48".parse().unwrap()]),
        created: UtcMillis(i64::from(n)),
        created_by: "operator token 01234567".to_owned(),
        expires: Some(NOW),
        used: None,
    }
}

#[tokio::test]
async fn tokens_are_read_as_they_were_written_and_go_with_their_app() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        let client = ServerToken {
            kind: TokenKind::Client,
            hash: None,
            public_key: Some(vec![4; 97]),
            scopes: None,
            addresses: None,
            expires: None,
            ..token(2, app)
        };
        let all = [token(1, app), client, token(3, other)];
        let written = all.clone();
        let write = move |tx: &mut Tx<'_>| written.iter().try_for_each(|token| server_tokens::insert(tx, token));
        store.write(app, write).await.unwrap();
        let expected = all.clone();
        let read = move |tx: &mut Tx<'_>| {
            assert_eq!(server_tokens::of_app(tx, app)?, expected[..2]);
            assert_eq!(server_tokens::by_hash(tx, &[3; 32])?.as_ref(), Some(&expected[2]));
            assert_eq!(server_tokens::by_id(tx, id(2))?.as_ref(), Some(&expected[1]));
            assert_eq!(server_tokens::by_hash(tx, &[9; 32])?, None);
            Ok::<_, Error>(())
        };
        store.read(read).await.unwrap();
        let same = ServerToken { id: id(9), ..token(1, other) };
        let twice = store.write(other, move |tx: &mut Tx<'_>| server_tokens::insert(tx, &same)).await;
        assert!(matches!(twice, Err(Error::Conflict(Constraint::Index(_)))), "{twice:?}");
        let change = move |tx: &mut Tx<'_>| {
            for minute in [120_000, 60_000] {
                server_tokens::set_used(tx, id(1), UtcMillis(minute))?;
            }
            // Not those of another app.
            assert!(!server_tokens::delete(tx, app, id(3))?);
            apps::delete(tx, other)
        };
        assert!(store.write(other, change).await.unwrap());
        let read = move |tx: &mut Tx<'_>| {
            let used = server_tokens::by_id(tx, id(1))?.and_then(|token| token.used);
            Ok::<_, Error>((used, server_tokens::by_id(tx, id(3))?))
        };
        assert_eq!(store.read(read).await.unwrap(), (Some(UtcMillis(120_000)), None));
    })
    .await;
}

#[tokio::test]
async fn one_secret_of_each_kind_is_kept_that_was_replaced() {
    on_both(async |store, _| {
        let app = make_app(store, 1).await;
        let former = |kind, n: u8, sealed: Option<&str>| {
            let sealed = sealed.map(str::to_owned);
            FormerSecret { kind, hash: [n; 32], sealed, ends: UtcMillis(i64::from(n)) }
        };
        let (first, second) = (former(SecretKind::App, 1, Some("a")), former(SecretKind::App, 2, Some("b")));
        let master = former(SecretKind::Master, 3, None);
        let expected = vec![second.clone(), master.clone()];
        let write = move |tx: &mut Tx<'_>| {
            [&first, &second, &master].into_iter().try_for_each(|former| former_secrets::put(tx, app, former))?;
            former_secrets::of_app(tx, app)
        };
        assert_eq!(store.write(app, write).await.unwrap(), expected);
        let delete = move |tx: &mut Tx<'_>| {
            let was_there = former_secrets::delete(tx, app, SecretKind::App)?;
            Ok::<_, Error>((was_there, former_secrets::delete(tx, app, SecretKind::App)?))
        };
        assert_eq!(store.write(app, delete).await.unwrap(), (true, false));
    })
    .await;
}
