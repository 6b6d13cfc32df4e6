//! Finds what was to happen to bookings and did not, and has it done: events that are not in their calendars, or still are, and bookings that
//! are over or were not confirmed in time. What is due has a job already; this is for jobs that were lost or given up.

use base::error::{Error, Result};
use storage::jobs;
use storage::scheduling::bookings::{self, Overdue};
use storage::scheduling::meeting_events;

use crate::app::App;
use crate::bookings::{due, event_write};

/// Rows of each kind that are found at a time; the rest is found an hour later.
const AT_A_TIME: i64 = 500;
/// What has been due for less than this is under way, ms.
const LATE_MS: i64 = 3_600_000;

/// Has everything done that is late.
pub async fn run(app: &App) -> Result<()> {
    let (reader, now) = (app.db.reader(), app.now());
    let late = now - LATE_MS;
    let events = meeting_events::overdue(reader, late, AT_A_TIME).await?;
    let mut ended = bookings::over(reader, late, AT_A_TIME).await?;
    ended.extend(bookings::unconfirmed(reader, late, AT_A_TIME).await?);
    if events.is_empty() && ended.is_empty() {
        return Ok(());
    }
    tracing::info!(events = events.len(), bookings = ended.len(), "what is late of bookings is done now");
    app.db
        .write(move |tx| {
            Box::pin(async move {
                for event in &events {
                    let of = (event.meeting_id.as_str(), event.connection_id.as_str());
                    event_write::enqueue(tx, &event.tenant, of, now).await?;
                }
                for Overdue { id, tenant, status } in &ended {
                    let job = match status.as_str() {
                        "pending" => due::expire_at(id, tenant, now),
                        _ => due::complete_at(id, tenant, now),
                    };
                    jobs::enqueue(tx, &job, now).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
}
