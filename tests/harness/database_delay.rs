//! PostgreSQL on another machine: with `SWITCHBOARD_TEST_DATABASE_DELAY_MS=2` what a host asks its database goes by way of a relay that
//! makes each answer come 2 ms later.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::Url;

use crate::relay::Relay;

/// The environment variable with the milliseconds that a question and its answer are under way together.
const VARIABLE: &str = "SWITCHBOARD_TEST_DATABASE_DELAY_MS";

/// Whether the databases of PostgreSQL are on another machine.
pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// The URL of the same database by way of the relay, where one is wanted. All databases of a run are on one server of this machine.
pub fn through_relay(url: String) -> String {
    let Ok(delay_ms) = std::env::var(VARIABLE) else { return url };
    let delay_ms: u32 = delay_ms.parse().unwrap_or_else(|_| panic!("{VARIABLE} is a number of milliseconds"));
    let mut relayed = Url::parse(&url).expect("the database's URL can be read");
    assert_eq!(relayed.host_str(), Some("127.0.0.1"), "the relay leads to this machine");
    let port = relayed.port().expect("the database's URL names a port");
    static RELAY: OnceLock<(u16, Relay)> = OnceLock::new();
    let (server, relay) = RELAY.get_or_init(|| {
        let relay = Relay::open(port, |_, _, _: &[u8]| ()).expect("a relay");
        relay.move_away(Duration::from_millis(delay_ms.into()) / 2);
        (port, relay)
    });
    assert_eq!(port, *server, "the relay leads to one server");
    relayed.set_port(Some(relay.port)).expect("a port");
    relayed.into()
}
