//! The same rules in Python, minute by minute, on a thousand random event types around changes of the clocks: which starts are offered,
//! with which hosts and seats, and the assigned hosts. There is no list of exceptions: a difference is a fault of one side.
//!
//! The interpreter comes from `ORACLE_PYTHON` (a venv with the `tzdata` of tests/peers/oracle.txt). Without it the test says that it
//! did not run, and fails where `SWITCHBOARD_REQUIRE_PEERS=1`. `ORACLE_SLOTS` sets the number of cases, `ORACLE_SEED` the seed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use scheduling::assign::choose;
use scheduling::oracle::Slot;
use serde_json::{Value, json};

use crate::generator::{Case, Dice, case};
use crate::support::{MINUTE, all};

/// Two at a time: the reference is slow, and most machines have two processors.
const PROCESSES: usize = 2;
/// One case in this number has as many days as a query may ask for.
const CASES_PER_LONG_ONE: usize = 25;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The interpreter, where there is one.
fn python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").ok();
    if python.is_none() {
        let are_required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
        assert!(!are_required, "ORACLE_PYTHON is not set");
        println!("did not run: ORACLE_PYTHON is not set");
    }
    python
}

/// The version of Python's package `tzdata` that has this release of the tz database: 2026.5 has 2026e.
fn package_version(release: &str) -> String {
    let (year, letter) = release.split_at_checked(4).expect("a release such as 2026e");
    let number = ('a'..='z').zip(1..).find(|(named, _)| letter.starts_with(*named));
    let (_, number) = number.expect("a release such as 2026e");
    format!("{year}.{number}")
}

/// All answers of the reference, in order.
fn ask(python: &str, cases: &[Case]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/reference.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("ORACLE_PYTHON={python} does not start: {e}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    let text: String = cases.iter().map(|case| format!("{}\n", case.json())).collect();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .map(|line| line.expect("a line of text"));
    let versions: Value = serde_json::from_str(&lines.next().unwrap_or_default()).expect("its versions");
    println!("reference: {versions}");
    let wanted = package_version(recurrence::TZDB_RELEASE);
    assert_eq!(versions["tzdata"], wanted, "pin tzdata=={wanted} in tests/peers/oracle.txt: that is jiff's");
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(&line).expect("JSON")).collect();
    writer.join().expect("no panic").expect("the reference reads to the end");
    assert!(child.wait().expect("an exit status").success(), "the reference failed");
    assert_eq!(answers.len(), cases.len(), "the reference answers every case");
    answers
}

/// Our answer in the reference's form.
fn ours(case: &Case) -> Value {
    let (slots, keep) = (all(&case.question), case.hosts_to_keep());
    let slot = |slot: &Slot| {
        let hosts = choose(&case.question, slot, &keep);
        json!([slot.at.start / MINUTE, slot.hosts, slot.seats_left, slot.joins, hosts])
    };
    slots.iter().map(slot).collect()
}

#[test]
fn python_finds_the_same_slots_minute_by_minute() {
    let Some(python) = python() else { return };
    let count = usize::try_from(number("ORACLE_SLOTS", 1_000)).expect("a number of cases");
    let mut dice = Dice::new(number("ORACLE_SEED", 20_261_012));
    let cases: Vec<Case> = (0..count)
        .map(|n| {
            let days = if n % CASES_PER_LONG_ONE == CASES_PER_LONG_ONE - 1 { 62 } else { dice.between(2, 6) };
            case(&mut dice, days)
        })
        .collect();
    let share = count.div_ceil(PROCESSES).max(1);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let asked: Vec<_> = cases.chunks(share).map(|cases| scope.spawn(|| ask(&python, cases))).collect();
        asked.into_iter().flat_map(|asked| asked.join().expect("no panic")).collect()
    });
    let (mut different, mut slots) = (Vec::new(), 0);
    for (case, theirs) in cases.iter().zip(&answers) {
        let ours = ours(case);
        slots += ours.as_array().map_or(0, Vec::len);
        if ours != *theirs {
            different.push(format!("{}\n  ours   {ours}\n  theirs {theirs}", case.json()));
        }
    }
    println!("{count} cases, {slots} slots");
    let shown = &different[..different.len().min(3)];
    assert!(different.is_empty(), "{} of {count} differ:\n{}", different.len(), shown.join("\n"));
    assert!(slots > count * 5, "most cases offer something");
}

#[test]
fn the_generator_is_the_same_every_time() {
    let cases = |seed| (0..5).map(|_| case(&mut Dice::new(seed), 3).json().to_string()).collect::<Vec<_>>();
    assert_eq!(cases(1), cases(1));
    assert_ne!(cases(1), cases(2));
}
