//! Reading, creating, changing and deleting contacts.

use connector_sdk::{Context, Failure, Outcome, code, http};
use model::contacts::Contact;
use model::wire::contacts::{ContactWrite, Picture};
use model::wire::{ItemDelete, Mutated, Source, SourceRef, Sources, Warning};
use url::Url;
use vcard::tree::cst::VcardCst;

use crate::collection::changed::Changed;
use crate::collection::objects::{Data, Object, When, object};
use crate::collection::{Content as _, stable_id};
use crate::contacts::{Cards, Session};
use crate::vcard::group::{change_member, is_group};
use crate::vcard::lines::{Version, View, parse, print};
use crate::vcard::photo::picture;
use crate::vcard::write::{apply, check, new_card, touch, writable};
use crate::webdav::multistatus::Multistatus;
use crate::webdav::xml::{DAV, escape};
use crate::webdav::{prop, qualified, request};

/// Attempts at a group whose card somebody else changes at the same time.
const ATTEMPTS: usize = 3;

pub fn get(cx: &Context, args: SourceRef) -> Outcome<Sources> {
    let session = Session::new(cx)?;
    let collection = session.client.url(&args.collection)?;
    let (text, etag) = session.object(&collection, &args.source)?;
    Ok(Sources { sources: vec![session.read_source(&args.source, text, etag)], enumeration: false })
}

pub fn photo(cx: &Context, args: SourceRef) -> Outcome<Picture> {
    let session = Session::new(cx)?;
    let collection = session.client.url(&args.collection)?;
    let (text, _) = session.object(&collection, &args.source)?;
    let found = picture(&View::of(&readable(&text)?));
    found.ok_or_else(|| Failure::not_found("the contact's record holds no picture"))
}

pub fn create(cx: &Context, args: ContactWrite) -> Outcome<Mutated> {
    let session = Session::new(cx)?;
    let write = &args.write;
    let collection = session.client.url(&write.collection)?;
    let changed = Changed(&write.changed);
    let warnings = check(&write.body, &changed, write.strict)?;
    let uid = stable_id(cx, &write.collection);
    let card = |version| new_card(version, &uid, session.now(), &write.body, &changed);
    let source = session.put_new(&collection, &uid, &card)?;
    session.written(&collection, source, warnings, &args)
}

pub fn update(cx: &Context, args: ContactWrite) -> Outcome<Mutated> {
    let session = Session::new(cx)?;
    let write = &args.write;
    let collection = session.client.url(&write.collection)?;
    let id = write.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let changed = Changed(&write.changed);
    let warnings = check(&write.body, &changed, write.strict)?;
    let edit = |card: &mut VcardCst| edit(card, &write.body, &changed);
    let source = session.change(&collection, id, write.if_match.as_deref(), &edit)?;
    session.written(&collection, source, warnings, &args)
}

pub fn delete(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
    let session = Session::new(cx)?;
    session.delete(&args.source, args.if_match.as_deref(), false)?;
    let gone = Source { external_id: args.source, deleted: true, ..Source::default() };
    Ok(Mutated { sources: vec![gone], ..Mutated::default() })
}

fn edit(card: &mut VcardCst, wanted: &Contact, changed: &Changed) -> Outcome<bool> {
    if is_group(&View::of(card)) {
        return Err(Failure::invalid("this is a group, not a contact"));
    }
    apply(card, writable(card)?, wanted, changed)?;
    Ok(true)
}

fn readable(text: &str) -> Outcome<VcardCst<'_>> {
    parse(text)
        .map_err(|reason| Failure::invalid(format!("the contact at the provider cannot be read: {reason}")))
}

impl Session<'_> {
    /// Stores a new card. A server that does not take the version that it named takes the other one.
    pub fn put_new<'c>(
        &self,
        collection: &Url,
        uid: &str,
        card: &dyn Fn(Version) -> Outcome<VcardCst<'c>>,
    ) -> Outcome<Source> {
        let id = self.resource_id(collection, uid)?;
        let mut text = print(&card(self.version())?);
        let mut response = self.put(&id, &text, When::New, false)?;
        if self.version() == Version::V4 && refuses_version(&response) {
            text = print(&card(Version::V3)?);
            response = self.put(&id, &text, When::New, false)?;
        }
        match self.settle_create(collection, &id, uid, &response)? {
            Some(found) => Ok(found),
            None => Ok(self.after_write(collection, &id, text, &response)),
        }
    }

    /// Changes a card in the form in which the server keeps it. `edit` says whether there was anything to change.
    pub fn change(
        &self,
        collection: &Url,
        id: &str,
        if_match: Option<&str>,
        edit: &dyn Fn(&mut VcardCst) -> Outcome<bool>,
    ) -> Outcome<Source> {
        let (text, etag) = self.stored(collection, id)?;
        if if_match.is_some() && etag.as_deref() != if_match {
            return Err(self.stale());
        }
        let mut card = readable(&text)?;
        if !edit(&mut card)? {
            drop(card);
            return Ok(self.read_source(id, text, etag));
        }
        let version = writable(&card)?;
        touch(&mut card, version, self.now());
        let new = print(&card);
        let response = self.put_ok(id, &new, When::Still(etag.as_deref()), false)?;
        Ok(self.after_write(collection, id, new, &response))
    }

    /// A card in the form in which the server keeps it. Servers hand out another version than that, 3.0 unless they are asked
    /// (RFC 6352 section 10.4), and would keep what came of it; the length that they tell shows which one is theirs.
    fn stored(&self, collection: &Url, id: &str) -> Outcome<(String, Option<String>)> {
        let (given, length) = self.asked_in(collection, id, "")?;
        let Some(length) = length.filter(|length| !has_length(&given.0, *length)) else { return Ok(given) };
        // Some servers tell a length that is neither's: then what they hand out has to do.
        match self.asked_in(collection, id, " content-type=\"text/vcard\" version=\"4.0\"") {
            Ok((other, _)) if other.1 == given.1 && has_length(&other.0, length) => Ok(other),
            _ => Ok(given),
        }
    }

    /// One card in the version that the attributes of `address-data` name, and the stored length where it is told.
    fn asked_in(
        &self,
        collection: &Url,
        id: &str,
        attributes: &str,
    ) -> Outcome<((String, Option<String>), Option<usize>)> {
        let report = qualified(Cards::KIND.multiget);
        let names = prop(&[(DAV, "getetag"), (DAV, "getcontentlength"), Cards::KIND.data]);
        let data = qualified(Cards::KIND.data);
        let names = names.replace(&format!("<{data}/>"), &format!("<{data}{attributes}/>"));
        let body = format!("<{report}>{names}<D:href>{}</D:href></{report}>", escape(id));
        let doing = "reading a contact";
        let response = self.cx().send(request("REPORT", collection, "1", &body))?;
        if response.status != 207 {
            return Err(self.client.failure(&response, doing));
        }
        let answer = Multistatus::read(&response, doing)?;
        let is_it = |href: &str| self.client.id_of(collection, href).as_deref() == Some(id);
        let member = answer.responses.into_iter().find(|member| is_it(&member.href));
        let length = member.as_ref().and_then(|member| member.text(DAV, "getcontentlength")?.parse().ok());
        let Object { etag, data, .. } = object(id, member, Cards::KIND.data);
        match data {
            Data::Text(text) => Ok(((text, etag), length)),
            Data::Refused(status) if status != 404 => Err(Failure::unavailable(format!(
                "the provider does not hand out this contact (status {status})"
            ))),
            _ => Err(Failure::not_found("the contact is no longer at the provider")),
        }
    }

    /// The answer to a contact's write, after its groups were written, too. The contact is stored by then, so that a group that
    /// cannot be changed is a warning.
    fn written(
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
            if !is_group(&View::of(card)) {
                return Err(Failure::invalid("this is a contact, not a group"));
            }
            writable(card)?;
            Ok(change_member(card, uid, joins))
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

/// RFC 6352 section 6.3.2.1: the media type is not one of the book's.
fn refuses_version(response: &http::Response) -> bool {
    let named = || crate::webdav::conditions(response).iter().any(|c| c == "supported-address-data");
    response.status == 415 || response.status == 403 && named()
}
