//! `WriteContext`: the request, the rights and the attempt of a write; `WriteAccount`: the account that it changes.

use base::error::Result;
use storage::connections::Connection;
use storage::log;

use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;
use crate::connections::request_context::RequestContext;

/// The context of a write, from its request to the stored response.
#[derive(Clone)]
pub struct WriteContext {
    pub app: App,
    pub request: RequestContext,
    pub attempt: IdempotentAttempt,
}

impl WriteContext {
    /// Returns the account that the request names, if the account and the request have this scope.
    pub async fn account(&self, connection_id: &str, scope: &str) -> Result<WriteAccount> {
        let (connection, as_of) =
            self.request.connection_with_sequence(&self.app, connection_id, scope).await?;
        Ok(WriteAccount { connection, as_of })
    }
}

/// An account that a write will change.
#[derive(Clone, Debug)]
pub struct WriteAccount {
    pub connection: Connection,
    /// The last sequence of the application's log: older than any later answer of the provider.
    pub as_of: i64,
}

impl WriteAccount {
    /// Updates `as_of` to the log's last sequence: the local copy was just read again, and none of its stored rows is newer than the
    /// provider's.
    pub async fn advance(&mut self, app: &App) -> Result<()> {
        self.as_of = log::last_sequence(app.db.reader(), &self.connection.tenant).await?;
        Ok(())
    }
}
