//! A recorder of the statements that run on one SQLite file, with the cost of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::{Connection, Statement, StatementStatus};

use crate::sql::{Query, Value};

/// A statement that was run, once.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub sql: &'static str,
    pub values: Vec<Value<'static>>,
    /// Steps of SQLite's virtual machine.
    pub steps: i64,
    /// Rows that it returned or changed.
    pub rows: i64,
}

type Runs = Option<HashMap<PathBuf, Vec<Recorded>>>;

static RUNS: Mutex<Runs> = Mutex::new(None);

/// Starts recording the statements on this file.
pub fn start(file: &Path) {
    RUNS.lock().unwrap().get_or_insert_default().insert(file.to_owned(), Vec::new());
}

/// Stops recording, and returns the recorded statements.
pub fn stop(file: &Path) -> Vec<Recorded> {
    RUNS.lock().unwrap().as_mut().and_then(|runs| runs.remove(file)).unwrap_or_default()
}

pub fn note(
    connection: &Connection,
    sql: &'static str,
    values: &[Value<'_>],
    statement: &Statement<'_>,
    rows: usize,
) {
    let steps = i64::from(statement.reset_status(StatementStatus::VmStep));
    let Some(file) = connection.path() else { return };
    if let Some(runs) = RUNS.lock().unwrap().as_mut().and_then(|runs| runs.get_mut(Path::new(file))) {
        let values = values.iter().map(owned).collect();
        runs.push(Recorded { sql, values, steps, rows: rows as i64 });
    }
}

/// The name under which statements on PostgreSQL are recorded.
pub const POSTGRES: &str = "postgres";

pub fn note_postgres(query: &Query<'_>) {
    if let Some(runs) = RUNS.lock().unwrap().as_mut().and_then(|runs| runs.get_mut(Path::new(POSTGRES))) {
        let values = query.values.iter().map(owned).collect();
        runs.push(Recorded { sql: query.sql, values, steps: 0, rows: 0 });
    }
}

fn owned(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Text(text) => Value::Text(text.as_ref().map(|text| text.to_string().into())),
        Value::Integer(number) => Value::Integer(*number),
        Value::Texts(texts) => {
            Value::Texts(texts.iter().map(|text| text.as_ref().map(|text| text.to_string().into())).collect())
        }
        Value::Integers(numbers) => Value::Integers(numbers.clone()),
    }
}
