//! Pages of lists that were printed before and are still true. Every visible change of a resource takes the next number of its
//! application's log, so a page that was printed at the number that the log has now is the page that would be printed now: one
//! small query says so, on either engine and with any number of hosts.

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::storage::{Db, log};
use crate::tenant::Tenant;

/// Most bytes that are kept.
const BYTES: u64 = 32 << 20;
/// About how many pages that is.
const PAGES: usize = 1024;

#[derive(Clone)]
struct Printed {
    sequence: i64,
    text: Bytes,
}

#[derive(Clone)]
struct ByLength;

impl Weighter<String, Printed> for ByLength {
    fn weight(&self, name: &String, page: &Printed) -> u64 {
        (name.len() + page.text.len()) as u64 + 64
    }
}

/// Printed pages by name.
pub struct Pages(Cache<String, Printed, ByLength>);

impl Default for Pages {
    fn default() -> Self {
        Pages(Cache::with_weighter(PAGES, BYTES, ByLength))
    }
}

impl Pages {
    /// The page with this name if nothing of the application has changed since it was printed, else what `print` prints.
    /// `name` tells everything that the page depends on apart from the stored resources.
    pub async fn printed<E: From<anyhow::Error>>(
        &self,
        db: &Db,
        tenant: &Tenant,
        name: &str,
        print: impl Future<Output = Result<String, E>>,
    ) -> Result<Bytes, E> {
        let name = format!("{}/{name}", tenant.application_id);
        // Before the page is read: a change meanwhile makes the page old.
        let sequence = log::last_sequence(db.reader(), tenant).await?;
        if let Some(page) = self.0.get(&name).filter(|page| page.sequence == sequence) {
            return Ok(page.text);
        }
        let text = Bytes::from(print.await?);
        self.0.insert(name, Printed { sequence, text: text.clone() });
        Ok(text)
    }
}
