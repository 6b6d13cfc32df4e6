//! The provider's mail to the model. Pure.

use connector_sdk::Outcome;
use model::email::folders::{Folder, FolderRights, Label, LabelColor, LabelVisibility};
use model::email::{Attachment, Disposition, EmailAddress, EmailBody, EmailHeader, EmailMessage, Importance};
use model::wire::{Item, ItemError, Source};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::items::{bare_source, parsed, survive, text};
use crate::mail::native::{self, Entry};

/// The form in which a known message is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportForm {
    Whole,
    /// Only what can change, unless it is new.
    Short,
    /// Only which one it is.
    Named,
}

/// One entry of a list. One that cannot be read must not stop the others.
pub fn entry_source(record: &RawValue, telling: ReportForm) -> Source {
    let bare = bare_source(record);
    if telling == ReportForm::Named || bare.deleted {
        return bare;
    }
    source(record, telling).unwrap_or_else(|failure| {
        let error = Some(ItemError { code: "unreadable".to_owned(), message: failure.message });
        Source { error, ..bare }
    })
}

/// One entry. Fails when it cannot be read, and panics when its name asks for it.
pub fn source(record: &RawValue, telling: ReportForm) -> Outcome<Source> {
    match parsed(record, "mail")? {
        Entry::Folder(theirs) => folder(&theirs),
        Entry::Label(theirs) => label(&theirs),
        Entry::Message(theirs) => message(&theirs, telling == ReportForm::Short && !theirs.new),
    }
}

fn item_source(item: Item, etag: Option<&String>) -> Source {
    Source {
        external_id: item.external_id.clone(),
        etag: etag.cloned(),
        items: vec![item],
        ..Source::default()
    }
}

fn folder(theirs: &native::Folder) -> Outcome<Source> {
    survive("folder", &theirs.id, Some(&theirs.title));
    let is_own = theirs.purpose.is_some();
    let body = Folder {
        name: theirs.title.clone(),
        path: theirs.path.clone(),
        parent_id: theirs.parent.clone(),
        role: theirs.purpose.map(Into::into),
        // The provider does not report a folder when its content changes: its counts would become stale.
        total_count: None,
        unread_count: None,
        sort_order: theirs.rank,
        subscribed: true,
        selectable: true,
        rights: FolderRights {
            read: true,
            add: true,
            remove: true,
            set_flags: true,
            rename: !is_own,
            delete: !is_own,
        },
        system: is_own,
    };
    let kind = Some("email_folder".to_owned());
    let item = Item { external_id: theirs.id.clone(), kind, body: text(&body)?, ..Item::default() };
    Ok(item_source(item, theirs.etag.as_ref()))
}

fn label(theirs: &native::Label) -> Outcome<Source> {
    survive("label", &theirs.id, Some(&theirs.title));
    let color = LabelColor { background: theirs.colour.clone(), text: theirs.text_colour.clone() };
    let body = Label {
        name: theirs.title.clone(),
        color: Some(color).filter(|color| *color != LabelColor::default()),
        visibility: if theirs.hidden { LabelVisibility::Hide } else { LabelVisibility::Show },
        ..Label::default()
    };
    let kind = Some("email_label".to_owned());
    let item = Item { external_id: theirs.id.clone(), kind, body: text(&body)?, ..Item::default() };
    Ok(item_source(item, theirs.etag.as_ref()))
}

/// The fields of a message that can change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeableFields<'a> {
    unread: bool,
    starred: bool,
    answered: bool,
    forwarded: bool,
    draft: bool,
    keywords: &'a [String],
    importance: Importance,
    folder_ids: &'a [String],
    label_ids: &'a [String],
}

fn message(theirs: &native::Message, is_short: bool) -> Outcome<Source> {
    survive("message", &theirs.id, theirs.subject.as_deref());
    let flags = &theirs.flags;
    let body = match is_short {
        true => text(&ChangeableFields {
            unread: !flags.seen,
            starred: flags.starred,
            answered: flags.answered,
            forwarded: flags.forwarded,
            draft: flags.draft,
            keywords: &theirs.words,
            importance: theirs.weight.into(),
            folder_ids: &theirs.folders,
            label_ids: &theirs.labels,
        })?,
        false => text(&whole(theirs))?,
    };
    let link = theirs.web_link.as_ref().filter(|_| !is_short);
    let item = Item {
        external_id: theirs.id.clone(),
        body,
        provider_data: link.map(|link| json!({ "webLink": link })),
        partial: is_short,
        // Its id never changes; a new version of a draft is another message.
        fingerprint: Some(theirs.id.clone()),
        ..Item::default()
    };
    let previous_id = theirs.replaces.clone().filter(|_| !is_short);
    Ok(Source { previous_id, ..item_source(item, theirs.etag.as_ref()) })
}

fn whole(theirs: &native::Message) -> EmailMessage {
    let flags = &theirs.flags;
    let people = |all: &[native::Correspondent]| all.iter().map(person).collect::<Vec<_>>();
    EmailMessage {
        thread_id: theirs.thread.clone(),
        internet_message_id: theirs.message_id.clone(),
        in_reply_to: theirs.in_reply_to.clone(),
        references: theirs.references.clone(),
        subject: theirs.subject.clone(),
        from: people(&theirs.from),
        sender: theirs.sender.as_ref().map(person),
        to: people(&theirs.to),
        cc: people(&theirs.cc),
        bcc: people(&theirs.bcc),
        reply_to: people(&theirs.reply_to),
        received_at: theirs.received_at,
        sent_at: theirs.sent_at,
        snippet: theirs.preview.clone(),
        body: theirs.text.as_ref().map(body),
        folder_ids: theirs.folders.clone(),
        label_ids: theirs.labels.clone(),
        unread: !flags.seen,
        starred: flags.starred,
        draft: flags.draft,
        answered: flags.answered,
        forwarded: flags.forwarded,
        keywords: theirs.words.clone(),
        importance: theirs.weight.into(),
        has_attachments: theirs.files.iter().any(|file| !file.inline),
        attachments: theirs.files.iter().map(attachment).collect(),
        size: theirs.bytes,
        headers: theirs.headers.iter().map(header).collect(),
        auto_reply: theirs.automatic,
        list_unsubscribe: theirs.unsubscribe.clone(),
        calendar_method: theirs.invitation.map(Into::into),
        ..EmailMessage::default()
    }
}

fn person(theirs: &native::Correspondent) -> EmailAddress {
    EmailAddress { name: theirs.label.clone(), email: theirs.mail.clone() }
}

fn header(theirs: &native::Header) -> EmailHeader {
    EmailHeader { name: theirs.name.clone(), value: theirs.value.clone() }
}

fn body(theirs: &native::Text) -> EmailBody {
    EmailBody {
        text: theirs.plain.clone(),
        html: theirs.html.clone(),
        safe_html: None,
        charset: theirs.charset.clone(),
        truncated: theirs.cut,
    }
}

fn attachment(theirs: &native::File) -> Attachment {
    Attachment {
        id: theirs.part.clone(),
        filename: theirs.name.clone(),
        content_type: theirs.media_type.clone(),
        size: Some(theirs.bytes),
        encoded_size: Some(theirs.encoded_bytes),
        inline: theirs.inline,
        content_id: theirs.cid.clone(),
        disposition: match theirs.disposition.as_deref() {
            Some("attachment") => Some(Disposition::Attachment),
            Some("inline") => Some(Disposition::Inline),
            _ => None,
        },
        is_message: theirs.is_message,
        ..Attachment::default()
    }
}
