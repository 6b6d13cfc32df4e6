//! The oracle: Python's libraries, called through `oracle.py`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub struct Oracle {
    /// An interpreter that has the libraries.
    pub python: String,
}

/// The kind of the objects in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Event,
    Contact,
    Message,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Event => "event",
            Kind::Contact => "contact",
            Kind::Message => "message",
        }
    }
}

/// An object that a server stores as one: a series with its exceptions, a card, a message.
#[derive(Debug)]
pub struct Object {
    pub kind: Kind,
    /// The file's name, and the object's number in it.
    pub name: String,
    pub bytes: Vec<u8>,
}

impl Oracle {
    fn ask(&self, verb: &str, question: &Value) -> Vec<Value> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/mirror/oracle.py");
        let mut command = Command::new(&self.python);
        command.args(["-B", script, verb]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Python starts");
        let mut stdin = child.stdin.take().expect("it is piped");
        let text = question.to_string();
        let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).expect("it reads all"));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("no panic");
        assert!(output.status.success(), "the oracle failed at {verb}");
        serde_json::from_slice(&output.stdout).expect("a list")
    }

    pub fn split(&self, files: &[PathBuf]) -> Vec<Object> {
        let object = |found: &Value| {
            let path = PathBuf::from(found["path"].as_str().expect("a path"));
            let file = path.file_name().expect("a name").to_string_lossy().into_owned();
            let kind = match found["kind"].as_str() {
                Some("event") => Kind::Event,
                Some("contact") => Kind::Contact,
                _ => Kind::Message,
            };
            let bytes = STANDARD.decode(found["base64"].as_str().expect("base64")).expect("base64");
            Object { kind, name: format!("{file}#{}", found["number"]), bytes }
        };
        self.ask("split", &json!(files)).iter().map(object).collect()
    }

    /// The items of each stored object: `{"items": […]}` or `{"unreadable": …}`.
    pub fn read(&self, kind: Kind, stored: &[&[u8]]) -> Vec<Value> {
        let question: Vec<Value> = stored
            .iter()
            .map(|bytes| json!({ "kind": kind.name(), "base64": STANDARD.encode(bytes) }))
            .collect();
        self.ask("read", &json!(question))
    }

    /// Returns recurrence in comparable form: parts of rules sorted, dates as instants.
    pub fn rules(&self, lines: &[Value]) -> Vec<Value> {
        self.ask("rules", &json!(lines))
    }

    /// Content lines that differ, each as component, sign and line.
    pub fn diff(&self, pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<Value> {
        let question: Vec<Value> = pairs
            .iter()
            .map(|(before, after)| {
                json!({ "before": STANDARD.encode(before), "after": STANDARD.encode(after) })
            })
            .collect();
        self.ask("diff", &json!(question))
    }
}
