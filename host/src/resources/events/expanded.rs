//! A page of a calendar with instances in the place of series. Of every series only as many are computed as the page can have; one
//! that cannot be expanded is listed as it is stored, with a warning that says why, and changes nothing for the others.

use base::error::Result;
use model::calendar::Event;
use recurrence::Source;
use serde_json::Value;
use storage::items::{Item, Shape};

use crate::app::App;
use crate::resources::events::instances;
use crate::resources::events::read::{Page, Place, Query};
use crate::resources::events::series::{Budget, Series, Start};
use crate::resources::{Asker, render};

/// A stretch that is expanded at a time.
const STEP_MS: i64 = 31 * 86_400_000;

/// What is listed: where, and the row to be printed.
struct Listed {
    at: i64,
    item: Item,
    warnings: Vec<Value>,
}

/// The first of what was found, as many as a page can have and one more, which tells that there is another page.
struct Found {
    all: Vec<Listed>,
    limit: usize,
}

impl Found {
    /// Sorts, and forgets what is past the limit.
    fn cut(&mut self) {
        self.all.sort_by(|a, b| (a.at, &a.item.id).cmp(&(b.at, &b.item.id)));
        self.all.truncate(self.limit);
    }

    /// The part of a range that can still have something: what begins after the last of a full page has no place on it.
    fn bound(&mut self, (from, to): (i64, i64)) -> (i64, i64) {
        if self.all.len() < 4 * self.limit {
            return (from, to);
        }
        self.cut();
        let last = self.all.last().map_or(to, |last| last.at.max(from) + 1);
        (from, to.min(last))
    }
}

/// The stretch that is looked at.
struct Stretch<'q> {
    query: &'q Query,
    after: Option<&'q Place>,
    from: i64,
    to: i64,
    /// Also what began before it: the range that was asked for begins here.
    start: Start,
}

impl Stretch<'_> {
    /// Whether this page has the event, which begins at `at`.
    fn has(&self, at: i64, id: &str) -> bool {
        let is_new = self.start == Start::Before || at >= self.from;
        is_new && self.after.is_none_or(|place| (at, id) > (place.sort_at, place.id.as_str()))
    }

    fn admits(&self, item: &Item, event: &Event) -> bool {
        self.query.updated_after.is_none_or(|after| item.updated_at >= after) && self.query.admits(event)
    }
}

/// The page after a place. `query` has a start and an end.
pub async fn page(
    app: &App,
    asker: &Asker,
    calendar: &Item,
    query: &Query,
    after: Option<Place>,
    limit: i64,
) -> Result<Page> {
    let (start, end) = (query.start.unwrap_or_default(), query.end.unwrap_or_default());
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let (rows, exceptions) = instances::series_between(app, asker, calendar, (start, end)).await?;
    let own = |row: &Item| exceptions.get(&row.id).map_or(&[][..], Vec::as_slice);
    let bytes = rows.iter().map(|row| row.body.len()).sum::<usize>();
    let mut series: Vec<(Series<'_>, bool)> = Vec::with_capacity(rows.len());
    for row in &rows {
        series.push((Series::read(row, own(row))?, false));
    }
    let mut from = after.as_ref().map_or(start, |p| p.sort_at.max(start));
    let mut budget = Budget::default();
    let mut found = Found { all: Vec::new(), limit: wanted.saturating_add(1) };
    while from < end && found.all.len() <= wanted {
        let to = (from + STEP_MS).min(end);
        let kind = if from == start { Start::Before } else { Start::Inside };
        let stretch = Stretch { query, after: after.as_ref(), from, to, start: kind };
        for row in instances::rows(app, asker, &calendar.id, (from, to), Shape::Plain).await? {
            if row.series_id.is_none() {
                let event: Event = serde_json::from_str(&row.body)?;
                let at = event.start.as_millis();
                if stretch.has(at, &row.id) && stretch.admits(&row, &event) {
                    found.all.push(Listed { at, item: row, warnings: Vec::new() });
                }
            }
        }
        let expand = || {
            for (one, told) in &mut series {
                expand(one, told, &stretch, (&mut found, &mut budget));
            }
        };
        app.compute.run(&asker.tenant.application_id, bytes, expand).await;
        found.cut();
        from = to;
    }
    let more = found.all.len() > wanted;
    found.all.truncate(wanted);
    let place = found.all.last().filter(|_| more);
    let place = place.map(|listed| Place { sort_at: listed.at, id: listed.item.id.clone() });
    let print = |listed: &Listed| render::item(&listed.item, &listed.warnings, query.with_provider_data);
    Ok((found.all.iter().map(print).collect(), place))
}

/// Adds what a series has in a stretch. `told`: what keeps it from being expanded stands in the list.
fn expand(
    series: &Series<'_>,
    told: &mut bool,
    stretch: &Stretch<'_>,
    (found, budget): (&mut Found, &mut Budget),
) {
    // Its occurrences differ from it in their times only, but for those that follow an exception: what is asked about anything else is
    // answered once.
    let is_admitted = stretch.admits(series.row, &series.event);
    if !is_admitted && !series.has_exceptions() {
        return;
    }
    let warnings = series.warnings();
    let range = found.bound((stretch.from, stretch.to));
    let most = found.all.len().saturating_add(found.limit);
    let unexpanded = series.visit(range, stretch.start, budget, &mut |place| {
        let at = place.start.as_millis();
        let is_occurrence = matches!(place.source, Source::Occurrence(_));
        let is_plain = is_occurrence && place.follows.is_none();
        if (is_admitted || !is_plain) && stretch.has(at, &series.id_of(&place)) {
            let instance = series.instance(place);
            let item = instance.item(series.row);
            if is_plain || stretch.admits(&item, &instance.event) {
                let warnings = if is_occurrence { warnings.clone() } else { Vec::new() };
                found.all.push(Listed { at, item, warnings });
            }
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
        // A rule that cannot be read was told of where it began.
        _ => (unexpanded.range.0, !(unexpanded.is_invalid() && own_start < stretch.from)),
    };
    if is_new && stretch.has(at, &series.row.id) {
        let warnings = vec![unexpanded.warning()];
        found.all.push(Listed { at, item: series.row.clone(), warnings });
    }
}
