//! PostgreSQL on another machine: with `SWITCHBOARD_TEST_DATABASE_DELAY_MS=2` a host's database traffic goes through a relay that delays
//! each answer by 2 ms.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::Url;

use crate::relay::Relay;

/// The environment variable with the delay of a statement and its answer in total, in milliseconds.
const VARIABLE: &str = "SWITCHBOARD_TEST_DATABASE_DELAY_MS";

/// Returns whether PostgreSQL is simulated on another machine.
pub fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Returns the URL of the same database through the relay, if one is wanted. All databases of a run are on one server of this machine.
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
