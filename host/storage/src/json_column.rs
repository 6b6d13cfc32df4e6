//! Columns that hold JSON.

use anyhow::{Context, Result};

use crate::statement::Row;

/// A JSON column as a value. A row that we wrote always parses; if it does not, the error says which column.
pub(crate) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &'static str) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .with_context(|| format!("column {column} does not hold the JSON that it should"))
}

/// A JSON column that may be null, as `json` reads it.
pub(crate) fn json_or_none<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: &'static str,
) -> Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .with_context(|| format!("column {column} does not hold the JSON that it should"))
}

/// A value as a JSON column.
pub fn json_text<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("our own types always serialise")
}
