//! Mail. Operations and their types: `model::wire::email`.

use model::wire::email::{
    AttachmentRef, Content, DraftSave, MailFeatures, MessageAppend, MessageDelete, MessageFind, MessageRef,
    MessageSearch, MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::{ChangesRequest, Mutated, Sources};
use serde_json::Value;

use crate::context::{Answer, Context, Host};
use crate::dispatch::{CallRequest, CallResponse, run, unknown};
use crate::error::{Failure, Outcome};

/// Operations of `email`.
pub trait Email {
    /// Folders, labels and messages that changed since the context's cursor; from none, everything, newest first.
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("changes of mail"))
    }

    /// Messages by their ids, as they are now.
    fn get_messages(context: &Context, args: MessagesGet) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading messages"))
    }

    /// Messages that match a search, a page at a time.
    fn search(context: &Context, args: MessageSearch) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("searching messages"))
    }

    /// Messages with a Message-ID (RFC 5322 section 3.6.4).
    fn find_message(context: &Context, args: MessageFind) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("finding a message by its Message-ID"))
    }

    /// The message as it is stored, RFC 5322.
    fn raw(context: &Context, args: MessageRef) -> Outcome<Content> {
        let _ = (context, args);
        Err(Failure::unsupported("reading whole messages"))
    }

    /// Decoded.
    fn attachment(context: &Context, args: AttachmentRef) -> Outcome<Content> {
        let _ = (context, args);
        Err(Failure::unsupported("reading attachments"))
    }

    /// Returns the features of this account's provider; by default, [`MailFeatures::default`].
    fn features(context: &Context) -> Outcome<MailFeatures> {
        let _ = context;
        Ok(MailFeatures::default())
    }

    /// Changes the flags, folders or labels of a message.
    fn update_message(context: &Context, args: MessageUpdate) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing messages"))
    }

    /// Deletes a message: moves it to the trash, or destroys it.
    fn delete_message(context: &Context, args: MessageDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting messages"))
    }

    /// A repeated append under the same idempotency key must find the message of the first attempt.
    fn append(context: &Context, args: MessageAppend) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("storing messages"))
    }

    /// The same holds for drafts.
    fn save_draft(context: &Context, args: DraftSave) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("storing drafts"))
    }

    /// Sends a message.
    fn send(context: &Context, args: MessageSend) -> Outcome<Sent> {
        let _ = (context, args);
        Err(Failure::unsupported("sending messages"))
    }
}

/// Runs a read operation of `email` by its name; an unknown one is unsupported.
pub fn fetch<C: Email>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "messages.get" => run(host, request, |cx, args| C::get_messages(cx, args).map(Answer::whole)),
        "messages.search" => run(host, request, C::search),
        "messages.find" => run(host, request, |cx, args| C::find_message(cx, args).map(Answer::whole)),
        "messages.raw" => run(host, request, |cx, args| C::raw(cx, args).map(Answer::whole)),
        "attachments.get" => run(host, request, |cx, args| C::attachment(cx, args).map(Answer::whole)),
        "capabilities" => run(host, request, |cx, _: Value| C::features(cx).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs a write operation of `email` by its name; an unknown one is unsupported.
pub fn mutate<C: Email>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "messages.update" => run(host, request, |cx, args| C::update_message(cx, args).map(Answer::whole)),
        "messages.delete" => run(host, request, |cx, args| C::delete_message(cx, args).map(Answer::whole)),
        "messages.append" => run(host, request, |cx, args| C::append(cx, args).map(Answer::whole)),
        "drafts.save" => run(host, request, |cx, args| C::save_draft(cx, args).map(Answer::whole)),
        "messages.send" => run(host, request, |cx, args| C::send(cx, args).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs the operation of changes of `email` by its name; an unknown one is unsupported.
pub fn changes<C: Email>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "mail" => run(host, request, C::changes),
        op => unknown(op),
    }
}
