//! Deliveries of a subscription for the API.

use base::error::Result;
use base::ids;
use base::tenant::Tenant;
use model::Instant;
use model::webhook::{Delivery, DeliveryStatus};
use storage::api_keys::ApiKey;
use storage::log;
use storage::webhooks::delivery_list as table;
use storage::webhooks::delivery_list::{ListedDelivery, Which};

use crate::app::App;
use crate::webhooks::subscription;

/// Most deliveries that are read for one page: if few match the requested status, a page may be short before the end of the list.
const MOST_READ: usize = 2_000;
/// Least deliveries read at a time.
const LEAST_READ: usize = 50;

/// A position in the list: the sequence number of a delivery's event, and the id of its replay. The list continues with older ones.
pub type DeliveryListPosition = (i64, String);

/// Filters of the list.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub status: Option<DeliveryStatus>,
    pub event_id: Option<String>,
}

/// A page of the list.
#[derive(Debug, Default)]
pub struct DeliveryPage {
    pub deliveries: Vec<ListedDelivery>,
    /// The position of the next page; none at the end.
    pub next: Option<DeliveryListPosition>,
}

/// At most `limit` deliveries of a subscription after a position, newest first.
pub async fn list(
    app: &App,
    key: &ApiKey,
    webhook_id: &str,
    filter: &DeliveryFilter,
    after: Option<DeliveryListPosition>,
    limit: usize,
) -> Result<DeliveryPage> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    let (start, first) = match &filter.event_id {
        None => ((i64::MAX, String::new()), 0),
        Some(id) => match sequence_of(app, &webhook.tenant, id).await? {
            Some(sequence) => ((sequence + 1, String::new()), sequence),
            None => return Ok(DeliveryPage::default()),
        },
    };
    let which = match filter.status {
        None | Some(DeliveryStatus::Delivered) => Which::All,
        Some(DeliveryStatus::Pending) => Which::Pending,
        Some(DeliveryStatus::Failed | DeliveryStatus::Discarded) => Which::GivenUp,
    };
    let at_a_time = i64::try_from(limit.max(LEAST_READ) + 1).unwrap_or(i64::MAX);
    let (mut place, mut deliveries, mut looked_at) = (after.unwrap_or(start), Vec::new(), 0);
    loop {
        let of = (webhook.id.as_str(), which);
        let bounds = ((place.0, place.1.as_str()), first);
        let chunk = table::before(app.db.reader(), of, bounds, at_a_time).await?;
        looked_at += chunk.rows.len();
        for delivery in chunk.rows {
            let is_asked_for = filter.status.is_none_or(|status| status == delivery.status);
            if is_asked_for && deliveries.len() == limit {
                return Ok(DeliveryPage { deliveries, next: Some(place) });
            }
            place = (delivery.sequence, delivery.replay_id.clone());
            if is_asked_for {
                deliveries.push(delivery);
            }
        }
        if chunk.is_last {
            return Ok(DeliveryPage { deliveries, next: None });
        }
        if looked_at >= MOST_READ {
            return Ok(DeliveryPage { deliveries, next: Some(place) });
        }
    }
}

/// The sequence number of an event of the application, if it is still in the log.
async fn sequence_of(app: &App, tenant: &Tenant, event_id: &str) -> Result<Option<i64>> {
    if !ids::is_plausible(event_id) {
        return Ok(None);
    }
    let found = log::by_ids(app.db.reader(), tenant, &[event_id.to_owned()]).await?;
    Ok(found.first().map(|line| line.sequence))
}

/// Renders a delivery for the API.
pub fn json(webhook_id: &str, d: &ListedDelivery) -> Result<String> {
    Ok(serde_json::to_string(&Delivery {
        id: d.id.clone(),
        event_id: d.event_id.clone(),
        webhook_id: webhook_id.to_owned(),
        sequence: d.sequence,
        replay_id: Some(d.replay_id.clone()).filter(|id| !id.is_empty()),
        status: d.status,
        attempts: d.attempts.clone(),
        next_attempt_at: d.next_attempt_at.map(Instant::from_millis),
    })?)
}
