//! Each rule by an example.

use scheduling::interval::Interval;
use scheduling::oracle::{Oracle, Refusal};
use scheduling::rules::{Assignment, BookedMeeting, LimitKind, Limits, Question, Role, Strategy, Window};

use crate::support::{
    EVERY_DAY, MINUTE, all, busy, exception, format_starts, host, interval, monday, ms, plan, question,
    reserved, rotation, schedule, starts, taken,
};

fn at(question: &Question, start: &str) -> Result<(), Refusal> {
    Oracle::new(question).at(ms(start)).map(|_| ())
}

#[test]
fn the_grid_begins_with_the_window() {
    let range = ("2026-07-05T18:15:00Z", "2026-07-06T18:15:00Z");
    let mut question = question("Asia/Kathmandu", ("09:00", "12:00"), range, 60);
    assert_eq!(starts(&question)[0], ms("2026-07-06T03:15:00Z"));
    assert_eq!(format_starts(&question), ["06 09:00", "06 10:00", "06 11:00"]);
    question.rules.offset_ms = 15 * MINUTE;
    question.range.start = ms("2026-07-06T03:47:12.345Z");
    busy(&mut question.hosts[0], &[interval("2026-07-06T03:50:00Z", "2026-07-06T03:55:00Z")]);
    assert_eq!(
        format_starts(&question),
        ["06 10:15"],
        "neither the range nor a busy time moves it; 11:15 is too long"
    );
}

#[test]
fn each_local_date_is_resolved_by_itself() {
    let night = |range| format_starts(&question("Europe/Berlin", ("01:30", "03:30"), range, 30));
    let spring = night(("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"));
    assert_eq!(spring, ["29 01:30", "29 03:00"]);
    let autumn = night(("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"));
    assert_eq!(autumn, ["25 01:30", "25 02:00", "25 02:30", "25 02:00", "25 02:30", "25 03:00"]);
}

#[test]
fn past_midnight_belongs_to_the_date_on_which_it_begins() {
    let mut friday =
        question("UTC", ("22:00", "02:00"), ("2026-07-03T00:00:00Z", "2026-07-05T00:00:00Z"), 60);
    friday.rules.plan = Some(plan(&schedule("UTC", &[5], &[("22:00", "02:00")])));
    assert_eq!(format_starts(&friday), ["03 22:00", "03 23:00", "04 00:00", "04 01:00"]);
    let mut closed = schedule("UTC", &EVERY_DAY, &[("22:00", "02:00")]);
    closed.overrides = vec![exception("2026-07-04", &[])];
    friday.rules.plan = Some(plan(&closed));
    friday.range.start = ms("2026-07-03T12:00:00Z");
    friday.range.end = ms("2026-07-05T12:00:00Z");
    assert_eq!(
        format_starts(&friday),
        ["03 22:00", "03 23:00", "04 00:00", "04 01:00"],
        "the 3rd's night stays"
    );
}

#[test]
fn a_meeting_with_its_buffers_touches_no_busy_time() {
    let mut question = monday(("09:00", "13:00"), 30);
    busy(&mut question.hosts[0], &[interval("2026-07-06T10:30:00Z", "2026-07-06T11:00:00Z")]);
    question.rules.buffer_before_ms = 15 * MINUTE;
    question.rules.buffer_after_ms = 30 * MINUTE;
    assert_eq!(format_starts(&question), ["06 09:00", "06 09:30", "06 11:30", "06 12:00", "06 12:30"]);
    assert_eq!(at(&question, "2026-07-06T10:00:00Z"), Err(Refusal::Taken));
}

#[test]
fn buffers_overlap_and_meetings_do_not() {
    // A meeting from 10:00 to 10:30 with 15 minutes after it; another would have 15 before it.
    let mut question = monday(("10:31", "13:00"), 15);
    question.rules.step_ms = 7 * MINUTE;
    question.rules.buffer_before_ms = 15 * MINUTE;
    let core = interval("2026-07-06T10:00:00Z", "2026-07-06T10:30:00Z");
    question.hosts[0].reserved = vec![reserved("m", core, 0, 15)];
    assert_eq!(format_starts(&question)[0], "06 10:45", "a gap of 15 minutes");
    assert_eq!(at(&question, "2026-07-06T10:38:00Z"), Err(Refusal::Taken));
    question.rules.offset_ms = 6 * MINUTE;
    assert_eq!(at(&question, "2026-07-06T10:44:00Z"), Err(Refusal::Taken), "a gap of 14");
}

#[test]
fn the_notice_is_an_instant() {
    let mut question = monday(("09:00", "14:00"), 30);
    question.now_ms = ms("2026-07-06T10:00:00.001Z");
    question.rules.notice_ms = 120 * MINUTE;
    assert_eq!(at(&question, "2026-07-06T12:00:00Z"), Err(Refusal::TooSoon));
    assert_eq!(format_starts(&question), ["06 12:30", "06 13:00", "06 13:30"]);
    question.now_ms -= 1;
    assert_eq!(format_starts(&question)[0], "06 12:00");
}

#[test]
fn the_booking_window_is_of_local_dates() {
    let range = ("2026-07-03T00:00:00Z", "2026-07-10T00:00:00Z");
    let mut question = question("UTC", ("09:00", "10:00"), range, 60);
    question.now_ms = ms("2026-07-03T08:00:00Z");
    question.rules.window = Window::Rolling { days: 1, business_days: false };
    assert_eq!(format_starts(&question), ["03 09:00", "04 09:00"]);
    question.rules.window = Window::Rolling { days: 1, business_days: true };
    assert_eq!(
        format_starts(&question).last().unwrap(),
        "06 09:00",
        "from Friday one business day is Monday"
    );
    assert_eq!(at(&question, "2026-07-07T09:00:00Z"), Err(Refusal::OutsideWindow));
    let day = |text: &str| text.parse().ok();
    question.rules.window = Window::Range { first: day("2026-07-05"), last: day("2026-07-06") };
    assert_eq!(format_starts(&question), ["05 09:00", "06 09:00"]);
}

#[test]
fn a_full_period_offers_nothing() {
    let range = ("2026-07-06T00:00:00Z", "2026-07-14T00:00:00Z");
    let mut question = question("UTC", ("09:00", "10:00"), range, 60);
    let on = |day: i64| {
        let start = ms("2026-07-06T09:00:00Z") + day * 24 * 60 * MINUTE;
        Interval::new(start, start + 60 * MINUTE)
    };
    for (day, meeting) in [(0, "m0"), (1, "m1")] {
        question.meetings.push(taken(meeting, on(day)));
        question.hosts[0].reserved.push(reserved(meeting, on(day), 0, 0));
    }
    question.rules.limits = Limits { per_week: Some(2), ..Limits::default() };
    assert_eq!(format_starts(&question), ["13 09:00"], "Wednesday to Sunday vanish");
    assert_eq!(at(&question, "2026-07-08T09:00:00Z"), Err(Refusal::LimitReached(LimitKind::PerWeek)));
    question.moved = Some("m1".into());
    assert_eq!(format_starts(&question).len(), 7, "the one that is moved counts nowhere");
    question.rules.limits = Limits { minutes_per_day: Some(90), ..Limits::default() };
    question.moved = None;
    question.rules.plan = Some(plan(&schedule("UTC", &EVERY_DAY, &[("09:00", "11:00")])));
    assert_eq!(at(&question, "2026-07-06T10:00:00Z"), Err(Refusal::LimitReached(LimitKind::MinutesPerDay)));
    assert_eq!(at(&question, "2026-07-08T10:00:00Z"), Ok(()));
}

#[test]
fn an_invitee_has_so_many_bookings_ahead() {
    let mut question = monday(("09:00", "10:00"), 60);
    question.rules.limits.active_per_invitee = Some(1);
    assert_eq!(at(&question, "2026-07-06T09:00:00Z"), Ok(()), "nobody is booking");
    question.invitee_active = Some(0);
    assert_eq!(at(&question, "2026-07-06T09:00:00Z"), Ok(()));
    question.invitee_active = Some(1);
    let refused = Err(Refusal::LimitReached(LimitKind::ActivePerInvitee));
    assert_eq!(at(&question, "2026-07-06T09:00:00Z"), refused);
}

#[test]
fn seats_fill_one_meeting_and_then_end() {
    let mut question = monday(("09:00", "10:00"), 60);
    question.rules.seats = 5;
    question.rules.limits.per_day = Some(1);
    assert_eq!(all(&question)[0].seats_left, 5);
    let core = interval("2026-07-06T09:00:00Z", "2026-07-06T10:00:00Z");
    question.hosts[0].reserved = vec![reserved("m", core, 0, 0)];
    for seats_taken in 1..5 {
        question.meetings = vec![BookedMeeting { seats: 5, seats_taken, ..taken("m", core) }];
        let found = all(&question);
        assert_eq!((found[0].seats_left, found[0].joins.as_deref()), (5 - seats_taken, Some("m")));
        assert_eq!(found[0].hosts, [0]);
    }
    question.meetings[0].seats_taken = 5;
    assert!(all(&question).is_empty());
}

#[test]
fn a_free_seat_is_offered_before_a_new_host() {
    let mut question = monday(("09:00", "10:00"), 60);
    question.rules.seats = 2;
    question.rules.assignment = Assignment::RoundRobin;
    question.hosts = vec![rotation("a"), rotation("b")];
    let core = interval("2026-07-06T09:00:00Z", "2026-07-06T10:00:00Z");
    question.hosts[0].reserved = vec![reserved("m", core, 0, 0)];
    question.meetings = vec![BookedMeeting { seats: 2, ..taken("m", core) }];
    assert_eq!(all(&question)[0].joins.as_deref(), Some("m"));
    question.only_hosts = Some(vec!["b".into()]);
    assert_eq!((all(&question)[0].joins.as_deref(), all(&question)[0].hosts.as_slice()), (None, &[1][..]));
    question.only_hosts = None;
    question.meetings[0].seats_taken = 2;
    assert_eq!((all(&question)[0].joins.as_deref(), all(&question)[0].hosts.as_slice()), (None, &[1][..]));
}

#[test]
fn a_collective_meets_only_when_all_can() {
    let mut question = monday(("09:00", "12:00"), 60);
    question.rules.assignment = Assignment::Collective;
    question.hosts = vec![host("a"), rotation("b"), host("c")];
    question.hosts[2].role = Role::Optional;
    busy(&mut question.hosts[1], &[interval("2026-07-06T10:00:00Z", "2026-07-06T10:30:00Z")]);
    question.hosts[2].busy = None;
    assert_eq!(format_starts(&question), ["06 09:00", "06 11:00"]);
    assert_eq!(all(&question)[0].hosts, [0, 1], "the optional host is never in the way");
    question.hosts.truncate(0);
    assert!(all(&question).is_empty(), "where nobody is needed, nobody is free");
}

#[test]
fn hosts_in_two_zones_meet_on_either_grid() {
    let range = ("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z");
    let mut question = question("Europe/London", ("09:00", "17:00"), range, 60);
    question.hosts.push(host("b"));
    question.hosts[1].plan = Some(plan(&schedule("Asia/Kathmandu", &EVERY_DAY, &[("09:00", "17:00")])));
    assert_eq!(format_starts(&question), ["05 09:00", "05 09:15", "05 10:00", "05 10:15"]);
}

#[test]
fn a_rotation_needs_all_required_hosts_and_one_of_its_own() {
    let mut question = monday(("09:00", "11:00"), 60);
    question.rules.assignment = Assignment::RoundRobin;
    question.hosts = vec![host("a"), rotation("b"), rotation("c")];
    let nine = interval("2026-07-06T09:00:00Z", "2026-07-06T10:00:00Z");
    busy(&mut question.hosts[1], &[nine]);
    assert_eq!(all(&question)[0].hosts, [0, 2]);
    assert_eq!(all(&question)[1].hosts, [0, 1, 2]);
    busy(&mut question.hosts[0], &[nine]);
    assert_eq!(format_starts(&question), ["06 10:00"], "the required host is busy, however free the rest");
    question.hosts.truncate(1);
    assert!(all(&question).is_empty(), "nobody is in the rotation");
}

#[test]
fn who_has_no_weight_is_never_chosen() {
    let mut question = monday(("09:00", "10:00"), 60);
    question.rules.assignment = Assignment::RoundRobin;
    question.rules.strategy = Strategy::Weighted;
    question.hosts = vec![rotation("a")];
    question.hosts[0].weight = 0;
    assert!(all(&question).is_empty());
}

#[test]
fn who_could_not_be_asked_is_not_free_unless_that_was_wanted() {
    let mut question = monday(("09:00", "11:00"), 60);
    question.hosts[0].busy = None;
    let ten = interval("2026-07-06T10:00:00Z", "2026-07-06T11:00:00Z");
    question.hosts[0].reserved = vec![reserved("m", ten, 0, 0)];
    assert!(all(&question).is_empty());
    assert_eq!(at(&question, "2026-07-06T09:00:00Z"), Err(Refusal::Unknown(vec!["a".into()])));
    assert_eq!(at(&question, "2026-07-06T10:00:00Z"), Err(Refusal::Taken), "that much is known");
    question.rules.unknown_is_free = true;
    assert_eq!(format_starts(&question), ["06 09:00"], "reservations still count");
}

#[test]
fn a_meeting_that_is_moved_is_not_in_its_own_way() {
    let mut question = monday(("09:00", "11:00"), 60);
    question.rules.step_ms = 15 * MINUTE;
    let core = interval("2026-07-06T09:30:00Z", "2026-07-06T10:30:00Z");
    question.hosts[0].reserved = vec![reserved("m", core, 15, 15)];
    question.meetings = vec![taken("m", core)];
    assert!(all(&question).is_empty());
    question.moved = Some("m".into());
    assert_eq!(format_starts(&question), ["06 09:00", "06 09:15", "06 09:30", "06 09:45", "06 10:00"]);
}

#[test]
fn a_start_that_was_not_offered_is_refused_for_what_is_wrong_with_it() {
    let question = monday(("09:00", "10:30"), 60);
    assert_eq!(at(&question, "2026-07-06T09:10:00Z"), Err(Refusal::OffGrid));
    assert_eq!(at(&question, "2026-07-06T09:00:00.001Z"), Err(Refusal::OffGrid));
    assert_eq!(at(&question, "2026-07-06T08:00:00Z"), Err(Refusal::Closed));
    assert_eq!(at(&question, "2026-07-06T10:00:00Z"), Err(Refusal::Closed), "it would end after the window");
    assert_eq!(at(&question, "2026-07-08T09:00:00Z"), Err(Refusal::OutsideWindow), "beyond the question");
}

#[test]
fn slots_come_in_pages() {
    let question = monday(("09:00", "17:00"), 60);
    let oracle = Oracle::new(&question);
    let first = oracle.slots(i64::MIN, 3);
    let second = oracle.slots(first[2].at.start + 1, 100);
    assert_eq!((first.len(), second.len()), (3, 5));
    assert_eq!(second[0].at.start, first[2].at.end);
    assert!(oracle.slots(i64::MAX, 3).is_empty() && oracle.slots(i64::MIN, 0).is_empty());
}
