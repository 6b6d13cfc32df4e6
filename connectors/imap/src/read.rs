//! `messages.get`, `messages.raw` and `attachments.get`.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use connector_sdk::{Context, Failure, Outcome};
use io_imap::types::fetch::{MessageDataItemName, Section};
use model::email::{EmailBody, EmailMessage};
use model::wire::email::{AttachmentRef, Content, MessageRef, MessagesGet};
use model::wire::{Source, Sources};

use crate::directory::{Directory, MessageLocation};
use crate::ids::{Hint, TextPart, is_section};
use crate::imap::commands::{self, Items, uid_fetch};
use crate::imap::fetch::FetchedItems;
use crate::imap::input::Sink;
use crate::imap::session::Session;
use crate::imap::structure::{self, Part};
use crate::imap::uids::UidSet;
use crate::imap::visit::{Access, Visit, VisitResult, fetched};
use crate::message::{self, MailboxRef};
use crate::mime;
use crate::reading::{self, MailboxRead};

/// The maximum number of messages in one call (`wire::email::MessagesGet`).
const MAX_MESSAGES: usize = 200;

/// The maximum size of a header, in bytes; longer ones are truncated.
const MAX_HEADER_BYTES: u32 = 256 << 10;

/// The default and maximum size of texts, in bytes.
const BODY_BYTES: u32 = 1 << 20;
const MAX_BODY_BYTES: u32 = 4 << 20;

/// The messages of one mailbox.
struct Group {
    place: MailboxRef,
    hints: BTreeMap<u32, Hint>,
    /// Whether the server opened the mailbox under its known name.
    is_open: bool,
    /// Whether to select the mailbox again, because a kept connection may not know about new and deleted messages yet.
    anew: bool,
}

/// Reads messages.
pub fn get(cx: &Context, args: MessagesGet) -> Outcome<Sources> {
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    // List first: a failed listing must not make messages appear deleted.
    directory.all_mail(&mut session)?;
    let mut groups: Vec<Group> = Vec::new();
    for message in args.messages.iter().take(MAX_MESSAGES) {
        // An id of another form belongs to no message.
        let Ok(Some(located)) = directory.locate(&mut session, message, false) else { continue };
        group_location(&mut groups, located);
    }
    let mut sources = read(&mut session, &mut groups, &args)?;
    if groups.iter().any(|group| !group.is_open) {
        // Their folders were renamed.
        let mut moved: Vec<Group> = Vec::new();
        for message in args.messages.iter().take(MAX_MESSAGES) {
            let Ok(Some(old)) = directory.locate(&mut session, message, false) else { continue };
            if groups.iter().any(|group| !group.is_open && group.place == old.place)
                && let Some(located) = directory.locate(&mut session, message, true)?
            {
                group_location(&mut moved, located);
            }
        }
        sources.extend(read(&mut session, &mut moved, &args)?);
    }
    Ok(Sources { sources, ..Sources::default() })
}

fn group_location(groups: &mut Vec<Group>, located: MessageLocation) {
    match groups.iter_mut().find(|group| group.place == located.place) {
        Some(group) => {
            group.hints.insert(located.uid, located.hint);
        }
        None => {
            let hints = BTreeMap::from([(located.uid, located.hint)]);
            groups.push(Group { place: located.place, hints, is_open: false, anew: false });
        }
    }
}

/// Returns one message with the fields of a list, for answers to changes; none if it does not exist.
pub fn whole(session: &mut Session, place: &MailboxRef, uid: u32) -> Outcome<Option<Source>> {
    let read = MailboxRead::full(&session.capabilities, place.clone(), UidSet::range(uid, uid));
    let read = reading::read(session, vec![read])?;
    Ok(read.messages.into_iter().next().map(|message| message.source))
}

/// Reads the messages of the groups, with their texts in one round trip if the hints name the parts.
fn read(session: &mut Session, groups: &mut [Group], args: &MessagesGet) -> Outcome<Vec<Source>> {
    if args.body {
        learn_hints(session, groups)?;
    }
    let limit = if args.max_body_bytes == 0 { BODY_BYTES } else { args.max_body_bytes.min(MAX_BODY_BYTES) };
    let items = items(session, args);
    let visits: Vec<Visit> = groups.iter().map(|group| group.visit(&items, args.body, limit)).collect();
    let mut found: Vec<ResponseMessage> = Vec::new();
    let mut texts: HashMap<(usize, u32), EmailBody> = HashMap::new();
    let mut lacks_preview = false;
    let visited = session.visit(&visits, None, |at, selected, command, response| {
        let Some(group) = groups.get(at).filter(|group| group.is_same(selected.uid_validity)) else { return };
        let Some((uid, fetched)) = fetched(response).filter(|_| command.is_some()) else { return };
        let Some(hint) = group.hints.get(&uid) else { return };
        if fetched.structure.is_some() {
            lacks_preview |= fetched.preview.is_none() && fetched.section("TEXT").is_none();
            let body = args.body.then(|| texts.remove(&(at, uid)).unwrap_or_default());
            let source = message::source(&group.place, uid, &fetched, |message, _| {
                complete(message, args, &fetched, body);
            });
            found.push(ResponseMessage { group: at, is_hollow: fetched.header().is_none(), source });
        } else if hint.parts().any(|(part, _)| fetched.section(&part.section).is_some()) {
            texts.insert((at, uid), body(hint, &fetched, limit));
        }
    })?;
    if lacks_preview && session.capabilities.has("PREVIEW") {
        // The server offers PREVIEW but returned none: retry with the beginning of the text.
        session.capabilities.forget("PREVIEW");
        return read(session, groups, args);
    }
    let mut sources = Vec::new();
    let mut doubtful = Vec::new();
    for (at, (group, visited)) in groups.iter_mut().zip(&visited).enumerate() {
        group.is_open = visited.selected.is_some();
        let of_group = found.extract_if(.., |found| found.group == at).collect();
        match group.settle(visited, of_group) {
            Some(settled) => sources.extend(settled),
            None => doubtful.push(Group {
                anew: true,
                hints: group.hints.clone(),
                place: group.place.clone(),
                ..*group
            }),
        }
    }
    if !doubtful.is_empty() {
        sources.extend(read(session, &mut doubtful, args)?);
    }
    Ok(sources)
}

/// A message in a response of the server.
struct ResponseMessage {
    group: usize,
    /// Whether the header was NIL, which some servers return for a message that was expunged after the selection.
    is_hollow: bool,
    source: Source,
}

fn items(session: &Session, args: &MessagesGet) -> Items {
    if !args.headers && !args.body {
        return message::list_items(&session.capabilities);
    }
    let header = Items::section(Some(Section::Header(None)), Some(MAX_HEADER_BYTES));
    // The snippet has the same source as in lists, even if the whole text is available: the server's preview can differ from the beginning
    // of the text, and reading a message must not change it.
    message::with_snippet(message::fact_items(&session.capabilities).and(header), &session.capabilities)
}

impl Hint {
    /// The text parts, and whether they are HTML.
    fn parts(&self) -> impl Iterator<Item = (&TextPart, bool)> {
        self.text.iter().map(|part| (part, false)).chain(self.html.iter().map(|part| (part, true)))
    }
}

impl Group {
    fn is_same(&self, uid_validity: u32) -> bool {
        self.place.uid_validity == uid_validity
    }

    /// Returns the sources of the group's messages; none if a kept connection lacks some of them and may be out of date.
    fn settle(&self, visited: &VisitResult, mut found: Vec<ResponseMessage>) -> Option<Vec<Source>> {
        let is_expunged = visited.refusal().is_some_and(|status| status.has_other("EXPUNGEISSUED"));
        let is_kept = self.is_open && !self.anew && visited.selection.is_none();
        found.retain(|found| !found.is_hollow || !(is_kept || is_expunged));
        let mut sources: Vec<Source> = found.into_iter().map(|found| found.source).collect();
        let is_there = |gone: &Source| sources.iter().any(|source| source.external_id == gone.external_id);
        let gone = self.hints.keys().map(|uid| self.place.deleted_source(*uid));
        let gone: Vec<Source> = gone.filter(|gone| !is_there(gone)).collect();
        if is_kept && !gone.is_empty() {
            return None;
        }
        sources.extend(gone.into_iter().filter(|_| visited.is_ok() || is_expunged));
        Some(sources)
    }

    fn visit(&self, items: &Items, body: bool, limit: u32) -> Visit {
        let mut commands = Vec::new();
        if body {
            // Messages with the same structure share a command.
            let mut alike: BTreeMap<Vec<(&str, u32)>, UidSet> = BTreeMap::new();
            for (uid, hint) in &self.hints {
                let sections =
                    hint.parts().map(|(part, _)| (part.section.as_str(), encoded_limit(part, limit)));
                let sections: Vec<(&str, u32)> = sections.collect();
                if !sections.is_empty() {
                    alike.entry(sections).or_default().insert(*uid);
                }
            }
            commands.extend(alike.into_iter().map(|(sections, uids)| {
                let section = |(part, len)| Some(Items::section(Some(commands::part(part)?), Some(len)));
                uid_fetch(&uids, Items::new(sections.into_iter().filter_map(section)), None)
            }));
        }
        let uids: UidSet = self.hints.keys().copied().collect();
        commands.push(uid_fetch(&uids, items.clone(), None));
        Visit { anew: self.anew, ..Visit::new(&self.place.name, Access::Read, commands) }
    }
}

/// Reads the structure of messages whose hints do not name the text parts.
fn learn_hints(session: &mut Session, groups: &mut [Group]) -> Outcome<()> {
    let unknown = |group: &Group| -> UidSet {
        group.hints.iter().filter(|(_, hint)| !hint.is_known).map(|(uid, _)| *uid).collect()
    };
    let wanted: Vec<(usize, UidSet)> = groups
        .iter()
        .enumerate()
        .map(|(at, group)| (at, unknown(group)))
        .filter(|(_, uids)| !uids.is_empty())
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let visit = |(at, uids): &(usize, UidSet)| {
        let fetch = uid_fetch(uids, Items::new([MessageDataItemName::BodyStructure]), None);
        groups.get(*at).map(|group| Visit::new(&group.place.name, Access::Read, vec![fetch]))
    };
    let visits: Vec<Visit> = wanted.iter().filter_map(visit).collect();
    session.visit(&visits, None, |at, _, _, response| {
        let group = wanted.get(at).and_then(|(at, _)| groups.get_mut(*at));
        if let (Some(group), Some((uid, fetched))) = (group, fetched(response))
            && let (Some(hint), Some(structure)) = (group.hints.get_mut(&uid), &fetched.structure)
        {
            *hint = mime::hint(&structure::read(structure));
        }
    })?;
    Ok(())
}

/// The encoded bytes of a part to request for `limit` bytes of text.
fn encoded_limit(part: &TextPart, limit: u32) -> u32 {
    match mail::read::decoding(&part.encoding) {
        Some("base64" | "uuencode") => limit.saturating_add(limit / 2).saturating_add(100),
        Some("quoted-printable") => limit.saturating_mul(3),
        _ => limit,
    }
}

fn body(hint: &Hint, fetched: &FetchedItems<'_>, limit: u32) -> EmailBody {
    let mut body = EmailBody::default();
    for (part, is_html) in hint.parts() {
        let Some(bytes) = fetched.section(&part.section) else { continue };
        body.truncated |= bytes.len() >= encoded_limit(part, limit) as usize;
        let (text, charset) = mime::text(part, if is_html { "html" } else { "plain" }, bytes);
        body.charset = body.charset.or(charset);
        let whole = if is_html { &mut body.html } else { &mut body.text };
        match whole {
            None => *whole = Some(text),
            Some(whole) => {
                if !whole.is_empty() && !whole.ends_with('\n') {
                    whole.push('\n');
                }
                whole.push_str(&text);
            }
        }
    }
    for text in [&mut body.text, &mut body.html].into_iter().flatten() {
        let (cut, is_cut) = mail::read::cut(std::mem::take(text), limit as usize);
        *text = cut;
        body.truncated |= is_cut;
    }
    body
}

fn complete(
    message: &mut EmailMessage,
    args: &MessagesGet,
    fetched: &FetchedItems<'_>,
    body: Option<EmailBody>,
) {
    if args.headers || args.body {
        message.headers = mail::read::raw_headers(fetched.header().unwrap_or_default());
    }
    if let Some(body) = body {
        message.body = Some(body);
    }
}

/// Reads a whole message into a blob.
pub fn raw(cx: &Context, args: MessageRef) -> Outcome<Content> {
    let decode = Cell::new("raw");
    let (blob, _) = section(cx, &args, "", &decode)?;
    Ok(Content { blob, content_type: Some("message/rfc822".into()) })
}

/// Reads a part into a blob, without its transfer encoding.
pub fn attachment(cx: &Context, args: AttachmentRef) -> Outcome<Content> {
    if !is_section(&args.part) {
        return Err(Failure::not_found("there is no such attachment"));
    }
    let decode = Cell::new("raw");
    let (blob, part) = section(cx, &args.message, &args.part, &decode)?;
    Ok(Content { blob, content_type: part.map(|part| part.kind) })
}

/// Reads a section of a message into a blob, and returns its part. The transfer encoding is read in the same round trip, before the
/// section.
fn section(
    cx: &Context,
    message: &MessageRef,
    section: &str,
    decode: &Cell<&'static str>,
) -> Outcome<(String, Option<Part>)> {
    let mut session = Session::open(cx)?;
    let mut directory = Directory::default();
    let not_found = || Failure::not_found("there is no such message");
    let mut located = directory.locate(&mut session, message, false)?.ok_or_else(not_found)?;
    let name = format!("BODY[{section}]");
    for anew in [false, true] {
        if anew {
            located = directory.locate(&mut session, message, true)?.ok_or_else(not_found)?;
        }
        let uid = located.uid;
        let fetch = |item| uid_fetch(&UidSet::only(uid), Items::new([item]), None);
        let mut commands = vec![fetch(Items::section(commands::part(section), None))];
        if !section.is_empty() {
            commands.insert(0, fetch(MessageDataItemName::BodyStructure));
        }
        let visit = Visit { anew, ..Visit::new(&located.place.name, Access::Read, commands) };
        let mut sink = Sink { name: &name, decode, blob: None };
        let mut part: Option<Part> = None;
        let mut held = None;
        let visited = session.visit(&[visit], Some(&mut sink), |_, _, _, response| {
            let Some((_, fetched)) = fetched(response).filter(|(found, _)| *found == uid) else { return };
            if let Some(structure) = &fetched.structure {
                part = structure::read(structure).leaf(section);
                decode.set(part.as_ref().map_or("raw", decoding));
            }
            held = fetched.section(section).map(<[u8]>::to_vec).or(held.take());
        })?;
        let Some(visited) = visited.first() else { continue };
        let Some(selected) = &visited.selected else { continue };
        // For a part that does not exist, some servers return an empty one.
        let is_there = section.is_empty() || part.is_some();
        let is_same = is_there && selected.uid_validity == located.place.uid_validity;
        let blob = match sink.blob {
            Some(blob) => Some(blob.id),
            None => held.and_then(|bytes| cx.host().create_blob(&decoded(&bytes, decode.get()), None)),
        };
        match blob.filter(|_| is_same) {
            Some(blob) => return Ok((blob, part)),
            // A kept connection may not know about the newest messages yet.
            None if visited.selection.is_none() => {}
            None => return Err(not_found()),
        }
    }
    Err(not_found())
}

/// The transfer encoding that the host decodes.
fn decoding(part: &Part) -> &'static str {
    mail::read::decoding(&part.encoding).unwrap_or("raw")
}

/// Decodes a section that the server sent as a quoted string, as it may for short ones.
fn decoded(bytes: &[u8], decode: &str) -> Vec<u8> {
    if decode == "raw" {
        return bytes.to_vec();
    }
    let header =
        format!("Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: {decode}\r\n\r\n");
    mail::read::part(header.as_bytes(), bytes).bytes
}
