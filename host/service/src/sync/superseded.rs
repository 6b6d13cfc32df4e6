//! Records that were left out of a page, because a write of this service superseded them or a later version is stored: each is read again
//! individually.

use base::error::Result;
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{Source, Sources};
use runtime::{self, Blame, Code, Verb};
use storage::connections::Connection;
use storage::sync_states as table;

use crate::app::App;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::sync::quarantine;
use crate::sync::scope::SyncScope;

/// Most records that one pull reads again: mail in one request, others with a call each.
const MESSAGES: i64 = 100;
const OTHERS: i64 = 20;

/// Returns the records that this pull reads again, by the provider's names.
pub async fn due(app: &App, connection: &Connection, scope: &SyncScope) -> Result<Vec<String>> {
    let key = table::ScopeKey {
        connection_id: &connection.id,
        surface: scope.surface(),
        scope_id: &scope.scope_id,
    };
    let limit = if scope.kind.is_mail() { MESSAGES } else { OTHERS };
    Ok(table::rereads(app.db.reader(), key, limit).await?)
}

/// Returns these records in the provider's present version; deleted ones are marked. An unreadable one is quarantined: it delays no others,
/// and is retried as usual. If the provider stops responding, `names` is reduced to those that were read.
pub async fn read(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    names: &mut Vec<String>,
    background: bool,
) -> Result<Result<Vec<Source>, runtime::Error>> {
    if scope.kind.is_mail() {
        return messages(app, connection, names, background).await;
    }
    let mut found = Vec::with_capacity(names.len());
    let mut read = 0;
    for name in names.iter() {
        let options = CallOptions { background, ..CallOptions::default() };
        match quarantine::read_one(app, connection, scope, name, options).await? {
            Ok(sources) => found.extend(sources),
            Err(e) if is_of_one_record(&e) => found.push(quarantine::failed(name.clone(), None, &e)),
            Err(e) if read == 0 => return Ok(Err(e)),
            Err(_) => break,
        }
        read += 1;
    }
    names.truncate(read);
    Ok(Ok(found))
}

/// Whether a failure concerns the requested record, and not the account or the provider.
fn is_of_one_record(e: &runtime::Error) -> bool {
    matches!(e.blame, Blame::Connector | Blame::Caller) && e.code != Code::AuthExpired
}

async fn messages(
    app: &App,
    connection: &Connection,
    names: &[String],
    background: bool,
) -> Result<Result<Vec<Source>, runtime::Error>> {
    let reference = |source: &String| MessageRef { source: source.clone(), hint: None };
    let args = MessagesGet { messages: names.iter().map(reference).collect(), ..MessagesGet::default() };
    let op = Op { surface: runtime::Surface::Email, verb: Verb::Fetch, name: "messages.get" };
    let options = CallOptions { background, ..CallOptions::default() };
    let target = CallTarget::for_connection(app, connection)?;
    let reply: Result<Reply<Sources>, runtime::Error> = call::run(app, &target, op, &args, options).await;
    Ok(reply.map(|reply| reply.body.sources))
}
