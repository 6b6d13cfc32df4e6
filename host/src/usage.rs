//! Counts requests in memory and writes them every few seconds: figures for the usage operation, never on a request's path.

use std::collections::HashMap;
use std::sync::Mutex;

use anyhow::Result;

use crate::storage::usage::Bucket;
use crate::storage::{Db, api_keys, usage};

/// What was counted since the last flush.
#[derive(Default)]
pub struct Counters(Mutex<Pending>);

#[derive(Default)]
struct Pending {
    requests: HashMap<Bucket, i64>,
    /// Key id: when and from where it was last used.
    uses: HashMap<String, (i64, String)>,
}

impl Counters {
    /// Counts one request.
    pub fn add(&self, bucket: Bucket, at: i64, ip: &str) {
        let Ok(mut pending) = self.0.lock() else { return };
        pending.uses.insert(bucket.key_id.clone(), (at, ip.to_owned()));
        *pending.requests.entry(bucket).or_default() += 1;
    }

    /// What is not written yet, for answers that should include the last seconds.
    pub fn pending(&self) -> Vec<(Bucket, i64)> {
        self.0
            .lock()
            .map_or_else(|_| Vec::new(), |p| p.requests.iter().map(|(b, n)| (b.clone(), *n)).collect())
    }

    /// Writes what was counted. What cannot be written is counted again next time.
    pub async fn flush(&self, db: &Db) -> Result<()> {
        let Ok(taken) = self.0.lock().map(|mut p| std::mem::take(&mut *p)) else { return Ok(()) };
        if taken.requests.is_empty() {
            return Ok(());
        }
        let again = taken.requests.clone();
        let written: Result<()> = db
            .write(move |tx| {
                Box::pin(async move {
                    for (bucket, n) in &taken.requests {
                        usage::add(tx, bucket, *n).await?;
                    }
                    for (key, (at, ip)) in &taken.uses {
                        api_keys::note_use(tx, key, *at, ip).await?;
                    }
                    Ok(())
                })
            })
            .await;
        if written.is_err()
            && let Ok(mut pending) = self.0.lock()
        {
            for (bucket, n) in again {
                *pending.requests.entry(bucket).or_default() += n;
            }
        }
        written
    }
}
