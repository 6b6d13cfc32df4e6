//! Initial data of accounts. `alice`, `bob` and `carol` work together in three time zones and know each other; all other accounts
//! begin with an empty main calendar, address book and task list. All of it lies around the week in which it is created.

mod colleagues;
mod contacts;
mod letters;
mod mail;
mod people;
mod plan;
mod todos;

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::calendar::events::{finish, store};
use crate::calendar::invitations::spread;
use crate::calendar::types::{
    Access, Alert, AlertVia, Calendar, CountsAsBusy, Event, EventBody, Guest, Moment, Person, Video,
    VideoService, When,
};
use crate::ops::Op;
use crate::problem::Problem;
use crate::record::Account;
use crate::seed::colleagues::Colleague;
use crate::seed::plan::{EventPlan, HOLIDAYS, PLAN, SINGLES, Single};
use crate::state::{MAX_ACCOUNTS, State};
use crate::times::{instant, local, shift, stored_zone};

pub use crate::seed::colleagues::PEOPLE;

/// Creates the missing accounts.
pub fn accounts(state: &mut State, wanted: &[String], now_ms: i64) -> Result<(), Problem> {
    let missing: Vec<&String> = wanted.iter().filter(|m| state.account(m).is_none()).collect();
    if state.accounts.len() + missing.len() > MAX_ACCOUNTS {
        return Err(Problem::full(format!("the sandbox holds at most {MAX_ACCOUNTS} accounts")));
    }
    for mail in &missing {
        begin(state, mail, now_ms);
    }
    for mail in &missing {
        fill(state, mail, now_ms);
    }
    for mail in wanted {
        complete(state, mail, now_ms);
    }
    Ok(())
}

/// Whether the account exists with all initial data.
pub fn is_complete(state: &State, mail: &str) -> bool {
    state.account(mail).is_some_and(|account| {
        !account.books.is_empty() && !account.lists.is_empty() && !account.mailboxes.is_empty()
    })
}

/// Gives address books, task lists and a mailbox to an account without: a new one, or one of a journal that is older than they
/// are.
fn complete(state: &mut State, mail: &str, now_ms: i64) {
    let is_missing = |is_empty: fn(&Account) -> bool| state.account(mail).is_some_and(is_empty);
    let (has_no_book, has_no_list) = (is_missing(|a| a.books.is_empty()), is_missing(|a| a.lists.is_empty()));
    if has_no_book {
        contacts::begin(state, mail, now_ms);
        contacts::fill(state, mail, now_ms);
    }
    if has_no_list {
        todos::begin(state, mail, now_ms);
        todos::fill(state, mail, now_ms);
    }
    if state.account(mail).is_some_and(|account| account.mailboxes.is_empty()) {
        mail::begin(state, mail, now_ms);
        mail::fill(state, mail, now_ms);
    }
}

/// Resets the account to its initial data.
pub fn reset(state: &mut State, mail: &str, now_ms: i64) {
    begin(state, mail, now_ms);
    fill(state, mail, now_ms);
    complete(state, mail, now_ms);
    // Invitations by other hosts come back.
    let others = state.accounts.values().filter(|a| a.mail != mail);
    let invitations: Vec<(String, Arc<Event>)> = others
        .flat_map(|a| a.calendars.values().flat_map(|f| f.live()).map(|e| (a.mail.clone(), e.clone())))
        .filter(|(host, e)| e.host.as_ref().is_some_and(|h| h.mail.as_ref() == Some(host)))
        .filter(|(_, e)| e.guests.iter().any(|g| g.mail == mail))
        .collect();
    for (host, event) in invitations {
        spread(state, &host, now_ms, &event);
    }
}

/// The account with empty calendars.
fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let known = PEOPLE.iter().find(|p| p.mail == mail);
    let zone = known.map_or("UTC", |p| p.zone);
    let name = known.map_or_else(|| mail.split('@').next().unwrap_or(mail).to_owned(), |p| p.name.to_owned());
    state.commit(Op::Account { mail: mail.to_owned(), name: name.clone(), zone: zone.to_owned() });
    let now = instant(now_ms);
    let base = Calendar {
        zone: zone.to_owned(),
        mine: true,
        video_services: vec![VideoService::SandboxMeet],
        created_at: now.clone(),
        updated_at: now,
        ..Calendar::default()
    };
    let alert = |lead_minutes| Alert { via: AlertVia::Screen, lead_minutes };
    let main = Calendar {
        id: "work".to_owned(),
        title: "Work".to_owned(),
        colour: Some("#2563eb".to_owned()),
        main: true,
        alerts: vec![alert(10)],
        ..base.clone()
    };
    state.put_head::<Event>(mail, main);
    if known.is_none() {
        return;
    }
    let personal = Calendar {
        id: "personal".to_owned(),
        title: "Personal".to_owned(),
        notes: Some(format!("{name}, after hours")),
        colour: Some("#16a34a".to_owned()),
        alerts: vec![alert(30), Alert { via: AlertVia::Mail, lead_minutes: 1440 }],
        counts_as_busy: CountsAsBusy::WhenAttending,
        ..base.clone()
    };
    let holidays = Calendar {
        id: "holidays".to_owned(),
        title: "Holidays".to_owned(),
        colour: Some("#dc2626".to_owned()),
        mine: false,
        access: Access::Viewer,
        locked: true,
        counts_as_busy: CountsAsBusy::Nothing,
        video_services: Vec::new(),
        ..base
    };
    state.put_head::<Event>(mail, personal);
    state.put_head::<Event>(mail, holidays);
}

/// The account's own events, and with them the invitations of the others.
fn fill(state: &mut State, mail: &str, now_ms: i64) {
    let Some(person) = PEOPLE.iter().find(|p| p.mail == mail) else { return };
    let zone = stored_zone(person.zone);
    let today = local(now_ms, &zone).date();
    let monday = shift(today, -i64::from(today.weekday().to_monday_zero_offset()));
    let maker = EventMaker { person, zone, monday, now_ms };
    for plan in PLAN.iter().filter(|p| p.who == mail) {
        let event = maker.planned(plan);
        store(state, mail, plan.calendar, now_ms, event);
    }
    for (number, single) in SINGLES.iter().enumerate() {
        let event = maker.single(single, number);
        store(state, mail, single.calendar, now_ms, event);
    }
    for (number, (month, day, title)) in HOLIDAYS.iter().enumerate() {
        for year in [today.year(), today.year().saturating_add(1)] {
            let Ok(date) = Date::new(year, *month, *day) else { continue };
            let mut event = maker.all_day(&format!("holiday-{year}-{number}"), title, date, 1);
            event.availability = crate::calendar::types::Availability::Free;
            event.host = None;
            store(state, mail, "holidays", now_ms, event);
        }
    }
}

/// Makes one person's events.
struct EventMaker {
    person: &'static Colleague,
    zone: TimeZone,
    monday: Date,
    now_ms: i64,
}

impl EventMaker {
    fn bare(&self, id: &str, title: &str) -> Event {
        let me = Person { mail: Some(self.person.mail.to_owned()), label: Some(self.person.name.to_owned()) };
        let now = instant(self.now_ms);
        let name = self.person.mail.split('@').next().unwrap_or_default();
        Event {
            id: format!("{name}-{id}"),
            uid: format!("{name}-{id}@sandbox.test"),
            subject: Some(title.to_owned()),
            host: Some(me.clone()),
            author: Some(me),
            created_at: now.clone(),
            updated_at: now,
            ..Event::default()
        }
    }

    fn all_day(&self, id: &str, title: &str, first: Date, days: i64) -> Event {
        let of = |date: Date| Moment { day: Some(date.to_string()), ..Moment::default() };
        Event { when: When { from: of(first), to: of(shift(first, days)) }, ..self.bare(id, title) }
    }

    fn timed(&self, id: &str, title: &str, date: Date, at: (i8, i8), minutes: i64) -> Event {
        let start = date.at(at.0, at.1, 0, 0);
        let end = start.checked_add(jiff::Span::new().minutes(minutes)).unwrap_or(start);
        let of = |time: jiff::civil::DateTime| Moment {
            time: Some(time.strftime("%Y-%m-%dT%H:%M:%S").to_string()),
            zone: Some(self.person.zone.to_owned()),
            day: None,
        };
        let when = When { from: of(start), to: of(end) };
        let when = when.normalised(self.person.zone).unwrap_or(when);
        Event { when, ..self.bare(id, title) }
    }

    fn single(&self, single: &Single, number: usize) -> Event {
        let date = shift(self.monday, single.day);
        self.timed(&format!("single-{number}"), single.title, date, single.at, single.minutes)
    }

    fn planned(&self, plan: &EventPlan) -> Event {
        let date = shift(self.monday, plan.day);
        let mut event = match plan.at {
            Some(at) => self.timed(plan.id, plan.title, date, at, plan.length),
            None => self.all_day(plan.id, plan.title, date, plan.length),
        };
        event.body = EventBody { text: plan.text.map(str::to_owned), html: None };
        event.place = plan.place.map(str::to_owned);
        event.repeat = plan.repeat.iter().map(|line| (*line).to_owned()).collect();
        event.guests = plan.guests.iter().map(|mail| self.guest(mail)).collect();
        if plan.has_video {
            event.video = Some(Video::default());
        }
        (event.state, event.availability, event.privacy, event.category) = plan.kind;
        if plan.is_moved_once {
            self.move_once(&mut event);
        }
        finish(&mut event);
        event
    }

    fn guest(&self, mail: &str) -> Guest {
        let label = PEOPLE.iter().find(|p| p.mail == mail).map(|p| p.name.to_owned());
        Guest { mail: mail.to_owned(), label, ..Guest::default() }
    }

    /// This week's Wednesday instance begins an hour later.
    fn move_once(&self, event: &mut Event) {
        let wednesday = shift(self.monday, 2);
        let time = event.when.local_start(&self.zone).split_off(10);
        let original = format!("{wednesday}{time}");
        let Ok(start) = original.parse::<jiff::civil::DateTime>() else { return };
        let later = start.checked_add(jiff::Span::new().hours(1)).unwrap_or(start);
        let moved = Event {
            when: event.when.moved_to(later, &self.zone),
            subject: event.subject.as_ref().map(|s| format!("{s} (an hour later today)")),
            repeat: Vec::new(),
            ..event.clone()
        };
        event.overrides.insert(original, moved);
    }
}
