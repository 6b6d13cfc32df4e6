//! JMAP mail (RFC 8620, RFC 8621) of any server. `session` finds the account, `protocol` and `client` speak to it, `message` and
//! `folders` are the mappings, and each operation has its file.

pub mod account;
pub mod blobs;
pub mod changes;
pub mod client;
pub mod edit;
pub mod folders;
pub mod message;
pub mod protocol;
pub mod query;
pub mod read;
pub mod send;
pub mod session;
pub mod store;

use connector_sdk::{Answer, Context, Email, Lifecycle, Outcome, export_connector};
use model::wire::email::{
    AttachmentRef, Content, DraftSave, MailFeatures, MessageAppend, MessageDelete, MessageFind, MessageRef,
    MessageSearch, MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::{Account, ChangesRequest, Mutated, Sources};

/// The connector.
pub struct Jmap;

impl Lifecycle for Jmap {
    fn check(cx: &Context) -> Outcome<Account> {
        account::check(cx)
    }
}

impl Email for Jmap {
    fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(cx, args)
    }

    fn get_messages(cx: &Context, args: MessagesGet) -> Outcome<Sources> {
        read::get(cx, args)
    }

    fn search(cx: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
        read::search(cx, args)
    }

    fn find_message(cx: &Context, args: MessageFind) -> Outcome<Sources> {
        read::find(cx, args)
    }

    fn raw(cx: &Context, args: MessageRef) -> Outcome<Content> {
        blobs::raw(cx, args)
    }

    fn attachment(cx: &Context, args: AttachmentRef) -> Outcome<Content> {
        blobs::attachment(cx, args)
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

export_connector!(Jmap, [email, lifecycle]);
