//! Occurrences: a series as events of their own, with its exceptions in the place of what they replace.

use chrono::{Days, NaiveDate, NaiveDateTime};
use serde_json::{Map, Value};

use crate::graph::calendar::book::{CalendarBook, EventItem, EventKey, EventSeries};
use crate::graph::calendar::patterns;
use crate::graph::calendar::span::EventSpan;
use crate::graph::calendar::zones;

/// The member `type` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    SingleInstance,
    SeriesMaster,
    Occurrence,
    Exception,
}

impl EventType {
    pub fn name(self) -> &'static str {
        match self {
            EventType::SingleInstance => "singleInstance",
            EventType::SeriesMaster => "seriesMaster",
            EventType::Occurrence => "occurrence",
            EventType::Exception => "exception",
        }
    }
}

/// An event as it is read: an item, or one occurrence of it.
#[derive(Clone, Debug)]
pub struct EventShape<'b> {
    pub item: &'b EventItem,
    pub kind: EventType,
    pub date: Option<NaiveDate>,
    pub members: Map<String, Value>,
    pub span: EventSpan,
    /// The start that the rule gives an occurrence, in UTC, or its midnight.
    pub original: Option<NaiveDateTime>,
}

impl EventShape<'_> {
    pub fn key(&self) -> EventKey {
        EventKey { number: self.item.number, date: self.date }
    }
}

/// An item as it stands.
pub fn whole(item: &EventItem) -> EventShape<'_> {
    let kind = if item.series.is_some() { EventType::SeriesMaster } else { EventType::SingleInstance };
    let members = item.members.clone();
    EventShape { item, kind, date: None, members, span: item.span.clone(), original: None }
}

/// The start that the rule gives an occurrence, in UTC, or its midnight.
pub fn original_start(item: &EventItem, series: &EventSeries, date: NaiveDate) -> NaiveDateTime {
    if item.span.is_all_day {
        return date.and_time(item.span.start.time());
    }
    let zone = zones::find_zone(&series.zone).unwrap_or_else(|| item.span.zone());
    let time = zones::to_local(item.span.start, zone).time();
    zones::to_utc(date.and_time(time), zone)
}

fn occurrence<'b>(item: &'b EventItem, series: &EventSeries, date: NaiveDate) -> EventShape<'b> {
    let original = original_start(item, series, date);
    let mut members = item.members.clone();
    let (kind, span) = match series.exceptions.get(&date) {
        Some(exception) => {
            members.extend(exception.members.clone());
            (EventType::Exception, exception.span.clone())
        }
        None => (EventType::Occurrence, item.span.at(original)),
    };
    EventShape { item, kind, date: Some(date), members, span, original: Some(original) }
}

/// The days of a series that are not cancelled, up to `until`; of exceptions, whatever their day.
pub fn dates(series: &EventSeries, until: NaiveDate) -> Vec<NaiveDate> {
    let mut days = patterns::days(&series.recurrence, until);
    days.extend(series.exceptions.keys().filter(|day| **day > until));
    days.retain(|day| !series.cancelled.contains(day));
    days
}

/// The occurrences of an item that overlap the range, or the item itself where it is no series.
pub fn in_range(item: &EventItem, from: NaiveDateTime, to: NaiveDateTime) -> Vec<EventShape<'_>> {
    let Some(series) = &item.series else {
        return if item.span.overlaps(from, to) { vec![whole(item)] } else { Vec::new() };
    };
    // A zone is less than a day from UTC.
    let until = to.date().checked_add_days(Days::new(1)).unwrap_or_else(|| to.date());
    let shapes = dates(series, until).into_iter().map(|date| occurrence(item, series, date));
    shapes.filter(|shape| shape.span.overlaps(from, to)).collect()
}

/// The exceptions of a series, by original start.
pub fn exceptions(item: &EventItem) -> Vec<EventShape<'_>> {
    let Some(series) = &item.series else { return Vec::new() };
    series.exceptions.keys().map(|date| occurrence(item, series, *date)).collect()
}

/// The event with this key; none where it is not there, or is cancelled.
pub fn find(book: &CalendarBook, key: EventKey) -> Option<EventShape<'_>> {
    let item = book.items.get(&key.number)?;
    let Some(date) = key.date else { return Some(whole(item)) };
    let series = item.series.as_ref()?;
    dates(series, date).contains(&date).then(|| occurrence(item, series, date))
}

/// Whether an occurrence would reach into the day of its neighbour, or pass it: Exchange refuses it.
pub fn crosses_boundary(item: &EventItem, date: NaiveDate, span: &EventSpan) -> bool {
    let Some(series) = &item.series else { return false };
    let until = date.checked_add_days(Days::new(400)).unwrap_or(date);
    let days = dates(series, until);
    let day_of = |day: &NaiveDate| match series.exceptions.get(day) {
        Some(exception) => exception.span.local_start().date(),
        None => *day,
    };
    let own = span.local_start().date();
    let before = days.iter().rev().find(|day| **day < date).map(day_of);
    let after = days.iter().find(|day| **day > date).map(day_of);
    before.is_some_and(|before| own <= before) || after.is_some_and(|after| own >= after)
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use serde_json::{Value, json};

    use super::{EventType, crosses_boundary, find, in_range};
    use crate::graph::calendar::book::{CalendarBook, EventKey};
    use crate::graph::calendar::edit;
    use crate::graph::calendar::zones::parse_bound;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn time(text: &str) -> Value {
        json!({ "dateTime": text, "timeZone": "W. Europe Standard Time" })
    }

    /// A mailbox with a series at nine o'clock of each day from the 27th of March 2026 on.
    fn daily() -> (CalendarBook, u64) {
        let mut book = CalendarBook::new("a@work.test", "A", "W. Europe Standard Time", false);
        let recurrence = json!({
            "pattern": { "type": "daily", "interval": 1 },
            "range": { "type": "numbered", "startDate": "2026-03-27", "numberOfOccurrences": 5 },
        });
        let event = json!({
            "subject": "Daily", "start": time("2026-03-27T09:00:00"), "end": time("2026-03-27T09:30:00"),
            "recurrence": recurrence,
        });
        let calendar = book.default_calendar();
        let number = edit::create(&mut book, &calendar, &event, 0).expect("an event");
        (book, number)
    }

    #[test]
    fn occurrences_keep_their_local_time_over_a_change_of_clocks() {
        let (book, number) = daily();
        let (from, to) =
            (parse_bound("2026-03-28").expect("a time"), parse_bound("2026-03-30").expect("a time"));
        let shapes = in_range(&book.items[&number], from, to);
        let starts: Vec<String> = shapes.iter().map(|shape| shape.span.start.to_string()).collect();
        assert_eq!(starts, ["2026-03-28 08:00:00", "2026-03-29 07:00:00"]);
    }

    #[test]
    fn an_occurrence_is_found_by_its_day_until_it_is_cancelled() {
        let (mut book, number) = daily();
        let key = EventKey { number, date: Some(day("2026-03-28")) };
        assert_eq!(find(&book, key).map(|shape| shape.kind), Some(EventType::Occurrence));
        assert!(book.remove_occurrence(number, day("2026-03-28"), 0));
        assert!(find(&book, key).is_none());
        assert!(find(&book, EventKey { number, date: Some(day("2026-04-28")) }).is_none());
    }

    #[test]
    fn exception_may_not_reach_the_day_of_a_neighbour() {
        let (book, number) = daily();
        let item = &book.items[&number];
        let moved = |text: &str| item.span.at(parse_bound(text).expect("a time"));
        assert!(!crosses_boundary(item, day("2026-03-28"), &moved("2026-03-28T15:00:00")));
        assert!(crosses_boundary(item, day("2026-03-28"), &moved("2026-03-29T15:00:00")));
        assert!(crosses_boundary(item, day("2026-03-28"), &moved("2026-03-27T15:00:00")));
        assert!(!crosses_boundary(item, day("2026-03-31"), &moved("2026-06-01T15:00:00")));
    }
}
