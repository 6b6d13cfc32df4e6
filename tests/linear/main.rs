//! The work to read any input from strangers grows with its length and with nothing else.
//!
//! `guest/` has every tokenizer, decoder and parser that reads foreign bytes. Each reads some two hundred inputs that repeat tokens of
//! its grammar, whole ones and cut ones, at one length and at twice that length: the second may take less than three times the work of
//! the first. Twice is linear, four times is quadratic. Work is instructions (see `guest.rs`), never time.
//!
//! A parser that a length is bounded for says so in its row (`table.rs`), and is tried below the bound.

mod fragments;
mod guest;
mod table;

use crate::fragments::{COUNT, Pattern, patterns};
use crate::guest::GUEST;
use crate::table::Row;

/// Work that is ignored: a table that is made at first use, a buffer that grows once.
const SLACK: u64 = 50_000;

/// Inputs up to this many bytes longer count as being of the same length.
const NEIGHBOURS: usize = 40;

/// Maximum complaints about one parser.
const TOLD: usize = 8;

/// Returns the work at one length and at twice that length, without that of an empty input (`least`); an error is a trap.
fn growth(row: &Row, pattern: &Pattern, least: u64) -> anyhow::Result<(u64, u64)> {
    let work = |bytes: usize| GUEST.work(row.parser, &pattern.input(bytes));
    let (mut once, twice) = (work(row.bytes)?, work(2 * row.bytes)?);
    if !is_linear((once.saturating_sub(least), twice.saturating_sub(least))) {
        // An odd number of quotes may be invalid, and be rejected at once. Then a slightly longer input is tried.
        for more in 1..=NEIGHBOURS {
            once = once.max(work(row.bytes + more)?);
        }
    }
    Ok((once.saturating_sub(least), twice.saturating_sub(least)))
}

fn is_linear((once, twice): (u64, u64)) -> bool {
    twice < 3 * once + SLACK
}

#[track_caller]
fn check(part: &str) {
    let mut complaints = Vec::new();
    for row in table::ROWS.iter().filter(|row| row.part == part) {
        let tokens: Vec<&str> = row.tokens.iter().flat_map(|group| group.split('|')).collect();
        let all = patterns(row.parser, &tokens);
        assert!(all.len() >= COUNT, "{}: {} inputs", row.parser, all.len());
        let least = GUEST.work(row.parser, b"").expect("nothing can be read");
        let mut told = Vec::new();
        for pattern in &all {
            match growth(row, pattern, least) {
                Ok(work) if is_linear(work) => {}
                Ok((once, twice)) => {
                    let times = twice as f64 / once.max(1) as f64;
                    told.push((times, format!("{once} becomes {twice}, {times:.1} times: {pattern}")));
                }
                Err(error) => told.push((f64::MAX, format!("{error}: {pattern}"))),
            }
        }
        told.sort_by(|a, b| b.0.total_cmp(&a.0));
        let more = told.len();
        complaints
            .extend(told.into_iter().take(TOLD).map(|(_, text)| format!("{} ({more}): {text}", row.parser)));
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn html() {
    check("html");
}

#[test]
fn mime() {
    check("mime");
}

#[test]
fn header_fields() {
    check("fields");
}

#[test]
fn encodings_and_charsets() {
    check("parts");
}

#[test]
fn reports_and_conversations() {
    check("reports");
}

#[test]
fn recurrence() {
    check("recurrence");
}

#[test]
fn calendars() {
    check("calendars");
}

#[test]
fn contacts() {
    check("contacts");
}

#[test]
fn webdav() {
    check("webdav");
}

#[test]
fn imap() {
    check("imap");
}

#[test]
fn sessions() {
    check("sessions");
}

#[test]
fn jmap() {
    check("jmap");
}

#[test]
fn requests() {
    check("requests");
}

/// The table and the guest have the same parsers; every row is in a test.
#[test]
fn the_table_has_every_parser() {
    let named = |text: &&str| !text.starts_with("test.");
    let guest: Vec<&str> = GUEST.names.iter().map(String::as_str).filter(named).collect();
    let mut table: Vec<&str> = table::ROWS.iter().map(|row| row.parser).collect();
    let mut sorted = guest.clone();
    sorted.sort_unstable();
    table.sort_unstable();
    assert_eq!(sorted, table);
    let parts = include_str!("main.rs");
    assert!(table::ROWS.iter().all(|row| parts.contains(&format!("check(\"{}\")", row.part))));
}

/// The instrument itself: one parser is linear, one scans all bytes for every byte, and one moves the rest for every byte, which takes
/// one instruction each.
#[test]
fn what_is_quadratic_is_seen() {
    let row = |parser| Row { part: "", parser, tokens: &["a"], bytes: 8 << 10 };
    let grown = |parser| {
        let all = patterns(parser, &["a", "b", "c", "d", "e", "f", "g", "h"]);
        growth(&row(parser), &all[0], 0).unwrap()
    };
    assert!(is_linear(grown("test.linear")), "{:?}", grown("test.linear"));
    for parser in ["test.quadratic", "test.moves"] {
        assert!(!is_linear(grown(parser)), "{parser}: {:?}", grown(parser));
    }
    assert_eq!(grown("test.moves"), grown("test.moves"), "the count is the same each time");
}
