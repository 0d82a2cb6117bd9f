//! Many rows at once, in the form of PostgreSQL's COPY: several times as fast as statements.

use std::pin::pin;

use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use super::{PostgresConnection, failure};
use crate::db::Value;
use crate::db::copying::{ColumnKind, Table};
use crate::error::Result;

impl PostgresConnection {
    /// Adds rows to a table, given cell by cell; returns how many.
    pub(in crate::db) fn append(&mut self, table: &Table, cells: &[Value]) -> Result<u64> {
        let types: Vec<Type> = table.columns.iter().map(|column| wire_type(column.kind)).collect();
        let sql = format!("copy \"{}\" ({}) from stdin (format binary)", table.name, table.column_list());
        self.send_queue()?;
        let (runtime, link, opening) = self.parts()?;
        runtime.block_on(async {
            link.open(opening).await?;
            let statement = link.prepare(&sql).await?;
            let sink = link.client.copy_in(&statement).await.map_err(failure::classify)?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
            for row in cells.chunks_exact(types.len()) {
                writer.as_mut().write_raw(row).await.map_err(failure::classify)?;
            }
            writer.finish().await.map_err(failure::classify)
        })
    }
}

/// The types behind our own `text` and `blob` look the same on the wire.
fn wire_type(kind: ColumnKind) -> Type {
    match kind {
        ColumnKind::Int => Type::INT8,
        ColumnKind::Real => Type::FLOAT8,
        ColumnKind::Text => Type::TEXT,
        ColumnKind::Bytes => Type::BYTEA,
    }
}
