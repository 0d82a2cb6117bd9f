//! Values in and out, placeholders, order of text.

use model::ids::{AppId, ChannelId, Offset, Ordinal, TermId};
use model::time::UtcMillis;
use store::{Error, Store, Value};

use crate::{NO_APP, execute, on_both};

const SCRATCH: &str =
    "create table scratch (id bigint primary key, n bigint, r double precision, t text, b blob, flag bigint)";

#[tokio::test]
async fn values_and_nulls_survive() {
    on_both(async |store, _| {
        execute(store, SCRATCH).await;
        let texts = ["", "plain", "with 'quotes' and \"more\"", "héllo wörld ☃ 🦀", "line\nbreak\ttab"];
        let numbers = [0, 1, -1, i64::MAX, i64::MIN];
        let reals = [0.0, -0.5, 1e300, f64::MIN_POSITIVE, 12345.678];
        for index in 0..5 {
            let (text, number, real) = (texts[index], numbers[index], reals[index]);
            let id = index as i64;
            let blob: Vec<u8> = (0..=255).take(index * 60).collect();
            let expected = (number, real, text.to_owned(), blob.clone(), index % 2 == 0);
            let sql = "insert into scratch (id, n, r, t, b, flag) values ($1, $2, $3, $4, $5, $6)";
            let row = [id.into(), number.into(), real.into(), text.into(), blob.into(), (index % 2 == 0).into()];
            store
                .write(NO_APP, move |tx| tx.execute(sql, &row))
                .await
                .map_err(|error: Error| error.to_string())
                .unwrap();
            let read = store.read(move |tx| {
                tx.query_one("select n, r, t, b, flag from scratch where id = $1", &[id.into()], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
            });
            let found: Result<(i64, f64, String, Vec<u8>, bool), Error> = read.await;
            assert_eq!(found.unwrap(), expected);
        }
        let nulls = "insert into scratch (id, n, r, t, b, flag) values ($1, $2, $3, $4, $5, $6)";
        let row = vec![10.into(), Value::Null, Value::Null, Value::Null, Value::Null, Value::from(None::<bool>)];
        run(store, nulls, row).await.unwrap();
        let read = store.read(|tx| {
            tx.query_one("select n, r, t, b, flag from scratch where id = 10", &[], |row| {
                assert!(row.get::<i64>(0).is_err(), "null is not a number");
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
        });
        type Nulls = (Option<i64>, Option<f64>, Option<String>, Option<Vec<u8>>, Option<bool>);
        let found: Result<Nulls, Error> = read.await;
        assert_eq!(found.unwrap(), (None, None, None, None, None));
    })
    .await;
}

#[tokio::test]
async fn ids_survive() {
    on_both(async |store, _| {
        execute(store, "create table scratch (app bigint, ord bigint, term bigint, off bigint, at bigint, id blob)")
            .await;
        let channel = ChannelId::random();
        let sql = "insert into scratch (app, ord, term, off, at, id) values ($1, $2, $3, $4, $5, $6)";
        let row = vec![
            AppId(7).into(),
            Ordinal(u32::MAX).into(),
            TermId(3).into(),
            Offset(1 << 40).into(),
            UtcMillis(1_714_564_800_123).into(),
            channel.into(),
        ];
        run(store, sql, row).await.unwrap();
        let read = store.read(move |tx| {
            tx.query_one("select app, ord, term, off, at, id from scratch where id = $1", &[channel.into()], |row| {
                assert_eq!(row.get::<&[u8]>(5)?, channel.as_bytes());
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })
        });
        let found: Result<(AppId, Ordinal, TermId, Offset, UtcMillis, ChannelId), Error> = read.await;
        let expected = (AppId(7), Ordinal(u32::MAX), TermId(3), Offset(1 << 40), UtcMillis(1_714_564_800_123), channel);
        assert_eq!(found.unwrap(), expected);
    })
    .await;
}

#[tokio::test]
async fn placeholders_repeat_and_come_in_any_order() {
    on_both(async |store, _| {
        execute(store, SCRATCH).await;
        let sql = "insert into scratch (id, t, n, flag) values ($3, $1, $2, $2)";
        run(store, sql, vec!["x".into(), 5.into(), 1.into()]).await.unwrap();
        let read = store.read(|tx| {
            let sql = "select id, t, n, flag from scratch where n = $2 and t = $1 and flag = $2";
            tx.query_one(sql, &["x".into(), 5.into()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        });
        let found: Result<(i64, String, i64, i64), Error> = read.await;
        assert_eq!(found.unwrap(), (1, "x".to_owned(), 5, 5));
        for wrong in [vec![], vec!["x".into(), 5.into()], vec!["x".into(), 5.into(), 2.into(), 3.into()]] {
            let n = wrong.len();
            assert!(
                matches!(run(store, sql, wrong).await, Err(Error::Corrupt(_))),
                "{n} values for three placeholders"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn text_sorts_by_its_bytes() {
    on_both(async |store, _| {
        execute(store, "create table scratch (id bigint primary key, t text not null)").await;
        execute(store, "create index scratch_by_text on scratch (t)").await;
        let mut texts = vec!["b", "B", "a", "A", "_", "Z", "z", "é", "ab", "a b", "10", "9", "", "🦀", "-a", "aa"];
        let rows: Vec<[Value; 2]> = texts.iter().zip(0_i64..).map(|(text, id)| [id.into(), (*text).into()]).collect();
        let sql = "insert into scratch (id, t) values ($1, $2)";
        let written = store.write(NO_APP, move |tx| tx.execute_many(sql, &rows)).await;
        assert_eq!(written.map_err(|error: Error| error.to_string()), Ok(texts.len() as u64));
        texts.sort_unstable();
        let read = store.read(|tx| tx.query("select t from scratch order by t", &[], |row| row.get::<String>(0)));
        let found: Result<Vec<String>, Error> = read.await;
        assert_eq!(found.unwrap(), texts);
        let read = store.read(|tx| {
            tx.query("select t from scratch where t > $1 and t < $2 order by t", &["A".into(), "a".into()], |row| {
                row.get::<String>(0)
            })
        });
        let found: Result<Vec<String>, Error> = read.await;
        assert_eq!(found.unwrap(), ["B", "Z", "_"]);
    })
    .await;
}

#[tokio::test]
async fn big_blobs_survive() {
    on_both(async |store, _| {
        execute(store, SCRATCH).await;
        let blob: Vec<u8> = (0..2_000_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        let sql = "insert into scratch (id, b) values ($1, $2)";
        run(store, sql, vec![1.into(), blob.clone().into()]).await.unwrap();
        let read = store.read(|tx| tx.query_one("select b from scratch", &[], |row| row.get::<Vec<u8>>(0)));
        let found: Result<Vec<u8>, Error> = read.await;
        assert!(found.unwrap() == blob);
    })
    .await;
}

#[tokio::test]
async fn many_rows_in_one_statement_and_streamed_back() {
    on_both(async |store, _| {
        execute(store, SCRATCH).await;
        let written = store.write(NO_APP, |tx| {
            let rows = (0..5000_i64).map(|id| [id.into(), Value::from(id * 2)]);
            tx.execute_many("insert into scratch (id, n) values ($1, $2)", rows)
        });
        assert_eq!(written.await.map_err(|error: Error| error.to_string()), Ok(5000));
        let read = store.read(|tx| {
            let mut sum = 0;
            tx.for_each("select n from scratch order by id", &[], |row| {
                sum += row.get::<i64>(0)?;
                Ok(())
            })?;
            let total = tx.query_one("select cast(sum(n) as bigint) from scratch", &[], |row| row.get::<i64>(0))?;
            assert_eq!(total, sum);
            Ok(sum)
        });
        assert_eq!(read.await.map_err(|error: Error| error.to_string()), Ok(4999 * 5000));
        let none: [Vec<Value>; 0] = [];
        let sql = "insert into scratch (id, n) values ($1, $2)";
        let written = store.write(NO_APP, move |tx| tx.execute_many(sql, &none)).await;
        assert_eq!(written.map_err(|error: Error| error.to_string()), Ok(0));
    })
    .await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    on_both(async |store, _| {
        execute(store, SCRATCH).await;
        let nul = run(store, "insert into scratch (id, t) values ($1, $2)", vec![1.into(), "a\0b".into()]).await;
        assert!(matches!(nul, Err(Error::Corrupt(_))), "{nul:?}");
        execute(store, "insert into scratch (id, n, t, flag) values (1, -1, 'x', 2)").await;
        for (column, what) in [("n", "u32"), ("t", "i64"), ("flag", "bool")] {
            let sql = format!("select {column} from scratch");
            let read: Result<(), Error> = store
                .read(move |tx| {
                    tx.query_one(&sql, &[], |row| match what {
                        "u32" => row.get::<u32>(0).map(drop),
                        "i64" => row.get::<i64>(0).map(drop),
                        _ => row.get::<bool>(0).map(drop),
                    })
                })
                .await;
            assert!(matches!(read, Err(Error::Corrupt(_))), "{column} as {what}: {read:?}");
        }
        let many: Result<i64, Error> =
            store.read(|tx| tx.query_one("select 1 union all select 2", &[], |row| row.get(0))).await;
        assert!(matches!(many, Err(Error::Corrupt(_))));
        let none: Result<Option<i64>, Error> =
            store.read(|tx| tx.query_opt("select id from scratch where id = 99", &[], |row| row.get(0))).await;
        assert_eq!(none.unwrap(), None);
    })
    .await;
}

async fn run(store: &Store, sql: &'static str, row: Vec<Value>) -> store::Result<u64> {
    store.write(NO_APP, move |tx| tx.execute(sql, &row)).await
}
