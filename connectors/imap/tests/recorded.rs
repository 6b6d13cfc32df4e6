//! Recorded lines become what their snapshots say. Drop another server's into `fixtures/` to add a case: an initial sync, a later one
//! (what is different since), and the messages of the first one with their texts, each on a line of its own. A line begins with what the
//! server can do; `> ` stands before a command, and `@` for its tag.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::Imap;
use connector_imap::imap::response::Response;
use connector_sdk::Email as _;
use connector_sdk::testing::told;
use io_imap::codec::ResponseCodec;
use io_imap::codec::decode::Decoder as _;
use model::wire::ChangesRequest;
use model::wire::email::{MessageRef, MessagesGet};
use script::{Script, Step, answer};
use serde_json::json;

/// A line: what the server can do, and commands with their answers.
type Recorded = (String, Vec<(String, String)>);

fn fixtures() -> Vec<(String, Vec<Recorded>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = paths
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, recorded(&std::fs::read_to_string(path).unwrap()))
        })
        .collect();
    all.sort();
    assert!(all.len() >= 2, "there are recorded lines");
    all
}

fn recorded(text: &str) -> Vec<Recorded> {
    let lines = text.strip_prefix("* CAPABILITY ").unwrap().split("\n\n* CAPABILITY ");
    let line = |text: &str| {
        let mut parts = text.split("\n> ");
        let capabilities = parts.next().unwrap().replace(' ', ";");
        let exchange = |part: &str| {
            let (command, said) = part.split_once('\n').unwrap();
            (command.to_owned(), format!("{}\n", said.trim_end_matches('\n')))
        };
        (capabilities, parts.map(exchange).collect())
    };
    lines.map(line).collect()
}

fn scripted(lines: &[Recorded]) -> Script {
    lines.iter().fold(Script::new(1), |script, (capabilities, exchanges)| {
        let steps = exchanges.iter().map(|(command, said)| answer(command, said));
        script.line("imap", capabilities, steps.chain([Step::Close]))
    })
}

#[test]
fn recorded_lines_become_sources() {
    for (name, lines) in fixtures() {
        let script = scripted(&lines);
        let limit = || ChangesRequest { limit: 50, ..ChangesRequest::default() };
        let first = Imap::changes(&script.cx(), limit()).unwrap();
        assert!(!first.more);
        let later = Imap::changes(&script.cx().at(first.cursor), limit()).unwrap();
        let messages = first.body.sources.iter().filter(|source| source.external_id.starts_with("M:"));
        let messages = messages.map(|source| MessageRef {
            source: source.external_id.clone(),
            hint: source.items[0].hint.clone(),
        });
        let request =
            MessagesGet { messages: messages.collect(), body: true, headers: true, ..MessagesGet::default() };
        let got = Imap::get_messages(&script.cx(), request).unwrap();
        let shown = json!({
            "first": told(&first.body.sources),
            "later": told(&later.body.sources),
            "got": told(&got.sources),
        });
        insta::assert_json_snapshot!(name, shown);
    }
}

/// The responses of real servers that the crate parses, and those that are left to our own reader: FETCH, and ids of mailboxes.
#[test]
fn the_crate_takes_most_of_what_real_servers_say() {
    for (name, lines) in fixtures() {
        let (mut refused, mut messages) = (0, 0);
        for said in lines.iter().flat_map(|(_, exchanges)| exchanges).map(|(_, said)| said) {
            let said = said.replace('\n', "\r\n").replace("\r\n@ ", "\r\ns1 ");
            if said.contains(" FETCH (") {
                for message in said.split("\r\n* ").filter(|said| said.contains(" FETCH (")) {
                    let message = format!("* {}", message.trim_start_matches("* "));
                    messages += 1;
                    let message = message.split("\r\ns1 ").next().unwrap();
                    refused += usize::from(
                        ResponseCodec::default().decode(format!("{message}\r\n").as_bytes()).is_err(),
                    );
                }
                continue;
            }
            for line in said.split_inclusive("\r\n") {
                let line = line.strip_prefix("@ ").map_or(line.to_owned(), |rest| format!("s1 {rest}"));
                let is_known = match Response::read(line.as_bytes()) {
                    Some(Response::Data(_) | Response::Status(_) | Response::Done(..)) => true,
                    Some(Response::Other(name, _)) => name == "STATUS" && line.contains("MAILBOXID"),
                    _ => false,
                };
                assert!(is_known, "{name}: {line}");
            }
        }
        // All that name EMAILID or PREVIEW.
        assert!(refused > 0 && refused < messages, "{name}: {refused} of {messages}");
    }
}
