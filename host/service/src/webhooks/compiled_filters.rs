//! The compiled subscription filters of applications, cached between fan-out runs. A cached matcher is used only if its version is the one
//! in the database: a change made by any host takes effect with the next run.

use std::sync::{Arc, LazyLock};

use base::error::Result;
use base::tenant::Tenant;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use storage::webhooks::matching::{self, Filters};

use crate::app::App;
use crate::webhooks::notification_types::{Matcher, SubscriptionFilter};

/// Approximate size of the cache. A larger matcher is compiled each time.
const BYTES: u64 = 64 << 20;
/// Estimated number of entries, small enough for a single shard, so that the subscriptions of one application may take most of the cache.
const FEW: usize = 32;
/// Approximate size of a subscription without its texts, and of a text without its characters.
const SUBSCRIPTION_BYTES: usize = 512;
const TEXT_BYTES: usize = 64;

/// The cache of all applications of this process, by process and application.
static KEPT: LazyLock<FilterCache> = LazyLock::new(|| FilterCache::new(BYTES));

/// Matchers with their versions, by name.
struct FilterCache(Cache<String, CompiledFilter, ByBytes>);

#[derive(Clone)]
struct CompiledFilter {
    version: i64,
    matcher: Arc<Matcher>,
    bytes: u64,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<String, CompiledFilter> for ByBytes {
    fn weight(&self, _: &String, compiled: &CompiledFilter) -> u64 {
        compiled.bytes
    }
}

impl FilterCache {
    fn new(bytes: u64) -> FilterCache {
        FilterCache(Cache::with_weighter(FEW, bytes, ByBytes))
    }

    /// Returns the cached matcher; none if there is none of this version.
    fn find(&self, name: &str, version: i64) -> Option<Arc<Matcher>> {
        self.0.get(name).filter(|compiled| compiled.version == version).map(|compiled| compiled.matcher)
    }

    fn keep(&self, name: String, version: i64, wanted: &[SubscriptionFilter]) -> Arc<Matcher> {
        let matcher = Arc::new(Matcher::new(wanted));
        let compiled = CompiledFilter { version, matcher: matcher.clone(), bytes: bytes_of(wanted) };
        self.0.insert(name, compiled);
        matcher
    }
}

/// Returns the matcher of an application's active subscriptions. Call it after the events were read: it then includes every subscription
/// that was made before one of them.
pub async fn for_tenant(app: &App, tenant: &Tenant) -> Result<Arc<Matcher>> {
    let reader = app.db.reader();
    // Read before the filters: a cached matcher is then at least as new as its version, and no later run reads an earlier version.
    let version = matching::version(reader, tenant).await?.unwrap_or_default();
    let name = format!("{}/{}", app.boot, tenant.application_id);
    if let Some(matcher) = KEPT.find(&name, version) {
        return Ok(matcher);
    }
    let wanted: Vec<SubscriptionFilter> =
        matching::filters_of(reader, tenant).await?.into_iter().map(wanted_of).collect();
    Ok(KEPT.keep(name, version, &wanted))
}

/// Converts stored filters to the matcher's input.
pub fn wanted_of(filters: Filters) -> SubscriptionFilter {
    SubscriptionFilter {
        id: filters.id,
        event_types: filters.event_types,
        connection_ids: filters.connection_ids,
        bound_to: filters.bound_to,
        families: filters.families,
        include_backfill: filters.include_backfill,
    }
}

/// Approximate size of the matcher of these subscriptions.
fn bytes_of(wanted: &[SubscriptionFilter]) -> u64 {
    let texts = |texts: &[String]| texts.iter().map(|text| text.len() + TEXT_BYTES).sum::<usize>();
    let of_one = |w: &SubscriptionFilter| {
        SUBSCRIPTION_BYTES
            + texts(&w.event_types)
            + texts(&w.connection_ids)
            + texts(&w.bound_to)
            + texts(&w.families)
    };
    let bytes = wanted.iter().map(of_one).sum::<usize>() + SUBSCRIPTION_BYTES;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::event_head::EventHead;

    fn wanted(id: &str, event_type: &str) -> Vec<SubscriptionFilter> {
        let families = vec!["calendar".to_owned()];
        vec![SubscriptionFilter {
            id: id.to_owned(),
            event_types: vec![event_type.to_owned()],
            families,
            ..SubscriptionFilter::default()
        }]
    }

    fn takers(matcher: &Matcher) -> Vec<&str> {
        let created = EventHead {
            kind: "calendar.event.created",
            connection_id: None,
            account_ids: None,
            origin: "api",
            resource_id: "evt_1",
        };
        matcher.matching(created).collect()
    }

    #[test]
    fn a_matcher_is_found_by_its_version_alone() {
        let (kept, name) = (FilterCache::new(BYTES), "app_1".to_owned());
        assert!(kept.find(&name, 1).is_none());
        kept.keep(name.clone(), 1, &wanted("wh_1", "*"));
        let first = kept.find(&name, 1).expect("it is kept");
        assert_eq!(takers(&first), ["wh_1"]);
        assert!(kept.find(&name, 2).is_none(), "a change was made since");
        kept.keep(name.clone(), 2, &wanted("wh_1", "task.*"));
        assert!(takers(&kept.find(&name, 2).expect("it is kept")).is_empty());
        assert!(kept.find(&name, 1).is_none(), "one of a name is kept");
        assert!(kept.find("app_2", 2).is_none());
    }

    #[test]
    fn what_is_kept_has_a_bound() {
        let one = bytes_of(&wanted("wh_1", "*"));
        let kept = FilterCache::new(4 * one);
        for n in 0..100 {
            kept.keep(format!("app_{n}"), 1, &wanted("wh_1", "*"));
        }
        assert!(kept.0.weight() <= 4 * one && !kept.0.is_empty());
        let many: Vec<SubscriptionFilter> = (0..100).flat_map(|n| wanted(&format!("wh_{n}"), "*")).collect();
        let matcher = kept.keep("large".to_owned(), 1, &many);
        assert_eq!(takers(&matcher).len(), 100, "it is used all the same");
        assert!(kept.find("large", 1).is_none());
    }
}
