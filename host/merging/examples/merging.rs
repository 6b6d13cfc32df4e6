//! Time and peak memory of merge suggestions: `merging make <records> [kind]` prints contacts as JSON lines, `merging run [minScore]`
//! reads them; `cargo xtask bench` does both.

use std::io::BufRead;
use std::io::Write;
use std::time::Instant;

use merging::Engine;
use merging::Filter;
use model::contacts::Contact;
use model::contacts::ContactEmail;
use model::contacts::ContactPhone;

#[path = "../src/tests/generator.rs"]
mod generator;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize| arguments.get(at).map(String::as_str).unwrap_or_default();
    match argument(0) {
        "make" => make(argument(1).parse().unwrap_or(1000), argument(2)),
        "phones" => phones(),
        _ => run(argument(1).parse().unwrap_or(0.6)),
    }
}

fn make(size: usize, kind: &str) {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut set = generator::labelled(9, size);
    let people = set.iter().map(|l| l.person).max().map_or(0, |last| last + 1);
    eprintln!("{} records of {people} people", set.len());
    for (i, labelled) in set.iter_mut().enumerate() {
        let c = &mut labelled.contact;
        match kind {
            "name" => {
                *c = Contact {
                    given_name: Some("John".into()),
                    family_name: Some("Smith".into()),
                    emails: c.emails.clone(),
                    ..Contact::default()
                }
            }
            "phone" => {
                c.phones = vec![ContactPhone {
                    value: "+4930901820".into(),
                    e164: Some("+4930901820".into()),
                    ..ContactPhone::default()
                }]
            }
            "email" => {
                c.emails = vec![ContactEmail { value: "a@b.example".into(), ..ContactEmail::default() }]
            }
            "all" => {
                *c = Contact {
                    given_name: Some("John".into()),
                    family_name: Some("Smith".into()),
                    emails: vec![ContactEmail { value: "a@b.example".into(), ..ContactEmail::default() }],
                    ..Contact::default()
                }
            }
            "domain" => {
                c.emails =
                    vec![ContactEmail { value: format!("u{i}@one.example"), ..ContactEmail::default() }]
            }
            "near" => {
                *c = Contact {
                    given_name: Some(format!("Jonathan{}", i % 97)),
                    family_name: Some(format!("Smithson{i}")),
                    ..Contact::default()
                }
            }
            _ => {}
        }
        let _ = writeln!(out, "{}\t{}", labelled.id, serde_json::to_string(&c).unwrap_or_default());
    }
}

fn phones() {
    let written = |i: u32| match i % 6 {
        0 => (format!("+49 151 {:04} {:04}", i % 10_000, i * 7 % 10_000), None),
        1 => (format!("(415) 555-{:04}", i % 10_000), Some("US")),
        2 => (format!("0044 20 7{:03} {:04}", i % 1000, i * 3 % 10_000), None),
        3 => (format!("030 901{:05}", i % 100_000), Some("DE")),
        4 => (format!("+81-90-{:04}-{:04}", i % 10_000, i * 3 % 10_000), None),
        _ => ("call my office".to_owned(), Some("FR")),
    };
    let numbers: Vec<_> = (0..100_000).map(written).collect();
    for _ in 0..2 {
        let start = Instant::now();
        let read = numbers.iter().filter(|(n, region)| text::phones::e164(n, *region).is_some()).count();
        println!("{read} of {} numbers read in {:.0?}", numbers.len(), start.elapsed());
    }
    let start = Instant::now();
    let of_all_countries =
        (1..1000).flat_map(|code| (0..20).map(move |n| format!("+{code} {}{:07}", 2 + n % 7, n * 79_193)));
    let read = of_all_countries.filter(|n| text::phones::e164(n, None).is_some()).count();
    println!("{read} numbers of all countries read in {:.0?}; {} KiB at most", start.elapsed(), peak_kib());
    let start = Instant::now();
    let length: usize =
        (0..100_000).map(|i| text::folding::search_key(&format!("José Müller{i}")).len()).sum();
    println!("100000 search keys of {length} bytes in {:.0?}", start.elapsed());
}

/// The most memory that the process ever had.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

fn run(min_score: f64) {
    let mut parse = std::time::Duration::ZERO;
    let start = Instant::now();
    let mut engine = Engine::new(None);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Some((id, json)) = line.split_once('\t') else { continue };
        let before = Instant::now();
        let Ok(contact) = serde_json::from_str::<Contact>(json) else { continue };
        parse += before.elapsed();
        engine.add(id, &contact);
    }
    let rows = engine.len();
    let added = start.elapsed();
    let ranking = engine.rank(&Filter { min_score, contact_ids: &[] });
    let ranked = start.elapsed();
    let page = ranking.page(None, 50);
    println!(
        "{rows} contacts: JSON {parse:.0?}, add {:.0?}, rank {:.0?}, all {ranked:.0?}; {} suggestions, page {}; {} KiB at most",
        added - parse,
        ranked - added,
        ranking.len(),
        page.len(),
        peak_kib(),
    );
    println!(
        "BENCH {{\"contacts\":{rows},\"seconds\":{:.3},\"peakKib\":{}}}",
        ranked.as_secs_f64(),
        peak_kib()
    );
}
