//! A page of messages, from the local copy or from a search at the provider.

use base::error::Result;

use crate::app::App;
use crate::connections::request_context::RequestContext;
use crate::resources::mail::filter::MailQuery;
use crate::resources::mail::list::{local, open};
use crate::resources::mail::list_place::MailListPosition;
use crate::resources::mail::{bodies, search};

/// A page, and the position of the next one.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    after: Option<MailListPosition>,
    limit: i64,
) -> Result<(Vec<String>, Option<MailListPosition>)> {
    let opened = open(app, asker, query).await?;
    let (rows, place) = match (&query.native_query, &query.q, &after) {
        (None, None, _) => local(app, asker, query, &opened, after, limit).await?,
        _ => search::list(app, asker, query, &opened, after, limit).await?,
    };
    let places: Vec<MailListPosition> = rows.iter().map(|row| row.place.clone()).collect();
    let texts = bodies::render_rows(app, asker, &opened.connections, rows, query).await?;
    // A message that did not fit begins the next page.
    let place = match texts.len() < places.len() {
        true => texts.len().checked_sub(1).and_then(|last| places.into_iter().nth(last)),
        false => place,
    };
    Ok((texts, place))
}
