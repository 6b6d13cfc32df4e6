//! First syncs of a large account on SQLite, on PostgreSQL beside the server and on PostgreSQL on another machine; and the latency of the
//! account's other requests during the sync. The PostgreSQL of the peers flushes nothing to the disk, in either place.

mod provider;
mod sync_server;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::bench::first_sync::sync_server::{Surface, SurfaceSyncs, SyncServer};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::peers::Peers;
use crate::project;
use crate::relay::Relay;

/// The delay of a database in the same data centre: half of a packet's round trip.
const AWAY: Duration = Duration::from_millis(1);
/// The maximum p99 of the account's other requests, ms.
const MAX_REQUEST_MS: f64 = 300.0;
/// The maximum ratio of a first sync with a distant database to one with a near database.
const MAX_RATIO: f64 = 1.5;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Database {
    Sqlite,
    PostgresBeside,
    PostgresAway,
}

/// The order of runs: a slow minute of the machine hits both distances.
const TURNS: [Database; 5] = [
    Database::Sqlite,
    Database::PostgresBeside,
    Database::PostgresAway,
    Database::PostgresAway,
    Database::PostgresBeside,
];

type SyncsByDatabase = BTreeMap<(Surface, Database), SurfaceSyncs>;

/// Two rows for each surface, the ratio of both distances and the latency of other requests; and one row with the refused requests.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    project::step("filling an account of the sandbox provider");
    let journal = provider::fill(rig)?;
    let mut figures = SyncsByDatabase::new();
    for database in TURNS {
        project::step(&format!("first syncs on {}", database.render()));
        measure(rig, &journal, database, &mut figures)?;
    }
    let (mut rows, mut requests, mut unavailable) = (Vec::new(), 0, 0);
    for syncs in figures.values() {
        requests += syncs.meanwhile.requests;
        unavailable += syncs.unavailable;
    }
    for surface in Surface::ALL {
        rows.extend(surface_rows(surface, &mut figures));
    }
    rows.push(Row {
        what: "the same, each surface on each database: changes that were answered 503".to_owned(),
        ours: format!("{unavailable} of {requests}"),
        baseline: "–".to_owned(),
        figure: unavailable as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(0.0),
    });
    Ok(rows)
}

impl Database {
    fn render(self) -> String {
        match self {
            Database::Sqlite => "SQLite".to_owned(),
            Database::PostgresBeside => "PostgreSQL beside".to_owned(),
            Database::PostgresAway => format!("PostgreSQL {} ms away", 2 * AWAY.as_millis()),
        }
    }

    /// Starts an empty database, and returns its URL unless it is a file of the server. It ends with the peers.
    fn start(self) -> Result<Option<(Peers, String)>> {
        if self == Database::Sqlite {
            return Ok(None);
        }
        let peers = Peers::start_only(&["postgres"], &[])?;
        let url = peers.get("POSTGRES_URL")?;
        let url = if self == Database::PostgresAway { moved_away(&url)? } else { url };
        Ok(Some((peers, url)))
    }
}

/// Returns the URL of the same database through a relay.
fn moved_away(url: &str) -> Result<String> {
    let (before, rest) = url.rsplit_once(':').context("the database's URL names no port")?;
    let (port, name) = rest.split_once('/').context("the database's URL names no database")?;
    let relay = Relay::open(port.parse()?, |_, _, _: &[u8]| ())?;
    relay.move_away(AWAY);
    Ok(format!("{before}:{}/{name}", relay.port))
}

fn measure(rig: &Rig, journal: &Path, database: Database, figures: &mut SyncsByDatabase) -> Result<()> {
    let started = database.start()?;
    let url = started.iter().map(|(_, url)| ("SWITCHBOARD_DATABASE_URL", url.as_str()));
    let server = SyncServer::start(rig, journal, &url.collect::<Vec<_>>())?;
    for surface in Surface::ALL {
        figures.entry((surface, database)).or_default().add(server.sync(surface)?);
    }
    server.stop()
}

fn surface_rows(surface: Surface, figures: &mut SyncsByDatabase) -> [Row; 2] {
    let mut take = |database| figures.remove(&(surface, database)).unwrap_or_default();
    let (sqlite, beside, away) =
        (take(Database::Sqlite), take(Database::PostgresBeside), take(Database::PostgresAway));
    let what = format!("first sync of {}, {}", surface.render(), Database::PostgresAway.render());
    let ratio = Row {
        what: what.clone(),
        ours: format!("{:.1} s", away.mean_s()),
        baseline: format!("PostgreSQL beside: {:.1} s; SQLite: {:.1} s", beside.mean_s(), sqlite.mean_s()),
        figure: away.mean_s() / beside.mean_s(),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(MAX_RATIO),
    };
    let latency = Row {
        what: format!("{what}: changes of an event of the account during the sync, every 50 ms: 99 of 100"),
        ours: away.render(),
        baseline: format!("PostgreSQL beside: {}; SQLite: {}", beside.render(), sqlite.render()),
        figure: away.quantile_ms(0.99),
        unit: " ms".to_owned(),
        target: FigureTarget::AtMost(MAX_REQUEST_MS),
    };
    [ratio, latency]
}
