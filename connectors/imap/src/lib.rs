//! Any mailbox that speaks IMAP (RFC 9051, RFC 3501), with mail sent by SMTP submission (RFC 6409). `imap` is the one protocol and
//! `smtp` the other; `ids`, `message` and `mime` map to the model; `changes`, `read`, `search`, `edit`, `store` and `send` are the
//! operations; `gmail` is what that provider does otherwise.

pub mod account;
pub mod changes;
pub mod directory;
pub mod edit;
pub mod folders;
pub mod gmail;
pub mod ids;
pub mod imap;
pub mod listing;
pub mod message;
pub mod mime;
pub mod plan;
pub mod read;
pub mod reading;
pub mod search;
pub mod send;
pub mod smtp;
pub mod store;
pub mod transfer;

use connector_sdk::{Answer, Context, Email, Lifecycle, Outcome, export_connector};
use model::wire::email::{
    AttachmentRef, Content, DraftSave, MailFeatures, MessageAppend, MessageDelete, MessageFind, MessageRef,
    MessageSearch, MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::{Account, ChangesRequest, Mutated, Sources};

/// The connector.
pub struct Imap;

impl Lifecycle for Imap {
    fn check(cx: &Context) -> Outcome<Account> {
        account::check(cx)
    }
}

impl Email for Imap {
    fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(cx, args)
    }

    fn get_messages(cx: &Context, args: MessagesGet) -> Outcome<Sources> {
        read::get(cx, args)
    }

    fn search(cx: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
        search::search(cx, args)
    }

    fn find_message(cx: &Context, args: MessageFind) -> Outcome<Sources> {
        search::find(cx, args)
    }

    fn raw(cx: &Context, args: MessageRef) -> Outcome<Content> {
        read::raw(cx, args)
    }

    fn attachment(cx: &Context, args: AttachmentRef) -> Outcome<Content> {
        read::attachment(cx, args)
    }

    fn features(cx: &Context) -> Outcome<MailFeatures> {
        account::features(cx)
    }

    fn update_message(cx: &Context, args: MessageUpdate) -> Outcome<Mutated> {
        edit::update(cx, args)
    }

    fn delete_message(cx: &Context, args: MessageDelete) -> Outcome<Mutated> {
        edit::delete(cx, args)
    }

    fn append(cx: &Context, args: MessageAppend) -> Outcome<Mutated> {
        store::append(cx, args)
    }

    fn save_draft(cx: &Context, args: DraftSave) -> Outcome<Mutated> {
        store::save_draft(cx, args)
    }

    fn send(cx: &Context, args: MessageSend) -> Outcome<Sent> {
        send::send(cx, args)
    }
}

export_connector!(Imap, [email, lifecycle]);
