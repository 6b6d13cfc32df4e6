//! The initial mailbox of an account. Days count back from the day on which the account is created, times are UTC. Senders and recipients
//! are the same in every seeded account. Only between the three main accounts, one sends and the others receive.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail::build::{CalendarPart, Outgoing, OutgoingFile, build};
use model::Instant;
use model::email::folders::{Folder as FolderProperties, FolderRights, Label, LabelColor};
use model::email::{EmailAddress, EmailHeader, EmailMessage};
use serde::Deserialize;

use crate::document::Document;
use crate::mail::folders::{Container, RIGHTS};
use crate::mail::parse;
use crate::mail::types::{Entry, INBOX, MAILBOX, Mailbox, Message, SENT, SYSTEM_FOLDERS};
use crate::mail::upload::store;
use crate::seed::colleagues::{Colleague, PEOPLE};
use crate::state::State;
use crate::times::instant;

const DAY_MS: i64 = 24 * 3_600_000;

/// The messages, and their other authors besides the three main accounts.
const MESSAGES: &str = include_str!("messages.json");
/// An invitation with placeholders for what depends on the account and the day.
const INVITATION: &str = include_str!("invitation.ics");
/// The content of files.
const PDF: &[u8] = include_bytes!("page.pdf");
const TABLE: &str = "item,count,price\nhouse,1,2400.00\ntrain,3,180.50\nfood,9,45.00\n";
/// A blue square of eight pixels, base64, and its Content-ID.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mNQTX6NFTEMLQkADGRcwbWCQf4AAAAASUVORK5CYII=";
const PICTURE_ID: &str = "picture@sandbox.test";
/// Remote content as senders typically use it, with scripts and trackers that clients must not run.
const REMOTE: &str = "<p><img src=\"https://pictures.sandbox.test/banner.png\" width=\"600\" alt=\"\"></p>\n\
    <p><a href=\"https://www.sandbox.test/more?c=42\" onclick=\"track()\">More</a></p>\n\
    <img src=\"https://pictures.sandbox.test/open.gif?who=42\" width=\"1\" height=\"1\">\n<script>track()</script>\n";

/// Folders of the three main accounts: id, name, parent.
const FOLDERS: &[(&str, &str, Option<&str>)] =
    &[("projects", "Projects", None), ("projects-launch", "Launch", Some("projects"))];
/// Labels of the three main accounts: id, name, background colour, text colour.
const LABELS: &[(&str, &str, &str, &str)] = &[
    ("label-customers", "Customers", "#fde68a", "#78350f"),
    ("label-finance", "Finance", "#bbf7d0", "#14532d"),
    ("label-later", "Später", "#ddd6fe", "#4c1d95"),
];

/// The file of messages.
#[derive(Debug, Default, Deserialize)]
struct MailSeed {
    /// People by the keys with which messages name them.
    people: HashMap<String, EmailAddress>,
    messages: Vec<MessageSeed>,
}

/// A message of the file. People are named `me`, by the first name of one of the three, or by a key of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MessageSeed {
    id: String,
    /// Day, hour, minute.
    at: [i64; 3],
    from: String,
    to: Vec<String>,
    cc: Vec<String>,
    subject: String,
    text: String,
    /// The message that this one replies to.
    answers: Option<String>,
    /// The folder; none: the sent folder for the owner's messages, else the inbox.
    folder: Option<String>,
    labels: Vec<String>,
    unread: bool,
    starred: bool,
    draft: bool,
    html: Option<HtmlKind>,
    /// The name of an attached PDF file or table.
    file: Option<String>,
    /// Whether another message is attached.
    forwarded: bool,
    /// A meeting's day, relative to today, and its hour.
    invitation: Option<[i64; 2]>,
    /// A charset, and the subject and text in this charset, base64.
    charset: Option<[String; 3]>,
    /// The Auto-Submitted header.
    auto_submitted: Option<String>,
    /// The domain of the List-ID.
    list: Option<String>,
    /// Generates several issues of this message, whose numbers end the subject.
    series: Option<IssueSeed>,
}

/// The issues of a recurring message.
#[derive(Clone, Debug, Deserialize)]
struct IssueSeed {
    /// Days between two issues.
    every: i64,
    count: i64,
    /// Number of unread issues, the newest ones.
    unread: i64,
}

/// A message's HTML beside its text: the same content, with an embedded picture, or with remote pictures.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum HtmlKind {
    Text,
    Picture,
    Remote,
}

/// Creates the mailbox with its folders; for the three main accounts also with their own folders and labels.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let now = instant(now_ms);
    state.put_head::<Entry>(mail, Mailbox { id: MAILBOX.to_owned(), created_at: now.clone() });
    let mut put = |entry: Entry| state.put(mail, MAILBOX, now_ms, Arc::new(entry));
    for (sort_order, (role, id, name)) in (0..).zip(SYSTEM_FOLDERS) {
        let rights = FolderRights { rename: false, delete: false, ..RIGHTS };
        let (name, role, system) = (name.to_owned(), Some(role), true);
        let body = FolderProperties { name, role, system, rights, sort_order, ..FolderProperties::begin() };
        put(Entry::Folder(Document::new(id, body, &now)));
    }
    if !PEOPLE.iter().any(|person| person.mail == mail) {
        return;
    }
    for (sort_order, (id, name, parent)) in (10..).zip(FOLDERS) {
        let (name, parent_id) = ((*name).to_owned(), parent.map(str::to_owned));
        let body = FolderProperties { name, parent_id, sort_order, ..FolderProperties::begin() };
        put(Entry::Folder(Document::new(id, body, &now)));
    }
    for (id, name, background, text) in LABELS {
        let color = LabelColor { background: Some((*background).to_owned()), text: Some((*text).to_owned()) };
        let body = Label { name: (*name).to_owned(), color: Some(color), ..Label::default() };
        put(Entry::Label(Document::new(id, body, &now)));
    }
}

/// Fills the mailboxes of the three main accounts.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    let Some(person) = PEOPLE.iter().find(|person| person.mail == mail) else { return };
    let seed: MailSeed = serde_json::from_str(MESSAGES).unwrap_or_default();
    let messages: Vec<MessageSeed> = seed.messages.into_iter().flat_map(issues).collect();
    let today_ms = now_ms - now_ms.rem_euclid(DAY_MS);
    let maker = MailMaker { person, today_ms, people: &seed.people, messages: &messages };
    let mut made: Vec<(Vec<u8>, Message)> = messages.iter().filter_map(|seed| maker.message(seed)).collect();
    made.sort_by_key(|(_, message)| message.body.received_at);
    for (raw, message) in made {
        store(state, mail, now_ms, message, Bytes::from(raw));
    }
}

/// Returns the issues of a recurring message, the newest first, or the message itself.
fn issues(seed: MessageSeed) -> Vec<MessageSeed> {
    let Some(IssueSeed { every, count, unread }) = seed.series else { return vec![seed] };
    let issue = |back: i64| {
        let number = count - back;
        let [day, hour, minute] = seed.at;
        MessageSeed {
            id: format!("{}-{number}", seed.id),
            at: [day + back * every, hour, minute],
            subject: format!("{}{number}", seed.subject),
            unread: back < unread,
            ..seed.clone()
        }
    };
    (0..count).map(issue).collect()
}

/// Creates one account's messages.
struct MailMaker<'a> {
    person: &'static Colleague,
    /// Midnight, UTC.
    today_ms: i64,
    people: &'a HashMap<String, EmailAddress>,
    messages: &'a [MessageSeed],
}

impl MailMaker<'_> {
    fn name(&self) -> &'static str {
        self.person.mail.split('@').next().unwrap_or_default()
    }

    fn address(&self, key: &str) -> EmailAddress {
        let key = if key == "me" { self.name() } else { key };
        match PEOPLE.iter().find(|person| person.mail.split('@').next() == Some(key)) {
            Some(person) => {
                EmailAddress { name: Some(person.name.to_owned()), email: person.mail.to_owned() }
            }
            None => self.people.get(key).cloned().unwrap_or_default(),
        }
    }

    fn is_me(&self, key: &str) -> bool {
        self.address(key).email == self.person.mail
    }

    fn instant(&self, at: [i64; 3]) -> Instant {
        let [day, hour, minute] = at;
        Instant::from_millis(self.today_ms - day * DAY_MS + (hour * 60 + minute) * 60_000)
    }

    fn domain(&self, seed: &MessageSeed) -> String {
        self.address(&seed.from).email.rsplit('@').next().unwrap_or_default().to_owned()
    }

    /// Between the three main accounts a message is the same for all, so it has one Message-ID.
    fn message_id(&self, seed: &MessageSeed) -> String {
        let owner = if seed.id.starts_with("team-") { String::new() } else { format!("{}-", self.name()) };
        format!("{owner}{}@{}", seed.id, self.domain(seed))
    }

    fn message(&self, seed: &MessageSeed) -> Option<(Vec<u8>, Message)> {
        let raw = self.raw(seed)?;
        let read = parse::read(&raw)?;
        let is_mine = self.is_me(&seed.from);
        let is_reply = |next: &&MessageSeed| next.answers.as_ref() == Some(&seed.id);
        let folder = seed.folder.as_deref().unwrap_or(if is_mine { SENT } else { INBOX });
        let body = EmailMessage {
            received_at: self.instant(seed.at),
            folder_ids: vec![folder.to_owned()],
            label_ids: seed.labels.clone(),
            keywords: (folder == "junk").then(|| "$junk".to_owned()).into_iter().collect(),
            unread: seed.unread && !is_mine,
            starred: seed.starred,
            answered: self.messages.iter().filter(is_reply).any(|next| self.is_me(&next.from)),
            draft: seed.draft,
            ..read.body
        };
        Some((raw, Message { id: format!("msg-{}", seed.id), body, ..read }))
    }

    fn raw(&self, seed: &MessageSeed) -> Option<Vec<u8>> {
        let built = build(&self.outgoing(seed)).ok()?.bytes;
        let Some([charset, subject, text]) = &seed.charset else { return Some(built) };
        let built = String::from_utf8(built).ok()?;
        let header = built.split("Content-Type:").next()?;
        let rest = format!(
            "Subject: =?{charset}?B?{subject}?=\r\nContent-Type: text/plain; charset={charset}\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{text}\r\n"
        );
        Some(format!("{header}{rest}").into_bytes())
    }

    fn outgoing(&self, seed: &MessageSeed) -> Outgoing {
        let people = |keys: &[String]| keys.iter().map(|key| self.address(key)).collect();
        let references = self.references(seed);
        Outgoing {
            message_id: self.message_id(seed),
            date: self.instant(seed.at),
            from: vec![self.address(&seed.from)],
            to: people(&seed.to),
            cc: people(&seed.cc),
            subject: Some(seed.subject.clone()),
            in_reply_to: references.last().cloned().into_iter().collect(),
            references,
            text: Some(seed.text.clone()),
            html: seed.html.map(|kind| html(&seed.text, kind)),
            calendar: seed.invitation.map(|at| self.invitation(seed, at)),
            attachments: self.attachment(seed).into_iter().collect(),
            headers: self.headers(seed),
            ..Outgoing::default()
        }
    }

    /// Returns the earlier messages of its conversation, the oldest first.
    fn references(&self, seed: &MessageSeed) -> Vec<String> {
        let above = |seed: &MessageSeed| {
            let id = seed.answers.as_ref()?;
            self.messages.iter().find(|one| one.id == *id)
        };
        let mut chain: Vec<String> =
            std::iter::successors(above(seed), |seed| above(seed)).map(|one| self.message_id(one)).collect();
        chain.reverse();
        chain
    }

    fn headers(&self, seed: &MessageSeed) -> Vec<EmailHeader> {
        let mut headers = Vec::new();
        let mut add = |name: &str, value: String| headers.push(EmailHeader { name: name.to_owned(), value });
        if let Some(value) = &seed.auto_submitted {
            add("Auto-Submitted", value.clone());
        }
        if let Some(list) = &seed.list {
            let (domain, name) = (self.domain(seed), self.name());
            add("List-ID", format!("<{list}>"));
            let ways = format!("<mailto:leave@{domain}?subject=leave>, <https://{domain}/leave?who={name}>");
            add("List-Unsubscribe", ways);
            add("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned());
        }
        headers
    }

    fn attachment(&self, seed: &MessageSeed) -> Option<OutgoingFile> {
        let file = |content_type: &str, content: Vec<u8>| OutgoingFile {
            content_type: Some(content_type.to_owned()),
            content,
            ..OutgoingFile::default()
        };
        if seed.html == Some(HtmlKind::Picture) {
            let (filename, content_id) = (Some("esquisse.png".to_owned()), Some(PICTURE_ID.to_owned()));
            let picture = file("image/png", STANDARD.decode(PICTURE).unwrap_or_default());
            return Some(OutgoingFile { filename, content_id, inline: true, ..picture });
        }
        if seed.forwarded {
            return Some(file("message/rfc822", self.forwarded(seed)?));
        }
        let name = seed.file.clone()?;
        let content = match name.ends_with(".pdf") {
            true => file("application/pdf", PDF.to_vec()),
            false => file("text/csv", TABLE.as_bytes().to_vec()),
        };
        Some(OutgoingFile { filename: Some(name), ..content })
    }

    /// Returns the message that is attached to another one.
    fn forwarded(&self, seed: &MessageSeed) -> Option<Vec<u8>> {
        let [day, hour, minute] = seed.at;
        let customer =
            EmailAddress { name: Some("Emily Johnson".to_owned()), email: "emily@acme.example".to_owned() };
        let message = Outgoing {
            message_id: "it-does-not-work@acme.example".to_owned(),
            date: self.instant([day + 1, hour, minute]),
            from: vec![customer],
            to: vec![self.address(&seed.from)],
            subject: Some("It does not work".to_owned()),
            text: Some("The export stops after a minute.\n".to_owned()),
            ..Outgoing::default()
        };
        build(&message).ok().map(|built| built.bytes)
    }

    fn invitation(&self, seed: &MessageSeed, [day, hour]: [i64; 2]) -> CalendarPart {
        let stamp = |at: [i64; 3]| self.instant(at).timestamp().strftime("%Y%m%dT%H%M%SZ").to_string();
        let person = |key: &str| {
            let EmailAddress { name, email } = self.address(key);
            format!("{}:mailto:{email}", name.unwrap_or_default())
        };
        let text = INVITATION
            .replace("{uid}", &self.message_id(seed))
            .replace("{stamp}", &stamp(seed.at))
            .replace("{start}", &stamp([-day, hour, 0]))
            .replace("{end}", &stamp([-day, hour + 1, 0]))
            .replace("{title}", seed.subject.trim_start_matches("Invitation: "))
            .replace("{host}", &person(&seed.from))
            .replace("{guest}", &person("me"));
        CalendarPart { method: "REQUEST", text }
    }
}

fn html(text: &str, kind: HtmlKind) -> String {
    let text = text.trim().replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>\n");
    let more = match kind {
        HtmlKind::Text => String::new(),
        HtmlKind::Picture => format!("<p><img src=\"cid:{PICTURE_ID}\" alt=\"\"></p>\n"),
        HtmlKind::Remote => REMOTE.to_owned(),
    };
    format!("<html><body>\n<p>{text}</p>\n{more}</body></html>\n")
}
