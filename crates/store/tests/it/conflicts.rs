//! Violated rules have the same name on both databases.

use store::{Constraint, Error};

use crate::{NO_APP, execute, on_both};

#[tokio::test]
async fn the_same_name_on_both_databases() {
    on_both(async |store, _| {
        execute(store, "create table app_like (id bigint primary key)").await;
        let table = "create table thing (app bigint not null references app_like (id), id bigint not null, \
                     name text not null, color text, primary key (app, id))";
        execute(store, table).await;
        execute(store, "create unique index thing_by_name on thing (app, name)").await;
        execute(store, "create unique index thing_by_color on thing (color) where color is not null").await;
        execute(store, "insert into app_like (id) values (1)").await;
        execute(store, "insert into thing (app, id, name, color) values (1, 1, 'one', 'red')").await;
        let index = |name: &str| Constraint::Index(name.to_owned());
        let cases = [
            ("insert into thing (app, id, name) values (1, 1, 'two')", index("thing_pkey")),
            ("insert into thing (app, id, name) values (1, 2, 'one')", index("thing_by_name")),
            ("insert into thing (app, id, name, color) values (1, 2, 'two', 'red')", index("thing_by_color")),
            ("insert into thing (app, id, name) values (2, 2, 'two')", Constraint::ForeignKey),
            ("delete from app_like where id = 1", Constraint::ForeignKey),
            ("insert into app_like (id) values (1)", index("app_like_pkey")),
        ];
        for (sql, expected) in cases {
            let done: Result<u64, Error> = store.write(NO_APP, move |tx| tx.execute(sql, &[])).await;
            match done {
                Err(Error::Conflict(found)) => assert_eq!(found, expected, "{sql}"),
                other => panic!("{sql}: {other:?}"),
            }
        }
        let missing = "insert into thing (app, id) values (1, 5)";
        let done: Result<u64, Error> = store.write(NO_APP, move |tx| tx.execute(missing, &[])).await;
        assert!(matches!(done, Err(Error::Corrupt(_))), "a missing value is a defect: {done:?}");
        let upsert = "insert into thing (app, id, name) values (1, 9, 'one') \
                      on conflict (app, name) do update set color = 'blue' returning id, color";
        let kept: Result<(i64, String), Error> =
            store.write(NO_APP, move |tx| tx.query_one(upsert, &[], |row| Ok((row.get(0)?, row.get(1)?)))).await;
        assert_eq!(kept.unwrap(), (1, "blue".to_owned()));
    })
    .await;
}
