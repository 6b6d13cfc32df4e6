//! Invariants of all stored bookings: no host is in two places at a time, and exactly the bookings that take place have their time
//! reserved. Every pair of reserved times of a host is compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use storage::Db;
use storage::sql::query;

/// The statuses of bookings that have a seat.
const SEATED: [&str; 3] = ["pending", "confirmed", "completed"];

/// Time that is reserved of a host for a meeting, or for one of its buffers; milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reserved {
    host: String,
    start: i64,
    end: i64,
    is_buffer: bool,
    meeting: String,
}

impl Reserved {
    /// Two buffers may overlap, nothing else may.
    fn excludes(&self, other: &Reserved) -> bool {
        self.start < other.end && other.start < self.end && !(self.is_buffer && other.is_buffer)
    }
}

#[derive(Clone, Debug)]
struct Meeting {
    id: String,
    hosts: Vec<String>,
    start: i64,
    end: i64,
    before_ms: i64,
    after_ms: i64,
    seats: i64,
    seats_taken: i64,
    is_released: bool,
}

impl Meeting {
    /// Returns the times that have to be reserved for the booking.
    fn parts(&self) -> Vec<Reserved> {
        let parts = [
            (self.start - self.before_ms, self.start, true),
            (self.start, self.end, false),
            (self.end, self.end + self.after_ms, true),
        ];
        let all = self.hosts.iter().flat_map(|host| parts.map(|part| (host, part)));
        all.filter(|(_, (start, end, _))| start < end)
            .map(|(host, (start, end, is_buffer))| Reserved {
                host: host.clone(),
                start,
                end,
                is_buffer,
                meeting: self.id.clone(),
            })
            .collect()
    }
}

#[derive(Clone, Debug)]
struct Booking {
    id: String,
    meeting: String,
    status: String,
    start: i64,
    end: i64,
}

/// The rows of the tables.
#[derive(Clone, Debug)]
struct Stored {
    reserved: Vec<Reserved>,
    meetings: Vec<Meeting>,
    bookings: Vec<Booking>,
}

/// Counts of the checked rows.
#[derive(Debug)]
pub struct Checked {
    pub reserved: usize,
    pub pairs: usize,
    pub meetings: usize,
    pub bookings: usize,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { reserved, pairs, meetings, bookings } = self;
        write!(f, "{bookings} bookings, {meetings} meetings, {pairs} pairs of {reserved} reserved times")
    }
}

/// Checks all bookings of a database, while none is being made. Panics with all faults.
pub async fn check(db: &Db) -> Checked {
    let stored = Stored::read(db).await;
    let faults = stored.faults();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let pairs = stored.by_host().values().map(|all| all.len() * all.len().saturating_sub(1) / 2).sum();
    let (reserved, meetings, bookings) =
        (stored.reserved.len(), stored.meetings.len(), stored.bookings.len());
    Checked { reserved, pairs, meetings, bookings }
}

/// The bookings that are stored: status and start in milliseconds since 1970, by their ids.
pub async fn bookings(db: &Db) -> BTreeMap<String, (String, i64)> {
    let stored = Stored::read(db).await;
    stored.bookings.into_iter().map(|one| (one.id, (one.status, one.start))).collect()
}

impl Stored {
    async fn read(db: &Db) -> Stored {
        let reserved = query("select * from reserved_times").fetch_all(db.reader(), |row| {
            Ok(Reserved {
                host: row.get("connection_id")?,
                start: row.get("start_at")?,
                end: row.get("end_at")?,
                is_buffer: row.get::<i64>("is_buffer")? != 0,
                meeting: row.get("meeting_id")?,
            })
        });
        let reserved = reserved.await.expect("the reserved times");
        let meetings = query("select * from meetings").fetch_all(db.reader(), |row| {
            Ok(Meeting {
                id: row.get("id")?,
                hosts: serde_json::from_str(&row.get::<String>("hosts")?)?,
                start: row.get("start_at")?,
                end: row.get("end_at")?,
                before_ms: row.get("buffer_before_ms")?,
                after_ms: row.get("buffer_after_ms")?,
                seats: row.get("seats")?,
                seats_taken: row.get("seats_taken")?,
                is_released: row.get::<Option<i64>>("released_at")?.is_some(),
            })
        });
        let meetings = meetings.await.expect("the meetings");
        let bookings = query("select * from bookings").fetch_all(db.reader(), |row| {
            Ok(Booking {
                id: row.get("id")?,
                meeting: row.get("meeting_id")?,
                status: row.get("status")?,
                start: row.get("start_at")?,
                end: row.get("end_at")?,
            })
        });
        let bookings = bookings.await.expect("the bookings");
        Stored { reserved, meetings, bookings }
    }

    fn by_host(&self) -> BTreeMap<&str, Vec<&Reserved>> {
        let mut by_host: BTreeMap<&str, Vec<&Reserved>> = BTreeMap::new();
        for one in &self.reserved {
            by_host.entry(one.host.as_str()).or_default().push(one);
        }
        by_host
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = self.overlaps();
        faults.extend(self.times());
        faults.extend(self.seats());
        faults
    }

    /// Pairs of reserved times that put a host in two places at a time.
    fn overlaps(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for of_host in self.by_host().values() {
            for (n, one) in of_host.iter().enumerate() {
                let in_the_way = of_host[..n].iter().filter(|other| one.excludes(other));
                faults.extend(in_the_way.map(|other| format!("one host at once: {one:?} and {other:?}")));
            }
        }
        faults
    }

    /// Meetings that take place without their time, and time that is reserved for nothing.
    fn times(&self) -> Vec<String> {
        let taking_place = self.meetings.iter().filter(|meeting| !meeting.is_released);
        let wanted: BTreeSet<Reserved> = taking_place.flat_map(Meeting::parts).collect();
        let reserved: BTreeSet<Reserved> = self.reserved.iter().cloned().collect();
        let missing = wanted.difference(&reserved).map(|one| format!("not reserved: {one:?}"));
        let left = reserved.difference(&wanted).map(|one| format!("reserved for nothing: {one:?}"));
        missing.chain(left).collect()
    }

    /// Meetings whose seats are not those of their bookings, and bookings that are not when their meetings are.
    fn seats(&self) -> Vec<String> {
        let mut of_meetings: BTreeMap<&str, Vec<&Booking>> = BTreeMap::new();
        let seated = self.bookings.iter().filter(|booking| SEATED.contains(&booking.status.as_str()));
        for booking in seated {
            of_meetings.entry(booking.meeting.as_str()).or_default().push(booking);
        }
        let mut faults = Vec::new();
        for meeting in &self.meetings {
            let bookings = of_meetings.remove(meeting.id.as_str()).unwrap_or_default();
            let taken = bookings.len() as i64;
            let is_right = taken == meeting.seats_taken
                && taken <= meeting.seats
                && (taken == 0) == meeting.is_released
                && (meeting.is_released || !meeting.hosts.is_empty());
            if !is_right {
                faults.push(format!("{taken} bookings have a seat in {meeting:?}"));
            }
            let elsewhere = bookings.iter().filter(|b| (b.start, b.end) != (meeting.start, meeting.end));
            faults.extend(elsewhere.map(|booking| format!("{booking:?} is not when {meeting:?} is")));
        }
        let lost = of_meetings.into_values().flatten();
        faults.extend(lost.map(|booking| format!("{booking:?} has no meeting")));
        faults
    }
}

/// A meeting from `start` to `end` with 15 minutes after it, and its reserved times.
fn meeting(id: &str, host: &str, (start, end): (i64, i64)) -> (Meeting, Vec<Reserved>) {
    let meeting = Meeting {
        id: id.to_owned(),
        hosts: vec![host.to_owned()],
        start,
        end,
        before_ms: 0,
        after_ms: 15,
        seats: 1,
        seats_taken: 1,
        is_released: false,
    };
    let parts = meeting.parts();
    (meeting, parts)
}

fn stored(meetings: &[(Meeting, Vec<Reserved>)]) -> Stored {
    let booking = |meeting: &Meeting| Booking {
        id: format!("bk_{}", meeting.id),
        meeting: meeting.id.clone(),
        status: "confirmed".to_owned(),
        start: meeting.start,
        end: meeting.end,
    };
    Stored {
        reserved: meetings.iter().flat_map(|(_, parts)| parts.clone()).collect(),
        meetings: meetings.iter().map(|(meeting, _)| meeting.clone()).collect(),
        bookings: meetings.iter().map(|(meeting, _)| booking(meeting)).collect(),
    }
}

/// Buffers overlap, and meetings may begin where another one's buffer ends; everything else that overlaps is found.
#[test]
fn the_checker_finds_a_host_in_two_places() {
    let faults = |other: (Meeting, Vec<Reserved>)| {
        let all = stored(&[meeting("a", "alice", (600, 630)), other]);
        assert!(all.times().is_empty() && all.seats().is_empty(), "{all:?}");
        all.overlaps().len()
    };
    assert_eq!(faults(meeting("b", "alice", (645, 675))), 0, "after the buffer");
    assert_eq!(faults(meeting("b", "alice", (644, 675))), 1, "over the buffer");
    assert_eq!(faults(meeting("b", "alice", (615, 645))), 2, "over the meeting and over its buffer");
    assert_eq!(faults(meeting("b", "bob", (600, 630))), 0, "another host");
    let (mut before, _) = meeting("b", "alice", (645, 675));
    before.before_ms = 15;
    let parts = before.parts();
    assert_eq!(faults((before, parts)), 0, "the same 15 minutes after one and before the other");
}

/// Time without a meeting, a meeting without time, and seats without a booking are found.
#[test]
fn the_checker_finds_what_was_left_behind() {
    let all = stored(&[meeting("a", "alice", (600, 630)), meeting("b", "alice", (700, 730))]);
    assert_eq!(all.faults(), Vec::<String>::new());
    let mut lost = all.clone();
    lost.reserved.retain(|one| one.is_buffer || one.meeting == "b");
    assert_eq!(lost.faults().len(), 1, "a meeting without its time");
    let mut left = all.clone();
    left.bookings[0].status = "cancelled".to_owned();
    assert_eq!(left.faults().len(), 1, "a seat that nobody has");
    left.meetings[0].seats_taken = 0;
    left.meetings[0].is_released = true;
    assert_eq!(left.faults().len(), 2, "the meeting's time and its buffer");
    let mut moved = all;
    moved.bookings[1].start = 701;
    assert_eq!(moved.faults().len(), 1, "a booking at another time than its meeting");
}
