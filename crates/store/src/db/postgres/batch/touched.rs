//! Which rows a number of writes may have touched, by the values of their columns.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::shape::{Shape, Verb};
use crate::db::Value;

#[derive(Debug, Default)]
pub(crate) struct Touched {
    tables: HashMap<String, TouchedRows>,
}

#[derive(Debug, Default)]
struct TouchedRows {
    n_writes: usize,
    columns: HashMap<String, TouchedValues>,
}

/// The values of a column, of as many of the writes as say it.
#[derive(Debug, Default)]
struct TouchedValues {
    n_writes: usize,
    values: HashSet<u64>,
}

impl Touched {
    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.tables.clear();
    }

    /// `is_key` tells the columns by which statements choose rows; the others need not be remembered.
    pub(crate) fn add(&mut self, shape: &Shape, params: &[Value], is_key: impl Fn(&str, &str) -> bool) {
        for table in &shape.tables {
            let rows = match self.tables.get_mut(table) {
                Some(rows) => rows,
                None => self.tables.entry(table.clone()).or_default(),
            };
            rows.n_writes += 1;
            for (column, values) in footprint(shape, params).filter(|(column, _)| is_key(table, column)) {
                let touched = match rows.columns.get_mut(column) {
                    Some(touched) => touched,
                    None => rows.columns.entry(column.to_owned()).or_default(),
                };
                touched.n_writes += 1;
                touched.values.extend(values.into_iter().flatten().map(mark));
            }
        }
    }

    /// Whether any row of the tables of a statement was touched.
    pub(super) fn is_about(&self, shape: &Shape) -> bool {
        shape.tables.iter().any(|table| self.tables.contains_key(table))
    }

    /// Whether a statement may read or write a row that was touched. It does not if the values of some column tell all touched
    /// rows of a table from those of the statement.
    pub(crate) fn may_affect(&self, shape: &Shape, params: &[Value]) -> bool {
        let touched_rows = shape.tables.iter().filter_map(|table| self.tables.get(table));
        touched_rows.into_iter().any(|rows| {
            let tells_apart = |(column, values): (&str, Values<'_>)| {
                rows.columns.get(column).is_some_and(|touched| {
                    touched.n_writes == rows.n_writes
                        && values.into_iter().flatten().all(|value| !touched.values.contains(&mark(value)))
                })
            };
            !footprint(shape, params).any(tells_apart)
        })
    }
}

/// The values of a column in the rows that a statement touches, before it and, if it sets the column, after it.
type Values<'s> = [Option<&'s Value>; 2];

/// The columns of which the text of a statement tells the values, in all rows that it reads or touches.
fn footprint<'s>(shape: &'s Shape, params: &'s [Value]) -> impl Iterator<Item = (&'s str, Values<'s>)> {
    let value = |n: usize| n.checked_sub(1).and_then(|index| params.get(index));
    let chosen = shape.keys.iter().filter_map(move |(column, n)| {
        let before = value(*n)?;
        match shape.sets.iter().find(|(set, _)| set == column) {
            None => Some((column.as_str(), [Some(before), None])),
            Some((_, after)) => Some((column.as_str(), [Some(before), Some(value((*after)?)?)])),
        }
    });
    let is_target = |column: &String| match &shape.verb {
        Verb::Insert => true,
        Verb::Upsert(target) => target.contains(column),
        Verb::Select | Verb::Update | Verb::Delete | Verb::Other => false,
    };
    let added = shape.sets.iter().filter(move |(column, _)| is_target(column));
    chosen.chain(added.filter_map(move |(column, n)| Some((column.as_str(), [Some(value((*n)?)?), None]))))
}

/// Equal values have equal marks. Different ones almost always have different ones, and else are taken for equal, which costs time
/// and nothing else.
fn mark(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    match value {
        Value::Null => 0_u8.hash(&mut hasher),
        Value::Int(number) => (1_u8, number).hash(&mut hasher),
        Value::Real(number) => (2_u8, number.to_bits()).hash(&mut hasher),
        Value::Text(text) => (3_u8, text).hash(&mut hasher),
        Value::Bytes(bytes) => (4_u8, bytes).hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY_ID: &str = "select terms from channel where app = $1 and id = $2";
    const SAVE: &str = "update channel set terms = $3, user = $4 where app = $1 and id = $2";

    fn after(writes: &[(&str, &[i64])]) -> Touched {
        let mut touched = Touched::default();
        for (sql, params) in writes {
            touched.add(&Shape::of(sql), &values(params), |_, column| column != "terms");
        }
        touched
    }

    fn values(numbers: &[i64]) -> Vec<Value> {
        numbers.iter().map(|number| Value::Int(*number)).collect()
    }

    fn may_affect(touched: &Touched, sql: &str, params: &[i64]) -> bool {
        touched.may_affect(&Shape::of(sql), &values(params))
    }

    #[test]
    fn rows_are_told_apart_by_a_column_that_all_writes_name() {
        let touched = after(&[(SAVE, &[1, 7, 0, 0]), (SAVE, &[1, 8, 0, 0])]);
        assert!(may_affect(&touched, BY_ID, &[1, 7]));
        assert!(!may_affect(&touched, BY_ID, &[1, 9]));
        assert!(!may_affect(&touched, BY_ID, &[2, 9]));
        assert!(!may_affect(&touched, "select n from other where app = $1", &[1]));
        // By another column, or by none, it may be any of them.
        assert!(may_affect(&touched, "select id from channel where app = $1 and ordinal = $2", &[1, 9]));
        assert!(may_affect(&touched, "select id from channel", &[]));
        let touched = after(&[(SAVE, &[1, 7, 0, 0]), ("delete from channel where app = $1", &[1])]);
        assert!(may_affect(&touched, BY_ID, &[1, 9]));
    }

    #[test]
    fn a_column_that_changes_has_the_row_before_and_after() {
        let by_user = "select id from channel where user = $1";
        // Whose it was is not known.
        assert!(may_affect(&after(&[(SAVE, &[1, 7, 0, 5])]), by_user, &[6]));
        let hand_over = "update channel set user = $2 where user = $1";
        let touched = after(&[(hand_over, &[5, 6])]);
        assert!(may_affect(&touched, by_user, &[5]) && may_affect(&touched, by_user, &[6]));
        assert!(!may_affect(&touched, by_user, &[7]));
    }

    #[test]
    fn what_replaces_a_row_is_told_apart_by_its_key_alone() {
        let put = "insert into document (app, id, body) values ($1, $2, $3)
                   on conflict (app, id) do update set body = excluded.body";
        let touched = after(&[(put, &[1, 2, 3])]);
        assert!(may_affect(&touched, put, &[1, 2, 4]));
        assert!(!may_affect(&touched, put, &[1, 3, 3]));
        assert!(may_affect(&touched, "select id from document where body = $1", &[9]));
    }
}
