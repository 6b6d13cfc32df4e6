//! `switchboard trigger`: makes an event happen in the sandbox, and shows its deliveries to webhooks.

mod deliveries;
mod event;
mod feed;
mod session;
mod types;

use std::future;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cli::answer_failure::{printable, printable_json};
use crate::cli::output::{answer, print_note, table};
use crate::cli::refusal::{INTERRUPTED, ensure_or_help, failure};
use crate::cli::serve::Signals;
use crate::cli::server_options::{ServerAccess, ServerOptions};
use crate::cli::trigger::deliveries::WebhookReport;
use crate::cli::trigger::event::EventReader;
use crate::cli::trigger::feed::SyncFeed;
use crate::cli::trigger::session::ApiSession;
use crate::cli::trigger::types::TriggerType;

/// The command that connects an account of the sandbox.
const CONNECT: &str = "switchboard api POST /v1/connections -f provider=sandbox \
    -f credentials.username=alice@sandbox.test -f credentials.password=sandbox";

/// Make an event happen in the sandbox, and show its deliveries
///
/// Adds an item to the account of a connection to the sandbox, as another program would; starts the sync that reports it, if it was not
/// started; and waits for the event and for the first attempt of each webhook that receives it. Needs a key of a test application
/// (uc_test_…), with the scopes connections.read, connections.write, events.read and webhooks.read, and the scope that reads the item.
///
/// The event goes to stdout, and then a line for each webhook: its URL, the state of the delivery, the status of the answer and its
/// duration.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard trigger --list
  switchboard trigger email.message.created
  switchboard trigger task.created --connection conn_… --json | jq .deliveries")]
pub struct Trigger {
    /// Type of the event; --list shows them
    #[arg(value_name = "TYPE", required_unless_present = "list")]
    event_type: Option<String>,
    /// List the event types, and what each does in the account
    #[arg(long, conflicts_with = "event_type")]
    list: bool,
    /// Connection to the sandbox, by its ID [default: the first one with the mailbox, calendar, contacts or tasks of the type]
    #[arg(long, value_name = "ID")]
    connection: Option<String>,
    /// Longest wait for the sync, for the event, and for the deliveries, each in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    wait: u64,
    /// Print the event and the deliveries as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerOptions,
}

impl Trigger {
    /// Makes the event happen, and prints it with its deliveries.
    pub async fn run(self) -> Result<ExitCode> {
        let Some(name) = self.event_type.as_deref() else {
            answer(&types::list())?;
            return Ok(ExitCode::SUCCESS);
        };
        let kind = TriggerType::parse(name)?;
        let access = self.server.resolve()?;
        ensure_test_key(access.key()?)?;
        let mut signals = Signals::new()?;
        tokio::select! {
            done = self.trigger(kind, &access) => done.map(|()| ExitCode::SUCCESS),
            () = signals.end() => Ok(ExitCode::from(INTERRUPTED)),
        }
    }

    async fn trigger(&self, kind: TriggerType, access: &ServerAccess) -> Result<()> {
        let wait = Duration::from_secs(self.wait);
        let session = ApiSession::new(access)?;
        let connection_id = self.find_connection(&session, kind).await?;
        let feed = SyncFeed::load(&session, kind.surface, &connection_id).await?;
        feed.catch_up(&session, Instant::now() + wait).await?;
        let mut events = EventReader::open(access, kind.name, &connection_id).await?;
        let asked = json!({ "connectionId": connection_id, "type": kind.name });
        let item = session.post("/v1/test/trigger", &asked).await?;
        let title = item["title"].as_str().map(printable).unwrap_or_default();
        // The event may come before the answer of a slow provider does.
        let refresh = async {
            feed.refresh(&session).await;
            future::pending::<Value>().await
        };
        let event = tokio::select! {
            event = events.find(&title, wait) => event?,
            never = refresh => never,
        };
        let reports = deliveries::read(&session, &event, Instant::now() + wait).await;
        answer(&self.render(&event, reports.as_deref())?)?;
        if reports.is_some_and(|reports| reports.is_empty()) {
            print_note("no webhook receives this event; `switchboard listen` shows events without one");
        }
        Ok(())
    }

    /// Returns the id of the connection whose account gets the item.
    async fn find_connection(&self, session: &ApiSession, kind: TriggerType) -> Result<String> {
        let connections = session.list("/v1/connections", &[("provider", "sandbox")]).await?;
        let fits = |connection: &&Value| match &self.connection {
            Some(id) => connection["id"] == id.as_str(),
            None => has_surface(connection, kind.surface_name()),
        };
        let found = connections.iter().find(fits).and_then(|connection| connection["id"].as_str());
        if let Some(id) = found {
            return Ok(id.to_owned());
        }
        let scope = read_scope(kind);
        let help = format!("connect an account: {CONNECT} -f 'scopes[]={scope}'");
        Err(match &self.connection {
            Some(id) => {
                failure(format!("{} is no connection to the sandbox of this key", printable(id)), help)
            }
            None => failure(format!("there is no connection to the sandbox with the scope {scope}"), help),
        })
    }

    /// The event with its deliveries; they are null in JSON if they are unknown.
    fn render(&self, event: &Value, reports: Option<&[WebhookReport]>) -> Result<String> {
        if self.json {
            let deliveries: Option<Vec<Value>> =
                reports.map(|reports| reports.iter().map(WebhookReport::json).collect());
            return escaped(&json!({ "event": event, "deliveries": deliveries }));
        }
        let rows: Vec<Vec<String>> = reports.into_iter().flatten().map(WebhookReport::cells).collect();
        Ok(format!("{}\n{}", escaped(event)?, table(&rows)))
    }
}

/// JSON, indented, and without control characters that a terminal would follow.
fn escaped(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(text.lines().map(printable_json).collect::<Vec<_>>().join("\n"))
}

/// Refuses a live key, whose accounts are those of people, before anything is sent. Other keys are for the server to judge.
fn ensure_test_key(key: &str) -> Result<()> {
    ensure_or_help(
        !key.starts_with("uc_live_"),
        || "this is a live key, and events are triggered with test keys alone (uc_test_…)".to_owned(),
        || {
            "create one on the machine of the server: `switchboard apps create Trial --test`, then \
             `switchboard keys create --application Trial --scopes all`"
                .to_owned()
        },
    )
}

/// Whether a connection is active, and its granted scopes read this part of its account.
fn has_surface(connection: &Value, surface: &str) -> bool {
    let granted = connection["grantedScopes"].as_array().into_iter().flatten();
    let mut surfaces =
        granted.filter_map(Value::as_str).filter_map(|scope| scope.strip_prefix(surface)?.strip_prefix('.'));
    matches!(connection["status"].as_str(), Some("active" | "degraded"))
        && surfaces.any(|right| matches!(right, "read" | "write"))
}

/// The scope that reads the items of a type.
fn read_scope(kind: TriggerType) -> String {
    format!("{}.read", kind.surface_name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::refusal::render;

    #[test]
    fn a_live_key_is_refused_without_showing_it() {
        let text = render(&ensure_test_key("uc_live_abc").unwrap_err());
        assert!(text.contains("live key") && text.contains("--test") && !text.contains("abc"), "{text}");
        assert!(ensure_test_key("uc_test_abc").is_ok());
    }

    #[test]
    fn a_connection_needs_the_scope_that_reads_the_item() {
        let connection = |scopes: Value, status: &str| json!({ "grantedScopes": scopes, "status": status });
        assert!(has_surface(&connection(json!(["tasks.write"]), "active"), "tasks"));
        assert!(has_surface(&connection(json!(["email.send", "email.read"]), "degraded"), "email"));
        assert!(!has_surface(&connection(json!(["email.send"]), "active"), "email"));
        assert!(!has_surface(&connection(json!(["tasks.read"]), "reauth_required"), "tasks"));
    }
}
