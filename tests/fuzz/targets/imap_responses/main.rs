//! An IMAP server, and one for sending, that send arbitrary data in arbitrary pieces: every operation of the connector ends, its answer
//! to the host is valid, and no data of a server becomes a command.
//!
//! The first three bytes of an input choose the operation, the server's capabilities, and the pieces; the rest is the server's data.

#![no_main]

mod server;

use connector_imap::Imap;
use connector_sdk::{Context, Email as _, Host as _, Lifecycle as _};
use libfuzzer_sys::fuzz_target;
use model::email::folders::Folder;
use model::email::{EmailAddress, EmailMessage};
use model::wire::email::{
    AttachmentRef, DraftSave, MessageAppend, MessageDelete, MessageFind, MessageRef, MessageSearch,
    MessageSend, MessageUpdate, MessagesGet,
};
use model::wire::{ChangesRequest, Connection, Source};
use serde_json::json;

use crate::server::Server;

/// Pages that are read before the operation.
const PAGES: usize = 4;

/// Capabilities of a server; each has a bit in the second byte of the input.
const CAPABILITIES: [&str; 8] = [
    "LITERAL+",
    "QRESYNC",
    "CONDSTORE",
    "PREVIEW",
    "OBJECTID",
    "UIDPLUS",
    "MOVE",
    "ESEARCH;LIST-STATUS;SPECIAL-USE",
];

fuzz_target!(|input: &[u8]| {
    let [operation, abilities, seed, words @ ..] = input else { return };
    let is_set = |at: &usize| abilities >> at & 1 == 1;
    let able = (0..CAPABILITIES.len()).filter(is_set).flat_map(|at| CAPABILITIES[at].split(';'));
    let able = std::iter::once("IMAP4rev1").chain(able).map(str::to_owned).collect();
    let server = Server::new(words, *seed, able);
    let known = if operation & 0x80 == 0 { Vec::new() } else { pages(&server) };
    one(&server, operation & 0x7f, &known);
});

fn cx(server: &Server) -> Context<'_> {
    let mut connection =
        Connection { username: Some("ann@example.test".to_owned()), ..Connection::default() };
    connection.settings.insert("imap".into(), json!({ "host": "imap.example.test" }));
    Context::new(server, connection).keyed("key")
}

/// Reads new records, page by page, as the host does.
fn pages(server: &Server) -> Vec<Source> {
    let mut cursor = None;
    let mut known = Vec::new();
    for _ in 0..PAGES {
        let request = ChangesRequest { limit: 3, ..ChangesRequest::default() };
        let Ok(answer) = Imap::changes(&cx(server).at(cursor.take()), request) else { break };
        check(&answer.body.sources);
        known.extend(answer.body.sources);
        cursor = answer.cursor;
    }
    known
}

/// Returns a known message, else an unknown one.
fn message(known: &[Source]) -> MessageRef {
    let is_message = |source: &&Source| source.items.iter().any(|item| item.kind.is_none() && !item.partial);
    match known.iter().find(is_message) {
        Some(source) => MessageRef {
            source: source.external_id.clone(),
            hint: source.items.first().and_then(|item| item.hint.clone()),
        },
        // Of a folder called INBOX, with UIDVALIDITY 9.
        None => MessageRef {
            source: format!("M:{}:9:3", connector_imap::ids::folder_key("F:INBOX")),
            hint: Some(json!({ "f": "INBOX", "t": [{ "s": "1" }], "h": [{ "s": "2", "e": "base64" }] })),
        },
    }
}

fn folder(known: &[Source]) -> String {
    let folder = known.iter().find(|source| source.items.iter().any(|item| item.kind.is_some()));
    folder.map_or_else(|| "F:Archive".to_owned(), |source| source.external_id.clone())
}

fn one(server: &Server, operation: u8, known: &[Source]) {
    let (cx, message) = (cx(server), message(known));
    let blob = server.create_blob(b"Subject: x\r\nMessage-ID: <m@x>\r\n\r\nhello\r\n.\r\n", None);
    let (blob, id) = (blob.unwrap_or_default(), "m@x".to_owned());
    // The result is not checked: a hostile server may make every call fail.
    let sources = match operation % 12 {
        0 => Imap::get_messages(
            &cx,
            MessagesGet { messages: vec![message], body: true, ..MessagesGet::default() },
        )
        .map(|answer| answer.sources),
        1 => Imap::get_messages(&cx, MessagesGet { messages: vec![message], ..MessagesGet::default() })
            .map(|answer| answer.sources),
        2 => Imap::raw(&cx, message).map(|_| Vec::new()),
        3 => Imap::attachment(&cx, AttachmentRef { message, part: "2".to_owned() }).map(|_| Vec::new()),
        4 => {
            let folders = Some(vec![folder(known)]);
            let update = MessageUpdate { message, unread: Some(true), folders, ..MessageUpdate::default() };
            Imap::update_message(&cx, update).map(|answer| answer.sources)
        }
        5 => Imap::delete_message(&cx, MessageDelete { message, ..MessageDelete::default() })
            .map(|answer| answer.sources),
        6 => {
            let folders = vec![folder(known)];
            Imap::append(
                &cx,
                MessageAppend { blob, internet_message_id: id, folders, ..MessageAppend::default() },
            )
            .map(|answer| answer.sources)
        }
        7 => {
            let replaces = Some(message);
            let args = DraftSave { blob, internet_message_id: id, replaces, ..DraftSave::default() };
            Imap::save_draft(&cx, args).map(|answer| answer.sources)
        }
        8 => Imap::send(&cx, send(blob, id, message)).map(|answer| answer.sources),
        9 => {
            let text = Some("hello wörld".to_owned());
            Imap::search(&cx, MessageSearch { text, limit: 5, ..MessageSearch::default() })
                .map(|answer| answer.body.sources)
        }
        10 => Imap::find_message(&cx, MessageFind { internet_message_id: id }).map(|answer| answer.sources),
        _ => Imap::check(&cx).and_then(|_| Imap::features(&cx)).map(|_| Vec::new()),
    };
    check(&sources.unwrap_or_default());
}

fn send(blob: String, id: String, draft: MessageRef) -> MessageSend {
    MessageSend {
        blob,
        internet_message_id: id,
        from: EmailAddress { email: "ann@example.test".to_owned(), name: None },
        recipients: vec!["bob@example.test".to_owned(), "eve@example.test".to_owned()],
        save_to_sent: true,
        sent_blob: None,
        draft: Some(draft),
        thread: None,
    }
}

/// Checks that the host can read the connector's answer.
fn check(sources: &[Source]) {
    for item in sources.iter().flat_map(|source| &source.items) {
        assert!(!item.external_id.is_empty());
        match item.kind.as_deref() {
            Some(_) => drop(item.body.read::<Folder>().expect("a folder")),
            None => drop(item.body.read::<EmailMessage>().expect("a message")),
        }
    }
}
