//! Busy times of stored events: single ones, and the instances of series.

use std::collections::HashSet;
use std::sync::Arc;

use base::error::Result;
use model::calendar::{Event, ShowAs};
use recurrence::{Error, Place, Source};
use scheduling::interval::Interval;
use storage::items::{self, After, Item, ItemColumns, Shape, Window};

use crate::app::App;
use crate::app::busy_times_cache::Name;
use crate::connections::request_context::RequestContext;
use crate::freebusy::busy::{self, BusyStretch, Rules};
use crate::freebusy::question::BusyQuery;
use crate::resources::events::instance::Instance;
use crate::resources::events::instances::{MAX_EVENTS, series_between, too_many};
use crate::resources::events::series::{ExpansionBudget, Series, Start, UnexpandedRange};

/// Single events read at a time.
const ROWS: i64 = 500;
/// Most busy times of the series of one calendar in a range.
const MAX_BUSY: usize = 50_000;

/// Most ignored events for which cached busy times are used: those of meetings that were just cancelled or are being rescheduled.
const MAX_IGNORED: usize = 100;

/// The busy times of a calendar's events in a range (Unix ms), unsorted: from the cache if nothing has changed since they were computed,
/// else from the events.
pub async fn busy_between(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    question: &BusyQuery,
    rules: &Rules,
    range: Interval,
) -> Result<Vec<BusyStretch>> {
    // Details are requested for few calendars at a time.
    if question.details || question.ignored.len() > MAX_IGNORED {
        return read_between(app, asker, calendar, question, rules, range).await;
    }
    let mut ignored: Vec<String> = question.ignored.iter().cloned().collect();
    ignored.sort_unstable();
    let name = Name {
        calendar_id: calendar.id.clone(),
        range,
        zone: rules.zone.name.clone(),
        attending: rules.attending,
        is_owned: rules.is_owned,
        tentative_as_busy: rules.tentative_as_busy,
        ignored,
    };
    let (known, mark) = app.busy_times.known(&app.db, &asker.tenant, app.now(), &name).await?;
    if let Some(times) = known {
        let busy = |(at, show_as)| BusyStretch { at, show_as, event_id: None, title: None, unexpanded: None };
        return Ok(times.iter().copied().map(busy).collect());
    }
    let found = read_between(app, asker, calendar, question, rules, range).await?;
    // Unknown times carry a reason, and are recomputed each time.
    if found.iter().all(|busy| busy.unexpanded.is_none()) {
        app.busy_times.keep(name, mark, found.iter().map(|busy| (busy.at, busy.show_as)).collect());
    }
    Ok(found)
}

/// As `busy_between`, from the events.
async fn read_between(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    question: &BusyQuery,
    rules: &Rules,
    range: Interval,
) -> Result<Vec<BusyStretch>> {
    let mut found = GatheredTimes { question, rules, all: Vec::new(), budget: ExpansionBudget::default() };
    add_events(app, asker, calendar, range, &mut found).await?;
    let (series, exceptions) = series_between(app, asker, calendar, range.start, range.end).await?;
    if series.is_empty() {
        return Ok(found.all);
    }
    let expand = || {
        for row in &series {
            let own = exceptions.get(&row.id).map_or(&[][..], Vec::as_slice);
            found.add_series(&Series::read(row, own)?.without_texts(), range);
        }
        Ok(found.all)
    };
    // A rule of one line can have any number of instances.
    app.compute.run_heavy(&asker.tenant.application_id, expand).await
}

/// Adds the single events of a range in steps; of each event only the busy time stays in memory.
async fn add_events(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    range: Interval,
    found: &mut GatheredTimes<'_>,
) -> Result<()> {
    let mut after = None;
    let mut count = 0;
    loop {
        let window = Window {
            parent_id: &calendar.id,
            from: Some(range.start),
            to: range.end,
            shape: Shape::Plain,
            after: after.take(),
            limit: ROWS,
        };
        let read = |row: ItemColumns<'_>| {
            let body = row.series_id.is_none().then(|| row.body.to_owned());
            Ok((After { sort_at: row.sort_at, id: row.id.to_owned() }, body))
        };
        let chunk = items::read_window(app.db.reader(), &asker.tenant, &window, false, read).await?;
        let is_last = chunk.is_last;
        count += chunk.rows.len();
        after = chunk.rows.last().map(|(place, _)| place.clone());
        let bytes = chunk.rows.iter().filter_map(|(_, body)| body.as_ref()).map(String::len).sum();
        let add = || -> Result<()> {
            for (place, body) in chunk.rows {
                if let Some(body) = body {
                    let event = serde_json::from_str(&body)?;
                    found.add_event(Instance { id: place.id, event, stored: None });
                }
            }
            Ok(())
        };
        app.compute.run(&asker.tenant.application_id, bytes, add).await?;
        if is_last {
            return Ok(());
        }
        if count > MAX_EVENTS {
            return Err(too_many());
        }
        // Yields to other tasks between the steps of a long read.
        tokio::task::yield_now().await;
    }
}

/// Busy times while they are collected.
struct GatheredTimes<'a> {
    question: &'a BusyQuery,
    rules: &'a Rules,
    all: Vec<BusyStretch>,
    budget: ExpansionBudget,
}

impl GatheredTimes<'_> {
    fn add_event(&mut self, instance: Instance) {
        if is_ignored(&instance, &self.question.ignored) {
            return;
        }
        if let Some((at, show_as)) = busy::of_event(&instance.event, self.rules) {
            self.add(at, show_as, || (instance.id, instance.event.title.map(Arc::<str>::from)));
        }
    }

    /// Adds a range. Without details it is joined with the last one if it continues it.
    fn add(&mut self, at: Interval, show_as: ShowAs, what: impl FnOnce() -> (String, Option<Arc<str>>)) {
        if at.is_empty() {
            return;
        }
        if self.question.details {
            let (id, title) = what();
            self.all.push(BusyStretch { at, show_as, event_id: Some(id), title, unexpanded: None });
            return;
        }
        match self.all.last_mut() {
            Some(last)
                if last.show_as == show_as
                    && last.unexpanded.is_none()
                    && (last.at.start..=last.at.end).contains(&at.start) =>
            {
                last.at.end = last.at.end.max(at.end);
            }
            _ => self.all.push(BusyStretch { at, show_as, event_id: None, title: None, unexpanded: None }),
        }
    }

    fn add_series(&mut self, series: &Series<'_>, range: Interval) {
        if self.question.ignored.contains(&series.row.id) {
            return;
        }
        // Occurrences differ from the series in their times only, except those that follow an exception.
        let shown = busy::shows(&series.event, self.rules);
        if shown.is_none() && !series.has_exceptions() {
            return;
        }
        let title = series.event.title.as_deref().map(Arc::<str>::from);
        let most = MAX_BUSY.max(self.all.len() + 1);
        let mut stopped_at = None;
        let mut budget = std::mem::take(&mut self.budget);
        let unexpanded = series.visit(range.start, range.end, Start::Before, &mut budget, &mut |place| {
            let is_occurrence = matches!(place.source, Source::Occurrence(_));
            let is_free = is_occurrence && place.follows.is_none() && shown.is_none();
            if !is_free && self.all.len() >= most {
                stopped_at = Some(place.start.as_millis());
                return false;
            }
            match (&place.source, shown) {
                (Source::Occurrence(_), _) if place.follows.is_some() => {
                    self.add_event(series.instance(place));
                }
                (Source::Exception(_), _) => self.add_event(series.instance(place)),
                (Source::Occurrence(_), Some(show_as)) => {
                    self.add_occurrence(series, title.as_ref(), &place, show_as);
                }
                (Source::Occurrence(_), None) => {}
            }
            true
        });
        self.budget = budget;
        let stopped = || {
            let error = Error::TooManyInstances(MAX_BUSY);
            stopped_at.and_then(|at| series.unexpanded(range.start, range.end, at, error))
        };
        // A series that shows as free was stopped at busy exceptions: more of them may follow.
        let shown = shown.or(stopped_at.map(|_| ShowAs::Busy));
        if let (Some(unexpanded), Some(show_as)) = (unexpanded.or_else(stopped), shown) {
            self.add_unexpanded(&series.event, &series.row.id, &unexpanded, show_as);
        }
    }

    fn add_occurrence(
        &mut self,
        series: &Series<'_>,
        title: Option<&Arc<str>>,
        place: &Place,
        show_as: ShowAs,
    ) {
        let Source::Occurrence(occurrence) = &place.source else { return };
        let ignored = &self.question.ignored;
        if !ignored.is_empty() && ignored.contains(&series.id_of(place)) {
            return;
        }
        let stored = Interval::new(place.start.as_millis(), place.end.as_millis());
        let days = [occurrence.start_date.as_deref(), occurrence.end_date.as_deref()];
        let at = busy::span(series.event.all_day, stored, days, &self.rules.zone);
        self.add(at, show_as, || (series.id_of(place), title.cloned()));
    }

    // Contract silent: the busy times of a series that cannot be expanded. It shows as the series itself does, so never as free, with a
    // warning, and only where it may take place.
    fn add_unexpanded(&mut self, event: &Event, id: &str, unexpanded: &UnexpandedRange, show_as: ShowAs) {
        let mut at = Interval::new(unexpanded.range.0, unexpanded.range.1);
        if event.all_day && at.start == event.start.as_millis() {
            // The days of an all-day event begin at other instants in another zone.
            at.start = at.start.min(busy::span_of(event, &self.rules.zone).start);
        }
        let details = self.question.details;
        self.all.push(BusyStretch {
            at,
            show_as,
            event_id: details.then(|| id.to_owned()),
            title: event.title.as_deref().filter(|_| details).map(Arc::<str>::from),
            unexpanded: Some(unexpanded.error.to_string()),
        });
    }
}

/// Whether the ignored ids contain the instance's own id, its series', or the one that it had before it was changed.
fn is_ignored(instance: &Instance, ignored: &HashSet<String>) -> bool {
    if ignored.is_empty() {
        return false;
    }
    let series = instance.stored.as_ref().and_then(|item| item.series_id.as_deref());
    let had = || {
        let event = &instance.event;
        let suffix = match &event.recurrence_id {
            Some(date) if date.len() == 10 => date.replace('-', ""),
            _ => recurrence::instance_suffix(event.original_start?),
        };
        Some(format!("{}_{suffix}", series?))
    };
    ignored.contains(&instance.id)
        || series.is_some_and(|s| ignored.contains(s))
        || had().is_some_and(|id| ignored.contains(&id))
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::*;
    use scheduling::hours::Zone;
    use scheduling::interval::Intervals;

    const HEBREW: &str = "RRULE:RSCALE=HEBREW;FREQ=YEARLY";

    fn at(text: &str) -> i64 {
        text.parse::<Instant>().unwrap().as_millis()
    }

    fn row(event: &Event) -> Item {
        Item { id: "evt_1".into(), body: serde_json::to_string(event).unwrap(), ..Item::default() }
    }

    /// Half an hour from 9:00 on 2 March 2026.
    fn series(line: &str) -> Event {
        Event {
            title: Some("Pulse".into()),
            start: Instant::from_millis(at("2026-03-02T09:00:00Z")),
            end: Instant::from_millis(at("2026-03-02T09:30:00Z")),
            time_zone: "UTC".into(),
            recurrence: vec![line.to_owned()],
            ..Event::default()
        }
    }

    fn march(event: &Event, details: bool) -> Vec<BusyStretch> {
        added(event, &[], details, Vec::new())
    }

    /// Known busy times, and those of a series in March.
    fn added(event: &Event, exceptions: &[Item], details: bool, all: Vec<BusyStretch>) -> Vec<BusyStretch> {
        let question = BusyQuery {
            ranges: Intervals::default(),
            zone: Zone::utc(),
            tentative_as_busy: true,
            details,
            ignored: HashSet::new(),
        };
        let rules = Rules { attending: false, is_owned: true, zone: Zone::utc(), tentative_as_busy: true };
        let mut times =
            GatheredTimes { question: &question, rules: &rules, all, budget: ExpansionBudget::default() };
        let row = row(event);
        let series = Series::read(&row, exceptions).unwrap();
        times.add_series(&series, Interval::new(at("2026-03-01T00:00:00Z"), at("2026-04-01T00:00:00Z")));
        times.all
    }

    #[test]
    fn what_goes_on_from_the_last_is_one_stretch() {
        let all = march(&series("RRULE:FREQ=MINUTELY"), false);
        let whole = Interval::new(at("2026-03-02T09:00:00Z"), at("2026-04-01T00:29:00Z"));
        assert_eq!(all.iter().map(|busy| busy.at).collect::<Vec<_>>(), [whole]);
        assert_eq!(march(&series("RRULE:FREQ=HOURLY;COUNT=3"), false).len(), 3);
        let each = march(&series("RRULE:FREQ=MINUTELY;COUNT=3"), true);
        let ids: Vec<&str> = each.iter().filter_map(|busy| busy.event_id.as_deref()).collect();
        assert_eq!(ids, ["evt_1_20260302T090000Z", "evt_1_20260302T090100Z", "evt_1_20260302T090200Z"]);
    }

    #[test]
    fn what_nobody_can_expand_counts_from_its_start_to_its_end_and_shows_as_itself() {
        let unknown = march(&series(&format!("{HEBREW};UNTIL=20260310T000000Z")), false);
        let span = Interval::new(at("2026-03-02T09:00:00Z"), at("2026-03-10T00:30:00Z"));
        assert_eq!((unknown.len(), unknown[0].at, unknown[0].show_as), (1, span, ShowAs::Busy));
        assert!(unknown[0].unexpanded.as_ref().is_some_and(|reason| reason.contains("RSCALE")));
        assert_eq!((&unknown[0].event_id, &unknown[0].title), (&None, &None), "details were not requested");
        let away = march(&Event { show_as: ShowAs::Oof, ..series(HEBREW) }, true);
        let span = Interval::new(at("2026-03-02T09:00:00Z"), at("2026-04-01T00:00:00Z"));
        assert_eq!(
            (away[0].at, away[0].show_as, away[0].event_id.as_deref()),
            (span, ShowAs::Oof, Some("evt_1"))
        );
        assert_eq!(march(&Event { show_as: ShowAs::Free, ..series(HEBREW) }, false), []);
    }

    #[test]
    fn what_is_too_much_counts_from_where_it_was_given_up() {
        let all = march(&series("RRULE:FREQ=SECONDLY"), false);
        let (known, unknown) = (&all[0], &all[1]);
        assert_eq!((all.len(), &known.unexpanded), (2, &None));
        assert_eq!(unknown.at.end, at("2026-04-01T00:00:00Z"));
        assert!(
            unknown.unexpanded.is_some() && unknown.at.start <= known.at.end,
            "nothing is free between them"
        );
        let each = march(&series("RRULE:FREQ=SECONDLY"), true);
        assert_eq!(each.len(), MAX_BUSY + 1);
        assert!(each[MAX_BUSY].unexpanded.as_ref().is_some_and(|reason| reason.contains("50000")));
    }

    #[test]
    fn busy_exceptions_of_a_free_series_are_not_free_where_there_is_too_much() {
        let changed = ["2026-03-05T09:00:00Z", "2026-03-09T09:00:00Z"].map(|start| {
            let (start, end) = (at(start), at(start) + 1_800_000);
            let (start, end) = (Instant::from_millis(start), Instant::from_millis(end));
            row(&Event { start, end, original_start: Some(start), recurrence: Vec::new(), ..series("") })
        });
        let other = BusyStretch {
            at: Interval::new(0, 1),
            show_as: ShowAs::Busy,
            event_id: None,
            title: None,
            unexpanded: None,
        };
        let free = Event { show_as: ShowAs::Free, ..series("RRULE:FREQ=DAILY") };
        let found = added(&free, &changed, true, vec![other; MAX_BUSY]);
        let [first, rest] = &found[MAX_BUSY..] else { panic!("{} busy times", found.len()) };
        assert_eq!((first.at.start, &first.unexpanded), (at("2026-03-05T09:00:00Z"), &None));
        let unknown = Interval::new(at("2026-03-09T09:00:00Z"), at("2026-04-01T00:00:00Z"));
        assert_eq!((rest.at, rest.show_as), (unknown, ShowAs::Busy));
        assert!(rest.unexpanded.is_some());
    }
}
