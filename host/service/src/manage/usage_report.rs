//! The figures of an application over some days: requests by day, surface and key, and the totals of all else that is counted. They are added
//! up from counts of days; no row of an account is counted.

use std::collections::BTreeMap;

use base::error::Result;
use base::tenant::Tenant;
use jiff::civil::Date;
use storage::provider_units::DayRange;
use storage::usage::{self, DayCount, KeyTotal};
use storage::{items, key_relatives};

use crate::app::App;
use crate::app::usage::day;
use crate::webhooks::figures::Figures;

/// Keys that are listed: those with the most requests.
const MAX_KEYS: usize = 20;
/// Rows of an export.
pub const MAX_EXPORT_ROWS: i64 = 50_000;

/// Requests by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub success: i64,
    /// 4xx but 429.
    pub client_error: i64,
    /// 429.
    pub rate_limited: i64,
    /// 5xx.
    pub server_error: i64,
}

impl OutcomeCounts {
    /// All requests.
    pub fn total(&self) -> i64 {
        self.success + self.failed()
    }

    /// The requests that did not succeed.
    pub fn failed(&self) -> i64 {
        self.client_error + self.rate_limited + self.server_error
    }

    /// Adds requests of a stored outcome; false of one that is no request's.
    fn add(&mut self, outcome: &str, requests: i64) -> bool {
        match outcome {
            "success" => self.success += requests,
            "clientError" => self.client_error += requests,
            "rateLimited" => self.rate_limited += requests,
            "serverError" => self.server_error += requests,
            _ => return false,
        }
        true
    }
}

/// The requests of a day, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageDay {
    pub date: Date,
    pub requests: OutcomeCounts,
}

/// The requests of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFigures {
    pub id: String,
    /// Empty of a key that is deleted.
    pub name: String,
    pub requests: i64,
    pub failed: i64,
}

/// The figures of an application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageReport {
    /// Each day of the period, the oldest first.
    pub days: Vec<UsageDay>,
    pub by_surface: BTreeMap<String, OutcomeCounts>,
    /// The keys with the most requests, 20 at most.
    pub keys: Vec<KeyFigures>,
    /// Changes in the log of events.
    pub changes: i64,
    /// Attempts to deliver to webhooks.
    pub deliveries: Figures,
    pub provider_calls: i64,
    pub emails_sent: i64,
    pub emails_bounced: i64,
    pub bookings_created: i64,
    pub bookings_cancelled: i64,
    /// The bytes of what is stored of the application's accounts now.
    pub stored_bytes: i64,
    /// There were too many counts to read: the oldest days are not whole.
    pub is_cut: bool,
}

impl UsageReport {
    /// The requests of the whole period.
    pub fn requests(&self) -> OutcomeCounts {
        added_up(&self.days)
    }
}

/// The requests of all these days.
pub fn added_up(days: &[UsageDay]) -> OutcomeCounts {
    days.iter().fold(OutcomeCounts::default(), |all, day| OutcomeCounts {
        success: all.success + day.requests.success,
        client_error: all.client_error + day.requests.client_error,
        rate_limited: all.rate_limited + day.requests.rate_limited,
        server_error: all.server_error + day.requests.server_error,
    })
}

/// The days of a period that ends today, UTC; the oldest first.
fn period(app: &App, days: usize) -> Result<Vec<UsageDay>> {
    let mut date: Date = day(app.now()).parse().map_err(anyhow::Error::new)?;
    let mut all = Vec::with_capacity(days);
    while all.len() < days {
        all.push(UsageDay { date, requests: OutcomeCounts::default() });
        date = date.yesterday().map_err(anyhow::Error::new)?;
    }
    all.reverse();
    Ok(all)
}

/// The first and the last day of a period as they are stored.
fn first_and_last(days: &[UsageDay]) -> (String, String) {
    let text = |day: Option<&UsageDay>| day.map(|day| day.date.to_string()).unwrap_or_default();
    (text(days.first()), text(days.last()))
}

/// The figures of an application over so many days, today included. Those of the last seconds may be missing where another host counted them.
///
/// # Errors
/// Those of the database.
pub async fn load(app: &App, tenant: &Tenant, days: usize) -> Result<UsageReport> {
    let days = period(app, days)?;
    let (from, to) = first_and_last(&days);
    let (range, reader) = (DayRange { from: &from, to: &to }, app.db.reader());
    let mut counts = usage::by_day(reader, tenant, range).await?;
    let limit = i64::try_from(MAX_KEYS).unwrap_or(i64::MAX);
    let mut keys = usage::by_key(reader, tenant, range, limit).await?;
    let is_cut = counts.iter().map(|count| count.rows).sum::<i64>() >= usage::MAX_COUNTS;
    add_pending(app, tenant, &to, &mut counts, &mut keys);
    let mut report = UsageReport { days, is_cut, ..UsageReport::default() };
    report.deliveries = deliveries(&counts);
    counts.iter().for_each(|count| report.add(count));
    report.keys = with_names(app, tenant, keys).await?;
    report.stored_bytes = items::bytes(reader, tenant).await?;
    Ok(report)
}

/// Adds what this host has counted today and not written yet.
fn add_pending(
    app: &App,
    tenant: &Tenant,
    today: &str,
    counts: &mut Vec<DayCount>,
    keys: &mut Vec<KeyTotal>,
) {
    for (bucket, requests) in app.usage.pending() {
        if bucket.tenant != *tenant || bucket.day != today {
            continue;
        }
        if !bucket.key_id.is_empty() {
            let failed = if bucket.outcome == "success" { 0 } else { requests };
            match keys.iter_mut().find(|key| key.key_id == bucket.key_id) {
                Some(key) => {
                    key.requests += requests;
                    key.failed += failed;
                }
                None => keys.push(KeyTotal { key_id: bucket.key_id, requests, failed }),
            }
        }
        let (surface, outcome) = (bucket.surface, bucket.outcome);
        counts.push(DayCount { day: bucket.day, surface, outcome, requests, rows: 0 });
    }
}

fn deliveries(counts: &[DayCount]) -> Figures {
    let mut attempts: BTreeMap<&str, i64> = BTreeMap::new();
    for count in counts.iter().filter(|count| count.outcome.starts_with(usage::WEBHOOK)) {
        *attempts.entry(&count.outcome).or_default() += count.requests;
    }
    let attempts: Vec<(String, i64)> =
        attempts.into_iter().map(|(outcome, count)| (outcome.to_owned(), count)).collect();
    Figures::from_outcomes(&attempts)
}

impl UsageReport {
    fn add(&mut self, count: &DayCount) {
        let n = count.requests;
        match count.outcome.as_str() {
            usage::CHANGE => self.changes += n,
            usage::EMAIL_SENT => self.emails_sent += n,
            usage::EMAIL_BOUNCED => self.emails_bounced += n,
            usage::BOOKING_CREATED => self.bookings_created += n,
            usage::BOOKING_CANCELLED => self.bookings_cancelled += n,
            "providerCall" => self.provider_calls += n,
            outcome => {
                if !OutcomeCounts::default().add(outcome, n) {
                    return;
                }
                self.by_surface.entry(count.surface.clone()).or_default().add(outcome, n);
                let day = self.days.iter_mut().find(|day| day.date.to_string() == count.day);
                if let Some(day) = day {
                    day.requests.add(outcome, n);
                }
            }
        }
    }
}

async fn with_names(app: &App, tenant: &Tenant, mut keys: Vec<KeyTotal>) -> Result<Vec<KeyFigures>> {
    keys.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.key_id.cmp(&b.key_id)));
    keys.truncate(MAX_KEYS);
    let ids: Vec<&str> = keys.iter().map(|key| key.key_id.as_str()).collect();
    let mut names = key_relatives::names_of(app.db.reader(), tenant, &ids).await?;
    let figures = keys.into_iter().map(|key| KeyFigures {
        name: names.remove(&key.key_id).unwrap_or_default(),
        id: key.key_id,
        requests: key.requests,
        failed: key.failed,
    });
    Ok(figures.collect())
}

/// The requests of a key over so many days, today included; each day, the oldest first.
///
/// # Errors
/// Those of the database.
pub async fn of_key(app: &App, tenant: &Tenant, key_id: &str, days: usize) -> Result<Vec<UsageDay>> {
    let mut days = period(app, days)?;
    let (from, to) = first_and_last(&days);
    let range = DayRange { from: &from, to: &to };
    let written = usage::of_key(app.db.reader(), tenant, key_id, range).await?;
    let written = written.into_iter().map(|count| (count.day, count.outcome, count.requests));
    let pending = app.usage.pending().into_iter();
    let pending = pending.filter(|(bucket, _)| bucket.tenant == *tenant && bucket.key_id == key_id);
    let pending = pending.map(|(bucket, requests)| (bucket.day, bucket.outcome, requests));
    for (date, outcome, requests) in written.chain(pending) {
        if let Some(day) = days.iter_mut().find(|day| day.date.to_string() == date) {
            day.requests.add(&outcome, requests);
        }
    }
    Ok(days)
}

/// A line of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageExportLine {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    /// Empty for what no key asked for.
    pub key_id: String,
    pub key_name: String,
    pub surface: String,
    pub outcome: String,
    pub count: i64,
}

/// The counts of an application over so many days as they are stored, the newest day first; `MAX_EXPORT_ROWS` at most.
///
/// # Errors
/// Those of the database.
pub async fn export(app: &App, tenant: &Tenant, days: usize) -> Result<Vec<UsageExportLine>> {
    let days = period(app, days)?;
    let (from, to) = first_and_last(&days);
    let (range, reader) = (DayRange { from: &from, to: &to }, app.db.reader());
    let counts = usage::newest(reader, tenant, range, MAX_EXPORT_ROWS).await?;
    let mut ids: Vec<&str> = counts.iter().map(|(bucket, _)| bucket.key_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let names = key_relatives::names_of(reader, tenant, &ids).await?;
    let lines = counts.into_iter().map(|(bucket, count)| UsageExportLine {
        key_name: names.get(&bucket.key_id).cloned().unwrap_or_default(),
        day: bucket.day,
        key_id: bucket.key_id,
        surface: bucket.surface,
        outcome: bucket.outcome,
        count,
    });
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(day: &str, surface: &str, outcome: &str, requests: i64) -> DayCount {
        let (surface, outcome) = (surface.to_owned(), outcome.to_owned());
        DayCount { day: day.to_owned(), surface, outcome, requests, rows: 1 }
    }

    #[test]
    fn each_count_is_added_where_it_belongs() {
        let date = "2026-03-01".parse::<Date>().unwrap();
        let days = vec![UsageDay { date, requests: OutcomeCounts::default() }];
        let mut report = UsageReport { days, ..UsageReport::default() };
        for (day, surface, outcome, n) in [
            ("2026-03-01", "email", "success", 5),
            ("2026-03-01", "email", "rateLimited", 2),
            ("2026-03-01", "calendar", "serverError", 1),
            ("2026-03-01", "calendar", "clientError", 1),
            ("2026-03-01", "", "providerCall", 7),
            ("2026-03-01", "", "providerThrottled", 100),
            ("2026-03-01", "email", "emailSent", 3),
            ("2026-03-01", "email", "emailBounced", 1),
            ("2026-03-01", "scheduling", "bookingCreated", 2),
            ("2026-03-01", "scheduling", "bookingCancelled", 1),
            ("2026-03-01", "", "change", 4),
        ] {
            report.add(&count(day, surface, outcome, n));
        }
        let all = OutcomeCounts { success: 5, client_error: 1, rate_limited: 2, server_error: 1 };
        assert_eq!((report.requests(), report.requests().total(), report.requests().failed()), (all, 9, 4));
        assert_eq!(report.by_surface.len(), 2, "no request is of another surface");
        assert_eq!(report.by_surface["email"].total(), 7);
        assert_eq!((report.provider_calls, report.changes), (7, 4));
        assert_eq!((report.emails_sent, report.emails_bounced), (3, 1));
        assert_eq!((report.bookings_created, report.bookings_cancelled), (2, 1));
    }

    #[test]
    fn attempts_of_all_days_add_up() {
        let counts = [
            count("2026-03-01", "", "webhook:delivered:100", 3),
            count("2026-03-02", "", "webhook:delivered:100", 1),
            count("2026-03-02", "", "webhook:failed:5000", 2),
            count("2026-03-02", "email", "success", 9),
        ];
        let figures = deliveries(&counts);
        assert_eq!((figures.attempts(), figures.failed()), (6, 2));
    }
}
