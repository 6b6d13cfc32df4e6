//! The baseline of `cargo xtask bench` for a page of the change feed: a bare axum handler that reads the page's log entries from
//! a server's SQLite file, opened read-only, and returns the same changes. It has no keys, rate limits, sealed cursors and
//! headers.
//!
//! `feed_page DATABASE CALENDAR AFTER LIMIT --listen ADDRESS` serves at `/` the first LIMIT changes of the calendar after the
//! sequence AFTER.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use model::Instant;
use rusqlite::{Connection, OpenFlags, Row, params};

/// The service's own allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The statement of `storage::log::of_collection`, with the columns that the response shows.
const LINES: &str = "select sequence, change_type, resource_type, resource_id, at, etag, resource from log \
    where application_id = ?1 and organization_id = ?2 and parent_id = ?3 and parent_id <> '' and sequence > ?4 \
    and change_type <> 'state' order by sequence limit ?5";

/// Room for the text of a page from the beginning, bytes.
const PAGE_BYTES: usize = 512 << 10;

/// The page that answers every request; each request reads it from the database again.
struct Page {
    database: PathBuf,
    application_id: String,
    organization_id: String,
    calendar_id: String,
    after: i64,
    limit: usize,
    /// Idle connections: at most as many as the largest number of concurrent requests so far.
    idle: Mutex<Vec<Connection>>,
}

impl Page {
    fn new(database: &str, calendar_id: &str, after: i64, limit: usize) -> Result<Page> {
        let connection = open(Path::new(database))?;
        let sql = "select application_id, organization_id from items where id = ?1";
        let (application_id, organization_id): (String, String) = connection
            .query_row(sql, params![calendar_id], |row| Ok((row.get(0)?, row.get(1)?)))
            .context("cannot find the calendar")?;
        Ok(Page {
            database: database.into(),
            application_id,
            organization_id,
            calendar_id: calendar_id.to_owned(),
            after,
            limit,
            idle: Mutex::new(vec![connection]),
        })
    }

    /// Reads the page on its own connection.
    fn read(&self) -> Result<String> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open(&self.database)?,
        };
        let text = self.text(&connection)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(text)
    }

    fn text(&self, connection: &Connection) -> Result<String> {
        // One more than the page shows, as the feed does: it tells whether there are more.
        let most = i64::try_from(self.limit + 1)?;
        let mut statement = connection.prepare_cached(LINES)?;
        let (application_id, organization_id) = (&self.application_id, &self.organization_id);
        let mut lines =
            statement.query(params![application_id, organization_id, self.calendar_id, self.after, most])?;
        let mut text = String::with_capacity(PAGE_BYTES);
        text.push_str("{\"data\":[");
        let (mut count, mut has_more) = (0, false);
        while let Some(line) = lines.next()? {
            has_more = count == self.limit;
            if has_more {
                break;
            }
            if count > 0 {
                text.push(',');
            }
            change(&mut text, line)?;
            count += 1;
        }
        write!(text, "],\"has_more\":{has_more}}}")?;
        Ok(text)
    }
}

fn open(database: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(database, flags).context("cannot open the database")
}

/// One change, in the order of the feed's fields.
fn change(text: &mut String, line: &Row<'_>) -> Result<()> {
    write!(text, "{{\"sequence\":{},\"changeType\":", line.get::<_, i64>(0)?)?;
    name(text, line.get_ref(1)?.as_str()?);
    text.push_str(",\"resourceType\":");
    name(text, line.get_ref(2)?.as_str()?);
    text.push_str(",\"resourceId\":");
    name(text, line.get_ref(3)?.as_str()?);
    write!(text, ",\"changedAt\":\"{}\",\"etag\":", Instant::from_millis(line.get(4)?))?;
    // An etag contains quotes.
    text.push_str(&serde_json::to_string(&line.get_ref(5)?.as_str_or_null()?)?);
    text.push_str(",\"resource\":");
    text.push_str(line.get_ref(6)?.as_str_or_null()?.unwrap_or("null"));
    text.push('}');
    Ok(())
}

/// A JSON string of a name that needs no escaping: `xtask` compares the answer with the server's.
fn name(text: &mut String, value: &str) {
    text.push('"');
    text.push_str(value);
    text.push('"');
}

async fn answer(State(page): State<Arc<Page>>) -> Response {
    match page.read() {
        Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
        Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{e:#}")).into_response(),
    }
}

/// Serves until killed.
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, calendar_id, after, limit, _listen, address] = arguments.as_slice() else {
        bail!("feed_page DATABASE CALENDAR AFTER LIMIT --listen ADDRESS");
    };
    let page = Page::new(database, calendar_id, after.parse()?, limit.parse()?)?;
    let router = Router::new().route("/", get(answer)).with_state(Arc::new(page));
    let address: SocketAddr = address.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?.tap_io(|stream| {
            // As the server does. Without it answers are only slower.
            let _ = stream.set_nodelay(true);
        });
        Ok(axum::serve(listener, router).await?)
    })
}
