//! The benchmark of reading messages: `mail`'s own reading and cleaning against mail-parser, which it is built on, alone. `reading FOLDER`
//! with one message in each file; prints the seconds of both, in the order A B B A, and the bytes that were read each time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mail::html::{Safe, safe};
use mail_parser::MessageParser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often all messages are read in each turn.
const ROUNDS: usize = 5;

fn main() {
    let folder = std::env::args().nth(1).expect("the folder with the messages");
    let files = std::fs::read_dir(folder).expect("a folder");
    let read = |file: std::io::Result<std::fs::DirEntry>| std::fs::read(file.expect("a file").path());
    let messages: Vec<Vec<u8>> = files.map(|file| read(file).expect("a message")).collect();
    let bytes: usize = messages.iter().map(Vec::len).sum();
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    turn(&messages, 1, whole);
    turn(&messages, 1, alone);
    for is_ours in [true, false, false, true] {
        match is_ours {
            true => ours += turn(&messages, ROUNDS, whole),
            false => theirs += turn(&messages, ROUNDS, alone),
        }
    }
    let seconds = |time: Duration| time.as_secs_f64();
    println!("{} {} {}", seconds(ours), seconds(theirs), bytes * ROUNDS * 2);
}

fn turn(messages: &[Vec<u8>], rounds: usize, read: fn(&[u8]) -> usize) -> Duration {
    let start = Instant::now();
    let mut size = 0;
    for message in messages.iter().cycle().take(messages.len() * rounds) {
        size += read(message);
    }
    assert!(black_box(size) > 0, "nothing was read");
    start.elapsed()
}

/// As the host shows a message.
fn whole(raw: &[u8]) -> usize {
    let mail = mail::read::message(black_box(raw)).unwrap_or_default();
    let html = mail.html.map(|html| safe(&html, &Safe::default())).unwrap_or_default();
    mail.headers.len() + mail.text.map_or(0, |text| text.len()) + html.len()
}

/// mail-parser with all that it reads.
fn alone(raw: &[u8]) -> usize {
    let message = MessageParser::default().parse(black_box(raw));
    // Texts and files are decoded by then.
    message.map_or(0, |message| message.headers().len() + message.parts.len())
}
