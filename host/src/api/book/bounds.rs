//! The months that the page offers: from the current one, or the first that can be booked, to the last.

use jiff::Span;
use jiff::civil::Date;
use model::scheduling::event_type::{BookingWindow, BookingWindowKind};

/// Days ahead that are shown for a booking window without an end.
const MAX_AHEAD: i64 = 730;

/// The first and the last day to search: a day more on each side than the window has, because the visitor's zone can be a day apart from
/// the host's. Only the search decides whether a time can be booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub first: Date,
    pub last: Date,
}

impl Bounds {
    /// The bounds as of a day.
    pub fn for_window(window: &BookingWindow, today: Date) -> Bounds {
        let date = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Date>().ok());
        let limit = plus(today, MAX_AHEAD);
        let (first, last) = match window.kind {
            BookingWindowKind::Unlimited => (today, limit),
            BookingWindowKind::Rolling => {
                let days = window.days.unwrap_or(0).clamp(0, MAX_AHEAD);
                // A week of working days more than covers the weekends that are cut at both ends.
                let all = if window.business_days { days + 2 * (days / 5) + 4 } else { days };
                (today, plus(today, all + 1))
            }
            BookingWindowKind::Range => {
                let first = date(&window.start_date).map_or(today, |first| plus(first, -1));
                (first.max(today), date(&window.end_date).map_or(limit, |last| plus(last, 1)))
            }
        };
        // A window that is over still has a page, which shows no times.
        let last = last.min(limit).max(today);
        Bounds { first: first.min(last), last }
    }

    /// The month to show for a requested one.
    pub fn month(&self, asked: Option<Date>) -> Date {
        let first = self.first.first_of_month();
        asked.map_or(first, |date| date.first_of_month().clamp(first, self.last.first_of_month()))
    }

    /// The previous month, if it can have times.
    pub fn before(&self, month: Date) -> Option<Date> {
        let before = month.yesterday().ok()?.first_of_month();
        (before >= self.first.first_of_month()).then_some(before)
    }

    /// The next month, if it can have times.
    pub fn after(&self, month: Date) -> Option<Date> {
        let after = month.last_of_month().tomorrow().ok()?;
        (after <= self.last).then_some(after)
    }
}

fn plus(date: Date, days: i64) -> Date {
    date.checked_add(Span::new().days(days)).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn the_pager_ends_where_the_window_does() {
        let today = date("2026-03-15");
        let range = BookingWindow {
            kind: BookingWindowKind::Range,
            start_date: Some("2026-04-10".to_owned()),
            end_date: Some("2026-05-20".to_owned()),
            ..BookingWindow::default()
        };
        let bounds = Bounds::for_window(&range, today);
        assert_eq!(bounds.month(None), date("2026-04-01"));
        assert_eq!(bounds.month(Some(date("2030-01-01"))), date("2026-05-01"));
        assert_eq!((bounds.before(date("2026-04-01")), bounds.after(date("2026-05-01"))), (None, None));
        assert_eq!(bounds.after(date("2026-04-01")), Some(date("2026-05-01")));

        let over = BookingWindow { end_date: Some("2026-01-01".to_owned()), start_date: None, ..range };
        assert_eq!(Bounds::for_window(&over, today), Bounds { first: today, last: today });
        let rolling =
            BookingWindow { kind: BookingWindowKind::Rolling, days: Some(20), ..BookingWindow::default() };
        assert_eq!(Bounds::for_window(&rolling, today).after(date("2026-03-01")), Some(date("2026-04-01")));
        let unlimited = Bounds::for_window(&BookingWindow::default(), today);
        assert_eq!(unlimited.last, date("2028-03-14"));
    }
}
