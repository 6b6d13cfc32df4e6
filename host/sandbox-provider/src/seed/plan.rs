//! The seeded events as tables. Days count from the Monday of the week in which the account is made; times are local.

use crate::calendar::types::{Availability, Category, EventState, Privacy};

/// State, availability, privacy, category.
type EventTraits = (EventState, Availability, Privacy, Category);

const NORMAL: EventTraits = (EventState::Fixed, Availability::Busy, Privacy::Inherit, Category::Regular);
const FREE: EventTraits = (EventState::Fixed, Availability::Free, Privacy::Inherit, Category::Regular);
const PRIVATE: EventTraits = (EventState::Fixed, Availability::Busy, Privacy::Private, Category::Regular);
const DRAFT: EventTraits = (EventState::Draft, Availability::Maybe, Privacy::Inherit, Category::Regular);
const CALLED_OFF: EventTraits =
    (EventState::CalledOff, Availability::Busy, Privacy::Inherit, Category::Regular);
const AWAY: EventTraits = (EventState::Fixed, Availability::Away, Privacy::Open, Category::Away);
const FOCUS: EventTraits = (EventState::Fixed, Availability::Busy, Privacy::Inherit, Category::Focus);
const WORKPLACE: EventTraits =
    (EventState::Fixed, Availability::Elsewhere, Privacy::Open, Category::Workplace);

/// One planned event or series of one person.
pub struct EventPlan {
    pub who: &'static str,
    pub calendar: &'static str,
    pub id: &'static str,
    pub title: &'static str,
    pub day: i64,
    /// Hour and minute; none: all-day.
    pub at: Option<(i8, i8)>,
    /// Minutes, or days.
    pub length: i64,
    pub repeat: &'static [&'static str],
    pub guests: &'static [&'static str],
    pub place: Option<&'static str>,
    pub text: Option<&'static str>,
    pub has_video: bool,
    pub kind: EventTraits,
    /// A weekly series: this week's Wednesday begins an hour later.
    pub is_moved_once: bool,
}

const ALICE: &str = "alice@sandbox.test";
const BOB: &str = "bob@sandbox.test";
const CAROL: &str = "carol@sandbox.test";
const EXTERNAL: &str = "dana@customer.example";

const BASE: EventPlan = EventPlan {
    who: ALICE,
    calendar: "work",
    id: "",
    title: "",
    day: 0,
    at: None,
    length: 30,
    repeat: &[],
    guests: &[],
    place: None,
    text: None,
    has_video: false,
    kind: NORMAL,
    is_moved_once: false,
};

/// The events that each of the three hosts.
pub const PLAN: &[EventPlan] = &[
    EventPlan {
        id: "standup",
        title: "Stand-up",
        day: -56,
        at: Some((9, 15)),
        length: 15,
        repeat: &["RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
        guests: &[ALICE, CAROL, "accepts@sandbox.test"],
        text: Some("What happened, what is next, what is in the way."),
        has_video: true,
        is_moved_once: true,
        ..BASE
    },
    EventPlan {
        id: "one-to-one",
        title: "Alice / Bob",
        day: -25,
        at: Some((15, 0)),
        repeat: &["RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TH"],
        guests: &[ALICE, BOB],
        has_video: true,
        ..BASE
    },
    EventPlan {
        id: "review",
        title: "Monthly review",
        day: -60,
        at: Some((16, 0)),
        length: 60,
        repeat: &["RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=12"],
        guests: &[ALICE, BOB, CAROL],
        place: Some("Room Spree, 3rd floor"),
        ..BASE
    },
    EventPlan {
        id: "offsite",
        title: "Quarterly offsite",
        day: 16,
        length: 2,
        place: Some("Potsdam"),
        kind: WORKPLACE,
        ..BASE
    },
    EventPlan { id: "vacation", title: "Vacation", day: 28, length: 5, kind: AWAY, ..BASE },
    EventPlan {
        id: "focus",
        title: "Focus time",
        day: 1,
        at: Some((13, 0)),
        length: 120,
        kind: FOCUS,
        ..BASE
    },
    EventPlan {
        id: "customer",
        title: "Customer call: renewal",
        day: 3,
        at: Some((11, 0)),
        length: 45,
        guests: &[ALICE, EXTERNAL, "hesitates@sandbox.test"],
        has_video: true,
        ..BASE
    },
    EventPlan {
        id: "maybe",
        title: "Panel discussion?",
        day: 8,
        at: Some((18, 0)),
        length: 90,
        kind: DRAFT,
        ..BASE
    },
    EventPlan {
        id: "cancelled",
        title: "Vendor demo",
        day: 4,
        at: Some((14, 0)),
        guests: &[ALICE, "declines@sandbox.test"],
        kind: CALLED_OFF,
        ..BASE
    },
    EventPlan {
        calendar: "personal",
        id: "gym",
        title: "Gym",
        day: -14,
        at: Some((18, 30)),
        length: 60,
        repeat: &["RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=30"],
        ..BASE
    },
    EventPlan {
        calendar: "personal",
        id: "birthday",
        title: "Mum's birthday",
        day: 11,
        length: 1,
        repeat: &["RRULE:FREQ=YEARLY"],
        kind: FREE,
        ..BASE
    },
    EventPlan {
        calendar: "personal",
        id: "dentist",
        title: "Dentist",
        day: 2,
        at: Some((8, 0)),
        kind: PRIVATE,
        ..BASE
    },
    EventPlan {
        who: BOB,
        id: "sync",
        title: "Design sync",
        day: -35,
        at: Some((10, 0)),
        repeat: &["RRULE:FREQ=WEEKLY;BYDAY=TU"],
        guests: &[BOB, ALICE, CAROL],
        has_video: true,
        ..BASE
    },
    EventPlan {
        who: BOB,
        id: "travel",
        title: "In the Berlin office",
        day: 14,
        length: 3,
        kind: WORKPLACE,
        ..BASE
    },
    EventPlan {
        who: BOB,
        calendar: "personal",
        id: "school",
        title: "School run",
        day: -28,
        at: Some((8, 0)),
        repeat: &["RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"],
        ..BASE
    },
    EventPlan {
        who: CAROL,
        id: "release",
        title: "Release train",
        day: -42,
        at: Some((17, 30)),
        length: 60,
        repeat: &["RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=WE"],
        guests: &[CAROL, ALICE, BOB],
        text: Some("Cut, test, ship. Minutes are in the shared folder."),
        ..BASE
    },
    EventPlan { who: CAROL, id: "on-call", title: "On call", day: 7, length: 7, kind: FREE, ..BASE },
    EventPlan {
        who: CAROL,
        calendar: "personal",
        id: "yoga",
        title: "Yoga",
        day: -20,
        at: Some((6, 30)),
        length: 45,
        repeat: &["RRULE:FREQ=DAILY;INTERVAL=2"],
        ..BASE
    },
];

/// An event that each of the three has.
pub struct Single {
    pub calendar: &'static str,
    pub title: &'static str,
    pub day: i64,
    pub at: (i8, i8),
    pub minutes: i64,
}

const fn work(title: &'static str, day: i64, at: (i8, i8), minutes: i64) -> Single {
    Single { calendar: "work", title, day, at, minutes }
}

const fn personal(title: &'static str, day: i64, at: (i8, i8), minutes: i64) -> Single {
    Single { calendar: "personal", title, day, at, minutes }
}

/// The ordinary weeks.
pub const SINGLES: &[Single] = &[
    work("Retrospective", -11, (14, 0), 60),
    work("Interview: backend engineer", -10, (11, 0), 60),
    work("Roadmap draft", -9, (9, 30), 90),
    work("Incident follow-up", -7, (10, 0), 30),
    work("Budget check", -6, (13, 30), 45),
    work("Interview: product designer", -5, (15, 0), 60),
    work("Lunch with the new colleague", -4, (12, 0), 60),
    work("Sprint planning", 0, (10, 0), 90),
    work("Prepare the board slides", 0, (14, 0), 120),
    work("Security training", 1, (11, 0), 60),
    work("API review", 2, (10, 30), 60),
    work("Data protection questions", 2, (15, 0), 30),
    work("Interview: data analyst", 3, (13, 0), 60),
    work("Demo rehearsal", 3, (16, 30), 30),
    work("Demo day", 4, (10, 0), 120),
    work("Expenses", 4, (16, 0), 30),
    work("Sprint planning", 14, (10, 0), 90),
    work("Partner meeting", 7, (11, 0), 60),
    work("Usability test", 8, (9, 0), 180),
    work("Hiring committee", 9, (14, 0), 60),
    work("Architecture forum", 10, (15, 30), 60),
    work("Salary talk", 11, (10, 0), 45),
    work("Load test", 15, (20, 0), 240),
    work("Press briefing", 17, (9, 30), 30),
    personal("Cinema", -8, (20, 0), 150),
    personal("Haircut", -3, (17, 0), 45),
    personal("Dinner with friends", 5, (19, 30), 180),
    personal("Long run", 6, (9, 0), 100),
    personal("Parents' evening", 9, (19, 0), 90),
    personal("Concert", 12, (20, 30), 150),
    personal("Flat viewing", 13, (10, 0), 30),
    personal("Car inspection", 18, (8, 30), 60),
];

/// Month, day, name: the same everywhere, for two years.
pub const HOLIDAYS: &[(i8, i8, &str)] = &[
    (1, 1, "New Year's Day"),
    (3, 8, "International Women's Day"),
    (5, 1, "Labour Day"),
    (6, 21, "Midsummer"),
    (10, 31, "Halloween"),
    (12, 24, "Christmas Eve"),
    (12, 25, "Christmas Day"),
    (12, 31, "New Year's Eve"),
];
