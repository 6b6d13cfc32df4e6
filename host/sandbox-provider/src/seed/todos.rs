//! The task lists that an account begins with. Days count from the day on which the account is made.

use std::sync::Arc;

use jiff::civil::Date;

use crate::seed::colleagues::PEOPLE;
use crate::state::State;
use crate::tasks::types::{
    About, Due, Importance, Link, List, Markup, Step, Todo, TodoBody, TodoPerson, TodoState,
};
use crate::times::{instant, local, shift, stored_zone};

const MAIN: &str = "tasks";
const PERSONAL: &str = "personal";
const DAY_MS: i64 = 24 * 3_600_000;

/// One todo of the table.
struct TodoPlan {
    list: &'static str,
    id: &'static str,
    title: &'static str,
    parent: Option<&'static str>,
    due: Option<i64>,
    clock: Option<&'static str>,
    state: TodoState,
    importance: Option<Importance>,
    repeat: &'static [&'static str],
    steps: &'static [&'static str],
    tags: &'static [&'static str],
}

const fn plan(list: &'static str, id: &'static str, title: &'static str) -> TodoPlan {
    TodoPlan {
        list,
        id,
        title,
        parent: None,
        due: None,
        clock: None,
        state: TodoState::Open,
        importance: None,
        repeat: &[],
        steps: &[],
        tags: &[],
    }
}

const fn due(day: i64, plan: TodoPlan) -> TodoPlan {
    TodoPlan { due: Some(day), ..plan }
}

const fn is(state: TodoState, plan: TodoPlan) -> TodoPlan {
    TodoPlan { state, ..plan }
}

const fn below(parent: &'static str, plan: TodoPlan) -> TodoPlan {
    TodoPlan { parent: Some(parent), ..plan }
}

const fn rated(importance: Importance, plan: TodoPlan) -> TodoPlan {
    TodoPlan { importance: Some(importance), ..plan }
}

const fn every(repeat: &'static [&'static str], plan: TodoPlan) -> TodoPlan {
    TodoPlan { repeat, ..plan }
}

const fn at(clock: &'static str, plan: TodoPlan) -> TodoPlan {
    TodoPlan { clock: Some(clock), ..plan }
}

const fn with_steps(steps: &'static [&'static str], plan: TodoPlan) -> TodoPlan {
    TodoPlan { steps, ..plan }
}

const fn tagged(tags: &'static [&'static str], plan: TodoPlan) -> TodoPlan {
    TodoPlan { tags, ..plan }
}

const DRAFT_STEPS: &[&str] = &["Collect the figures", "Ask Dana for a quote", "Proofread"];

/// Parents are before their children.
const PLANS: &[TodoPlan] = &[
    rated(
        Importance::Major,
        due(1, with_steps(DRAFT_STEPS, plan(MAIN, "launch-plan", "Write the launch plan"))),
    ),
    below("launch-plan", due(0, is(TodoState::Done, plan(MAIN, "launch-scope", "Agree on the scope")))),
    below("launch-plan", due(1, is(TodoState::Started, plan(MAIN, "launch-risks", "List the risks")))),
    below("launch-risks", plan(MAIN, "launch-legal", "Ask Erik about the licence")),
    below("launch-plan", due(6, plan(MAIN, "launch-date", "Fix the date with Carol"))),
    rated(Importance::Major, due(-3, plan(MAIN, "invoice", "Pay the invoice of Müller & Söhne"))),
    due(-1, at("17:00", plan(MAIN, "answer-dana", "Answer Dana"))),
    due(0, at("09:30", is(TodoState::Done, plan(MAIN, "standup-notes", "Send the stand-up notes")))),
    every(
        &["RRULE:FREQ=WEEKLY;BYDAY=FR"],
        due(4, at("16:00", plan(MAIN, "timesheet", "Fill in the timesheet"))),
    ),
    every(&["RRULE:FREQ=MONTHLY;BYMONTHDAY=1"], due(12, plan(MAIN, "report", "Monthly report"))),
    is(TodoState::Blocked, tagged(&["hiring"], plan(MAIN, "contract", "Contract for the new designer"))),
    is(TodoState::Later, plan(MAIN, "archive", "Archive last year's documents")),
    is(TodoState::Dropped, plan(MAIN, "old-site", "Repair the old web site")),
    rated(Importance::Minor, tagged(&["reading"], plan(MAIN, "read-spec", "Read the specification"))),
    is(
        TodoState::Started,
        due(9, tagged(&["hiring", "team"], plan(MAIN, "interviews", "Prepare the interviews"))),
    ),
    due(30, plan(MAIN, "offsite", "Book the off-site")),
    plan(MAIN, "ideas", "Collect ideas for the 春 campaign"),
    due(0, plan(PERSONAL, "groceries", "Groceries")),
    with_steps(&["Passport", "Charger", "Umbrella"], due(3, plan(PERSONAL, "pack", "Pack for the trip"))),
    every(&["RRULE:FREQ=DAILY;INTERVAL=3"], due(1, plan(PERSONAL, "plants", "Water the plants"))),
    every(&["RRULE:FREQ=YEARLY"], due(40, plan(PERSONAL, "birthday", "Buy a present for Zoë"))),
    due(-14, rated(Importance::Major, plan(PERSONAL, "tax", "Tax return"))),
    is(TodoState::Done, due(-7, plan(PERSONAL, "dentist", "Call Maple Dental"))),
    is(TodoState::Done, due(-2, plan(PERSONAL, "bike", "Repair the bike"))),
    plan(PERSONAL, "learn", "Learn to juggle"),
];

/// The lists, empty: the main one, and for the three a second one.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let now = instant(now_ms);
    let main = List {
        id: MAIN.to_owned(),
        title: "Tasks".to_owned(),
        main: true,
        mine: true,
        created_at: now.clone(),
        updated_at: now,
        ..List::default()
    };
    let personal = List {
        id: PERSONAL.to_owned(),
        title: "Personal".to_owned(),
        colour: Some("#16a34a".to_owned()),
        main: false,
        rank: 1,
        ..main.clone()
    };
    state.put_head::<Todo>(mail, main);
    if PEOPLE.iter().any(|person| person.mail == mail) {
        state.put_head::<Todo>(mail, personal);
    }
}

/// Fills the task lists of the three.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    let Some(person) = PEOPLE.iter().find(|person| person.mail == mail) else { return };
    let today = local(now_ms, &stored_zone(person.zone)).date();
    for (number, plan) in PLANS.iter().enumerate() {
        let mut todo = build_todo(plan, number, person.zone, today, now_ms);
        adorn(&mut todo, now_ms);
        state.put(mail, plan.list, now_ms, Arc::new(todo));
    }
}

fn build_todo(plan: &TodoPlan, number: usize, zone: &str, today: Date, now_ms: i64) -> Todo {
    let text = |text: &str| Some(text.to_owned());
    let made = instant(now_ms - 20 * DAY_MS);
    let is_done = plan.state == TodoState::Done;
    let done_ms = now_ms + plan.due.unwrap_or_default().min(0) * DAY_MS - 3_600_000;
    let step = |(number, title): (usize, &&str)| Step {
        id: format!("step-{}", number + 1),
        title: (*title).to_owned(),
        done: number == 0,
        done_at: (number == 0).then(|| instant(now_ms - DAY_MS)),
        position: Some(format!("{number:03}")),
        created_at: made.clone(),
    };
    Todo {
        id: plan.id.to_owned(),
        parent: plan.parent.map(str::to_owned),
        title: plan.title.to_owned(),
        state: plan.state,
        importance: plan.importance,
        percent: match plan.state {
            TodoState::Started => Some(40),
            TodoState::Done => Some(100),
            _ => None,
        },
        due: Due {
            day: plan.due.map(|days| shift(today, days).to_string()),
            clock: plan.clock.and_then(text),
            zone: plan.clock.and_then(|_| text(zone)),
        },
        done_at: is_done.then(|| instant(done_ms)),
        repeat: plan.repeat.iter().map(|line| (*line).to_owned()).collect(),
        tags: plan.tags.iter().map(|tag| (*tag).to_owned()).collect(),
        position: Some(format!("{number:03}")),
        steps: plan.steps.iter().enumerate().map(step).collect(),
        created_at: made.clone(),
        updated_at: instant(now_ms),
        ..Todo::default()
    }
}

/// Adds the details that only some todos have.
fn adorn(todo: &mut Todo, now_ms: i64) {
    let text = |text: &str| Some(text.to_owned());
    let link = Link { id: "link-1".to_owned(), created_at: instant(now_ms - DAY_MS), ..Link::default() };
    match todo.id.as_str() {
        "launch-plan" => {
            todo.body = TodoBody { text: text("<p>With <b>Bob</b></p>"), markup: Markup::Html };
            todo.people = vec![TodoPerson { mail: text("bob@sandbox.test"), label: text("Bob Carter") }];
            todo.has_files = true;
            todo.start_day = todo.due.day.clone();
            todo.links = vec![Link {
                url: text("https://wiki.sandbox.test/launch"),
                label: text("The wiki's page"),
                app: text("Wiki"),
                ..link
            }];
        }
        "answer-dana" => {
            todo.alarm_at = Some(instant(now_ms + 2 * 3_600_000));
            todo.links = vec![Link {
                about: About::Mail,
                label: text("Re: Prices"),
                app: text("Mail"),
                foreign_id: text("<prices-7@customer.example>"),
                ..link
            }];
        }
        "groceries" => todo.body = TodoBody { text: text("milk, bread, Öl"), markup: Markup::Plain },
        _ => {}
    }
}
