//! `connectors/imap`: values, responses, and whole sessions with a server that sends the input.

use std::hint::black_box;

use connector_imap::Imap;
use connector_imap::imap::response::Response;
use connector_imap::imap::uids::UidSet;
use connector_imap::imap::{date, names, structure, value, visit};
use connector_sdk::{Context, Email as _, Host as _, Lifecycle as _};
use model::email::EmailAddress;
use model::wire::email::{MessageRef, MessageSearch, MessageSend, MessagesGet};
use model::wire::{ChangesRequest, Connection};
use serde_json::json;

use crate::Parser;
use crate::server::Server;
use crate::text;
use crate::within;

pub const ALL: &[Parser] = &[
    ("imap.values", |input| drop(black_box(value::read(input)))),
    ("imap.structure", |input| {
        if let Some(values) = value::read(&within("(", input, ")")) {
            values.iter().for_each(|value| drop(black_box(structure::read(value))));
        }
    }),
    ("imap.response", |input| response(&within("* ", input, "\r\n"))),
    ("imap.fetch", |input| response(&within("* 1 FETCH (UID 7 ", input, ")\r\n"))),
    ("imap.status", |input| response(&within("s1 NO [", input, "] x\r\n"))),
    ("imap.list", |input| response(&within("* LIST (", input, ") \"/\" x\r\n"))),
    ("imap.search", |input| response(&within("* SEARCH 1 ", input, "\r\n"))),
    ("imap.names", |input| drop(black_box(names::decode(input)))),
    ("imap.uids", |input| drop(black_box(text(input).parse::<UidSet>()))),
    ("imap.date", |input| _ = black_box(date::read(&text(input)))),
    ("imap.session.new", |input| {
        let server = server(&within("@ OK done\r\n", input, "\r\n@ OK done\r\n"), &[]);
        drop(black_box(Imap::changes(
            &cx(&server),
            ChangesRequest { limit: 3, ..ChangesRequest::default() },
        )));
        drop(black_box(Imap::check(&cx(&server))));
    }),
    ("imap.session.search", |input| {
        let server = server(&within(SELECTED, input, "\r\n@ OK done\r\n@ OK done\r\n"), &["ESEARCH"]);
        let search = MessageSearch { text: Some("x".to_owned()), limit: 5, ..MessageSearch::default() };
        drop(black_box(Imap::search(&cx(&server), search)));
    }),
    ("imap.session.get", |input| {
        let server = server(&within(SELECTED, input, "\r\n@ OK done\r\n@ OK done\r\n"), &[]);
        let get = MessagesGet { messages: vec![message()], body: true, ..MessagesGet::default() };
        drop(black_box(Imap::get_messages(&cx(&server), get)));
    }),
    ("imap.session.changes", |input| {
        // The mailbox was read before; the input has the changes since.
        let first = format!("{LISTED}{SELECTED}* 1 FETCH (UID 1 FLAGS ())\r\n@ OK done\r\n@ OK done\r\n");
        let words = within(
            &format!("{first}{LISTED}{SELECTED}"),
            input,
            "\r\n@ OK done\r\n@ OK done\r\n@ OK done\r\n",
        );
        let server = server(&words, &["QRESYNC", "CONDSTORE", "ESEARCH"]);
        let mut cursor = None;
        for _ in 0..3 {
            let request = ChangesRequest { limit: 3, ..ChangesRequest::default() };
            match Imap::changes(&cx(&server).at(cursor.take()), request) {
                Ok(answer) => cursor = answer.cursor,
                Err(_) => break,
            }
        }
    }),
    ("smtp.reply", |input| {
        let server = server(&within("250 ok\r\n250-", input, "\r\n250 ok\r\n"), &["PIPELINING"]);
        let blob = server.create_blob(b"Subject: x\r\n\r\nhello\r\n", None).unwrap_or_default();
        let send = MessageSend {
            blob,
            internet_message_id: "m@x".to_owned(),
            from: EmailAddress { email: "ann@example.test".to_owned(), name: None },
            recipients: vec!["bob@example.test".to_owned(), "eve@example.test".to_owned()],
            save_to_sent: false,
            sent_blob: None,
            draft: None,
            thread: None,
        };
        drop(black_box(Imap::send(&cx(&server), send)));
    }),
];

const LISTED: &str = "* LIST (\\HasNoChildren) \"/\" INBOX\r\n@ OK done\r\n";
const SELECTED: &str = "* FLAGS (\\Seen)\r\n* 1 EXISTS\r\n* OK [UIDVALIDITY 9] v\r\n* OK [UIDNEXT 4] n\r\n\
    * OK [HIGHESTMODSEQ 12] m\r\n@ OK [READ-WRITE] selected\r\n";

fn server(words: &[u8], abilities: &[&str]) -> Server {
    let able = std::iter::once("IMAP4rev1").chain(abilities.iter().copied()).map(str::to_owned);
    Server::new(words, 7, able.collect())
}

fn cx(server: &Server) -> Context<'_> {
    let mut connection =
        Connection { username: Some("ann@example.test".to_owned()), ..Connection::default() };
    connection.settings.insert("imap".into(), json!({ "host": "imap.example.test" }));
    Context::new(server, connection).keyed("key")
}

fn message() -> MessageRef {
    MessageRef {
        source: format!("M:{}:9:3", connector_imap::ids::folder_key("F:INBOX")),
        hint: Some(json!({ "f": "INBOX", "t": [{ "s": "1" }], "h": [{ "s": "2", "e": "base64" }] })),
    }
}

fn response(line: &[u8]) {
    let Some(response) = Response::read(line) else { return };
    let mut uids = UidSet::new();
    visit::add_found_uids(&response, &mut uids);
    black_box((visit::vanished_uids(&response), uids));
    for name in ["STATUS", "LIST", "SEARCH"] {
        black_box(response.other(name));
    }
    let Some((_, fetched)) = visit::fetched(&response) else { return };
    black_box((fetched.header().is_some(), fetched.section("1").is_some()));
    if let Some(value) = &fetched.structure {
        black_box(structure::read(value));
    }
}
