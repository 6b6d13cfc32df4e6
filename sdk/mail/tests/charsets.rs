//! Texts of every charset in every place of a message, whole and damaged in every way, compared with Python's email package.
//!
//! A difference must be one of the named habits of Python, each with its reason, or the test fails. The interpreter is `ORACLE_PYTHON`,
//! or else `python3`, for nothing but its standard library is needed. Without one the test says that it did not run, and fails where
//! `SWITCHBOARD_REQUIRE_PEERS=1`.

mod charset_cases;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use charset_cases::{Case, Damage, Place, cases};
use mail::read;
use serde_json::{Value, json};

fn python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let starts = Command::new(&python).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if starts.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    let are_required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
    assert!(!are_required, "{python} does not start");
    println!("did not run: {python} does not start");
    None
}

/// Returns Python's reading of each message, or of bytes by one of its codecs.
fn ask(python: &str, questions: &[(&str, &[u8])]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/oracle.py");
    let mut command = Command::new(python);
    command.args(["-B", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("Python starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let question = |(place, raw): &(&str, &[u8])| json!({ "place": place, "base64": STANDARD.encode(raw) });
    let text = json!(questions.iter().map(question).collect::<Vec<_>>()).to_string();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads all");
    assert!(output.status.success(), "the oracle failed");
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    assert_eq!(answers.len(), questions.len());
    answers
}

fn ours(case: &Case) -> String {
    let mail = read::message(&case.raw).expect("it has a header");
    let text = match case.place {
        Place::Body => mail.text,
        Place::Subject => mail.message.subject,
        Place::Name => mail.message.from.into_iter().next().and_then(|from| from.name),
        Place::Filename => mail.message.attachments.into_iter().next().and_then(|file| file.filename),
    };
    in_form(case.place, &text.unwrap_or_default())
}

/// Line ends, white space and NUL as the model has them, which is no question of charsets.
fn in_form(place: Place, text: &str) -> String {
    if place == Place::Body {
        return text.replace('\0', "").replace("\r\n", "\n").replace('\r', "\n");
    }
    if place == Place::Filename {
        return read::file_name(text).unwrap_or_default();
    }
    let words = text.split(|c: char| c.is_control() || c == ' ');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The known differences of Python, each with its reason, and with the value that the result is compared with then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Habit {
    /// Python's codec of the name is the bare standard, where mail programs write the larger set of Microsoft under the same name, as the
    /// WHATWG's table has it: with the name of that codec in the message Python reads the same.
    BareStandard,
    /// Python's parser of fields decodes each word and each piece of a parameter alone, gives those up that do not decode to the last byte,
    /// knows no charset for bytes that are not escaped, and breaks off at a codec's error. Its codec reads the same in the whole of the bytes.
    ParsedApart,
    /// A missing, unknown or impossible charset (ASCII with eight bits, a byte order mark of another encoding): Python takes ASCII, and
    /// U+FFFD for the rest. `read` guesses, and returns the original text, or its bytes in windows-1252.
    NothingGuessed,
    /// Codecs differ in how many U+FFFD a damage is; a byte that means nothing is one to Python, and a control to the WHATWG.
    Counted,
    /// Codecs differ in where they go on after a damage (Python's: at the next byte; the WHATWG's: after the byte that did not fit, unless it
    /// is ASCII; Python's UTF-7 leaves out the character at which a shift ended), and in some characters of the large sets. Up to
    /// there both read the same, and a text without damage is read as what it was.
    GoesOn,
}

/// Everything that is known of one case.
struct Opinions<'a> {
    case: &'a Case,
    ours: String,
    /// Python's email package.
    message: &'a Value,
    /// The same, with its own name of the charset.
    wide: &'a Value,
    /// Its codec.
    codec: &'a Value,
    /// Its codec for windows-1252.
    western: &'a Value,
}

impl Opinions<'_> {
    fn is_same(&self, theirs: &Value) -> bool {
        self.form(theirs).as_ref() == Some(&self.ours)
    }

    fn form(&self, theirs: &Value) -> Option<String> {
        match theirs {
            Value::String(text) => Some(in_form(self.case.place, text)),
            Value::Null => Some(String::new()),
            _ => None,
        }
    }

    fn habit(&self) -> Option<Habit> {
        let case = self.case;
        let truth = in_form(case.place, &case.text);
        let is_counted =
            |theirs: &Value| self.form(theirs).is_some_and(|text| once(&text) == once(&self.ours));
        if self.is_same(self.wide) {
            return Some(Habit::BareStandard);
        }
        if case.codec.is_none() {
            let western = self.form(self.western).unwrap_or_default();
            let unicode = String::from_utf8_lossy(&case.bytes).into_owned();
            let is_guessed = [western, unicode].iter().any(|text| seen(text) == seen(&self.ours));
            let is_guessable = matches!(case.label, "utf-8" | "windows-1252" | "iso-8859-1");
            let is_right = self.ours == truth || is_guessed && !is_guessable;
            return is_right.then_some(Habit::NothingGuessed);
        }
        if self.is_same(self.codec) {
            return Some(Habit::ParsedApart);
        }
        if is_counted(self.message) || is_counted(self.wide) || is_counted(self.codec) {
            return Some(Habit::Counted);
        }
        let is_named_wrong = matches!(case.damage, Damage::NamedUtf8 | Damage::NamedOther);
        if is_named_wrong {
            return (self.ours == truth).then_some(Habit::NothingGuessed);
        }
        let is_damaged = matches!(case.damage, Damage::BadByte | Damage::LostByte | Damage::CutEnd);
        let is_read = match is_damaged {
            true => is_same_before_damage(&self.ours, &self.form(self.codec).unwrap_or_default(), &truth),
            false => self.ours == truth,
        };
        is_read.then_some(Habit::GoesOn)
    }
}

/// Each run of U+FFFD, and of controls that stand for it, as one.
fn once(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for c in text.replace(|c| ('\u{80}'..='\u{9f}').contains(&c), "\u{fffd}").chars() {
        if c != char::REPLACEMENT_CHARACTER || !whole.ends_with(c) {
            whole.push(c);
        }
    }
    whole
}

/// Without white space, controls and U+FFFD: five bytes that mean nothing in windows-1252 are controls to the WHATWG.
fn seen(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != ' ' && *c != char::REPLACEMENT_CHARACTER).collect()
}

/// Whether our text equals the original at least as far as Python's does.
fn is_same_before_damage(ours: &str, theirs: &str, truth: &str) -> bool {
    let same = |text: &str| text.chars().zip(truth.chars()).take_while(|(a, b)| a == b).count();
    same(ours) >= same(theirs)
}

#[test]
fn python_reads_the_same() {
    let Some(python) = python() else { return };
    let cases = cases();
    assert!(cases.len() > 10_000, "{} cases", cases.len());
    let message = |case: &'_ Case| (case.place.name(), case.raw.clone());
    let wide = |case: &Case| (case.place.name(), case.wide.clone());
    let codec = |case: &Case| (case.codec.unwrap_or("ascii"), case.bytes.clone());
    let western = |case: &Case| ("cp1252", case.bytes.clone());
    let all = |question: &dyn Fn(&Case) -> (&'static str, Vec<u8>)| {
        let questions: Vec<(&str, Vec<u8>)> = cases.iter().map(question).collect();
        let questions: Vec<(&str, &[u8])> =
            questions.iter().map(|(place, raw)| (*place, raw.as_slice())).collect();
        ask(&python, &questions)
    };
    let (message, wide, codec, western) = (all(&message), all(&wide), all(&codec), all(&western));
    let mut habits = BTreeMap::<Habit, usize>::new();
    let mut complaints = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let opinions = Opinions {
            case,
            ours: ours(case),
            message: &message[at],
            wide: &wide[at],
            codec: &codec[at],
            western: &western[at],
        };
        if opinions.is_same(opinions.message) {
            continue;
        }
        match opinions.habit() {
            Some(habit) => *habits.entry(habit).or_default() += 1,
            None => complaints.push(format!(
                "{} {:?} {:?} {:?}\n  it was {:?}\n  ours   {:?}\n  theirs {}\n  codec  {}",
                case.label,
                case.damage,
                case.place,
                case.carrier,
                case.text,
                opinions.ours,
                message[at],
                codec[at]
            )),
        }
    }
    println!("{} cases; Python's habits: {habits:?}", cases.len());
    let shown = &complaints[..complaints.len().min(40)];
    assert!(complaints.is_empty(), "{} differ:\n{}", complaints.len(), shown.join("\n"));
}
