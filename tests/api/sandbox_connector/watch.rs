//! Notifications of the sandbox provider, asked for through the connector.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::Ordering;

use connector_sandbox::Sandbox;
use connector_sdk::{Watch as _, code};
use model::wire::watch::{WatchRenew, WatchStart, WatchStop, Watching};

use crate::sandbox_connector::{Api, NOW_MS, at, lunch, refused};

/// Takes the next notification: its watch, its secret and its state.
fn next(listener: &TcpListener) -> [String; 3] {
    let (mut stream, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let head: Vec<String> =
        lines.by_ref().map(|line| line.unwrap()).take_while(|line| !line.is_empty()).collect();
    stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").unwrap();
    ["x-sandbox-channel: ", "x-sandbox-token: ", "x-sandbox-state: "].map(|name| {
        let value = head.iter().find_map(|line| line.strip_prefix(name));
        value.unwrap_or_else(|| panic!("no {name}in {head:?}")).to_owned()
    })
}

/// From the first notification to the last: the host does the same in its jobs.
#[test]
fn a_watch_is_started_prolonged_and_stopped() {
    let api = Api::start();
    let [listener, moved] = [(), ()].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let start = |channel: &str, surface: &str, scope: Option<&str>| WatchStart {
        surface: surface.to_owned(),
        scope: scope.map(str::to_owned),
        address: format!("http://{}/", listener.local_addr().unwrap()),
        token: format!("secret-of-{channel}"),
        channel: channel.to_owned(),
        wanted_until: at("2026-03-12T07:00:00Z"),
    };
    let told =
        |channel: &str, state: &str| [channel.to_owned(), format!("secret-of-{channel}"), state.to_owned()];
    let watching = Sandbox::start(&api.context(), start("wat_1", "calendar", Some("work"))).unwrap();
    let expected = Watching {
        external_id: "wat_1".to_owned(),
        resource: Some("calendars/work/events".to_owned()),
        expires_at: at("2026-03-12T07:00:00Z"),
    };
    assert_eq!(watching, expected);
    assert_eq!(next(&listener), told("wat_1", "sync"));
    api.create(&lunch(), "k1").unwrap();
    assert_eq!(next(&listener), told("wat_1", "exists"));

    let renew = WatchRenew {
        external_id: watching.external_id.clone(),
        resource: watching.resource.clone(),
        channel: "wat_1".to_owned(),
        address: format!("http://{}/", moved.local_addr().unwrap()),
        wanted_until: at("2030-01-01T00:00:00Z"),
        ..WatchRenew::default()
    };
    let renewed = Sandbox::renew(&api.context(), renew.clone()).unwrap();
    assert_eq!(renewed, Watching { expires_at: at("2026-03-17T07:00:00Z"), ..watching });
    api.now_ms.store(NOW_MS + 3 * 24 * 3_600_000, Ordering::Relaxed);
    api.create(&lunch(), "k2").unwrap();
    assert_eq!(next(&moved), told("wat_1", "exists"), "the host has another address by now");

    let stop = WatchStop {
        external_id: renewed.external_id,
        resource: renewed.resource,
        channel: "wat_1".to_owned(),
    };
    Sandbox::stop(&api.context(), stop.clone()).unwrap();
    Sandbox::stop(&api.context(), stop).unwrap();
    refused(Sandbox::renew(&api.context(), renew), code::NOT_FOUND);
    api.create(&lunch(), "k3").unwrap();
    // The next notification belongs to the next watch.
    let mut late = start("wat_2", "email", None);
    refused(Sandbox::start(&api.context(), late.clone()), code::INVALID);
    late.wanted_until = at("2026-03-14T07:00:00Z");
    Sandbox::start(&api.context(), late).unwrap();
    assert_eq!(next(&listener), told("wat_2", "sync"));
}

/// Only data of the account can be watched, and nothing is posted to other machines.
#[test]
fn a_watch_that_cannot_be_is_refused() {
    let api = Api::start();
    let start = |surface: &str, scope: Option<&str>, address: &str| {
        let args = WatchStart {
            surface: surface.to_owned(),
            scope: scope.map(str::to_owned),
            address: address.to_owned(),
            token: "s".to_owned(),
            channel: "wat_1".to_owned(),
            wanted_until: at("2026-03-12T07:00:00Z"),
        };
        Sandbox::start(&api.context(), args)
    };
    let here = "http://127.0.0.1:9/";
    refused(start("tasks", Some("nowhere"), here), code::NOT_FOUND);
    refused(start("notes", None, here), code::UNSUPPORTED);
    refused(start("calendar", None, "https://example.com/"), code::INVALID);
    start("calendar", None, here).unwrap();
    refused(start("contacts", None, here), code::ALREADY_EXISTS);
}
