//! Notifications between hosts on one PostgreSQL: after commits, which classes have jobs, and which logs grew. One notification
//! covers many commits, and is sent after them on the lease's connection. A host listens on a connection that does nothing else.
//! A missed notification only costs a short delay: after a lost connection a host reads everything, and without a connection it
//! does so every second.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::error::is_outage;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::Db;
use crate::lane::Lane;
use crate::sql::query;
use crate::wakes::{JobClass, LogGrowth, News};

/// Time for which commits are gathered into one notification.
const GATHER: Duration = Duration::from_millis(10);
/// Maximum number of applications that a notification names; with more of them, it says that any may have changed. The server
/// takes 8,000 bytes.
const MOST_NAMED: usize = 20;
/// How long a host waits for its own test notification.
const ECHO: Duration = Duration::from_secs(2);
/// Time between two tests: a connection can be dead without a sign.
const TEST_EVERY: Duration = Duration::from_secs(30);
/// Time between two reads of everything while no notifications arrive.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The first and the longest wait before another attempt to connect.
const RECONNECT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// A notification.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct HostNotification {
    /// The name of the sending host.
    from: String,
    classes: Vec<String>,
    /// Ids of applications.
    grown: Vec<String>,
    /// The log of any application may have grown.
    any: bool,
    /// Whether its sender only tests that it receives its own notifications.
    test: bool,
}

impl HostNotification {
    fn from_news(from: &str, news: News) -> HostNotification {
        let (grown, any) = match news.grown {
            LogGrowth::These(ids) if ids.len() <= MOST_NAMED => (ids.into_iter().collect(), false),
            LogGrowth::These(_) | LogGrowth::Any => (Vec::new(), true),
        };
        let classes = news.classes.into_iter().map(|class| class.as_str().to_owned()).collect();
        HostNotification { from: from.to_owned(), classes, grown, any, test: false }
    }
}

/// A host's part in the exchange.
pub struct Exchange {
    db: Db,
    pool: PgPool,
    name: String,
}

impl Exchange {
    /// The exchange of a host, under its own name. `url`: the server to listen on, the same database past any pooler. None on
    /// SQLite. Fails for an invalid URL.
    pub fn new(db: &Db, url: &str, name: &str) -> Result<Option<Exchange>> {
        if !db.is_shared() {
            return Ok(None);
        }
        let to = PgConnectOptions::from_str(url).context("the URL to listen at")?;
        let one = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
        let pool = one.connect_lazy_with(to);
        Ok(Some(Exchange { db: db.clone(), pool, name: name.to_owned() }))
    }

    /// Sends and receives notifications until it is dropped.
    pub async fn run(&self) {
        self.db.wakes().keep_news();
        tokio::join!(self.send_news(), self.hear());
    }

    /// Sends notifications of commits.
    async fn send_news(&self) {
        let wakes = self.db.wakes();
        loop {
            wakes.has_news().await;
            sleep(GATHER).await;
            let told = HostNotification::from_news(&self.name, wakes.take_news());
            if let Err(e) = self.notify(&told).await {
                tracing::debug!(error = %format!("{e:#}"), "other hosts cannot be notified of commits");
                wakes.news_were_lost();
                sleep(LOOK_EVERY).await;
            }
        }
    }

    /// Receives the notifications of other hosts, and reconnects after the connection was lost.
    async fn hear(&self) {
        let (mut wait, wakes) = (RECONNECT.0, self.db.wakes());
        loop {
            let began = Instant::now();
            let ended = self.listen().await;
            wakes.set_hears(false);
            // While the server is down, the log reports it once, and not with each attempt.
            let is_away = ended.as_ref().is_err_and(|e| is_outage(e) || e.is::<sqlx::Error>());
            if let Err(e) = ended
                && !(is_away && began.elapsed() < RECONNECT.1)
            {
                tracing::warn!(error = %format!("{e:#}"), "lost the LISTEN connection; reconnecting");
            }
            if began.elapsed() > RECONNECT.1 {
                wait = RECONNECT.0;
            }
            self.sweep_for(wait).await;
            wait = (wait * 2).min(RECONNECT.1);
        }
    }

    /// Reads everything now and every second, for this time.
    async fn sweep_for(&self, during: Duration) {
        let end = Instant::now() + during;
        while Instant::now() < end {
            self.db.wakes().sweep();
            sleep_until(end.min(Instant::now() + LOOK_EVERY)).await;
        }
    }

    /// Until the connection is lost.
    async fn listen(&self) -> Result<()> {
        let reader = self.db.reader();
        let Some((_, sql)) = reader.dialect().notify() else { bail!("it has no notifications") };
        let channel = query(sql).fetch_one(reader, |row| row.get::<String>("channel"));
        let channel = Lane::lease().scope(channel).await?;
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.eager_reconnect(false);
        listener.listen(&channel).await?;
        // Covers notifications that were sent while this host did not listen.
        self.db.wakes().sweep();
        let echo = Notify::new();
        tokio::select! {
            ended = self.read(&mut listener, &echo) => ended,
            ended = self.test(&echo) => ended,
        }
    }

    /// Passes notifications on as they arrive: a slow reader would make the server keep the notifications of all.
    async fn read(&self, listener: &mut PgListener, echo: &Notify) -> Result<()> {
        while let Some(told) = listener.try_recv().await? {
            if self.pass_on(told.payload()) {
                echo.notify_one();
            }
        }
        bail!("the connection was lost")
    }

    /// Wakes those whom a notification concerns. Returns whether it is this host's own test.
    fn pass_on(&self, payload: &str) -> bool {
        // An unreadable notification comes from a host of another version or from another user of this database.
        let Ok(told) = serde_json::from_str::<HostNotification>(payload) else { return false };
        if told.from == self.name {
            return told.test;
        }
        let wakes = self.db.wakes();
        told.classes.iter().filter_map(|word| JobClass::named(word)).for_each(|class| wakes.wake(class));
        wakes.log_grew(match told.any || told.grown.len() > MOST_NAMED {
            true => LogGrowth::Any,
            false => LogGrowth::These(BTreeSet::from_iter(told.grown)),
        });
        false
    }

    /// Tests from time to time whether this host receives its own notifications. Through a pooler that gives each transaction
    /// another connection it receives none.
    async fn test(&self, echo: &Notify) -> Result<()> {
        let (mut has_heard, mut has_warned) = (false, false);
        loop {
            self.notify(&HostNotification {
                from: self.name.clone(),
                test: true,
                ..HostNotification::default()
            })
            .await?;
            if timeout(ECHO, echo.notified()).await.is_ok() {
                has_heard = true;
                self.db.wakes().set_hears(true);
                sleep(TEST_EVERY).await;
                continue;
            }
            if has_heard {
                bail!("notifications no longer arrive");
            }
            if !has_warned {
                tracing::warn!(
                    "the database passes no notifications on, as behind a pooler of transactions: this host looks for work every second; \
                     --database-listen-url names an address past the pooler"
                );
                has_warned = true;
            }
            self.sweep_for(TEST_EVERY).await;
        }
    }

    async fn notify(&self, told: &HostNotification) -> Result<()> {
        let reader = self.db.reader();
        let Some((sql, _)) = reader.dialect().notify() else { return Ok(()) };
        let told = serde_json::to_string(told)?;
        Lane::lease().scope(query(sql).bind(told).fetch_all(reader, |_| Ok(()))).await?;
        Ok(())
    }
}
