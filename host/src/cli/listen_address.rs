//! The address of a socket as a setting: an IP address or a host name, and a port.

use std::net::{Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use serde::Deserialize;

/// An address to listen on. A host name is looked up when the setting is read.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct ListenAddress(pub SocketAddr);

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.parse() {
            Ok(address) => Ok(ListenAddress(address)),
            Err(_) => look_up(text).map(ListenAddress).map_err(|cause| format!("\"{text}\" {cause}")),
        }
    }
}

impl TryFrom<String> for ListenAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// The address of a host name with a port. The error says how to write it.
fn look_up(text: &str) -> Result<SocketAddr, String> {
    if text.contains('/') {
        return Err("must be ADDRESS:PORT without a scheme or path, for example 127.0.0.1:8080".to_owned());
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(format!("needs brackets and a port: [{text}]:8080"));
    }
    if text.starts_with('[') && text.ends_with(']') {
        return Err(format!("has no port: use {text}:8080"));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, port),
        None if text.parse::<u16>().is_ok() => return Err(format!("has no address: use 127.0.0.1:{text}")),
        None => return Err(format!("has no port: use {text}:8080")),
    };
    if host.is_empty() {
        return Err(format!("has no address: use 127.0.0.1:{port}, or 0.0.0.0:{port} for all interfaces"));
    }
    let number: u16 =
        port.parse().map_err(|_| format!("has the port \"{port}\": use a number from 0 to 65535"))?;
    let found = (host, number).to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|_| unknown_host(number))?.collect();
    // A client on this machine that is given 127.0.0.1 reaches the IPv4 address of `localhost` only.
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(|| unknown_host(number))
}

fn unknown_host(port: u16) -> String {
    format!("has a host name that cannot be resolved: use an IP address, for example 127.0.0.1:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_is_looked_up() {
        let address: ListenAddress = "localhost:8080".parse().unwrap();
        assert!(address.0.ip().is_loopback() && address.0.port() == 8080, "{address:?}");
        for (text, expected) in [("127.0.0.1:0", "127.0.0.1:0"), ("[::1]:8080", "[::1]:8080")] {
            assert_eq!(text.parse::<ListenAddress>().unwrap().0.to_string(), expected);
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_with_an_example() {
        for (text, said) in [
            ("localhost", "\"localhost\" has no port: use localhost:8080"),
            ("8080", "use 127.0.0.1:8080"),
            (":8080", "use 127.0.0.1:8080, or 0.0.0.0:8080"),
            ("[::1]", "\"[::1]\" has no port: use [::1]:8080"),
            ("::1", "needs brackets and a port: [::1]:8080"),
            ("localhost:http", "has the port \"http\": use a number from 0 to 65535"),
            ("http://localhost:8080", "without a scheme"),
            // No resolver is asked for a name with an empty label.
            ("a..b:8080", "cannot be resolved: use an IP address, for example 127.0.0.1:8080"),
        ] {
            let refused = text.parse::<ListenAddress>().unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
