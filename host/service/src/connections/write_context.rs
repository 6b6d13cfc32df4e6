//! `WriteContext`: the request, the rights and the attempt that a write carries; `WriteAccount`: the account that it is about to change.

use base::error::Result;
use storage::connections::Connection;
use storage::log;

use crate::app::App;
use crate::app::stored_response::IdempotentAttempt;
use crate::connections::request_context::RequestContext;

/// All that a write carries from its request to the stored response.
#[derive(Clone)]
pub struct WriteContext {
    pub app: App,
    pub request: RequestContext,
    pub attempt: IdempotentAttempt,
}

impl WriteContext {
    /// The account that the request names, if the account and the request have this scope.
    pub async fn account(&self, connection_id: &str, scope: &str) -> Result<WriteAccount> {
        let (connection, as_of) =
            self.request.connection_with_sequence(&self.app, connection_id, scope).await?;
        Ok(WriteAccount { connection, as_of })
    }
}

/// An account that is about to be changed.
#[derive(Clone, Debug)]
pub struct WriteAccount {
    pub connection: Connection,
    /// The last sequence of the application's log: older than whatever the provider answers from now on.
    pub as_of: i64,
}

impl WriteAccount {
    /// Takes the log's last sequence again: the local copy was just read anew, and what was stored of it is no newer than the provider.
    pub async fn advance(&mut self, app: &App) -> Result<()> {
        self.as_of = log::last_sequence(app.db.reader(), &self.connection.tenant).await?;
        Ok(())
    }
}
