//! The size limits of a list page, and a cache of rendered responses to reads. Every visible change of a resource takes the next number of
//! its application's log, so a response that was rendered at the log's present number is still valid. One small query checks that, on
//! either engine and with any number of hosts. On SQLite, where this process alone writes resources, even that query is skipped while
//! nothing was committed.

use base::tenant::Tenant;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use storage::{Db, log};

use crate::app::stored_response::StoredResponse;

/// Most bytes of the items of one page. A larger item is a page by itself.
// Contract silent: whether a page may be shorter than its limit. It may; what ends a list is a null `next_cursor` and nothing else.
pub const MAX_BYTES: usize = 4 << 20;

/// The remaining room on a page, which is limited by number and bytes of its items.
#[derive(Clone, Copy, Debug)]
pub struct PageBudget {
    items: usize,
    bytes: usize,
    is_untouched: bool,
}

impl PageBudget {
    /// Creates the budget of an empty page of at most `limit` items.
    pub fn new(limit: usize) -> PageBudget {
        PageBudget { items: limit, bytes: MAX_BYTES, is_untouched: true }
    }

    /// Returns whether an item of `bytes` bytes fits, and takes its room. The first item always fits. After one that does not fit the page
    /// is full, so that a page is a contiguous part of the list.
    pub fn take(&mut self, bytes: usize) -> bool {
        if self.items == 0 || (bytes > self.bytes && !self.is_untouched) {
            self.items = 0;
            return false;
        }
        *self = PageBudget {
            items: self.items - 1,
            bytes: self.bytes.saturating_sub(bytes),
            is_untouched: false,
        };
        true
    }

    /// Returns how many more items fit, if they are small.
    pub fn items_left(&self) -> usize {
        self.items
    }

    /// Whether no further item fits.
    pub fn is_full(&self) -> bool {
        self.items == 0
    }
}

/// Returns how many of these items fit on one page, by their bytes.
pub fn fitting(items: &[String]) -> usize {
    let mut room = PageBudget::new(items.len());
    items.iter().take_while(|item| room.take(item.len())).count()
}

/// Upper bound of the cache, bytes.
const BYTES: u64 = 32 << 20;
/// Expected number of cached responses.
const ANSWERS: usize = 8192;

#[derive(Clone)]
struct CachedPage {
    /// The log's last number before the response was rendered.
    sequence: i64,
    /// The database's count of commits before that number was read; none where other processes write too.
    commits: Option<u64>,
    answer: StoredResponse,
}

#[derive(Clone)]
struct PageWeight;

impl Weighter<String, Option<CachedPage>> for PageWeight {
    fn weight(&self, name: &String, printed: &Option<CachedPage>) -> u64 {
        let body = printed.as_ref().map_or(0, |printed| printed.answer.body.len());
        (name.len() + body) as u64 + 256
    }
}

/// Rendered responses by name; an entry without a value was requested once.
pub struct PageCache(Cache<String, Option<CachedPage>, PageWeight>);

impl Default for PageCache {
    fn default() -> Self {
        PageCache(Cache::with_weighter(ANSWERS, BYTES, PageWeight))
    }
}

impl PageCache {
    /// Returns the response with this name if nothing of the application has changed since it was rendered, else renders it with `print`.
    /// `name` holds everything that the response depends on apart from the stored resources; without a name the response is never cached,
    /// as one with the provider's data, which change without a number in the log. A response is cached from its second request on: a page
    /// of a walk, or of a filter that is used once, costs no query for the log's number and evicts no other entry.
    pub async fn get_or_render<E: From<anyhow::Error>>(
        &self,
        db: &Db,
        tenant: &Tenant,
        name: Option<&str>,
        print: impl Future<Output = Result<StoredResponse, E>>,
    ) -> Result<StoredResponse, E> {
        let Some(name) = name else { return print.await };
        let name = [&tenant.application_id, name].join("/");
        let Some(known) = self.0.get(&name) else {
            self.0.insert(name, None);
            return print.await;
        };
        // Both before anything is read: a change in between makes the response stale.
        let commits = db.commits();
        if let Some(printed) = known.as_ref().filter(|p| commits.is_some() && p.commits == commits) {
            return Ok(printed.answer.clone());
        }
        let sequence = log::last_sequence(db.resources(), tenant).await?;
        let answer = match known.filter(|p| p.sequence == sequence) {
            Some(printed) => printed.answer,
            None => print.await?,
        };
        self.0.insert(name, Some(CachedPage { sequence, commits, answer: answer.clone() }));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use storage::{Options, api_keys, installation};

    use super::*;

    /// Each response contains the number of its rendering.
    #[tokio::test]
    async fn an_answer_is_kept_when_it_is_asked_for_again_until_something_changes() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", dir.path().join("a.db").display());
        let db = Db::open(&Options::for_url(url)).await.unwrap();
        let made: anyhow::Result<Tenant> = db
            .write(|tx| {
                Box::pin(
                    async move { api_keys::ensure_application(tx, ("o", "a"), ("org_1", "app_1"), 0).await },
                )
            })
            .await;
        let (tenant, pages, prints) = (made.unwrap(), PageCache::default(), AtomicUsize::new(0));
        let ask = |name: Option<&'static str>| {
            let print = async {
                let print = prints.fetch_add(1, Ordering::Relaxed) + 1;
                Ok::<_, anyhow::Error>(StoredResponse::ok(print.to_string()))
            };
            pages.get_or_render(&db, &tenant, name, print)
        };
        let mut told = Vec::new();
        for _ in 0..3 {
            told.push(ask(Some("list")).await.unwrap().body);
        }
        assert_eq!(told, ["1", "2", "2"], "the first is not kept, the second is");
        let settled: anyhow::Result<String> =
            db.write(|tx| Box::pin(async move { installation::settle(tx, "name", "value").await })).await;
        settled.unwrap();
        assert_eq!(ask(Some("list")).await.unwrap().body, "2", "a commit that changes no resource");
        let changing = tenant.clone();
        let changed: anyhow::Result<i64> =
            db.write(move |tx| Box::pin(async move { log::next_sequence(tx, &changing, 1).await })).await;
        changed.unwrap();
        assert_eq!(ask(Some("list")).await.unwrap().body, "3", "a change is seen at once");
        assert_eq!(ask(Some("list")).await.unwrap().body, "3");
        assert_eq!(ask(None).await.unwrap().body, "4");
        assert_eq!(ask(None).await.unwrap().body, "5", "without a name nothing is kept");
        db.close().await;
    }

    #[test]
    fn a_page_ends_by_count_and_by_bytes() {
        let mut room = PageBudget::new(3);
        assert!(room.take(10) && room.take(10) && room.take(10) && room.is_full());
        assert!(!room.take(0), "a fourth has no place");
        let mut room = PageBudget::new(3);
        assert!(room.take(MAX_BYTES - 10) && room.take(10) && !room.is_full());
        assert!(!room.take(1) && room.is_full(), "what comes after it does not fit either");
        assert!(!room.take(0));
    }

    #[test]
    fn an_item_that_is_larger_than_a_page_is_one_by_itself() {
        let mut room = PageBudget::new(3);
        assert!(room.take(2 * MAX_BYTES) && !room.take(1));
        let (large, small) = ("x".repeat(MAX_BYTES + 1), "x".to_owned());
        assert_eq!(fitting(&[large.clone(), small.clone()]), 1);
        assert_eq!(fitting(&[small.clone(), large]), 1);
        assert_eq!(fitting(&[small.clone(), small]), 2);
        assert_eq!(fitting(&[]), 0);
    }
}
