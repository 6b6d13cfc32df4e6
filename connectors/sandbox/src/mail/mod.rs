//! The email surface. The provider is one where a message lies in several folders and has labels beside them; it decides what a
//! thread is.

mod changes;
mod entries;
mod read;
mod write;

use connector_sdk::{Answer, Context, Email, Outcome};
use model::capabilities::{Alias, BounceDetection, EmailDelta, ThreadSource};
use model::wire::email::{
    AttachmentRef, Content, DraftSave, MailFeatures, MessageAppend, MessageDelete, MessageFind, MessageRef,
    MessageSearch, MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::{ChangesRequest, Mutated, Sources};

use crate::connector::Sandbox;

/// The provider's largest message.
const MAX_MESSAGE_BYTES: i64 = 26 << 20;
/// Recipients of one message.
const MAX_RECIPIENTS: i64 = 100;

impl Email for Sandbox {
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }

    fn get_messages(context: &Context, args: MessagesGet) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn search(context: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
        read::search(context, &args)
    }

    fn find_message(context: &Context, args: MessageFind) -> Outcome<Sources> {
        read::find(context, &args)
    }

    fn raw(context: &Context, args: MessageRef) -> Outcome<Content> {
        read::raw(context, &args)
    }

    fn attachment(context: &Context, args: AttachmentRef) -> Outcome<Content> {
        read::attachment(context, &args)
    }

    fn features(context: &Context) -> Outcome<MailFeatures> {
        let own = context.connection.addresses.first();
        let alias = |mail: &String| Alias { email: mail.clone(), name: None, is_default: true };
        Ok(MailFeatures {
            search: true,
            native_search: true,
            modify_flags: true,
            move_messages: true,
            delete: true,
            permanent_delete: true,
            drafts: true,
            send: true,
            append: true,
            folders: true,
            labels: true,
            multi_folder: true,
            threads: ThreadSource::Server,
            keywords: true,
            importance: true,
            send_as_alias: false,
            delegated_send: false,
            bounce_detection: BounceDetection::Dsn,
            push: false,
            delta: EmailDelta::DeltaToken,
            max_message_bytes: Some(MAX_MESSAGE_BYTES),
            max_recipients: Some(MAX_RECIPIENTS),
            max_send_per_day: None,
            aliases: own.map(alias).into_iter().collect(),
        })
    }

    fn update_message(context: &Context, args: MessageUpdate) -> Outcome<Mutated> {
        write::update(context, &args)
    }

    fn delete_message(context: &Context, args: MessageDelete) -> Outcome<Mutated> {
        write::delete(context, &args)
    }

    fn append(context: &Context, args: MessageAppend) -> Outcome<Mutated> {
        write::append(context, &args)
    }

    fn save_draft(context: &Context, args: DraftSave) -> Outcome<Mutated> {
        write::save_draft(context, &args)
    }

    fn send(context: &Context, args: MessageSend) -> Outcome<Sent> {
        write::send(context, &args)
    }
}
