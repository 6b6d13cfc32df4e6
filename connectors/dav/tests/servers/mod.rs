//! The real servers that tests run against, and one account on one of them.

use connector_dav::Dav;
use connector_sdk::testing::{Credentials, Live};
use connector_sdk::{Context, Lifecycle as _};
use model::wire::{Account, Connection};

/// 2026-03-01T00:00:00Z, give or take: the tests' now.
const NOW_MS: i64 = 1_772_323_200_000;

pub struct Server {
    pub name: &'static str,
    pub url: String,
}

/// The servers that are up.
pub fn servers() -> Vec<Server> {
    let up = std::env::var("PEERS_UP").unwrap_or_default();
    let all = [("radicale", "RADICALE_URL"), ("cyrus", "CYRUS_URL")];
    let found: Vec<Server> = all
        .into_iter()
        .filter(|(name, _)| up.split([' ', ',']).any(|peer| peer == *name))
        .filter_map(|(name, variable)| Some(Server { name, url: std::env::var(variable).ok()? }))
        .collect();
    if found.len() < all.len() {
        let required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").is_ok_and(|value| value == "1");
        assert!(!required, "radicale and cyrus must be up for this test");
        eprintln!("not run against every server: only {} of {} are up", found.len(), all.len());
    }
    found
}

/// One account on one server.
pub struct Session {
    pub name: &'static str,
    pub host: Live,
    pub connection: Connection,
    pub account: Account,
}

impl Session {
    pub fn open(server: &Server, user: &str) -> Session {
        let host = Live::new(Credentials::Basic { username: user.into(), password: "secret".into() });
        host.surroundings.now_ms.set(NOW_MS);
        let mut connection = Connection { username: Some(user.into()), ..Connection::default() };
        connection.settings.insert("serverUrl".into(), server.url.clone().into());
        let account = Dav::check(&Context::new(&host, connection.clone())).unwrap();
        connection.settings.extend(account.settings.clone());
        connection.addresses = account.email.iter().chain(&account.aliases).cloned().collect();
        Session { name: server.name, host, connection, account }
    }

    pub fn cx(&self) -> Context<'_> {
        Context::new(&self.host, self.connection.clone())
    }

    pub fn url(&self, id: &str) -> String {
        let server: url::Url = self.connection.settings["serverUrl"].as_str().unwrap().parse().unwrap();
        server.join(id).unwrap().to_string()
    }
}

/// Runs a test against every server that is up.
pub fn each(user: &str, test: impl Fn(&Session)) {
    for server in servers() {
        eprintln!("against {}", server.name);
        test(&Session::open(&server, user));
    }
}
