//! What the text of a statement tells.

use super::*;

fn of(sql: &str) -> (Verb, Vec<String>, String, bool) {
    let Shape { verb, tables, keys, sets, seam, .. } = Shape::of(sql);
    let keys: Vec<String> = keys.iter().map(|(column, n)| format!("{column}=${n}")).collect();
    let sets = sets.iter().map(|(column, n)| format!("{column}:{}", n.unwrap_or(0)));
    (verb, tables, keys.into_iter().chain(sets).collect::<Vec<_>>().join(" "), seam.is_some())
}

fn read(verb: Verb, tables: &[&str], columns: &str, has_seam: bool) -> (Verb, Vec<String>, String, bool) {
    (verb, tables.iter().map(|table| (*table).to_owned()).collect(), columns.to_owned(), has_seam)
}

#[test]
fn plain_statements_tell_which_rows_they_touch() {
    let upsert = "insert into counter (app, hour, n) values ($1, $2, $3)
                  on conflict (app, hour) do update set n = counter.n + excluded.n";
    for (sql, expected) in [
        (
            "select terms from channel c where c.app = $1 and id = $2 and installed = 1 order by ordinal limit $3",
            read(Verb::Select, &["channel"], "app=$1 id=$2", true),
        ),
        (
            "insert into job (app, id, leased) values ($1, $2, 0) on conflict (app, id) do nothing",
            read(Verb::Insert, &["job"], "app:1 id:2 leased:0", true),
        ),
        (upsert, read(Verb::Upsert(vec!["app".into(), "hour".into()]), &["counter"], "app:1 hour:2 n:3", true)),
        (
            "update job set due = $4, failures = failures + 1 where app = $1 and id = $2 and attempt < $3",
            read(Verb::Update, &["job"], "app=$1 id=$2 due:4 failures:0", true),
        ),
        (
            "delete from session where app = $1 and ordinal = $2",
            read(Verb::Delete, &["session"], "app=$1 ordinal=$2", true),
        ),
    ] {
        assert_eq!(of(sql), expected, "{sql}");
    }
}

#[test]
fn others_count_as_touching_everything_of_their_tables() {
    for (sql, expected) in [
        (
            "select u.terms from channel c left join named_user u on u.id = c.named_user where c.app = $1",
            read(Verb::Select, &["channel", "named_user"], "", true),
        ),
        ("select n from a x, b where app = $1", read(Verb::Select, &["a", "b"], "", true)),
        ("select n from a where app = $1 or id = $2", read(Verb::Select, &["a"], "", true)),
        ("select id from job where app = $1 for update skip locked", read(Verb::Other, &["job"], "", false)),
        (
            "delete from a where app = $1 and id in (select id from b where app = $1 limit $2)",
            read(Verb::Other, &["a", "b"], "", false),
        ),
        ("insert into a (id) select id from b", read(Verb::Other, &["a", "b"], "", false)),
        ("update a set n = 1 where id = $1 returning n", read(Verb::Other, &["a"], "", false)),
    ] {
        assert_eq!(of(sql), expected, "{sql}");
    }
}

#[test]
fn what_is_written_twice_counts_once_if_nothing_is_left_of_the_first() {
    let put = "insert into a (app, id, body) values ($1, $2, $3)
               on conflict (app, id) do update set body = excluded.body";
    let identity = |sql| Shape::of(sql).identity().map(|(column, n)| format!("{column}=${n}")).collect::<Vec<_>>();
    assert!(Shape::of(put).overwrites);
    assert_eq!(identity(put), ["app=$1", "id=$2"]);
    let save = "update a set body = $3 where app = $1 and id = $2";
    assert!(Shape::of(save).overwrites);
    assert_eq!(identity(save), ["app=$1", "id=$2"]);
    for other in [
        "insert into a (app, id, body) values ($1, $2, $3)",
        "insert into a (app, id, n) values ($1, $2, $3) on conflict (app, id) do update set n = a.n + excluded.n",
        "insert into a (app, id, made, n) values ($1, $2, $3, $4)
         on conflict (app, id) do update set n = excluded.n",
        "update a set n = n + $3 where app = $1 and id = $2",
        "update a set n = $3 where app = $1 and id = $2 and n < $3",
        "update a set id = $3 where app = $1 and id = $2",
    ] {
        assert!(!Shape::of(other).overwrites, "{other}");
    }
    assert_eq!(Shape::of("select id, body from a where app = $1").yields, ["id", "body"]);
    assert!(Shape::of("select count(*), id from a where app = $1").yields.is_empty());
}

#[test]
fn parameters_become_columns() {
    let sql = "select '$1' from a where b = $12 and c>=$2";
    assert_eq!(with_columns(sql, None), "select '$1' from a where b = v.c12 and c>=v.c2");
    assert_eq!(with_columns(sql, Some(12)), "select '$1' from a where b = $12 and c>=v.c2");
    assert_eq!(with_shifted("$1, 0, $3", 3), "$4, 0, $6");
}

#[test]
fn the_app_of_a_statement_is_the_one_that_all_its_conditions_name() {
    let place = |sql| Shape::of(sql).place;
    assert_eq!(place("select id from a where app = $2 and id = $1"), Some(2));
    assert_eq!(place("select a.id from a join b on b.app = a.app where a.app = $1 and b.app = $1"), Some(1));
    assert_eq!(place("select a.id from a, b where a.app = $1 and b.app = $2"), None);
    assert_eq!(place("select id from app where key = $1"), None);
}
