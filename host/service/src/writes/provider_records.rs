//! Reads single records of a provider: a message by its reference, its bytes.

use base::error::{Code, Result, refuse};
use model::wire::email::{Content, MessageRef};
use runtime::{Blob, Surface, Verb};
use serde_json::Value;
use storage::connections::Connection;
use storage::items::Item;

use crate::app::App;
use crate::connections::call::{CallOptions, Op, Reply};
use crate::connections::provider_call::run;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::normalize::MessageSideData;

pub fn reference(item: &Item) -> MessageRef {
    let wanted = message_to_fetch(item);
    MessageRef { source: wanted.source_id, hint: wanted.hint }
}

/// Returns the arguments by which the connector finds a message.
pub fn message_to_fetch(item: &Item) -> MessageToFetch {
    MessageToFetch {
        id: item.id.clone(),
        connection_id: item.connection_id.clone(),
        source_id: item.source_id.clone(),
        hint: MessageSideData::from_text(item.aside.as_deref()).hint,
    }
}

/// Returns the complete message as the provider stores it.
pub async fn raw(app: &App, asker: &RequestContext, connection: &Connection, item: &Item) -> Result<Blob> {
    content(app, asker, connection, "messages.raw", &message_ref(item)).await
}

pub(crate) fn message_ref(item: &Item) -> MessageRef {
    MessageRef {
        source: item.source_id.clone(),
        hint: MessageSideData::from_text(item.aside.as_deref()).hint,
    }
}

pub(crate) async fn content<A: serde::Serialize + Sync>(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    name: &'static str,
    args: &A,
) -> Result<Blob> {
    let op = Op { surface: Surface::Email, verb: Verb::Fetch, name };
    let options = CallOptions { request_id: asker.request_id.clone(), ..CallOptions::default() };
    let reply: Reply<Content> = run(app, connection, op, args, options).await?;
    let missing = || refuse(Code::ConnectorError, "the connector named content that it did not return");
    reply.blobs.get(&reply.body.blob).ok_or_else(missing)
}

/// The identification of a message for the connector.
#[derive(Clone, Debug)]
pub struct MessageToFetch {
    pub id: String,
    pub connection_id: String,
    pub source_id: String,
    pub hint: Option<Value>,
}
