//! The mailbox that an account begins with.

use std::sync::Arc;

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::mail::compose::{date, encoded, file, message, multipart, person, text, words};
use crate::mail::parse;
use crate::mail::types::{Entry, Flags, MAILBOX, MailFolder, MailLabel, Mailbox, Message, Purpose};
use crate::mail::upload::store;
use crate::seed::colleagues::{Colleague, PEOPLE};
use crate::seed::letters::{BULLETINS, Bulletin, LETTERS, Letter, MessageExtra, TEAM, Who};
use crate::state::State;
use crate::times::instant;

const DAY_MS: i64 = 24 * 3_600_000;
/// The account's own folders: id, title, parent.
const FOLDERS: &[(&str, &str, Option<&str>)] =
    &[("projects", "Projects", None), ("projects-launch", "Launch", Some("projects"))];
/// Id, title, background, text.
const LABELS: &[(&str, &str, &str, &str)] = &[
    ("label-customers", "Customers", "#fde68a", "#78350f"),
    ("label-finance", "Finance", "#bbf7d0", "#14532d"),
    ("label-later", "Später", "#ddd6fe", "#4c1d95"),
];
/// A blue square of eight pixels.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mNQTX6NFTEMLQkADGRcwbWCQf4AAAAASUVORK5CYII=";

/// The mailbox with its folders; for the three with their own folders and labels, too.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let now = instant(now_ms);
    state.put_head::<Entry>(mail, Mailbox { id: MAILBOX.to_owned(), created_at: now.clone() });
    let mut put = |entry: Entry| state.put(mail, MAILBOX, now_ms, Arc::new(entry));
    let folder = |id: &str, title: &str, rank| MailFolder {
        id: id.to_owned(),
        title: title.to_owned(),
        rank,
        created_at: now.clone(),
        updated_at: now.clone(),
        ..MailFolder::default()
    };
    for (rank, purpose) in (0..).zip(Purpose::ALL) {
        let folder = folder(purpose.folder(), purpose.title(), rank);
        put(Entry::Folder(MailFolder { purpose: Some(purpose), ..folder }));
    }
    if !PEOPLE.iter().any(|person| person.mail == mail) {
        return;
    }
    for (rank, (id, title, parent)) in (10..).zip(FOLDERS) {
        let parent = parent.map(str::to_owned);
        put(Entry::Folder(MailFolder { parent, ..folder(id, title, rank) }));
    }
    for (id, title, colour, text_colour) in LABELS {
        put(Entry::Label(MailLabel {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
            colour: Some((*colour).to_owned()),
            text_colour: Some((*text_colour).to_owned()),
            hidden: false,
            created_at: now.clone(),
            updated_at: now.clone(),
        }));
    }
}

/// Fills the mailboxes of the three.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    let Some(me) = PEOPLE.iter().position(|person| person.mail == mail) else { return };
    let maker = MailMaker { me, person: &PEOPLE[me], today_ms: now_ms - now_ms.rem_euclid(DAY_MS) };
    let mut made: Vec<(Vec<u8>, Message)> = TEAM.iter().chain(LETTERS).map(|one| maker.letter(one)).collect();
    for bulletin in BULLETINS {
        made.extend((0..bulletin.count).map(|issue| maker.bulletin(bulletin, issue)));
    }
    made.sort_by_key(|(_, message)| message.received_ms);
    for (raw, message) in made {
        let Some(read) = parse::read(&raw) else { continue };
        store(state, mail, now_ms, read, message, Bytes::from(raw));
    }
}

/// Makes one person's messages.
struct MailMaker {
    me: usize,
    person: &'static Colleague,
    /// Midnight, UTC.
    today_ms: i64,
}

impl MailMaker {
    fn is_me(&self, who: Who) -> bool {
        who == Who::Me || who == Who::Colleague(self.me)
    }

    fn name(&self) -> &'static str {
        self.person.mail.split('@').next().unwrap_or_default()
    }

    /// Name and address.
    fn known(&self, who: Who) -> (&'static str, &'static str) {
        match who {
            Who::Me => (self.person.name, self.person.mail),
            Who::Colleague(number) => PEOPLE.get(number).map_or(("", ""), |p| (p.name, p.mail)),
            Who::Other(name, mail) => (name, mail),
        }
    }

    fn people(&self, all: &[Who]) -> String {
        let all: Vec<String> = all.iter().map(|who| self.known(*who)).map(|(n, m)| person(n, m)).collect();
        all.join(",\r\n ")
    }

    /// Among the three a message is the same for all, so it has the same Message-ID.
    fn message_id(&self, letter: &Letter) -> String {
        let domain = self.known(letter.from).1.split('@').nth(1).unwrap_or_default();
        match letter.id.starts_with("team-") {
            true => format!("<{}@{domain}>", letter.id),
            false => format!("<{}-{}@{domain}>", self.name(), letter.id),
        }
    }

    fn ms(&self, day: i64, (hour, minute): (i64, i64)) -> i64 {
        self.today_ms - day * DAY_MS + (hour * 60 + minute) * 60_000
    }

    fn letter(&self, letter: &Letter) -> (Vec<u8>, Message) {
        let (ms, is_mine) = (self.ms(letter.day, letter.at), self.is_me(letter.from));
        let references = self.references(letter);
        let subject = match letter.trimming {
            MessageExtra::Charset(charset, subject, _) => format!("=?{charset}?B?{subject}?="),
            _ => words(letter.subject),
        };
        let automatic = matches!(letter.trimming, MessageExtra::Automatic);
        let headers = [
            ("From", self.people(&[letter.from])),
            ("To", self.people(letter.to)),
            ("Cc", self.people(letter.cc)),
            ("Subject", subject),
            ("Date", date(ms)),
            ("Message-ID", self.message_id(letter)),
            ("In-Reply-To", references.last().cloned().unwrap_or_default()),
            ("References", references.join("\r\n ")),
            ("Auto-Submitted", if automatic { "auto-replied".to_owned() } else { String::new() }),
        ];
        let raw = message(&headers, &self.part(letter, ms));
        let all = || TEAM.iter().chain(LETTERS);
        let is_answered = all().any(|next| next.answers == Some(letter.id) && self.is_me(next.from));
        let folder = letter.folder.unwrap_or(if is_mine { "sent" } else { "inbox" });
        let found = Message {
            id: format!("msg-{}", letter.id),
            received_ms: ms,
            folders: vec![folder.to_owned()],
            labels: letter.labels.iter().map(|label| (*label).to_owned()).collect(),
            flags: Flags {
                seen: is_mine || !letter.is_unread,
                starred: letter.is_starred,
                answered: is_answered,
                forwarded: false,
                draft: letter.is_draft,
            },
            words: if folder == "junk" { vec!["$junk".to_owned()] } else { Vec::new() },
            ..Message::default()
        };
        (raw, found)
    }

    /// The messages before it in its conversation, the oldest first.
    fn references(&self, letter: &Letter) -> Vec<String> {
        let all = || TEAM.iter().chain(LETTERS);
        let mut chain = Vec::new();
        let mut above = letter.answers;
        while let Some(parent) = above.and_then(|id| all().find(|letter| letter.id == id)) {
            chain.push(self.message_id(parent));
            above = parent.answers;
        }
        chain.reverse();
        chain
    }

    fn part(&self, letter: &Letter, ms: i64) -> Vec<u8> {
        let plain = text("text/plain", letter.text);
        let boundary = format!("part-{}", letter.id);
        let mixed = |file: Vec<u8>| multipart("mixed", &boundary, &[plain.clone(), file]);
        match letter.trimming {
            MessageExtra::Nothing | MessageExtra::Automatic => plain,
            MessageExtra::Html => alternative(&boundary, letter.text, ""),
            MessageExtra::Remote => alternative(&boundary, letter.text, REMOTE),
            MessageExtra::Picture => picture(&boundary, letter.text),
            MessageExtra::Pdf(name) => {
                mixed(file("application/pdf", name, "attachment", None, &pdf(letter.subject)))
            }
            MessageExtra::Csv(name) => {
                let table = "item,count,price\nhouse,1,2400.00\ntrain,3,180.50\nfood,9,45.00\n";
                mixed(file("text/csv; charset=utf-8", name, "attachment", None, table.as_bytes()))
            }
            MessageExtra::Invitation(day, hour) => self.invitation(letter, &boundary, day, hour, ms),
            MessageExtra::Charset(charset, _, body) => {
                let body = STANDARD.decode(body).unwrap_or_default();
                encoded(&format!("text/plain; charset={charset}"), &[], &body)
            }
            MessageExtra::Forwarded => {
                let headers = [
                    ("From", person("Emily Johnson", "emily@acme.example")),
                    ("To", person("Hugo Peña", "hugo@sandbox.test")),
                    ("Subject", "It does not work".to_owned()),
                    ("Date", date(ms - DAY_MS)),
                    ("Message-ID", "<it-does-not-work@acme.example>".to_owned()),
                ];
                let inner = message(&headers, &text("text/plain", "The export stops after a minute.\n"));
                mixed([b"Content-Type: message/rfc822\r\n\r\n".to_vec(), inner].concat())
            }
        }
    }

    /// RFC 6047: the text, and the meeting as an alternative to it.
    fn invitation(&self, letter: &Letter, boundary: &str, day: i64, hour: i8, ms: i64) -> Vec<u8> {
        let stamp = |ms: i64| {
            let at = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
            at.strftime("%Y%m%dT%H%M%SZ").to_string()
        };
        let start = self.ms(-day, (i64::from(hour), 0));
        let (title, host) = (letter.subject.trim_start_matches("Invitation: "), self.known(letter.from));
        let lines = [
            "BEGIN:VCALENDAR".to_owned(),
            "VERSION:2.0".to_owned(),
            "PRODID:-//sandbox.test//mail//EN".to_owned(),
            "METHOD:REQUEST".to_owned(),
            "BEGIN:VEVENT".to_owned(),
            format!("UID:{}-{}@customer.example", self.name(), letter.id),
            format!("DTSTAMP:{}", stamp(ms)),
            format!("DTSTART:{}", stamp(start)),
            format!("DTEND:{}", stamp(start + 3_600_000)),
            format!("SUMMARY:{title}"),
            format!("ORGANIZER;CN={}:mailto:{}", host.0, host.1),
            format!(
                "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN={}:mailto:{}",
                self.person.name, self.person.mail
            ),
            "SEQUENCE:0".to_owned(),
            "END:VEVENT".to_owned(),
            "END:VCALENDAR".to_owned(),
        ];
        let meeting = lines.map(|line| line + "\r\n").concat();
        let parts = [
            text("text/plain", letter.text),
            encoded("text/calendar; method=REQUEST; charset=utf-8", &[], meeting.as_bytes()),
        ];
        multipart("alternative", boundary, &parts)
    }

    /// The newest issue is number zero.
    fn bulletin(&self, bulletin: &Bulletin, issue: i64) -> (Vec<u8>, Message) {
        let day = 1 + issue * bulletin.every;
        let (ms, number) = (self.ms(day, bulletin.at), bulletin.count - issue);
        let id = format!("{}-{number}", bulletin.id);
        let domain = self.known(bulletin.from).1.split('@').nth(1).unwrap_or_default();
        let list = |value: String| if bulletin.list.is_empty() { String::new() } else { value };
        let headers = [
            ("From", self.people(&[bulletin.from])),
            ("To", self.people(&[Who::Me])),
            ("Subject", words(&format!("{}{number}", bulletin.subject))),
            ("Date", date(ms)),
            ("Message-ID", format!("<{}-{id}@{domain}>", self.name())),
            ("List-ID", list(format!("<{}>", bulletin.list))),
            (
                "List-Unsubscribe",
                list(format!(
                    "<mailto:leave@{domain}?subject=leave>,\r\n <https://{domain}/leave?who={}>",
                    self.name()
                )),
            ),
            ("List-Unsubscribe-Post", list("List-Unsubscribe=One-Click".to_owned())),
            ("Precedence", list("bulk".to_owned())),
            (
                "Auto-Submitted",
                if bulletin.list.is_empty() { "auto-generated".to_owned() } else { String::new() },
            ),
        ];
        let boundary = format!("part-{id}");
        let part = match bulletin.trimming {
            MessageExtra::Remote => alternative(&boundary, bulletin.text, REMOTE),
            MessageExtra::Html => alternative(&boundary, bulletin.text, ""),
            _ => text("text/plain", bulletin.text),
        };
        let found = Message {
            id: format!("msg-{id}"),
            received_ms: ms,
            folders: vec!["inbox".to_owned()],
            flags: Flags { seen: issue >= bulletin.unread, ..Flags::default() },
            ..Message::default()
        };
        (message(&headers, &part), found)
    }
}

/// Typical remote content of senders, with scripts and trackers that clients must not run.
const REMOTE: &str = "<p><img src=\"https://pictures.sandbox.test/banner.png\" width=\"600\" alt=\"\"></p>\n\
    <p><a href=\"https://www.sandbox.test/more?c=42\" onclick=\"track()\">More</a></p>\n\
    <img src=\"https://pictures.sandbox.test/open.gif?who=42\" width=\"1\" height=\"1\">\n<script>track()</script>\n";

fn html(said: &str, more: &str) -> String {
    let said = said.trim().replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>\n");
    format!("<html><body>\n<p>{said}</p>\n{more}</body></html>\n")
}

fn alternative(boundary: &str, said: &str, more: &str) -> Vec<u8> {
    multipart("alternative", boundary, &[text("text/plain", said), text("text/html", &html(said, more))])
}

fn picture(boundary: &str, said: &str) -> Vec<u8> {
    let (cid, bytes) = (format!("{boundary}@sandbox.test"), STANDARD.decode(PICTURE).unwrap_or_default());
    let shown = format!("<p><img src=\"cid:{cid}\" alt=\"\"></p>\n");
    let related = multipart(
        "related",
        &format!("{boundary}-related"),
        &[
            text("text/html", &html(said, &shown)),
            file("image/png", "esquisse.png", "inline", Some(&cid), &bytes),
        ],
    );
    multipart("alternative", boundary, &[text("text/plain", said), related])
}

/// A page with one line.
fn pdf(title: &str) -> Vec<u8> {
    let title: String = title.chars().filter(char::is_ascii_alphanumeric).collect();
    let stream = format!("BT /F1 24 Tf 72 720 Td ({title}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut text = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(text.len());
        text.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let table = text.len();
    text.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    places.iter().for_each(|place| text.push_str(&format!("{place:010} 00000 n \n")));
    text.push_str(&format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    ));
    text.into_bytes()
}
