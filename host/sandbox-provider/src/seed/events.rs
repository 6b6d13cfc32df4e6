//! The calendars that an account begins with. Days count from the Monday of the week in which the account is made; times are local.

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::{
    AccessRole, Calendar as CalendarBody, ConferenceProvider, Event as EventBody, IncludeInAvailability,
    Person, Reminder, ReminderMethod, ShowAs,
};
use serde::Deserialize;

use crate::calendar::events::{finish, store};
use crate::calendar::types::{Calendar, Event};
use crate::seed::colleagues::{Colleague, PEOPLE};
use crate::state::State;
use crate::times::{instant, local, local_ms, shift, stored_zone};

/// The events that each of the three organizes, and those that each of them has.
const EVENTS: &str = include_str!("events.json");

/// Month, day, name: the same everywhere, for two years.
const HOLIDAYS: &[(i8, i8, &str)] = &[
    (1, 1, "New Year's Day"),
    (3, 8, "International Women's Day"),
    (5, 1, "Labour Day"),
    (6, 21, "Midsummer"),
    (10, 31, "Halloween"),
    (12, 24, "Christmas Eve"),
    (12, 25, "Christmas Day"),
    (12, 31, "New Year's Eve"),
];

/// An event of the file, with what depends on the day.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventSeed {
    /// None: each of the three has it.
    who: Option<String>,
    calendar: String,
    id: String,
    day: i64,
    /// `HH:MM`; none: all-day.
    at: Option<String>,
    /// Minutes, or days.
    length: i64,
    /// A weekly series: this week's Wednesday begins an hour later.
    moved_once: bool,
    event: EventBody,
}

/// The calendars, empty: the main one, and for the three two others.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let Some(account) = state.account(mail) else { return };
    let (name, now) = (account.name.clone(), instant(now_ms));
    let base = CalendarBody {
        time_zone: Some(account.zone.clone()),
        is_owned: true,
        conference_types: vec![ConferenceProvider::Other],
        ..CalendarBody::default()
    };
    let popup = |minutes_before| Reminder { method: ReminderMethod::Popup, minutes_before };
    let email = |minutes_before| Reminder { method: ReminderMethod::Email, minutes_before };
    let mut put = |id: &str, name: &str, color: &str, body: CalendarBody| {
        let body = CalendarBody { name: name.to_owned(), color: Some(color.to_owned()), ..body };
        let (created_at, updated_at) = (now.clone(), now.clone());
        let calendar = Calendar { id: id.to_owned(), body, created_at, updated_at, ..Calendar::default() };
        state.put_head::<Event>(mail, calendar);
    };
    let main = CalendarBody { is_primary: true, default_reminders: vec![popup(10)], ..base.clone() };
    put("work", "Work", "#2563eb", main);
    if !PEOPLE.iter().any(|person| person.mail == mail) {
        return;
    }
    let personal = CalendarBody {
        description: Some(format!("{name}, after hours")),
        default_reminders: vec![popup(30), email(1440)],
        include_in_availability: IncludeInAvailability::Attending,
        ..base.clone()
    };
    put("personal", "Personal", "#16a34a", personal);
    let holidays = CalendarBody {
        is_owned: false,
        access_role: AccessRole::Reader,
        read_only: true,
        include_in_availability: IncludeInAvailability::None,
        conference_types: Vec::new(),
        ..base
    };
    put("holidays", "Holidays", "#dc2626", holidays);
}

/// The account's own events, and with them the invitations of the others.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    let Some(person) = PEOPLE.iter().find(|person| person.mail == mail) else { return };
    let zone = stored_zone(person.zone);
    let today = local(now_ms, &zone).date();
    let monday = shift(today, -i64::from(today.weekday().to_monday_zero_offset()));
    let maker = EventMaker { person, zone, monday, now_ms };
    let seeds: Vec<EventSeed> = serde_json::from_str(EVENTS).unwrap_or_default();
    for seed in seeds.into_iter().filter(|seed| seed.who.as_ref().is_none_or(|who| who == mail)) {
        let calendar = seed.calendar.clone();
        store(state, mail, &calendar, now_ms, maker.event(seed));
    }
    for (number, (month, day, title)) in HOLIDAYS.iter().enumerate() {
        for year in [today.year(), today.year().saturating_add(1)] {
            let Ok(date) = Date::new(year, *month, *day) else { continue };
            let body =
                EventBody { title: Some((*title).to_owned()), show_as: ShowAs::Free, ..EventBody::default() };
            let mut event = maker.bare(&format!("holiday-{year}-{number}"), body);
            event.body.organizer = None;
            set_days(&mut event, date, 1);
            store(state, mail, "holidays", now_ms, event);
        }
    }
}

fn set_days(event: &mut Event, first: Date, days: i64) {
    event.body.all_day = true;
    event.body.start_date = Some(first.to_string());
    event.body.end_date = Some(shift(first, days).to_string());
}

/// Makes one person's events.
struct EventMaker {
    person: &'static Colleague,
    zone: TimeZone,
    monday: Date,
    now_ms: i64,
}

impl EventMaker {
    fn bare(&self, id: &str, body: EventBody) -> Event {
        let (email, name) = (Some(self.person.mail.to_owned()), Some(self.person.name.to_owned()));
        let me = Some(Person { email, name, is_self: false });
        let now = instant(self.now_ms);
        let id = format!("{}-{id}", self.person.mail.split('@').next().unwrap_or_default());
        let i_cal_uid = Some(format!("{id}@sandbox.test"));
        let body = EventBody { i_cal_uid, organizer: me.clone(), creator: me, ..body };
        Event { id, body, created_at: now.clone(), updated_at: now, ..Event::default() }
    }

    fn event(&self, seed: EventSeed) -> Event {
        let mut event = self.bare(&seed.id, seed.event);
        let date = shift(self.monday, seed.day);
        match seed.at.and_then(|at| at.parse::<Time>().ok()) {
            Some(time) => self.set_times(&mut event, date.to_datetime(time), seed.length),
            None => set_days(&mut event, date, seed.length),
        }
        if seed.moved_once {
            self.move_once(&mut event);
        }
        finish(&mut event);
        event
    }

    fn set_times(&self, event: &mut Event, start: DateTime, minutes: i64) {
        let end = start.checked_add(Span::new().minutes(minutes)).unwrap_or(start);
        event.body.start = Instant::from_millis(local_ms(start, &self.zone));
        event.body.end = Instant::from_millis(local_ms(end, &self.zone));
        self.person.zone.clone_into(&mut event.body.time_zone);
    }

    /// This week's Wednesday instance begins an hour later.
    fn move_once(&self, event: &mut Event) {
        let time = event.local_start(&self.zone).split_off(10);
        let original = format!("{}{time}", shift(self.monday, 2));
        let Ok(start) = original.parse::<DateTime>() else { return };
        let mut moved = event.clone();
        moved.body.recurrence.clear();
        moved.body.title = event.body.title.as_ref().map(|title| format!("{title} (an hour later today)"));
        moved.move_to(start.checked_add(Span::new().hours(1)).unwrap_or(start), &self.zone);
        event.overrides.insert(original, moved);
    }
}
