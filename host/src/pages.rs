//! Answers to reads that were printed before and are still true. Every visible change of a resource takes the next number of
//! its application's log, so what was printed at the number that the log has now is what would be printed now. One small query
//! says so, on either engine and with any number of hosts; on SQLite, where this process alone writes resources, not even that
//! is needed as long as nothing at all was committed.

use base::tenant::Tenant;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use storage::{Db, log};

use crate::answer::Answer;

/// Most bytes that are kept.
const BYTES: u64 = 32 << 20;
/// About how many answers that is.
const ANSWERS: usize = 8192;

#[derive(Clone)]
struct Printed {
    /// The log's last number before it was printed.
    sequence: i64,
    /// The database's count of commits before that number was read; none where others write too.
    commits: Option<u64>,
    answer: Answer,
}

#[derive(Clone)]
struct ByLength;

impl Weighter<String, Printed> for ByLength {
    fn weight(&self, name: &String, printed: &Printed) -> u64 {
        (name.len() + printed.answer.body.len()) as u64 + 256
    }
}

/// Printed answers by name.
pub struct Pages(Cache<String, Printed, ByLength>);

impl Default for Pages {
    fn default() -> Self {
        Pages(Cache::with_weighter(ANSWERS, BYTES, ByLength))
    }
}

impl Pages {
    /// The answer with this name if nothing of the application has changed since it was printed, else what `print` prints.
    /// `name` tells everything that the answer depends on apart from the stored resources; without one it is never kept, as one with
    /// the provider's data, which changes without a number in the log.
    pub async fn printed<E: From<anyhow::Error>>(
        &self,
        db: &Db,
        tenant: &Tenant,
        name: Option<&str>,
        print: impl Future<Output = Result<Answer, E>>,
    ) -> Result<Answer, E> {
        let Some(name) = name else { return print.await };
        let name = [&tenant.application_id, name].join("/");
        let known = self.0.get(&name);
        // Both before anything is read: a change meanwhile makes the answer old.
        let commits = db.commits();
        if let Some(printed) = known.as_ref().filter(|p| commits.is_some() && p.commits == commits) {
            return Ok(printed.answer.clone());
        }
        let sequence = log::last_sequence(db.resources(), tenant).await?;
        let answer = match known.filter(|p| p.sequence == sequence) {
            Some(printed) => printed.answer,
            None => print.await?,
        };
        self.0.insert(name, Printed { sequence, commits, answer: answer.clone() });
        Ok(answer)
    }
}
