//! Rules of which events block time, how long, and how busy times are merged. Pure.

use std::sync::Arc;

use jiff::civil::Date;
use model::Instant;
use model::calendar::{Event, EventStatus, ResponseStatus, ShowAs};
use model::calendar_query::BusyTime;
use scheduling::hours::Zone;
use scheduling::interval::{Interval, Intervals};

/// A range of busy time.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyStretch {
    pub at: Interval,
    pub show_as: ShowAs,
    pub event_id: Option<String>,
    pub title: Option<Arc<str>>,
    /// The reason why the times of the event within this range are unknown; none: the event lasts from start to end.
    pub unexpanded: Option<String>,
}

/// How the events of one calendar count.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Only events that the account attends or organizes.
    pub attending: bool,
    /// The calendar is the account's own: an event without an organizer is its own too.
    pub is_owned: bool,
    /// The zone of all-day events.
    pub zone: Zone,
    pub tentative_as_busy: bool,
}

/// The time that an event blocks, and how it shows; none if it blocks none.
pub fn of_event(event: &Event, rules: &Rules) -> Option<(Interval, ShowAs)> {
    let show_as = shows(event, rules)?;
    let at = span_of(event, &rules.zone);
    (!at.is_empty()).then_some((at, show_as))
}

/// How an event shows, at any time; none if it does not block time.
// Contract silent: what is tentative. An event that shows as tentative or has that status, and one that the account answered
// with maybe. An invitation without an answer counts as what it shows as; a declined one never counts.
pub fn shows(event: &Event, rules: &Rules) -> Option<ShowAs> {
    let response = response(event);
    if !event.derived_busy() || response == Some(ResponseStatus::Declined) {
        return None;
    }
    if rules.attending && !attends(event, response, rules.is_owned) {
        return None;
    }
    let is_tentative = event.show_as == ShowAs::Tentative
        || event.status == EventStatus::Tentative
        || response == Some(ResponseStatus::Tentative);
    if is_tentative && !rules.tentative_as_busy {
        return None;
    }
    Some(if is_tentative { ShowAs::Tentative } else { event.show_as })
}

fn response(event: &Event) -> Option<ResponseStatus> {
    event.my_response.or_else(|| event.attendees.iter().find(|a| a.is_self).map(|a| a.response_status))
}

/// Whether the account attends an event (RFC 9670 section 2, `includeInAvailability`): it has accepted, tentatively or not, or is the
/// organizer.
fn attends(event: &Event, response: Option<ResponseStatus>, is_owned: bool) -> bool {
    let organizes = match &event.organizer {
        Some(organizer) => organizer.is_self,
        None => is_owned && event.attendees.is_empty(),
    };
    organizes
        || event.attendees.iter().any(|a| a.is_self && a.organizer)
        || matches!(response, Some(ResponseStatus::Accepted | ResponseStatus::Tentative))
}

/// From the first to the last instant of an event.
pub fn span_of(event: &Event, zone: &Zone) -> Interval {
    let stored = Interval::new(event.start.as_millis(), event.end.as_millis());
    span(event.all_day, stored, [event.start_date.as_deref(), event.end_date.as_deref()], zone)
}

/// From the first to the last instant. All-day events block the `days` of the zone, whatever their length.
pub fn span(all_day: bool, stored: Interval, days: [Option<&str>; 2], zone: &Zone) -> Interval {
    if !all_day {
        return stored;
    }
    let midnight = |date: Option<&str>| date?.parse::<Date>().ok().and_then(|d| zone.instant_ms(d, 0));
    match days.map(midnight) {
        [Some(start), Some(end)] => Interval::new(start, end),
        _ => stored,
    }
}

/// Strongest first.
const STRENGTHS: [ShowAs; 3] = [ShowAs::Oof, ShowAs::Busy, ShowAs::Tentative];

/// Joins busy times without details that overlap or touch and show as the same, so that a crowded calendar costs no more than its distinct
/// ranges. A series that cannot be expanded stays separate, for its warning.
pub fn joined(busy: Vec<BusyStretch>) -> Vec<BusyStretch> {
    let (mut known, unknown): (Vec<BusyStretch>, Vec<BusyStretch>) =
        busy.into_iter().filter(|b| !b.at.is_empty()).partition(|b| b.unexpanded.is_none());
    known.sort_unstable_by_key(|b| (STRENGTHS.iter().position(|s| *s == b.show_as), b.at));
    let mut out: Vec<BusyStretch> = Vec::new();
    for next in known {
        match out.last_mut() {
            Some(last) if last.show_as == next.show_as && next.at.start <= last.at.end => {
                last.at.end = last.at.end.max(next.at.end);
            }
            _ => out.push(next),
        }
    }
    out.extend(unknown);
    out
}

/// The first `most` busy times, which are sorted by start. If there are more, the last one is extended over all the others, and the instant
/// from which this holds is returned.
pub fn limited(mut times: Vec<BusyTime>, most: usize) -> (Vec<BusyTime>, Option<Instant>) {
    let rest = times.split_off(times.len().min(most));
    let (Some(last), Some(end)) = (times.last_mut(), rest.iter().map(|time| time.end).max()) else {
        return (times, None);
    };
    // Contract silent: the answer for a target with more busy times than an answer can have. Never free, so all of the rest is busy.
    *last = BusyTime {
        start: last.start,
        end: last.end.max(end),
        show_as: ShowAs::Busy,
        event_id: None,
        title: None,
    };
    let from = last.start;
    (times, Some(from))
}

/// Busy times for the answer: sorted, inside `range`, without overlap.
// Contract silent: what shows where an appointment and a tentative one overlap. The stronger one, so that no two intervals
// overlap and each still tells what it is.
pub fn merged(busy: &[BusyStretch], range: Interval) -> Vec<BusyTime> {
    let mut taken = Intervals::default();
    let mut out: Vec<(Interval, ShowAs)> = Vec::new();
    for strength in STRENGTHS {
        let of_strength: Intervals =
            busy.iter().filter(|b| b.show_as == strength).map(|b| b.at.clip(range)).collect();
        out.extend(of_strength.subtract(&taken).iter().map(|at| (at, strength)));
        taken = taken.union(&of_strength);
    }
    out.sort_unstable_by_key(|(at, _)| *at);
    let time = |(at, show_as): (Interval, ShowAs)| BusyTime {
        start: Instant::from_millis(at.start),
        end: Instant::from_millis(at.end),
        show_as,
        event_id: None,
        title: None,
    };
    out.into_iter().map(time).collect()
}

/// Busy times with details: one for each event, so that they can overlap.
// Contract silent: how details and merging go together. Two events in one interval would hide which is when.
pub fn detailed(busy: Vec<BusyStretch>, range: Interval) -> Vec<BusyTime> {
    let mut out: Vec<BusyStretch> =
        busy.into_iter().map(|b| BusyStretch { at: b.at.clip(range), ..b }).collect();
    out.retain(|b| !b.at.is_empty());
    out.sort_by(|a, b| (a.at, &a.event_id).cmp(&(b.at, &b.event_id)));
    let time = |b: BusyStretch| BusyTime {
        start: Instant::from_millis(b.at.start),
        end: Instant::from_millis(b.at.end),
        show_as: b.show_as,
        event_id: b.event_id,
        title: b.title.as_deref().map(str::to_owned),
    };
    out.into_iter().map(time).collect()
}

#[cfg(test)]
mod tests {
    use model::calendar::{Attendee, Person};
    use proptest::prelude::*;

    use super::*;

    fn ms(text: &str) -> i64 {
        text.parse::<Instant>().unwrap().as_millis()
    }

    fn rules() -> Rules {
        Rules { attending: false, is_owned: true, zone: Zone::utc(), tentative_as_busy: true }
    }

    fn event() -> Event {
        Event { start: Instant::from_millis(1_000), end: Instant::from_millis(2_000), ..Event::default() }
    }

    fn shown(event: &Event, rules: &Rules) -> Option<ShowAs> {
        of_event(event, rules).map(|(_, show_as)| show_as)
    }

    #[test]
    fn events_that_show_as_free_or_elsewhere_or_are_off_leave_the_time_free() {
        assert_eq!(shown(&event(), &rules()), Some(ShowAs::Busy));
        assert_eq!(shown(&Event { show_as: ShowAs::Oof, ..event() }, &rules()), Some(ShowAs::Oof));
        assert_eq!(shown(&Event { show_as: ShowAs::Free, ..event() }, &rules()), None);
        let elsewhere = Event { show_as: ShowAs::WorkingElsewhere, ..event() };
        assert_eq!(shown(&elsewhere, &rules()), None);
        let maybe = Event { my_response: Some(ResponseStatus::Tentative), ..elsewhere };
        assert_eq!(shown(&maybe, &rules()), None, "wherever, and however likely");
        assert_eq!(shown(&Event { status: EventStatus::Cancelled, ..event() }, &rules()), None);
        assert_eq!(shown(&Event { my_response: Some(ResponseStatus::Declined), ..event() }, &rules()), None);
        let declined =
            Attendee { is_self: true, response_status: ResponseStatus::Declined, ..Attendee::default() };
        assert_eq!(shown(&Event { attendees: vec![declined], ..event() }, &rules()), None);
        assert_eq!(shown(&Event { end: Instant::from_millis(1_000), ..event() }, &rules()), None, "a moment");
    }

    #[test]
    fn what_is_tentative_counts_only_where_it_is_asked_for() {
        let sure_only = Rules { tentative_as_busy: false, ..rules() };
        for tentative in [
            Event { show_as: ShowAs::Tentative, ..event() },
            Event { status: EventStatus::Tentative, ..event() },
            Event { my_response: Some(ResponseStatus::Tentative), ..event() },
        ] {
            assert_eq!(shown(&tentative, &rules()), Some(ShowAs::Tentative));
            assert_eq!(shown(&tentative, &sure_only), None);
        }
        let unanswered = Event { my_response: Some(ResponseStatus::NeedsAction), ..event() };
        assert_eq!(shown(&unanswered, &sure_only), Some(ShowAs::Busy));
    }

    #[test]
    fn a_calendar_of_attended_events_counts_those_alone() {
        let attending = Rules { attending: true, ..rules() };
        let organizer = |is_self| Some(Person { is_self, ..Person::default() });
        let invited = |response| Event { organizer: organizer(false), my_response: response, ..event() };
        assert_eq!(shown(&invited(Some(ResponseStatus::NeedsAction)), &attending), None);
        assert_eq!(shown(&invited(None), &attending), None);
        assert_eq!(shown(&invited(Some(ResponseStatus::Accepted)), &attending), Some(ShowAs::Busy));
        assert_eq!(shown(&Event { organizer: organizer(true), ..event() }, &attending), Some(ShowAs::Busy));
        assert_eq!(shown(&event(), &attending), Some(ShowAs::Busy), "an appointment in the own calendar");
        assert_eq!(
            shown(&event(), &Rules { is_owned: false, ..attending }),
            None,
            "one in another person's calendar"
        );
    }

    #[test]
    fn an_all_day_event_blocks_the_days_of_the_zone() {
        let all_day = Event {
            all_day: true,
            start_date: Some("2026-03-29".into()),
            end_date: Some("2026-03-30".into()),
            ..event()
        };
        let at = |zone: &str| {
            let rules = Rules { zone: Zone::named(zone).unwrap(), ..rules() };
            of_event(&all_day, &rules).unwrap().0
        };
        let berlin = Interval::new(ms("2026-03-28T23:00:00Z"), ms("2026-03-29T22:00:00Z"));
        assert_eq!(at("Europe/Berlin"), berlin, "a day of 23 hours");
        let kathmandu = Interval::new(ms("2026-03-28T18:15:00Z"), ms("2026-03-29T18:15:00Z"));
        assert_eq!(at("Asia/Kathmandu"), kathmandu);
    }

    fn busy(start: i64, end: i64, show_as: ShowAs, id: &str) -> BusyStretch {
        BusyStretch {
            at: Interval::new(start, end),
            show_as,
            event_id: Some(id.into()),
            title: None,
            unexpanded: None,
        }
    }

    #[test]
    fn busy_times_are_merged_and_the_stronger_shows() {
        let all = [
            busy(60, 90, ShowAs::Tentative, "d"),
            busy(10, 30, ShowAs::Busy, "b"),
            busy(-5, 20, ShowAs::Busy, "a"),
            busy(25, 70, ShowAs::Tentative, "c"),
            busy(80, 120, ShowAs::Oof, "e"),
            busy(200, 300, ShowAs::Oof, "f"),
        ];
        let range = Interval::new(0, 100);
        let shown = |times: Vec<BusyTime>| -> Vec<(i64, i64, ShowAs)> {
            times.iter().map(|t| (t.start.as_millis(), t.end.as_millis(), t.show_as)).collect()
        };
        let expected = [(0, 30, ShowAs::Busy), (30, 80, ShowAs::Tentative), (80, 100, ShowAs::Oof)];
        assert_eq!(shown(merged(&all, range)), expected);
        let one_by_one = detailed(all.to_vec(), range);
        let ids: Vec<&str> = one_by_one.iter().filter_map(|t| t.event_id.as_deref()).collect();
        assert_eq!(ids, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn what_cannot_be_expanded_is_joined_with_nothing() {
        let unknown = BusyStretch { unexpanded: Some("why".into()), ..busy(0, 100, ShowAs::Busy, "b") };
        let all = vec![
            busy(40, 60, ShowAs::Busy, "c"),
            unknown.clone(),
            busy(0, 40, ShowAs::Busy, "a"),
            busy(60, 80, ShowAs::Oof, "d"),
            busy(70, 70, ShowAs::Oof, "e"),
        ];
        let found = joined(all);
        let shown: Vec<(i64, i64, ShowAs)> =
            found.iter().map(|b| (b.at.start, b.at.end, b.show_as)).collect();
        assert_eq!(shown, [(60, 80, ShowAs::Oof), (0, 60, ShowAs::Busy), (0, 100, ShowAs::Busy)]);
        assert_eq!(found.last(), Some(&unknown));
    }

    #[test]
    fn what_is_too_much_is_one_busy_time_to_the_last_end() {
        let all = [
            busy(0, 10, ShowAs::Oof, "a"),
            busy(20, 90, ShowAs::Tentative, "b"),
            busy(30, 40, ShowAs::Oof, "c"),
            busy(50, 60, ShowAs::Oof, "d"),
        ];
        let times = detailed(all.to_vec(), Interval::new(0, 100));
        let (kept, from) = limited(times.clone(), 3);
        let shown: Vec<(i64, i64, Option<&str>)> =
            kept.iter().map(|t| (t.start.as_millis(), t.end.as_millis(), t.event_id.as_deref())).collect();
        assert_eq!(shown, [(0, 10, Some("a")), (20, 90, Some("b")), (30, 60, None)]);
        assert_eq!((kept[2].show_as, from), (ShowAs::Busy, Some(Instant::from_millis(30))));
        let (kept, from) = limited(times.clone(), 2);
        assert_eq!((kept.len(), kept[1].end, from), (2, times[1].end, Some(times[1].start)));
        assert_eq!(limited(times.clone(), 4), (times, None));
    }

    proptest! {
        /// Compared with the plain definition: each minute shows its strongest busy time, and equal neighbors are joined.
        #[test]
        fn merging_is_what_each_minute_shows(
            found in prop::collection::vec((0_i64..200, 0_i64..30, 0..STRENGTHS.len()), 0..60),
            (from, length) in (0_i64..150, 1_i64..100),
        ) {
            let all: Vec<BusyStretch> =
                found.iter().map(|(at, length, n)| busy(*at, at + length, STRENGTHS[*n], "x")).collect();
            let range = Interval::new(from, from + length);
            let mut expected: Vec<(i64, i64, ShowAs)> = Vec::new();
            for minute in from..from + length {
                let runs = |(at, length, _): &&(i64, i64, usize)| (*at..at + length).contains(&minute);
                let Some(strongest) = found.iter().filter(runs).map(|(.., n)| *n).min() else { continue };
                let show_as = STRENGTHS[strongest];
                match expected.last_mut() {
                    Some(last) if last.1 == minute && last.2 == show_as => last.1 += 1,
                    _ => expected.push((minute, minute + 1, show_as)),
                }
            }
            for times in [merged(&all, range), merged(&joined(all.clone()), range)] {
                let shown: Vec<(i64, i64, ShowAs)> =
                    times.iter().map(|t| (t.start.as_millis(), t.end.as_millis(), t.show_as)).collect();
                prop_assert_eq!(&shown, &expected);
            }
            let parts = joined(all);
            for (a, b) in parts.iter().zip(parts.iter().skip(1)) {
                prop_assert!(a.show_as != b.show_as || a.at.end < b.at.start, "{a:?} {b:?}");
            }
        }
    }
}
