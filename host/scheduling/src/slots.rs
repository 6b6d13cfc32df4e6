//! Times at which people can meet: computes stretches and slots from open hours, busy times and the meeting's rules.

use crate::grid::{Grid, Points};
use crate::interval::{Interval, Intervals};

/// A search for meeting times. All times are milliseconds.
#[derive(Clone, Debug)]
pub struct Search {
    /// Periods in which a meeting must lie.
    pub periods: Intervals,
    pub duration_ms: i64,
    /// Distance between two points of the grid.
    pub step_ms: i64,
    /// Time kept free of busy times before and after the meeting; need not be open.
    pub buffer_before_ms: i64,
    pub buffer_after_ms: i64,
    /// The earliest start of a meeting: now plus the notice. An instant, so it does not move the grid.
    pub earliest_ms: i64,
    /// Grids of possible starts, sorted by the start of their stretch.
    pub grid: Vec<Grid>,
    pub groups: Vec<Group>,
    pub limit: usize,
}

/// People of whom `required` must be free.
#[derive(Clone, Debug)]
pub struct Group {
    pub members: Vec<Member>,
    pub required: usize,
}

#[derive(Clone, Debug)]
pub struct Member {
    /// The same id in two groups means the same person.
    pub id: String,
    /// The member's open hours; none: always open.
    pub open: Option<Intervals>,
    /// Busy times; none: unknown, so the member is never free.
    pub busy: Option<Intervals>,
}

/// A free time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    pub at: Interval,
    /// Ids of the members that are free the whole time, in the order of the groups, each once.
    pub members: Vec<String>,
}

/// The allowed overlap of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The first slot, then the first one after its end, and so on: no overlap.
    Apart,
    /// One at every point of the grid.
    Overlapping,
}

/// Returns the slots by time: each has the meeting's length, begins on the grid and lies in a stretch.
pub fn slots(search: &Search, layout: Layout) -> Vec<Time> {
    let free = free_of_groups(search);
    let points = Points::new(&search.grid, search.step_ms);
    let mut places = Places { search, stretches: longest(search, &free), first_stretch: 0, points };
    let mut out: Vec<Time> = Vec::new();
    let mut from = i64::MIN;
    while out.len() < search.limit {
        let Some(start) = places.next(from) else { break };
        let at = Interval::new(start, start + search.duration_ms);
        out.push(Time { at, members: throughout(search, &free, at) });
        from = if layout == Layout::Apart { at.end } else { start + 1 };
    }
    out
}

/// The longest times in which every group has enough members that are free throughout, at least a meeting long, by start.
// Contract silent: what a period is where not all members are required. It is a time that the same people can meet in as a
// whole, so two periods can overlap: one person until noon, and three persons until ten.
pub fn stretches(search: &Search) -> Vec<Time> {
    let free = free_of_groups(search);
    let found = longest(search, &free).into_iter().take(search.limit);
    found.map(|at| Time { at, members: throughout(search, &free, at) }).collect()
}

/// Returns the turn order of members of groups that need only some of theirs: the least busy in the periods first, equals by id. None if no
/// group has a choice.
// Contract silent: the order of a round robin. Least loaded first, then by id, which is the same for equal questions. A member
// whose calendars cannot be read is left out: it is unknown whether that member has time.
pub fn order(search: &Search) -> Option<Vec<String>> {
    let mut loads: Vec<(i64, &str)> = Vec::new();
    let mut has_choice = false;
    for group in search.groups.iter().filter(|g| g.required < g.members.len()) {
        has_choice = true;
        for member in &group.members {
            if let Some(busy) = &member.busy {
                loads.push((busy.intersect(&search.periods).len_ms(), &member.id));
            }
        }
    }
    // For a member with two calendar lists the greater load counts.
    loads.sort_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(&a.0)));
    loads.dedup_by(|a, b| a.1 == b.1);
    loads.sort_unstable();
    has_choice.then(|| loads.into_iter().map(|(_, id)| id.to_owned()).collect())
}

/// Returns the times in which the meeting itself can lie for this member. A meeting padded by its buffers overlaps a busy time exactly if
/// the bare meeting overlaps the busy time padded the other way round.
fn free(search: &Search, member: &Member) -> Intervals {
    let Some(busy) = &member.busy else { return Intervals::default() };
    let from_earliest = search.periods.clip(Interval::new(search.earliest_ms, i64::MAX));
    let open =
        member.open.as_ref().map_or_else(|| from_earliest.clone(), |open| open.intersect(&from_earliest));
    open.subtract(&busy.widen(search.buffer_after_ms, search.buffer_before_ms))
}

/// The free times of every member, group by group.
fn free_of_groups(search: &Search) -> Vec<Vec<Intervals>> {
    let of_group = |group: &Group| group.members.iter().map(|m| free(search, m)).collect();
    search.groups.iter().map(of_group).collect()
}

/// Returns the longest stretches. A stretch can only begin where a free time of one of its members begins: each such start is tried, and
/// the members who are free then are followed until a group has too few of them left.
fn longest(search: &Search, free: &[Vec<Intervals>]) -> Vec<Interval> {
    let mut starts: Vec<i64> = free.iter().flatten().flat_map(|f| f.iter().map(|i| i.start)).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut first: Vec<Vec<usize>> = free.iter().map(|g| vec![0; g.len()]).collect();
    let mut out: Vec<Interval> = Vec::new();
    let mut ends: Vec<i64> = Vec::new();
    for start in starts {
        let mut stretch = Interval::new(start, i64::MAX);
        for ((group, members), first) in search.groups.iter().zip(free).zip(&mut first) {
            ends.clear();
            for (member, first) in members.iter().zip(first) {
                let times = member.as_slice();
                while times.get(*first).is_some_and(|t| t.end <= start) {
                    *first += 1;
                }
                ends.extend(times.get(*first).filter(|t| t.start <= start).map(|t| t.end));
            }
            ends.sort_unstable_by(|a, b| b.cmp(a));
            // A group suffices until the last of its required members becomes busy.
            let end = group.required.checked_sub(1).and_then(|last| ends.get(last));
            stretch.end = stretch.end.min(end.copied().unwrap_or(start));
        }
        let is_longest = out.last().is_none_or(|last| last.end < stretch.end);
        if is_longest && stretch.len_ms() >= search.duration_ms && !search.groups.is_empty() {
            out.push(stretch);
        }
    }
    out
}

fn throughout(search: &Search, free: &[Vec<Intervals>], at: Interval) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (group, free) in search.groups.iter().zip(free) {
        for (member, free) in group.members.iter().zip(free) {
            if !out.contains(&member.id) && free.around(at).is_some() {
                out.push(member.id.clone());
            }
        }
    }
    out
}

/// The points of the grid inside the stretches, for lookups in ascending order.
struct Places<'a> {
    search: &'a Search,
    /// Stretches, with both starts and ends ascending.
    stretches: Vec<Interval>,
    first_stretch: usize,
    points: Points<'a>,
}

impl Places<'_> {
    /// Returns the first start of a meeting at or after `from`.
    fn next(&mut self, from: i64) -> Option<i64> {
        while let Some(stretch) = self.stretches.get(self.first_stretch) {
            let last = stretch.end - self.search.duration_ms;
            let point = self.points.at_or_after(from.max(stretch.start)).filter(|p| *p <= last);
            if point.is_some() {
                return point;
            }
            self.first_stretch += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use model::Instant;
    use model::calendar_query::OpenHours;
    use proptest::prelude::*;

    use super::*;
    use crate::hours::{Hours, Zone, windows};

    const MINUTE: i64 = 60_000;

    fn ms(text: &str) -> i64 {
        text.parse::<Instant>().unwrap().as_millis()
    }

    fn interval(start: &str, end: &str) -> Interval {
        Interval::new(ms(start), ms(end))
    }

    fn member(id: &str, busy: &[Interval]) -> Member {
        Member { id: id.into(), open: None, busy: Some(busy.iter().copied().collect()) }
    }

    /// One member who is open at some hours of every day, in a zone, from one instant to another.
    fn search(zone: &str, (opens, closes): (&str, &str), (from, to): (&str, &str), minutes: i64) -> Search {
        let days = (1..=7).collect();
        let row = OpenHours { days, start: opens.into(), end: closes.into(), ..OpenHours::default() };
        let periods = Intervals::from(interval(from, to));
        let hours = Hours::read(&row, &Zone::named(zone).unwrap()).unwrap();
        let grid = windows(&[hours], periods.hull().unwrap());
        let open = Some(grid.iter().copied().collect());
        let member = Member { id: "a".into(), open, busy: Some(Intervals::default()) };
        Search {
            periods,
            duration_ms: minutes * MINUTE,
            step_ms: minutes * MINUTE,
            buffer_before_ms: 0,
            buffer_after_ms: 0,
            earliest_ms: i64::MIN,
            grid: grid.into_iter().map(Grid::from).collect(),
            groups: vec![Group { members: vec![member], required: 1 }],
            limit: 1_000,
        }
    }

    fn local(zone: &str, times: &[Time]) -> Vec<String> {
        let zone = Zone::named(zone).unwrap().rules;
        let at = |t: &Time| Instant::from_millis(t.at.start).timestamp().to_zoned(zone.clone());
        times.iter().map(|t| at(t).strftime("%d %H:%M").to_string()).collect()
    }

    fn busy(search: &mut Search, intervals: &[Interval]) {
        search.groups[0].members[0].busy = Some(intervals.iter().copied().collect());
    }

    #[test]
    fn the_grid_of_kathmandu_begins_at_nine_and_no_time_is_lost() {
        let range = ("2026-07-05T18:15:00Z", "2026-07-06T18:15:00Z");
        let found = slots(&search("Asia/Kathmandu", ("09:00", "12:00"), range, 60), Layout::Apart);
        assert_eq!(local("Asia/Kathmandu", &found), ["06 09:00", "06 10:00", "06 11:00"]);
    }

    #[test]
    fn a_busy_time_does_not_move_the_grid() {
        let range = ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z");
        let mut search = search("UTC", ("09:00", "12:00"), range, 30);
        busy(&mut search, &[interval("2026-07-06T09:10:00Z", "2026-07-06T10:05:00Z")]);
        assert_eq!(local("UTC", &slots(&search, Layout::Apart)), ["06 10:30", "06 11:00", "06 11:30"]);
    }

    #[test]
    fn neither_the_range_nor_the_notice_moves_the_grid() {
        let range = ("2026-07-06T09:07:13.123Z", "2026-07-06T11:00:00Z");
        let mut search = search("UTC", ("09:00", "17:00"), range, 30);
        assert_eq!(local("UTC", &slots(&search, Layout::Apart)), ["06 09:30", "06 10:00", "06 10:30"]);
        search.earliest_ms = ms("2026-07-06T10:00:00.001Z");
        assert_eq!(local("UTC", &slots(&search, Layout::Apart)), ["06 10:30"]);
        search.earliest_ms = ms("2026-07-06T10:00:00Z");
        assert_eq!(local("UTC", &slots(&search, Layout::Apart)), ["06 10:00", "06 10:30"]);
    }

    #[test]
    fn slots_go_on_after_the_clocks_have_changed() {
        let range = ("2026-03-28T23:00:00Z", "2026-03-29T04:00:00Z");
        let found = slots(&search("Europe/Berlin", ("00:00", "05:00"), range, 60), Layout::Apart);
        assert_eq!(local("Europe/Berlin", &found), ["29 00:00", "29 01:00", "29 03:00", "29 04:00"]);
        let range = ("2026-10-24T22:00:00Z", "2026-10-25T04:00:00Z");
        let found = slots(&search("Europe/Berlin", ("00:00", "04:00"), range, 60), Layout::Apart);
        assert_eq!(
            local("Europe/Berlin", &found),
            ["25 00:00", "25 01:00", "25 02:00", "25 02:00", "25 03:00"]
        );
    }

    #[test]
    fn the_day_after_a_change_begins_on_its_own_grid() {
        let range = ("2026-04-04T13:00:00Z", "2026-04-06T14:00:00Z");
        let found = slots(&search("Australia/Lord_Howe", ("09:00", "10:00"), range, 30), Layout::Apart);
        assert_eq!(local("Australia/Lord_Howe", &found), ["05 09:00", "05 09:30", "06 09:00", "06 09:30"]);
    }

    #[test]
    fn a_slot_may_cross_midnight_where_both_days_are_open() {
        let range = ("2026-07-06T22:00:00Z", "2026-07-07T03:00:00Z");
        let found = slots(&search("UTC", ("00:00", "24:00"), range, 50), Layout::Apart);
        // Steps of 50 minutes do not divide a day: the grid begins again at midnight, and 23:20 to 00:10 takes its first point.
        assert_eq!(local("UTC", &found), ["06 22:30", "06 23:20", "07 00:50", "07 01:40"]);
    }

    #[test]
    fn a_padded_meeting_touches_no_other() {
        let range = ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z");
        let mut search = search("UTC", ("09:00", "13:00"), range, 30);
        busy(&mut search, &[interval("2026-07-06T10:30:00Z", "2026-07-06T11:00:00Z")]);
        search.buffer_before_ms = 15 * MINUTE;
        search.buffer_after_ms = 30 * MINUTE;
        let found = slots(&search, Layout::Apart);
        // 09:30 ends at 10:00 and its buffer at 10:30, where the other begins; 11:00 would need 10:45 to be free. The buffer
        // before 09:00 and the one after 13:00 lie outside the open hours, and may.
        assert_eq!(local("UTC", &found), ["06 09:00", "06 09:30", "06 11:30", "06 12:00", "06 12:30"]);
    }

    #[test]
    fn overlapping_slots_stand_at_every_point_of_the_grid() {
        let range = ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z");
        let mut search = search("UTC", ("09:00", "11:00"), range, 60);
        search.step_ms = 30 * MINUTE;
        assert_eq!(local("UTC", &slots(&search, Layout::Overlapping)), ["06 09:00", "06 09:30", "06 10:00"]);
        assert_eq!(local("UTC", &slots(&search, Layout::Apart)), ["06 09:00", "06 10:00"]);
        search.limit = 2;
        assert_eq!(local("UTC", &slots(&search, Layout::Overlapping)), ["06 09:00", "06 09:30"]);
    }

    #[test]
    fn who_could_not_be_asked_is_never_free() {
        let range = ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z");
        let mut search = search("UTC", ("09:00", "11:00"), range, 60);
        search.groups[0].members.push(Member { id: "b".into(), open: None, busy: None });
        let found = slots(&search, Layout::Apart);
        assert!(found.len() == 2 && found.iter().all(|t| t.members == ["a"]), "one of two is enough");
        search.groups[0].required = 2;
        assert!(slots(&search, Layout::Apart).is_empty() && stretches(&search).is_empty());
    }

    #[test]
    fn enough_members_of_every_group_are_free() {
        let range = ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z");
        let mut search = search("UTC", ("09:00", "13:00"), range, 60);
        let at = |from: i64, to: i64| {
            let nine = ms("2026-07-06T09:00:00Z");
            Interval::new(nine + from * 60 * MINUTE, nine + to * 60 * MINUTE)
        };
        busy(&mut search, &[at(3, 4)]);
        let two_of_three =
            vec![member("b", &[at(0, 1)]), member("c", &[at(0, 1), at(1, 2)]), member("d", &[])];
        search.groups.push(Group { members: two_of_three, required: 2 });
        let found = slots(&search, Layout::Apart);
        let shown: Vec<(String, String)> =
            local("UTC", &found).into_iter().zip(found.iter().map(|t| t.members.join(" "))).collect();
        let expected =
            [("06 10:00".to_owned(), "a b d".to_owned()), ("06 11:00".to_owned(), "a b c d".to_owned())];
        assert_eq!(shown, expected);
        let whole: Vec<(Interval, String)> =
            stretches(&search).iter().map(|t| (t.at, t.members.join(" "))).collect();
        assert_eq!(whole, [(at(1, 3), "a b d".to_owned())]);
        assert_eq!(order(&search).unwrap(), ["d", "b", "c"], "the least loaded first");
    }

    #[test]
    fn nobody_takes_turns_where_all_are_needed() {
        let range = ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z");
        let mut search = search("UTC", ("09:00", "13:00"), range, 60);
        assert_eq!(order(&search), None);
        search.groups[0].members.insert(0, member("b", &[]));
        search.groups[0].members.push(Member { id: "0".into(), open: None, busy: None });
        assert_eq!(order(&search).unwrap(), ["a", "b"], "by id among equals, without who could not be asked");
    }

    #[test]
    fn members_in_two_zones_meet_on_either_grid() {
        let range = ("2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z");
        let mut london = search("Europe/London", ("09:00", "17:00"), range, 60);
        let kathmandu = search("Asia/Kathmandu", ("09:00", "17:00"), range, 60);
        london.groups.push(kathmandu.groups[0].clone());
        london.groups[1].members[0].id = "b".into();
        london.grid.extend(kathmandu.grid);
        london.grid.sort_unstable();
        let found = slots(&london, Layout::Overlapping);
        assert_eq!(local("UTC", &found), ["05 09:00", "05 09:15", "05 10:00", "05 10:15"]);
    }

    /// A search on a scale of minutes, in days on which the clocks of the zone change.
    fn any_search() -> impl Strategy<Value = Search> {
        let zones = prop::sample::select(vec![
            ("Europe/Berlin", "2026-03-28T12:00:00Z"),
            ("Europe/Berlin", "2026-10-24T12:00:00Z"),
            ("Australia/Lord_Howe", "2026-04-04T02:00:00Z"),
            ("Australia/Lord_Howe", "2026-10-03T02:00:00Z"),
            ("Asia/Kathmandu", "2026-07-06T00:00:00Z"),
            ("America/St_Johns", "2026-11-01T00:00:00Z"),
            ("UTC", "2026-01-01T00:00:00Z"),
        ]);
        let busy = prop::collection::vec((-300i64..2_800, 0i64..200), 0..6);
        let hours = prop::option::of((0i16..24, 0i16..25, prop::collection::vec(1i64..8, 1..8)));
        let member = (prop::option::weighted(0.9, busy), hours);
        let group = (prop::collection::vec(member, 1..4), 1usize..4);
        let rules = (5i64..180, 5i64..120, 0i64..60, 0i64..60, prop::option::of(0i64..2_000));
        let periods = prop::collection::vec((0i64..2_500, 1i64..1_500), 1..3);
        (zones, prop::collection::vec(group, 1..3), rules, periods).prop_map(build)
    }

    type Spans = Vec<(i64, i64)>;
    type AnyMember = (Option<Spans>, Option<(i16, i16, Vec<i64>)>);
    type AnyGroup = (Vec<AnyMember>, usize);
    type AnyRules = (i64, i64, i64, i64, Option<i64>);
    type AnySearch = ((&'static str, &'static str), Vec<AnyGroup>, AnyRules, Spans);

    fn build(((zone, from), groups, rules, periods): AnySearch) -> Search {
        let (zone, zero) = (Zone::named(zone).unwrap(), ms(from));
        let at = |(start, length): (i64, i64)| {
            Interval::new(zero + start * MINUTE, zero + (start + length) * MINUTE)
        };
        let periods: Intervals = periods.into_iter().map(at).collect();
        let hull = periods.hull().unwrap();
        // Whole days, or days that begin at a later minute, as if some members had open hours and some had none.
        let day = |w: Interval| Grid { at: Interval::new(w.start + 400 * MINUTE, w.end), origin: w.start };
        let mut grid: Vec<Grid> =
            windows(&[Hours::whole_days(zone.clone())], hull).into_iter().map(day).collect();
        let mut next = 0;
        let mut member = |(busy, hours): AnyMember| {
            let open = hours.map(|(start, end, days)| {
                let (start, end) = (format!("{start:02}:00"), format!("{end:02}:00"));
                let row = OpenHours { days, start, end, ..OpenHours::default() };
                windows(&[Hours::read(&row, &zone).unwrap()], hull)
            });
            grid.extend(open.iter().flatten().copied().map(Grid::from));
            next += 1;
            Member {
                id: format!("m{next}"),
                open: open.map(|o| o.into_iter().collect()),
                busy: busy.map(|b| b.into_iter().map(at).collect()),
            }
        };
        let mut group = |(members, required): AnyGroup| {
            let members: Vec<Member> = members.into_iter().map(&mut member).collect();
            Group { required: required.min(members.len()), members }
        };
        let groups = groups.into_iter().map(&mut group).collect();
        grid.sort_unstable();
        grid.dedup();
        let (duration, step, before, after, earliest) = rules;
        Search {
            periods,
            duration_ms: duration * MINUTE,
            step_ms: step * MINUTE,
            buffer_before_ms: before * MINUTE,
            buffer_after_ms: after * MINUTE,
            earliest_ms: earliest.map_or(i64::MIN, |m| zero + m * MINUTE),
            grid,
            groups,
            limit: 10_000,
        }
    }

    /// A naive implementation of the rules.
    fn can_attend(search: &Search, member: &Member, at: Interval) -> bool {
        let padded = at.widen(search.buffer_before_ms, search.buffer_after_ms);
        let is_free = member.busy.as_ref().is_some_and(|b| !b.iter().any(|b| b.overlaps(padded)));
        is_free && member.open.as_ref().is_none_or(|o| o.around(at).is_some())
    }

    fn suits(search: &Search, at: Interval) -> bool {
        let has_enough =
            |g: &Group| g.members.iter().filter(|m| can_attend(search, m, at)).count() >= g.required;
        search.periods.around(at).is_some()
            && at.start >= search.earliest_ms
            && search.groups.iter().all(has_enough)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn overlapping_slots_are_all_points_of_the_grid_that_suit(search in any_search()) {
            let mut expected: Vec<i64> = Vec::new();
            for Grid { at, origin } in &search.grid {
                let mut start = *origin;
                while start < at.end {
                    let slot = Interval::new(start, start + search.duration_ms);
                    if start >= at.start && suits(&search, slot) {
                        expected.push(start);
                    }
                    start += search.step_ms;
                }
            }
            expected.sort_unstable();
            expected.dedup();
            let found = slots(&search, Layout::Overlapping);
            prop_assert_eq!(found.iter().map(|t| t.at.start).collect::<Vec<_>>(), expected);
            for time in found {
                for member in search.groups.iter().flat_map(|g| &g.members) {
                    prop_assert_eq!(time.members.contains(&member.id), can_attend(&search, member, time.at));
                }
            }
        }

        #[test]
        fn slots_that_stand_apart_are_the_earliest_of_them(search in any_search()) {
            let all = slots(&search, Layout::Overlapping);
            let mut expected: Vec<Time> = Vec::new();
            for time in all {
                if expected.last().is_none_or(|last| last.at.end <= time.at.start) {
                    expected.push(time);
                }
            }
            let found = slots(&search, Layout::Apart);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(found, slots(&search, Layout::Apart), "equal questions have equal answers");
        }

        #[test]
        fn a_stretch_is_free_throughout_and_no_longer_one_is(search in any_search()) {
            let found = stretches(&search);
            for time in &found {
                let Interval { start, end } = time.at;
                prop_assert!(time.at.len_ms() >= search.duration_ms && suits(&search, time.at));
                prop_assert!(!suits(&search, Interval::new(start - MINUTE, end)));
                prop_assert!(!suits(&search, Interval::new(start, end + MINUTE)));
                for other in &found {
                    prop_assert!(time == other || !time.at.covers(other.at));
                }
            }
            for slot in slots(&search, Layout::Overlapping) {
                prop_assert!(found.iter().any(|t| t.at.covers(slot.at)));
            }
        }
    }
}
