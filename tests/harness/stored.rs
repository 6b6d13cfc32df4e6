//! Rows that only a provider could have caused: larger or odder than the API allows.

use base::ids::Kind;
use model::calendar::{Event, EventType};
use service::local_copy::event_span::bounds;
use storage::api_keys;
use storage::items::{self, Item};
use storage::locked::ConnectionLock;

use crate::TestServer;

/// Stores an event in the calendar of another one, whose id is `beside`; its own id. The server has one application.
pub async fn store_event(server: &TestServer, beside: &str, event: &Event) -> String {
    let app = &server.app;
    let tenant = api_keys::tenants(app.db.reader()).await.expect("a query").remove(0);
    let found = items::any(app.db.reader(), &tenant, beside).await.expect("a query");
    let id = app.new_id(Kind::Event);
    let (sort_at, until_at) = bounds(event);
    let item = Item {
        external_id: id.clone(),
        source_id: id.clone(),
        id: id.clone(),
        body: serde_json::to_string(event).expect("JSON"),
        is_series: event.event_type == EventType::Series,
        sort_at,
        until_at,
        ..found.expect("it is there")
    };
    let written = app.db.write(move |tx| {
        Box::pin(async move {
            let lock = ConnectionLock::take(tx, &tenant, &item.connection_id).await?.expect("it is there");
            items::insert(tx, &lock, item).await?;
            anyhow::Ok(())
        })
    });
    written.await.expect("it is stored");
    id
}
