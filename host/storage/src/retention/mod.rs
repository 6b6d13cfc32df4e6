//! Removal of data that is no longer needed, in steps of a bounded number of rows: `purge` deletes the data of deleted
//! connections, `expire` rows that are older than their retention. Tables: `migrations/0022_retention.sql`.

pub mod expire;
pub mod purge;

use anyhow::Result;

use crate::Tx;
use crate::json_text;
use crate::sql::query;

/// Rows that a step may still change.
#[derive(Debug)]
struct Budget {
    most: i64,
    left: i64,
}

impl Budget {
    fn new(most: i64) -> Self {
        Budget { most, left: most }
    }

    fn take(&mut self, rows: u64) {
        self.left -= i64::try_from(rows).unwrap_or(i64::MAX);
    }

    fn is_spent(&self) -> bool {
        self.left <= 0
    }

    fn spent(&self) -> i64 {
        self.most - self.left
    }

    /// As many of these ids as rows may still be changed, as a JSON array.
    fn ids(&self, all: &[String]) -> String {
        let most = usize::try_from(self.left).unwrap_or_default();
        json_text(all.get(..most).unwrap_or(all))
    }
}

/// Runs a statement that deletes at most `$2` of the rows that depend on `$1`. False: there may be more of them.
async fn delete_some(tx: &mut Tx, sql: &'static str, on: &str, budget: &mut Budget) -> Result<bool> {
    if budget.is_spent() {
        return Ok(false);
    }
    let done = query(sql).bind(on).bind(budget.left).execute(tx).await?;
    budget.take(done);
    Ok(!budget.is_spent())
}
