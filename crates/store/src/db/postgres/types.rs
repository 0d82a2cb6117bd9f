//! Our values in PostgreSQL's binary form, and back.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::db::{Column, Value};

impl ToSql for Value {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let wanted = base(wanted);
        match self {
            Value::Null => Ok(IsNull::Yes),
            // The server infers the type of a parameter; next to a literal number it may be a narrow one.
            Value::Int(number) if *wanted == Type::INT8 => number.to_sql(wanted, out),
            Value::Int(number) if *wanted == Type::INT4 => i32::try_from(*number)?.to_sql(wanted, out),
            Value::Real(number) if *wanted == Type::FLOAT8 => number.to_sql(wanted, out),
            Value::Text(text) if *wanted == Type::TEXT => text.to_sql(wanted, out),
            Value::Bytes(bytes) if *wanted == Type::BYTEA => bytes.to_sql(wanted, out),
            Value::Int(_) | Value::Real(_) | Value::Text(_) | Value::Bytes(_) => {
                Err(format!("a parameter of type {wanted} cannot be {self:?}").into())
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Whether values can be the parameters of a statement: what cannot is refused before anything is sent.
pub(super) fn fit(values: &[Value], wanted: &[Type]) -> bool {
    let fits = |(value, wanted): (&Value, &Type)| match value {
        Value::Null => true,
        Value::Int(number) => {
            *base(wanted) == Type::INT8 || (*base(wanted) == Type::INT4 && i32::try_from(*number).is_ok())
        }
        Value::Real(_) => *base(wanted) == Type::FLOAT8,
        Value::Text(_) => *base(wanted) == Type::TEXT,
        Value::Bytes(_) => *base(wanted) == Type::BYTEA,
    };
    values.len() == wanted.len() && values.iter().zip(wanted).all(fits)
}

impl<'r> FromSql<'r> for Column<'r> {
    fn from_sql(found: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        match *base(found) {
            Type::INT8 => i64::from_sql(found, raw).map(Column::Int),
            Type::INT4 => i32::from_sql(found, raw).map(|number| Column::Int(i64::from(number))),
            Type::BOOL => bool::from_sql(found, raw).map(|flag| Column::Int(i64::from(flag))),
            Type::FLOAT8 => f64::from_sql(found, raw).map(Column::Real),
            Type::TEXT => <&str>::from_sql(found, raw).map(Column::Text),
            Type::BYTEA => <&[u8]>::from_sql(found, raw).map(Column::Bytes),
            _ => Err(format!("the type {found} is not one of ours; cast it").into()),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Column::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// The type behind our own `text` and `blob`.
pub(super) fn base(of: &Type) -> &Type {
    match of.kind() {
        Kind::Domain(inner) => base(inner),
        _ => of,
    }
}
