//! A page of a calendar with instances in place of series. Of each series at most a page of instances is computed, and only their times are
//! kept: an instance's event is built when it is rendered, one after the other, until the page is full. A series that cannot be expanded is
//! listed as it is stored, with a warning that gives the reason, and does not affect the others.

use std::collections::HashMap;

use base::error::Result;
use model::calendar::Event;
use recurrence::Source;
use serde_json::Value;
use storage::items::{self, After, Item, ItemColumns, Shape, Window};

use crate::app::App;
use crate::app::page_cache::{self, PageBudget};
use crate::connections::request_context::RequestContext;
use crate::local_copy::render;
use crate::resources::events::instances;
use crate::resources::events::listing::{EventListPosition, EventPage, EventQuery, is_listed};
use crate::resources::events::series::{ExpansionBudget, Series, Start};

/// Length of the time range that is expanded at a time.
const STEP_MS: i64 = 31 * 86_400_000;

/// Least single events read at a time, even for a smaller page: a filter may drop most of them.
const MIN_ROWS: i64 = 100;

/// An entry of the list before it is rendered.
struct ListedEntry {
    at: i64,
    id: String,
    /// Approximate size of the rendered entry.
    bytes: usize,
    what: EntryKind,
}

enum EntryKind {
    /// A single event, rendered.
    Event(String),
    /// An instance of the series with this number.
    Instance(usize, recurrence::Place),
    /// The series with this index itself, and the reason why it is not expanded.
    Series(usize, Value),
}

/// The first entries that were found: as many as fit on a page, and one more that shows whether there is a next page.
struct InstanceBuffer {
    all: Vec<ListedEntry>,
    limit: usize,
}

impl InstanceBuffer {
    /// Sorts the entries and drops those beyond the limit.
    fn cut(&mut self) {
        self.all.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        self.all.truncate(self.limit);
    }

    /// The part of a range that can still add entries: those that begin after the last entry of a full page do not fit on it.
    fn bound(&mut self, from: i64, to: i64) -> (i64, i64) {
        if self.all.len() < self.limit.saturating_mul(4) {
            return (from, to);
        }
        self.cut();
        let last = self.all.last().map_or(to, |last| last.at.max(from) + 1);
        (from, to.min(last))
    }

    /// Whether later entries do not fit on the page.
    fn is_full(&self) -> bool {
        let bytes = self.all.iter().fold(0_usize, |sum, listed| sum.saturating_add(listed.bytes));
        self.all.len() >= self.limit || bytes > page_cache::MAX_BYTES
    }
}

/// The time range that is being expanded.
struct TimeStretch<'q> {
    query: &'q EventQuery,
    after: Option<&'q EventListPosition>,
    from: i64,
    to: i64,
    /// Whether events that began before the range are included: only in the first range of the query.
    start: Start,
}

impl TimeStretch<'_> {
    /// Whether the event, which begins at `at`, belongs on this page.
    fn has(&self, at: i64, id: &str) -> bool {
        let is_new = self.start == Start::Before || at >= self.from;
        is_new && self.after.is_none_or(|place| (at, id) > (place.sort_at, place.id.as_str()))
    }

    fn is_recent(&self, updated_at: i64) -> bool {
        self.query.updated_after.is_none_or(|after| updated_at >= after)
    }

    fn admits(&self, item: &Item, event: &Event) -> bool {
        self.is_recent(item.updated_at) && self.query.admits(event)
    }

    /// The list position after which the single events of this page begin.
    fn first(&self) -> Option<After> {
        match self.after {
            Some(place) if self.start == Start::Before || place.sort_at >= self.from => {
                Some(After { sort_at: place.sort_at, id: place.id.clone() })
            }
            _ if self.start == Start::Inside => Some(After { sort_at: self.from, id: String::new() }),
            _ => None,
        }
    }
}

/// The page after a position. `query` has a start and an end.
pub async fn page(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    query: &EventQuery,
    after: Option<EventListPosition>,
    limit: i64,
) -> Result<EventPage> {
    let (start, end) = (query.start.unwrap_or_default(), query.end.unwrap_or_default());
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let tenant = &asker.tenant.application_id;
    let (rows, exceptions) = instances::series_between(app, asker, calendar, start, end).await?;
    let mut series = match rows.is_empty() {
        true => Vec::new(),
        false => app.compute.run_heavy(tenant, || read(&rows, &exceptions)).await?,
    };
    let mut from = after.as_ref().map_or(start, |p| p.sort_at.max(start));
    let mut budget = ExpansionBudget::default();
    let mut found = InstanceBuffer { all: Vec::new(), limit: wanted.saturating_add(1) };
    while from < end && !found.is_full() {
        let to = (from + STEP_MS).min(end);
        let kind = if from == start { Start::Before } else { Start::Inside };
        let mut stretch = TimeStretch { query, after: after.as_ref(), from, to, start: kind };
        stretch.to = add_events(app, asker, calendar, &stretch, &mut found).await?;
        if !series.is_empty() {
            let expand = || {
                for (number, (one, told)) in series.iter_mut().enumerate() {
                    expand(number, one, told, &stretch, &mut found, &mut budget);
                }
            };
            app.compute.run_heavy(tenant, expand).await;
        }
        found.cut();
        from = stretch.to;
    }
    let has_more = from < end;
    let is_light = series.is_empty();
    let finish = move || render_entries(found.all, &series, wanted, has_more, query.with_provider_data);
    if is_light { finish() } else { app.compute.run_heavy(tenant, finish).await }
}

/// Parses each series, paired with a flag: whether its warning is already in the list.
fn read<'a>(rows: &'a [Item], exceptions: &'a HashMap<String, Vec<Item>>) -> Result<Vec<(Series<'a>, bool)>> {
    let mut series = Vec::with_capacity(rows.len());
    for row in rows {
        let own = exceptions.get(&row.id).map_or(&[][..], Vec::as_slice);
        series.push((Series::read(row, own)?, false));
    }
    Ok(series)
}

/// Adds the single events of a range, in order, up to the first that does not fit on the page. Returns the end of the part of the range in
/// which all of them were found.
async fn add_events(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    stretch: &TimeStretch<'_>,
    found: &mut InstanceBuffer,
) -> Result<i64> {
    let query = stretch.query;
    let raw = query.with_provider_data;
    let mut room = PageBudget::new(found.limit);
    let mut after = stretch.first();
    loop {
        let window = Window {
            parent_id: &calendar.id,
            from: Some(stretch.from),
            to: stretch.to,
            shape: Shape::Plain,
            after: after.take(),
            limit: i64::try_from(found.limit).unwrap_or(i64::MAX).max(MIN_ROWS),
        };
        let print = |row: ItemColumns<'_>| {
            let is_here = row.series_id.is_none() && stretch.has(row.sort_at, row.id);
            let is_asked = is_here && stretch.is_recent(row.updated_at) && is_listed(query, row.body)?;
            let text = is_asked.then(|| render::item_columns(&row, &[], raw));
            Ok((After { sort_at: row.sort_at, id: row.id.to_owned() }, text))
        };
        let chunk = items::read_window(app.db.resources(), &asker.tenant, &window, raw, print).await?;
        after = chunk.rows.last().map(|(place, _)| place.clone());
        for (place, text) in chunk.rows {
            let Some(text) = text else { continue };
            let (at, bytes) = (place.sort_at, text.len());
            found.all.push(ListedEntry { at, id: place.id, bytes, what: EntryKind::Event(text) });
            if !room.take(bytes) {
                return Ok(stretch.to.min(at.max(stretch.from) + 1));
            }
        }
        if chunk.is_last {
            return Ok(stretch.to);
        }
        // Yields to other tasks between the steps of a long search.
        tokio::task::yield_now().await;
    }
}

/// Adds the instances of a series in a range. `told`: whether the warning that the series cannot be expanded is in the list already.
fn expand(
    number: usize,
    series: &Series<'_>,
    told: &mut bool,
    stretch: &TimeStretch<'_>,
    found: &mut InstanceBuffer,
    budget: &mut ExpansionBudget,
) {
    // Occurrences differ from the series in their times only, except those that follow an exception. So filters on other fields are
    // evaluated once for the series and once per exception.
    let is_admitted = stretch.admits(series.row, &series.event);
    if !is_admitted && !series.has_exceptions() {
        return;
    }
    let mut admitted: HashMap<(usize, bool), bool> = HashMap::new();
    let (from, to) = found.bound(stretch.from, stretch.to);
    let most = found.all.len().saturating_add(found.limit);
    let unexpanded = series.visit(from, to, stretch.start, budget, &mut |place| {
        let (at, id) = (place.start.as_millis(), series.id_of(&place));
        let row = series.stored(&place).unwrap_or(series.row);
        let is_shown = stretch.has(at, &id)
            && match series.changed_by(&place) {
                None => is_admitted,
                Some((index, event)) => {
                    let is_occurrence = matches!(place.source, Source::Occurrence(_));
                    *admitted.entry((index, is_occurrence)).or_insert_with(|| stretch.admits(row, event))
                }
            };
        if is_shown {
            let bytes = row.body.len();
            found.all.push(ListedEntry { at, id, bytes, what: EntryKind::Instance(number, place) });
        }
        found.all.len() < most
    });
    let Some(unexpanded) = unexpanded.filter(|_| is_admitted && !*told) else { return };
    // Contract silent: what `expand` shows of a series that cannot be expanded. The series itself, once, where it begins to be unknown.
    *told = true;
    let own_start = series.event.start.as_millis();
    let is_unknown_at_once = unexpanded.range.0 == own_start.max(stretch.from);
    let (at, is_new) = match stretch.start {
        Start::Before if is_unknown_at_once => (own_start, true),
        // For a rule that cannot be read, the warning is in the list where the series began.
        _ => (unexpanded.range.0, !(unexpanded.is_invalid() && own_start < stretch.from)),
    };
    if is_new && stretch.has(at, &series.row.id) {
        let (id, bytes) = (series.row.id.clone(), series.row.body.len());
        found.all.push(ListedEntry { at, id, bytes, what: EntryKind::Series(number, unexpanded.warning()) });
    }
}

/// The rendered entries that fit on the page, and the position of the last one if there are more. `has_more`: not all of the range was
/// searched.
fn render_entries(
    all: Vec<ListedEntry>,
    series: &[(Series<'_>, bool)],
    wanted: usize,
    has_more: bool,
    raw: bool,
) -> Result<EventPage> {
    let mut room = PageBudget::new(wanted);
    let mut texts = Vec::new();
    let mut place = None;
    for ListedEntry { at, id, what, .. } in all {
        if room.is_full() {
            return Ok((texts, place));
        }
        let of = |number: usize| series.get(number).map(|(series, _)| series);
        let text = match what {
            EntryKind::Event(text) => Some(text),
            EntryKind::Instance(number, found) => {
                of(number).map(|series| instance(series, &id, found, raw)).transpose()?
            }
            EntryKind::Series(number, warning) => {
                of(number).map(|series| render::item(series.row, &[warning], raw))
            }
        };
        let Some(text) = text else { continue };
        if !room.take(text.len()) {
            return Ok((texts, place));
        }
        texts.push(text);
        place = Some(EventListPosition { sort_at: at, id });
    }
    Ok((texts, place.filter(|_| has_more)))
}

/// Renders an instance of a series: the stored exception, or the series' row with the times of the occurrence. Its etag is the series',
/// because changing it changes the series.
fn instance(series: &Series<'_>, id: &str, place: recurrence::Place, raw: bool) -> Result<String> {
    if let Some(stored) = series.stored(&place) {
        return Ok(render::item(stored, &[], raw));
    }
    let body = serde_json::to_string(&series.instance(place).event)?;
    let row = ItemColumns::from(series.row);
    let shown = ItemColumns { id, series_id: Some(row.id), body: &body, ..row };
    Ok(render::item_columns(&shown, &series.warnings(), raw))
}
