//! Statements for many rows of parameters at once: each parameter becomes an array, and the arrays side by side are a table `v`
//! whose columns take the place of the parameters.

use std::error::Error as StdError;

use bytes::BytesMut;
use tokio_postgres::Statement as Prepared;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::batch::{Seam, Statement, Verb, with_columns};
use super::types;
use crate::db::Value;
use crate::error::{Error, Result};

/// Rows that go with one statement. More than this make no difference, and each set takes memory here and there.
pub(super) const MOST_ROWS: usize = 2048;

/// The text for many rows, if there is one; `prepared` is the statement for one row, which tells the types.
pub(super) fn text(statement: &Statement, prepared: &Prepared) -> Result<Option<String>> {
    let sql = statement.sql.as_str();
    let types = prepared.params();
    if types.is_empty() {
        return Ok(None);
    }
    let arrays = types.iter().zip(1..).map(|(of, n)| array(of, n)).collect::<Result<Vec<_>>>()?.join(", ");
    let columns: Vec<String> = (1..=types.len()).map(|n| format!("c{n}")).collect();
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

/// One parameter of many rows.
#[derive(Debug)]
pub(super) struct Column<'r> {
    rows: &'r [Vec<Value>],
    index: usize,
}

/// The rows as columns, one for each of their parameters.
pub(super) fn columns(rows: &[Vec<Value>]) -> Vec<Column<'_>> {
    let n_params = rows.first().map_or(0, Vec::len);
    (0..n_params).map(|index| Column { rows, index }).collect()
}

impl ToSql for Column<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        let values: Vec<&Value> = self.rows.iter().filter_map(|row| row.get(self.index)).collect();
        values.to_sql(wanted, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
