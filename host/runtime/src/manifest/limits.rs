//! `[limits]`: the provider's limits for one account, which the host keeps to.
//!
//! ```toml
//! [limits]
//! concurrent = 4
//! rates = [{ name = "mail", hosts = ["mail.example.com"], surfaces = ["email"], units = 6000, per_s = 60, reserve = 20 }]
//! ```

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::manifest::hosts::{HostRule, check_host};
use crate::manifest::names::is_name;
use crate::surface::Surface;

/// The setting of a registration with which an operator replaces figures of `[limits]`; reserved in connectors that have limits.
pub const LIMITS_SETTING: &str = "limits";

/// The member of that setting for `AccountLimits::concurrent`. No bucket has this name.
const CONCURRENT: &str = "concurrent";
const MAX_RATES: usize = 16;
const MAX_HOSTS: usize = 32;
const MAX_UNITS: u32 = 1_000_000_000;
const MAX_PER_S: u32 = 24 * 60 * 60;
/// Maximum `reserve`, percent: background calls always get some units.
const MAX_RESERVE: u8 = 90;

/// Limits of one account at its provider. Each host process enforces them separately.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountLimits {
    /// Concurrent requests of one account, over all calls. Default: unlimited.
    #[serde(default)]
    pub concurrent: Option<u8>,
    /// Rate limits, as buckets of units that requests use up. Default: none.
    #[serde(default)]
    pub rates: Vec<RateLimit>,
}

/// A bucket: units that the requests of one account to some hosts may use within a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The name by which connectors and operators refer to the bucket: 1 to 40 of a-z, 0-9 and `-`.
    pub name: String,
    /// The hosts whose requests use its units: a host name, optionally with a path, for this path and those below it. The bucket with the
    /// longest matching path counts. Default: all hosts that no other bucket names.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The surfaces whose calls wait during a provider's `Retry-After` for this bucket.
    pub surfaces: Vec<Surface>,
    /// The calls that a provider's `Retry-After` for this bucket delays. Default: those of all `surfaces`.
    #[serde(default)]
    pub wait_scope: WaitScope,
    /// Units within any `per_s` seconds. A request uses as many as its connector says, by default 1.
    pub units: u32,
    pub per_s: u32,
    /// Percentage of the units that background calls leave to calls that a caller waits for. Default 0.
    #[serde(default)]
    pub reserve: u8,
}

/// The calls that wait during a provider's `Retry-After` for a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitScope {
    /// Calls for all surfaces of the bucket.
    #[default]
    Bucket,
    /// Calls for the surface whose call was throttled: the provider throttles its services separately, although they share the units.
    Surface,
}

/// Figures of a bucket in the operator's setting.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateFigures {
    units: Option<u32>,
    per_s: Option<u32>,
    reserve: Option<u8>,
}

impl AccountLimits {
    /// Whether requests never wait for them.
    pub fn is_empty(&self) -> bool {
        self.concurrent.is_none() && self.rates.is_empty()
    }

    /// The bucket of a request to this URL. None: no bucket counts it.
    pub fn bucket(&self, url: &Url) -> Option<&RateLimit> {
        let matches = self.rates.iter().filter_map(|rate| Some((rate.matches(url)?, rate)));
        // The first of equal ones: `max_by_key` returns the last.
        matches.rev().max_by_key(|(length, _)| *length).map(|(_, rate)| rate)
    }

    /// Returns the limits with the operator's figures: `{"mail": {"units": 15000}, "concurrent": 8}`. Fails with the member's name if there
    /// is no such bucket, or a figure is invalid.
    pub fn with_figures(&self, figures: &Map<String, Value>) -> anyhow::Result<AccountLimits> {
        let mut limits = self.clone();
        for (name, value) in figures {
            if name == CONCURRENT {
                let most = serde_json::from_value(value.clone());
                limits.concurrent = Some(most.context("concurrent: must be a number from 1 to 255")?);
                continue;
            }
            let names = self.rates.iter().map(|rate| rate.name.as_str()).collect::<Vec<_>>().join(", ");
            let rate = limits.rates.iter_mut().find(|rate| rate.name == *name);
            let rate = rate.with_context(|| {
                format!("{name}: the connector has no such bucket; write \"concurrent\", or one of: {names}")
            })?;
            let given = serde_json::from_value(value.clone());
            let given: RateFigures = given.with_context(|| {
                format!("{name}: write an object such as {{\"units\":15000}}, with units, per_s and reserve")
            })?;
            rate.units = given.units.unwrap_or(rate.units);
            rate.per_s = given.per_s.unwrap_or(rate.per_s);
            rate.reserve = given.reserve.unwrap_or(rate.reserve);
        }
        limits.check_figures()?;
        Ok(limits)
    }

    fn check_figures(&self) -> anyhow::Result<()> {
        ensure!(self.concurrent != Some(0), "concurrent: must be a number from 1 to 255");
        self.rates.iter().try_for_each(|rate| rate.check_figures().with_context(|| rate.name.clone()))
    }
}

impl RateLimit {
    /// Returns the units that calls may use within `per_s` seconds: all of them, for a background call without the reserve.
    pub fn allowed(&self, is_background: bool) -> u32 {
        let percent = if is_background { 100 - u64::from(self.reserve.min(MAX_RESERVE)) } else { 100 };
        u32::try_from(u64::from(self.units) * percent / 100).unwrap_or(self.units).max(1)
    }

    /// Returns the length of the URL part that the bucket names; 0 if it counts all hosts. None: it does not count this URL.
    fn matches(&self, url: &Url) -> Option<usize> {
        if self.hosts.is_empty() {
            return Some(0);
        }
        let host = url.host_str().unwrap_or_default();
        let length = |place: &String| {
            let (name, path) = place.split_once('/').unwrap_or((place, ""));
            let path = path.trim_end_matches('/');
            let below = url.path().strip_prefix('/').unwrap_or_default().strip_prefix(path)?;
            let is_there = name == host && (path.is_empty() || below.is_empty() || below.starts_with('/'));
            is_there.then_some(place.len())
        };
        self.hosts.iter().filter_map(length).max()
    }

    fn check_figures(&self) -> anyhow::Result<()> {
        ensure!((1..=MAX_UNITS).contains(&self.units), "units: must be a number from 1 to {MAX_UNITS}");
        ensure!(
            (1..=MAX_PER_S).contains(&self.per_s),
            "per_s: must be a number of seconds from 1 to {MAX_PER_S}"
        );
        ensure!(self.reserve <= MAX_RESERVE, "reserve: must be a number of per cent from 0 to {MAX_RESERVE}");
        Ok(())
    }

    fn check(&self, manifest: &LimitsTable<'_>) -> anyhow::Result<()> {
        ensure!(self.hosts.len() <= MAX_HOSTS, "hosts: at most {MAX_HOSTS} are allowed");
        for place in &self.hosts {
            let (host, path) = place.split_once('/').unwrap_or((place, ""));
            check_host(host).with_context(|| format!("hosts: \"{place}\""))?;
            ensure!(!path.contains(['?', '#', '\\', '%']), "hosts: \"{place}\" must end with a plain path");
            let is_known = manifest.hosts.iter().any(|rule| rule.host == host);
            ensure!(
                is_known || manifest.has_hosts_from_settings,
                "hosts: \"{host}\" is not one of the connector's hosts, add it under [[hosts]]"
            );
        }
        ensure!(!self.surfaces.is_empty(), "surfaces: name at least one, for example \"email\"");
        for surface in &self.surfaces {
            ensure!(
                surface.has_data() && manifest.surfaces.contains(surface),
                "surfaces: \"{surface}\" is no kind of data that the connector has"
            );
        }
        self.check_figures()
    }
}

/// `[limits]` of a manifest, with the other parts of the manifest that it refers to.
pub(super) struct LimitsTable<'m> {
    pub limits: &'m AccountLimits,
    pub hosts: &'m [HostRule],
    /// Whether settings name further hosts.
    pub has_hosts_from_settings: bool,
    /// Surfaces that the connector exports.
    pub surfaces: Vec<Surface>,
    /// Names of all settings.
    pub settings: Vec<&'m str>,
}

/// Checks the whole table; an error names the bucket and the key.
pub(super) fn check(manifest: &LimitsTable<'_>) -> anyhow::Result<()> {
    let limits = manifest.limits;
    if limits.is_empty() {
        return Ok(());
    }
    ensure!(
        !manifest.settings.contains(&LIMITS_SETTING),
        "settings: {LIMITS_SETTING} is where operators give figures of [limits], call the setting something else"
    );
    limits.check_figures().context("limits")?;
    ensure!(limits.rates.len() <= MAX_RATES, "limits.rates: at most {MAX_RATES} are allowed");
    let mut names = BTreeSet::new();
    for rate in &limits.rates {
        ensure!(
            is_name(&rate.name) && rate.name != CONCURRENT,
            "limits.rates: the name \"{}\" must be 1 to 40 of a-z, 0-9 and -, not starting with -, and not \"{CONCURRENT}\"",
            rate.name
        );
        ensure!(names.insert(&rate.name), "limits.rates: {} is named twice", rate.name);
        rate.check(manifest).with_context(|| format!("limits.rates: {}", rate.name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::Manifest;

    const GOOD: &str = r#"
        name = "x"
        version = "1.0.0"
        title = "X"
        surfaces = ["email", "calendar", "lifecycle"]
        hosts = [{ host = "mail.example.com" }, { host = "www.example.com" }]
        [limits]
        concurrent = 4
        rates = [
          { name = "mail", hosts = ["mail.example.com"], surfaces = ["email"], units = 6000, per_s = 60, reserve = 20 },
          { name = "batch", hosts = ["www.example.com/batch/"], surfaces = ["email"], units = 10, per_s = 1 },
          { name = "rest", surfaces = ["calendar"], units = 5, per_s = 1, reserve = 90 },
        ]
    "#;

    fn limits() -> AccountLimits {
        Manifest::parse(GOOD).unwrap().limits
    }

    #[test]
    fn a_request_is_of_the_bucket_that_names_most_of_its_place() {
        let limits = limits();
        for (url, bucket) in [
            ("https://mail.example.com/v1/x", "mail"),
            ("https://www.example.com/batch", "batch"),
            ("https://www.example.com/batch/x?y", "batch"),
            ("https://www.example.com/batches", "rest"),
            ("https://evil.mail.example.com/", "rest"),
        ] {
            let found = limits.bucket(&Url::parse(url).unwrap()).map(|rate| rate.name.as_str());
            assert_eq!(found, Some(bucket), "{url}");
        }
        assert_eq!(AccountLimits::default().bucket(&Url::parse("https://a.test/").unwrap()), None);
    }

    #[test]
    fn waits_of_a_bucket_delay_all_its_kinds_of_data_by_default() {
        let given = GOOD.replacen("reserve = 90", "wait_scope = \"surface\"", 1);
        let scopes = Manifest::parse(&given).unwrap().limits.rates.into_iter().map(|rate| rate.wait_scope);
        assert_eq!(scopes.collect::<Vec<_>>(), [WaitScope::Bucket, WaitScope::Bucket, WaitScope::Surface]);
    }

    #[test]
    fn background_calls_leave_the_reserve() {
        let allowed = |at: usize| {
            let rate = &limits().rates[at];
            (rate.allowed(false), rate.allowed(true))
        };
        assert_eq!((allowed(0), allowed(1), allowed(2)), ((6000, 4800), (10, 10), (5, 1)));
    }

    #[test]
    fn an_operator_gives_other_figures() {
        let with = |figures: Value| limits().with_figures(figures.as_object().unwrap());
        let given = with(json!({ "mail": { "units": 15000 }, "concurrent": 8 })).unwrap();
        assert_eq!((given.rates[0].units, given.rates[0].per_s, given.concurrent), (15_000, 60, Some(8)));
        for (figures, why) in [
            (json!({ "drive": { "units": 1 } }), "drive: the connector has no such bucket"),
            (json!({ "mail": { "unit": 1 } }), "mail: write an object"),
            (json!({ "mail": 15000 }), "mail: write an object"),
            (json!({ "mail": { "units": 0 } }), "units:"),
            (json!({ "mail": { "reserve": 91 } }), "reserve:"),
            (json!({ "concurrent": 0 }), "concurrent:"),
        ] {
            let error = format!("{:#}", with(figures).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_fault_names_the_bucket_and_the_key() {
        for (from, to, why) in [
            ("concurrent = 4", "concurrent = 0", "concurrent:"),
            ("name = \"mail\"", "name = \"Mail\"", "the name \"Mail\""),
            ("name = \"mail\"", "name = \"concurrent\"", "and not \"concurrent\""),
            ("name = \"batch\"", "name = \"mail\"", "mail is named twice"),
            ("[\"mail.example.com\"]", "[\"https://mail.example.com\"]", "mail: hosts:"),
            ("[\"mail.example.com\"]", "[\"other.example.com\"]", "add it under [[hosts]]"),
            ("surfaces = [\"calendar\"]", "surfaces = [\"tasks\"]", "rest: surfaces: \"tasks\""),
            ("surfaces = [\"calendar\"]", "surfaces = [\"lifecycle\"]", "\"lifecycle\" is no kind of data"),
            ("surfaces = [\"calendar\"]", "surfaces = []", "rest: surfaces: name at least one"),
            ("units = 6000", "units = 0", "mail: units:"),
            ("per_s = 60", "per_s = 0", "mail: per_s:"),
            ("reserve = 20", "reserve = 100", "mail: reserve:"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let error = format!("{:#}", Manifest::parse(&GOOD.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(why), "{to}: {error}");
        }
        let taken =
            GOOD.replacen("[limits]", "settings = [{ name = \"limits\", description = \".\" }]\n[limits]", 1);
        let error = format!("{:#}", Manifest::parse(&taken).unwrap_err());
        assert!(error.contains("settings: limits is where operators"), "{error}");
    }
}
