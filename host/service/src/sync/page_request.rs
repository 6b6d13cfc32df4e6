//! Asks the connector for a page of changes.

use model::wire::{ChangesRequest, Source, SourceName, Sources};
use storage::sync_states::SyncState;

use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::sync::pull::{ConnectorPage, PageResult, Pull, PullError};

/// Most records that are read one by one if a page fails in the connector: each is a call.
const NAMES: u32 = 50;

/// The requested part of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageOf {
    Sources,
    Names,
}

impl Pull<'_> {
    /// Returns the next page with its content.
    pub(crate) async fn answer(&self, cursor: Option<String>) -> PageResult {
        self.page(cursor, PageOf::Sources).await
    }

    /// Reads a page in parts that killed the connector, or exceeded the limit of an answer. The responsible records are quarantined; if the
    /// connector fails at all of them, the first error is returned.
    pub(crate) async fn rescued(
        &self,
        state: &SyncState,
        cursor: Option<String>,
        error: runtime::Error,
    ) -> Result<ConnectorPage, PullError> {
        let Ok(mut reply) = self.page(cursor, PageOf::Names).await else {
            return Err(PullError::Provider(Box::new(error)));
        };
        let named = std::mem::take(&mut reply.body.sources);
        tracing::warn!(connection = %self.connection.id, scope = %self.scope.scope_id, sources = named.len(),
            "a page of the provider's data stopped the connector, it is read in parts");
        let name = |s: Source| SourceName { external_id: s.external_id, etag: s.etag, deleted: s.deleted };
        let names: Vec<SourceName> = named.into_iter().map(name).collect();
        reply.body.sources = self.in_halves(state, &names, 0, error).await?;
        Ok(reply)
    }

    async fn page(&self, cursor: Option<String>, of: PageOf) -> Result<Reply<Sources>, runtime::Error> {
        let target = CallTarget::for_connection(self.app, self.connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let args = ChangesRequest {
            collection: self.scope.collection.clone(),
            time_zone: self.scope.time_zone.clone(),
            limit: match of {
                PageOf::Sources => self.app.config.pull_page,
                PageOf::Names => self.app.config.pull_page.min(NAMES),
            },
            names_only: of == PageOf::Names,
            names_first: of == PageOf::Sources && self.takes_names(),
        };
        let (verb, name) = self.scope.kind.ops().pull;
        let op = Op { surface: self.scope.kind.surface(), verb, name };
        let options = CallOptions { cursor, background: self.background, ..CallOptions::default() };
        call::run(self.app, &target, op, &args, options).await
    }
}
