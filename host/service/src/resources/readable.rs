//! The connections of a read over all connections, and the notes about those that could not be read.

use base::error::{Code, Error, Result, refuse};
use storage::connections as table;
use storage::connections::Connection;

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::resource_kind::ResourceKind;
use crate::connections;
use crate::connections::request_context::RequestContext;

/// Connections that are read from the database at a time.
const PAGE: i64 = 100;

/// The connections whose data of this kind the key may read. Connections that need to be reauthorized are noted as missing. Connections
/// whose accounts do not grant the scope, or no longer do, are noted as withheld, and their stored data is not listed.
pub async fn readable_connections(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
) -> Result<Vec<Connection>> {
    asker.ensure_scope(kind.read_scope())?;
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let page = table::list(app.db.reader(), &asker.tenant, ("", ""), &after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(found) };
        after.clone_from(&last.id);
        for connection in page.into_iter().filter(|connection| asker.may_use(&connection.id)) {
            if connections::granted(&connection, kind.read_scope()).is_err() {
                asker.reading.withhold(&connection.id);
                continue;
            }
            match connections::usable(&connection) {
                Ok(()) => found.push(connection),
                Err(e) if e.code() == Some(Code::ReauthRequired) => asker.reading.miss(&connection.id, &e),
                Err(_) => {}
            }
        }
    }
}

/// Notes that a connection could not be refreshed: an answer over several connections names it (`ReadTrace::missing`).
pub fn missed(asker: &RequestContext, connection: &Connection, e: &Error) {
    tracing::warn!(connection = %connection.id, error = %e, "it could not be brought up to date");
    asker.reading.miss(&connection.id, e);
}

/// Notes the age of the data of one of several connections. If its provider did not answer, the stored data is shown and the answer names
/// the connection (`ReadTrace::missing`).
pub fn record_age(asker: &RequestContext, connection: &Connection, age: DataAge) {
    asker.reading.note(age);
    if let Some(code) = age.failed {
        missed(asker, connection, &refuse(code, "its provider was asked and did not answer as it should"));
    }
}

/// Fails if each of `connections` connections failed without ever having been read, and none is missing for another reason: an empty answer
/// would claim that there is no data. `unknown`: the errors of such connections.
// Contract silent: what a list over several connections answers when some of them fail. What is known, `complete: false` and a warning for
// each; when nothing of any of them is known, the error of the first.
pub fn nothing_known(asker: &RequestContext, unknown: Vec<Error>, connections: usize) -> Result<()> {
    let are_all = unknown.len() == connections && asker.reading.missing().len() == connections;
    unknown.into_iter().next().filter(|_| are_all).map_or(Ok(()), Err)
}
