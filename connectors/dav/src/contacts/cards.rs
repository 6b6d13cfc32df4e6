//! Reading, creating, changing and deleting contacts.

use connector_sdk::{Context, Failure, Outcome, code, http};
use model::contacts::Contact;
use model::wire::contacts::{ContactWrite, Picture};
use model::wire::{ItemDelete, Mutated, Source, SourceRef, Sources, Warning};
use url::Url;
use vcard::tree::cst::VcardCst;

use crate::collection::changed::FieldSet;
use crate::collection::objects::{When, multiget_body, object};
use crate::collection::{Content as _, stable_id};
use crate::contacts::{Cards, ContactsSession, attributes};
use crate::vcard::group::{change_member, is_group};
use crate::vcard::lines::{Version, View, parse, print};
use crate::vcard::photo::picture;
use crate::vcard::write::{apply, check, new_card, touch, writable};
use crate::webdav::multistatus::Multistatus;
use crate::webdav::request;
use crate::webdav::xml::{DAV, escape};

/// Attempts at a group whose card another client changes at the same time.
const ATTEMPTS: usize = 3;

pub fn get(cx: &Context, args: SourceRef) -> Outcome<Sources> {
    let session = ContactsSession::new(cx)?;
    let collection = session.client.url(&args.collection)?;
    let (text, etag) = session.object(&collection, &args.source)?;
    Ok(Sources {
        sources: vec![session.read_source(&args.source, text, etag)],
        enumeration: false,
        ..Sources::default()
    })
}

pub fn photo(cx: &Context, args: SourceRef) -> Outcome<Picture> {
    let session = ContactsSession::new(cx)?;
    let collection = session.client.url(&args.collection)?;
    let (text, _) = session.object(&collection, &args.source)?;
    let found = picture(&View::from_card(&readable(&text)?));
    found.ok_or_else(|| Failure::not_found("the contact's record holds no picture"))
}

pub fn create(cx: &Context, args: ContactWrite) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    let write = &args.write;
    let collection = session.client.url(&write.collection)?;
    let changed = FieldSet(&write.changed);
    let warnings = check(&write.body, &changed, write.strict)?;
    let uid = stable_id(cx, &write.collection);
    let card = |version| new_card(version, &uid, session.now(), &write.body, &changed);
    let source = session.put_new(&collection, &uid, &card)?;
    session.finish_write(&collection, source, warnings, &args)
}

pub fn update(cx: &Context, args: ContactWrite) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    let write = &args.write;
    let collection = session.client.url(&write.collection)?;
    let id = write.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let changed = FieldSet(&write.changed);
    let warnings = check(&write.body, &changed, write.strict)?;
    let edit = |card: &mut VcardCst| edit(card, &write.body, &changed);
    let source = session.change(&collection, id, write.if_match.as_deref(), &edit)?;
    session.finish_write(&collection, source, warnings, &args)
}

pub fn delete(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
    let session = ContactsSession::new(cx)?;
    session.delete(&args.source, args.if_match.as_deref(), false)?;
    let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
    Ok(Mutated { sources: vec![gone], ..Mutated::default() })
}

fn edit(card: &mut VcardCst, wanted: &Contact, changed: &FieldSet) -> Outcome<()> {
    if is_group(&View::from_card(card)) {
        return Err(Failure::invalid("this is a group, not a contact"));
    }
    apply(card, writable(card)?, wanted, changed)
}

fn readable(text: &str) -> Outcome<VcardCst<'_>> {
    parse(text)
        .map_err(|reason| Failure::invalid(format!("the contact at the provider cannot be read: {reason}")))
}

/// A card as the server handed it out.
struct StoredCard {
    text: String,
    etag: Option<String>,
    /// The length of the text that the server keeps, where it is known.
    length: Option<usize>,
}

impl ContactsSession<'_> {
    /// Stores a new card. A server that does not take the version that it named takes the other one.
    pub fn put_new<'c>(
        &self,
        collection: &Url,
        uid: &str,
        card: &dyn Fn(Version) -> Outcome<VcardCst<'c>>,
    ) -> Outcome<Source> {
        let id = self.resource_id(collection, uid)?;
        let mut text = print(&card(self.reader.version)?);
        let mut response = self.put(&id, &text, When::New, false)?;
        if self.reader.version == Version::V4 && refuses_version(&response) {
            text = print(&card(Version::V3)?);
            response = self.put(&id, &text, When::New, false)?;
        }
        match self.settle_create(collection, &id, uid, &response)? {
            Some(found) => Ok(found),
            None => Ok(self.after_write(collection, &id, text, &response)),
        }
    }

    /// Changes a card in the form in which the server keeps it. One that says everything already is not written.
    pub fn change(
        &self,
        collection: &Url,
        id: &str,
        if_match: Option<&str>,
        edit: &dyn Fn(&mut VcardCst) -> Outcome<()>,
    ) -> Outcome<Source> {
        let StoredCard { text, etag, .. } = self.fetch_card(collection, id)?;
        if if_match.is_some() && etag.as_deref() != if_match {
            return Err(self.stale());
        }
        let mut card = readable(&text)?;
        let before = print(&card);
        edit(&mut card)?;
        if print(&card) == before {
            return Ok(self.read_source(id, before, etag));
        }
        let version = writable(&card)?;
        touch(&mut card, version, self.now());
        let new = print(&card);
        let response = self.replace(collection, (id, etag.as_deref()), &new, false)?;
        Ok(self.after_write(collection, id, new, &response))
    }

    /// A card in the form in which the server keeps it. Servers hand out another version than that, and would keep what came of
    /// it; the length that they tell shows which one is theirs.
    fn fetch_card(&self, collection: &Url, id: &str) -> Outcome<StoredCard> {
        let given = self.asked_in(collection, id, self.reader.version)?;
        let Some(length) = given.length else { return Ok(given) };
        let looks = looks_like(&given.text);
        if has_length(&given.text, length) && looks.is_none_or(|version| version == self.reader.version) {
            return Ok(given);
        }
        let version = match self.reader.version {
            Version::V3 => Version::V4,
            Version::V4 => Version::V3,
        };
        // Where a card is as long in both versions, the one that it looks like is taken.
        match self.asked_in(collection, id, version) {
            Ok(other) if other.etag == given.etag && has_length(&other.text, length) => Ok(other),
            _ => Ok(given),
        }
    }

    /// One card in a version.
    fn asked_in(&self, collection: &Url, id: &str, version: Version) -> Outcome<StoredCard> {
        let names = [(DAV, "getetag"), (DAV, "getcontentlength")];
        let href = format!("<D:href>{}</D:href>", escape(id));
        let body = multiget_body(Cards::KIND, &names, attributes(version), &href);
        let doing = "reading a contact";
        let response = self.cx().send(request("REPORT", collection, "1", &body))?;
        if response.status != 207 {
            return Err(self.client.failure(&response, doing));
        }
        let answer = Multistatus::read(&response, doing)?;
        let is_it = |href: &str| self.client.id_of(collection, href).as_deref() == Some(id);
        let member = answer.responses.into_iter().find(|member| is_it(&member.href));
        let length = member.as_ref().and_then(|member| member.text(DAV, "getcontentlength")?.parse().ok());
        let (text, etag) = self.text_of(object(id, member, Cards::KIND.data))?;
        Ok(StoredCard { text, etag, length })
    }

    /// The answer to a contact's write, after its groups were written, too. The contact is stored by then, so that a group that
    /// cannot be changed is a warning.
    fn finish_write(
        &self,
        collection: &Url,
        source: Source,
        mut warnings: Vec<Warning>,
        args: &ContactWrite,
    ) -> Outcome<Mutated> {
        let item = Some(source.external_id.clone());
        let uid = source.items.first().and_then(|item| item.uid.clone());
        let mut sources = vec![source];
        let joins = args.joins.iter().map(|group| (group, true));
        for (group, joins) in joins.chain(args.leaves.iter().map(|group| (group, false))) {
            let changed = match &uid {
                Some(uid) => self.membership(collection, group, uid, joins),
                None => Err(Failure::unsupported("groups of a contact without UID")),
            };
            match changed {
                Ok(group) => sources.push(group),
                // It has no members any more.
                Err(failure) if failure.code == code::NOT_FOUND && !joins => {}
                Err(failure) => warnings.push(Warning {
                    code: "group_not_changed".into(),
                    message: failure.message,
                    target: Some(group.clone()),
                }),
            }
        }
        Ok(Mutated { sources, item, warnings, ..Mutated::default() })
    }

    fn membership(&self, collection: &Url, group: &str, uid: &str, joins: bool) -> Outcome<Source> {
        let edit = |card: &mut VcardCst| {
            if !is_group(&View::from_card(card)) {
                return Err(Failure::invalid("this is a contact, not a group"));
            }
            writable(card)?;
            change_member(card, uid, joins);
            Ok(())
        };
        let mut attempt = 1;
        loop {
            match self.change(collection, group, None, &edit) {
                Err(failure) if failure.code == code::CONFLICT && attempt < ATTEMPTS => attempt += 1,
                done => return done,
            }
        }
    }
}

/// Whether a text is this long as it came, with CRLF, or with LF: XML changes the ends of lines.
fn has_length(text: &str, length: usize) -> bool {
    let lines = text.matches('\n').count();
    let ends = text.matches("\r\n").count();
    let lf = text.len() - ends;
    [text.len(), lf, lf + lines].contains(&length)
}

/// The version that a card was probably written in, also after a server converted it to another one: only 3.0 must
/// have N, and the two spell REV differently.
fn looks_like(text: &str) -> Option<Version> {
    let card = parse(text).ok()?;
    let view = View::from_card(&card);
    match (view.first("N"), view.text("REV")) {
        (None, _) => Some(Version::V4),
        (_, Some(rev)) if rev.get(4..5) == Some("-") => Some(Version::V3),
        (_, Some(_)) => Some(Version::V4),
        (_, None) => None,
    }
}

/// RFC 6352 section 6.3.2.1: the media type is not one of the book's.
fn refuses_version(response: &http::Response) -> bool {
    let named = || crate::webdav::conditions(response).iter().any(|c| c == "supported-address-data");
    response.status == 415 || response.status == 403 && named()
}
