//! Finds the events of a replay of a range in the log, page by page.

use std::collections::BTreeSet;

use anyhow::Result;
use model::webhook::{DeliveryStatus, NewWebhookReplay};
use storage::log::Light;
use storage::sql::Reader;
use storage::webhooks::Webhook;
use storage::webhooks::replay_lines::{self, TimedLine};

use crate::webhooks::replay::event_filter::EventFilter;

/// Log entries, or failed deliveries, that are read at a time.
const PAGE: i64 = 500;
/// Most pages that `find` reads; then the matches so far are written, however few.
const PAGES: usize = 10;
/// Most pages that `count` reads.
const COUNTED_PAGES: usize = 20;

/// A search for the events of a replay.
pub struct Search<'a> {
    reader: &'a Reader,
    webhook: &'a Webhook,
    filter: EventFilter,
    only_failed: bool,
    /// The sequence number of the last entry to read.
    last: i64,
}

/// The matches of a search.
#[derive(Debug, Default)]
pub struct ReplayMatches {
    /// In the order of the log.
    pub events: Vec<Light>,
    /// The sequence number up to which the log was searched.
    pub position: i64,
    /// The time of the event at `position`, Unix ms; none if no entry was read.
    pub reached_at: Option<i64>,
}

impl<'a> Search<'a> {
    pub fn new(reader: &'a Reader, webhook: &'a Webhook, asked: &NewWebhookReplay, last: i64) -> Search<'a> {
        let filter = EventFilter::new(webhook, asked);
        Search { reader, webhook, filter, only_failed: asked.only_failed, last }
    }

    /// Finds at most `most` events with sequence numbers after `after`. Fewer do not mean that there are no more: `position` is how far the
    /// search got.
    pub async fn find(&self, after: i64, most: usize) -> Result<ReplayMatches> {
        let mut all = ReplayMatches { position: after, ..ReplayMatches::default() };
        for _ in 0..PAGES {
            let room = most.saturating_sub(all.events.len());
            if room == 0 || all.position >= self.last {
                break;
            }
            let page = self.page(all.position, room).await?;
            all.events.extend(page.events);
            all.position = page.position;
            all.reached_at = page.reached_at.or(all.reached_at);
        }
        Ok(all)
    }

    /// Counts the events with sequence numbers after `after` in the first 10,000 entries. Returns the count, and whether it is complete.
    pub async fn count(&self, after: i64) -> Result<(i64, bool)> {
        let (mut count, mut position) = (0, after);
        for _ in 0..COUNTED_PAGES {
            if position >= self.last {
                break;
            }
            let page = self.page(position, usize::MAX).await?;
            count += i64::try_from(page.events.len()).unwrap_or(i64::MAX);
            position = page.position;
        }
        Ok((count, position >= self.last))
    }

    async fn page(&self, after: i64, most: usize) -> Result<ReplayMatches> {
        let (lines, mut position) = match self.only_failed {
            false => self.lines(after).await?,
            true => self.given_up(after).await?,
        };
        let mut reached_at = lines.last().map(|timed| timed.at);
        let mut admitted: Vec<TimedLine> =
            lines.into_iter().filter(|timed| self.filter.admits(timed)).collect();
        if admitted.len() > most {
            admitted.truncate(most);
            if let Some(last) = admitted.last() {
                (position, reached_at) = (last.line.sequence, Some(last.at));
            }
        }
        let events = admitted.into_iter().map(|timed| timed.line).collect();
        Ok(ReplayMatches { events, position, reached_at })
    }

    /// A page of entries, and the sequence number of its end.
    async fn lines(&self, after: i64) -> Result<(Vec<TimedLine>, i64)> {
        let tenant = &self.webhook.tenant;
        let lines = replay_lines::after(self.reader, tenant, (after, self.last), PAGE).await?;
        let position = self.end_of(lines.len(), lines.last().map(|timed| timed.line.sequence));
        Ok((lines, position))
    }

    /// As `lines`, for entries with failed deliveries.
    async fn given_up(&self, after: i64) -> Result<(Vec<TimedLine>, i64)> {
        let webhook_id = &self.webhook.id;
        let rows = replay_lines::given_up(self.reader, webhook_id, (after, self.last), PAGE).await?;
        let position = self.end_of(rows.len(), rows.last().map(|(sequence, _)| *sequence));
        let mut sequences: Vec<i64> = rows.iter().map(|(sequence, _)| *sequence).collect();
        sequences.dedup();
        let missing = not_arrived(self.reader, webhook_id, &sequences).await?;
        let mut ids: Vec<String> =
            rows.into_iter().filter(|(sequence, _)| missing.contains(sequence)).map(|(_, id)| id).collect();
        ids.dedup();
        let lines = replay_lines::by_ids(self.reader, &self.webhook.tenant, &ids).await?;
        Ok((lines, position))
    }

    /// The sequence number of the end of a page with so many rows: a page that is not full reaches to the end of the search.
    fn end_of(&self, rows: usize, last: Option<i64>) -> i64 {
        let is_full = i64::try_from(rows).is_ok_and(|rows| rows >= PAGE);
        last.filter(|_| is_full).unwrap_or(self.last)
    }
}

/// Returns those of these events whose delivery to a subscription failed or was discarded, and that no replay has delivered or is
/// delivering.
pub async fn not_arrived(reader: &Reader, webhook_id: &str, sequences: &[i64]) -> Result<BTreeSet<i64>> {
    let (mut given_up, mut others) = (BTreeSet::new(), BTreeSet::new());
    for (sequence, status) in replay_lines::statuses(reader, webhook_id, sequences).await? {
        match status {
            DeliveryStatus::Failed | DeliveryStatus::Discarded => given_up.insert(sequence),
            DeliveryStatus::Delivered | DeliveryStatus::Pending => others.insert(sequence),
        };
    }
    Ok(&given_up - &others)
}
