//! The email surface: mailboxes of Exchange Online and Outlook.com.

mod access;
mod append;
mod attachments;
mod categories;
mod changes;
mod collection;
mod compose;
mod cursor;
mod delta;
mod destroyed;
mod drafts;
mod edit;
mod features;
mod files;
mod find;
mod first;
mod folders;
mod message;
mod native;
mod query;
mod read;
mod road;
mod search;
mod select;
mod send;
mod upload;
mod verify;

use connector_sdk::{Answer, Context, Email, Outcome};
use model::wire::email::{
    AttachmentRef, Content, DraftSave, MailFeatures, MessageAppend, MessageDelete, MessageFind, MessageRef,
    MessageSearch, MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::{ChangesRequest, Mutated, Sources};

use crate::connector::Microsoft;

impl Email for Microsoft {
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }

    fn get_messages(context: &Context, args: MessagesGet) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn search(context: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
        search::search(context, &args)
    }

    fn find_message(context: &Context, args: MessageFind) -> Outcome<Sources> {
        find::find(context, &args)
    }

    fn raw(context: &Context, args: MessageRef) -> Outcome<Content> {
        attachments::raw(context, &args)
    }

    fn attachment(context: &Context, args: AttachmentRef) -> Outcome<Content> {
        attachments::attachment(context, &args)
    }

    fn features(context: &Context) -> Outcome<MailFeatures> {
        features::features(context)
    }

    fn update_message(context: &Context, args: MessageUpdate) -> Outcome<Mutated> {
        edit::update(context, &args)
    }

    fn delete_message(context: &Context, args: MessageDelete) -> Outcome<Mutated> {
        edit::delete(context, &args)
    }

    fn append(context: &Context, args: MessageAppend) -> Outcome<Mutated> {
        append::append(context, &args)
    }

    fn save_draft(context: &Context, args: DraftSave) -> Outcome<Mutated> {
        drafts::save_draft(context, &args)
    }

    fn send(context: &Context, args: MessageSend) -> Outcome<Sent> {
        send::send(context, &args)
    }
}
