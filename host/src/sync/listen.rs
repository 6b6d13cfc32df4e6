//! Listening to providers that tell of changes by themselves: one line per followed mailbox. What is told is a hint: a pull reads
//! what changed, and mailboxes are polled all the same.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use anyhow::Result;
use runtime::{self, Code, Listening, News};
use storage::connections::Connection;
use storage::sync_states::{self as table, Followed};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::app::App;
use crate::connections;
use crate::connections::call::Target;
use crate::connections::throttle;
use crate::resources::Kind;
use crate::supervise::caught;
use crate::sync::Scope;
use crate::sync::follow::pull_behind;
use crate::watches::Channel;

/// How often the loop looks who is followed.
const TICK: Duration = Duration::from_secs(2);
/// Lines of this process that wait for news; mailboxes beyond are polled only.
const LINES: i64 = 2_000;
/// Waits between attempts to get a line.
const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// A line that lasted this long was a good one.
const LASTING: Duration = Duration::from_secs(60);

/// Who is listened to.
#[derive(Default)]
pub struct Listeners(HashMap<String, JoinHandle<()>>);

impl Drop for Listeners {
    fn drop(&mut self) {
        self.0.values().for_each(JoinHandle::abort);
    }
}

/// Runs until `stop` resolves.
pub async fn run(app: App, mut stop: tokio::sync::watch::Receiver<bool>) {
    let mut listeners = Listeners::default();
    while !*stop.borrow() {
        if let Err(e) = tick(&app, &mut listeners).await {
            tracing::error!(error = %format!("{e:#}"), "who is to be listened to cannot be read");
        }
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Listens to all mailboxes that are followed and whose provider tells of changes, and to no others.
pub async fn tick(app: &App, listeners: &mut Listeners) -> Result<()> {
    let surface = Kind::EmailMessage.surface().as_str();
    let followed = table::followed(app.db.reader(), surface, LINES).await?;
    let wanted: HashSet<&str> = followed.iter().map(|f| f.connection_id.as_str()).collect();
    listeners.0.retain(|id, task| {
        let is_wanted = wanted.contains(id.as_str());
        if !is_wanted {
            task.abort();
            app.watches.remove(id);
        }
        is_wanted
    });
    for one in followed {
        if app.runtime.can_listen(&one.provider) && !listeners.0.contains_key(&one.connection_id) {
            let (id, app) = (one.connection_id.clone(), app.clone());
            app.watches.set(&id, Channel::Closed);
            listeners.0.insert(id, tokio::spawn(keep(app, one)));
        }
    }
    Ok(())
}

/// Listens for as long as there is any sense in it. A line that ends is followed by another one, ever later if they do not last.
async fn keep(app: App, of: Followed) {
    let mut wait = FIRST_WAIT;
    loop {
        let began = Instant::now();
        let ended = match caught(&app.metrics, "listen", listen(&app, &of)).await {
            Ok(ended) => ended,
            Err(said) => Err(runtime::Error::new(Code::Host, said)),
        };
        app.watches.set(&of.connection_id, Channel::Closed);
        match ended {
            Ok(()) => {}
            Err(e) if e.code == Code::Unsupported => {
                app.watches.set(&of.connection_id, Channel::None);
                return;
            }
            Err(e) => {
                tracing::debug!(connection = %of.connection_id, error = %e, "a line that waits for news ended")
            }
        }
        if began.elapsed() >= LASTING {
            wait = FIRST_WAIT;
        }
        // Not all at once when a server comes back.
        let [part] = app.entropy.bytes::<1>();
        tokio::time::sleep(wait.mul_f64(0.8 + f64::from(part) / 640.0)).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

async fn listen(app: &App, of: &Followed) -> Result<(), runtime::Error> {
    let failed = |e: &dyn std::fmt::Display| runtime::Error::new(Code::Unavailable, e.to_string());
    let connection = connections::find(app, &of.tenant, &of.connection_id).await.map_err(|e| failed(&e))?;
    connections::usable(&connection).map_err(|e| failed(&e))?;
    throttle::check(app, &connection).await.map_err(|e| failed(&e))?;
    let target = Target::of(app, &connection).map_err(|e| failed(&e))?;
    let listening = Listening {
        connector: target.provider,
        tenant: &target.tenant.application_id,
        connection_id: target.connection_id,
        settings: &target.wire.settings,
        credentials: target.credentials.clone(),
    };
    app.runtime.listen(listening, &|news| take(app, &connection, news)).await
}

fn take(app: &App, connection: &Connection, news: News) {
    match news {
        News::Listening => app.watches.set(&connection.id, Channel::Open),
        News::Changed => app.watches.told(&connection.id, app.now()),
    }
    let scope = Scope::mail();
    app.freshness.forget(&scope.lock_name(connection));
    pull_behind(app, connection, &scope);
}
