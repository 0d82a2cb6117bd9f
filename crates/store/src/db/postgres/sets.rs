//! Statements for many rows of parameters at once: each parameter becomes an array, and the arrays side by side are a table `v`
//! whose columns take the place of the parameters. Where apps are spread over servers, the app stays a parameter of its own, which
//! tells Citus the server; and new rows are listed, because Citus would send a table of them to itself first.

use std::error::Error as StdError;

use bytes::BytesMut;
use tokio_postgres::Statement as Prepared;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::batch::{Seam, Statement, Verb, with_columns, with_shifted};
use super::types;
use crate::db::Value;
use crate::error::{Error, Result};

/// Rows that go with one statement. More than this make no difference, and each set takes memory here and there.
pub(super) const MOST_ROWS: usize = 2048;

/// The text for many rows, if there is one; `prepared` is the statement for one row, which tells the types. The parameter `kept` is
/// the same in all rows.
pub(super) fn text(statement: &Statement, prepared: &Prepared, kept: Option<usize>) -> Result<Option<String>> {
    let sql = statement.sql.as_str();
    let with_columns = |text: &str| with_columns(text, kept);
    let types: Vec<(&Type, usize)> = prepared.params().iter().zip(1..).filter(|(_, n)| Some(*n) != kept).collect();
    if types.is_empty() {
        return Ok(None);
    }
    let arrays = types.iter().map(|(of, n)| array(of, *n)).collect::<Result<Vec<_>>>()?.join(", ");
    let columns: Vec<String> = types.iter().map(|(_, n)| format!("c{n}")).collect();
    let columns = columns.join(", ");
    let table = format!("unnest({arrays}) as v({columns})");
    Ok(match &statement.shape.seam {
        None => None,
        Some(Seam::Select) => {
            let asked = with_columns(sql);
            let table = format!("unnest({arrays}) with ordinality as v({columns}, n)");
            Some(format!("select v.n, q.* from {table} cross join lateral ({asked}) as q"))
        }
        Some(Seam::Values { all, tuple }) => {
            let values = with_columns(&sql[tuple.clone()]);
            Some(format!("{}select {values} from {table}{}", &sql[..all.start], &sql[all.end..]))
        }
        Some(Seam::Where(at)) => {
            let joins = if statement.shape.verb == Verb::Delete { "using" } else { "from" };
            Some(format!("{}{joins} {table} {}", with_columns(&sql[..*at]), with_columns(&sql[*at..])))
        }
    })
}

/// Text has the order of our columns, by bytes, or the server could not compare the two.
fn array(of: &Type, n: usize) -> Result<String> {
    Ok(match *types::base(of) {
        Type::INT8 => format!("${n}::pg_catalog.int8[]"),
        Type::INT4 => format!("${n}::pg_catalog.int4[]"),
        Type::FLOAT8 => format!("${n}::pg_catalog.float8[]"),
        Type::BYTEA => format!("${n}::pg_catalog.bytea[]"),
        Type::TEXT => format!("${n}::pg_catalog.text[] collate pg_catalog.\"C\""),
        _ => return Err(Error::corrupt(format!("a parameter of type {of} has no array of ours"))),
    })
}

/// The text that lists `n_rows` new rows, if it is about new rows.
pub(super) fn listing(statement: &Statement, n_params: usize, n_rows: usize) -> Option<String> {
    let Some(Seam::Values { all, tuple }) = &statement.shape.seam else { return None };
    let (sql, tuple) = (statement.sql.as_str(), &statement.sql[tuple.clone()]);
    let rows: Vec<String> = (0..n_rows).map(|row| format!("({})", with_shifted(tuple, row * n_params))).collect();
    Some(format!("{}values {}{}", &sql[..all.start], rows.join(", "), &sql[all.end..]))
}

/// The text for one row of parameters whose answers begin with the number 1, as those of the text for many rows would, if it is
/// easily made.
pub(super) fn one(statement: &Statement) -> Option<String> {
    let columns = statement.sql.strip_prefix("select").and_then(|rest| rest.strip_prefix(' '))?;
    let is_simple = matches!(statement.shape.seam, Some(Seam::Select)) && !columns.starts_with("distinct ");
    let is_simple = is_simple && !columns.contains("union");
    is_simple.then(|| format!("select cast(1 as pg_catalog.int8), {columns}"))
}

/// Whether rows have the same value of a parameter, counted from 1.
pub(super) fn is_same(rows: &[Vec<Value>], param: usize) -> bool {
    let value = |row: &Vec<Value>| row.get(param - 1).cloned();
    rows.windows(2).all(|two| value(&two[0]) == value(&two[1]))
}

/// One parameter of many rows.
#[derive(Debug)]
pub(super) struct Column<'r> {
    rows: &'r [Vec<Value>],
    index: usize,
    is_kept: bool,
}

/// The rows as columns, one for each of their parameters; `kept` is the same in all rows and goes by itself.
pub(super) fn columns(rows: &[Vec<Value>], kept: Option<usize>) -> Vec<Column<'_>> {
    let n_params = rows.first().map_or(0, Vec::len);
    (0..n_params).map(|index| Column { rows, index, is_kept: kept == Some(index + 1) }).collect()
}

impl ToSql for Column<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        if let (true, Some(value)) = (self.is_kept, self.rows.first().and_then(|row| row.get(self.index))) {
            return value.to_sql(wanted, out);
        }
        let values: Vec<&Value> = self.rows.iter().filter_map(|row| row.get(self.index)).collect();
        values.to_sql(wanted, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::super::batch::Shapes;
    use super::*;

    #[test]
    fn one_question_is_asked_without_a_set() {
        let mut shapes = Shapes::default();
        let mut text = |sql| one(&shapes.get(sql));
        let asked = text("select id, x from a where app = $1 and id = $2");
        assert_eq!(asked.unwrap(), "select cast(1 as pg_catalog.int8), id, x from a where app = $1 and id = $2");
        assert_eq!(text("select distinct id from a where app = $1"), None);
        assert_eq!(text("select id from a where app = $1 union select id from b where app = $1"), None);
        assert_eq!(text("delete from a where app = $1"), None);
    }

    #[test]
    fn new_rows_are_listed() {
        let mut shapes = Shapes::default();
        let sql = "insert into a (app, id, x) values ($1, $2, 0) on conflict (app, id) do nothing";
        let listed = listing(&shapes.get(sql), 2, 2).unwrap();
        assert_eq!(
            listed,
            "insert into a (app, id, x) values ($1, $2, 0), ($3, $4, 0) on conflict (app, id) do nothing"
        );
        assert_eq!(listing(&shapes.get("delete from a where app = $1"), 1, 2), None);
    }
}
