//! Statements that change many rows. SQLite runs such a statement once for each row, prepared once; PostgreSQL runs it once with an array
//! for each parameter, so that a page of records costs one round trip. Either way it counts as one statement.

use anyhow::{Result, bail, ensure};

use crate::postgres;
use crate::sql::{self, Tx};
use crate::sqlite;
use crate::statement::{Query, Value, query};

/// Rows that one statement takes on PostgreSQL; more are sent with further statements.
const MAX_ROWS: usize = 1_000;
/// Bytes of text after which the next row is sent with another statement.
const MAX_BYTES: usize = 8 << 20;

/// The parameters of one row, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowValues<'q>(Vec<Value<'q>>);

impl<'q> RowValues<'q> {
    pub(crate) fn new() -> Self {
        RowValues(Vec::with_capacity(8))
    }

    /// The next parameter.
    pub(crate) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.0.push(value.into());
        self
    }

    fn bytes(&self) -> usize {
        let length = |value: &Value<'_>| match value {
            Value::Text(Some(text)) => text.len(),
            _ => size_of::<i64>(),
        };
        self.0.iter().map(length).sum()
    }
}

/// Runs a statement of `insert_rows!` or `update_rows!` for these rows, which all have the same number of parameters; returns how many
/// rows it changed. Without rows nothing runs. PostgreSQL changes a row at most once: no two rows may have the same key.
pub(crate) async fn execute(tx: &mut Tx, sql: &'static str, rows: Vec<RowValues<'_>>) -> Result<u64> {
    let mut changed = 0;
    match tx {
        Tx::Sqlite(connection) => {
            if rows.is_empty() {
                return Ok(0);
            }
            changed = sqlite::execute_rows(connection, sql, rows.iter().map(|row| &row.0))?;
            sql::note_changed(changed);
        }
        Tx::Postgres(tx) => {
            let mut rows = rows.into_iter().peekable();
            while rows.peek().is_some() {
                let (mut some, mut bytes) = (Vec::new(), 0);
                while let Some(row) = rows.next_if(|_| some.len() < MAX_ROWS && bytes < MAX_BYTES) {
                    bytes += row.bytes();
                    some.push(row);
                }
                let statement = Query { values: columns(some)?, ..query(sql) };
                let of_some = Box::pin(postgres::execute(&mut **tx, statement)).await?;
                sql::note_changed(of_some);
                changed += of_some;
            }
        }
    }
    Ok(changed)
}

/// An array for each parameter.
fn columns<'q>(rows: Vec<RowValues<'q>>) -> Result<Vec<Value<'q>>> {
    let empty = |value: &Value<'q>| match value {
        Value::Text(_) | Value::Texts(_) => Value::Texts(Vec::with_capacity(rows.len())),
        Value::Integer(_) | Value::Integers(_) => Value::Integers(Vec::with_capacity(rows.len())),
    };
    let mut columns: Vec<Value<'q>> =
        rows.first().map_or_else(Vec::new, |row| row.0.iter().map(empty).collect());
    for row in rows {
        ensure!(row.0.len() == columns.len(), "a row has {} parameters, not {}", row.0.len(), columns.len());
        for (column, value) in columns.iter_mut().zip(row.0) {
            match (column, value) {
                (Value::Texts(texts), Value::Text(text)) => texts.push(text),
                (Value::Integers(numbers), Value::Integer(number)) => numbers.push(number),
                (column, value) => bail!("a column of {column:?} has {value:?}"),
            }
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_an_array_for_each_parameter() {
        let row = |name: Option<&'static str>, number: i64| RowValues::new().bind(name).bind(number);
        let found = columns(vec![row(Some("a"), 1), row(None, 2)]).unwrap();
        assert_eq!(format!("{found:?}"), r#"[Texts([Some("a"), None]), Integers([Some(1), Some(2)])]"#);
        assert!(columns(vec![row(None, 1), RowValues::new().bind(1_i64)]).is_err());
        assert!(columns(vec![RowValues::new().bind(1_i64), RowValues::new().bind("a")]).is_err());
        assert!(columns(Vec::new()).unwrap().is_empty());
    }
}
