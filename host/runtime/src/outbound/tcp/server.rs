//! The server that a connection's settings name, and whether it may be connected to.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use serde_json::{Map, Value};

use crate::bindings::tcp::Err;
use crate::outbound::address::{is_allowed, permitted};
use crate::outbound::names::Names;
use crate::outbound::tcp::refusal::refused;

/// A server as the settings name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    /// A name or an address, lower case.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) tls: Tls,
}

/// The encryption of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tls {
    /// From the first byte (RFC 8314).
    Implicit,
    /// After an upgrade that the server must offer.
    Upgrade,
    /// Never. Only to addresses that the operator allows.
    None,
}

/// Protocols of which the host can open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Protocol {
    Imap,
    Smtp,
}

impl Protocol {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "imap" => Some(Protocol::Imap),
            "smtp" => Some(Protocol::Smtp),
            _ => None,
        }
    }
}

/// An error of a server in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadServer {
    /// Below the setting; empty for itself.
    pub field: String,
    /// Completes "... {field}".
    pub why: &'static str,
}

fn bad(field: &str, why: &'static str) -> BadServer {
    BadServer { field: field.to_owned(), why }
}

/// Whether a value of the settings is a server to which a connection can be opened.
pub fn check_server(value: &Value) -> Result<(), BadServer> {
    Server::read(value).map(|_| ())
}

impl Server {
    /// The server that `settings` has under `name`.
    pub(crate) fn from_settings(settings: &Map<String, Value>, name: &str) -> Result<Server, BadServer> {
        settings.get(name).map_or_else(|| Err(bad("", "is missing")), Server::read)
    }

    fn read(value: &Value) -> Result<Server, BadServer> {
        let fields = value.as_object().ok_or_else(|| bad("", "must be an object with host, port and tls"))?;
        if let Some(unknown) = fields.keys().find(|k| !matches!(k.as_str(), "host" | "port" | "tls")) {
            return Err(bad(unknown, "is unknown: there are host, port and tls"));
        }
        let host = fields.get("host").and_then(Value::as_str).map(str::to_ascii_lowercase);
        let host = host
            .filter(|h| is_host(h))
            .ok_or_else(|| bad("host", "must be a host name or an address, without scheme and port"))?;
        let port = fields.get("port").and_then(Value::as_u64).and_then(|p| u16::try_from(p).ok());
        let port = port.filter(|p| *p > 0).ok_or_else(|| bad("port", "must be a number from 1 to 65535"))?;
        let tls = match fields.get("tls").unwrap_or(&Value::Null) {
            Value::Null => Tls::Implicit,
            tls => match tls.as_str() {
                Some("implicit") => Tls::Implicit,
                Some("starttls") => Tls::Upgrade,
                Some("none") => Tls::None,
                _ => return Err(bad("tls", "must be \"implicit\", \"starttls\" or \"none\"")),
            },
        };
        Ok(Server { host, port, tls })
    }

    /// The addresses of the server that may be connected to.
    pub(crate) async fn addresses(
        &self,
        names: &Names,
        tenant: &str,
        allowed: &[IpNet],
    ) -> Result<Vec<SocketAddr>, Err> {
        let found = match self.host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => names.resolve(tenant, &self.host).await.map_err(|e| match e.kind() {
                ErrorKind::TimedOut => {
                    refused("timeout", format!("no address of {} came in time", self.host))
                }
                _ => refused("connect", format!("no address was found for {}", self.host)),
            })?,
        };
        let good = found.into_iter().filter(|address| self.may_be(*address, allowed));
        let good: Vec<SocketAddr> = good.map(|address| SocketAddr::new(address, self.port)).collect();
        if !good.is_empty() {
            return Ok(good);
        }
        Err(match self.tls {
            Tls::None => {
                refused("denied", "a line without TLS is allowed to addresses alone that the operator allows")
            }
            _ => refused("denied", "the address is not public, and the operator does not allow it"),
        })
    }

    /// Whether the address is allowed: without encryption only if the operator allows it.
    fn may_be(&self, address: IpAddr, allowed: &[IpNet]) -> bool {
        permitted(address, allowed) && (self.tls != Tls::None || is_allowed(address, allowed))
    }
}

fn is_host(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
        || (!host.is_empty()
            && host.len() <= 253
            && !host.starts_with('.')
            && !host.ends_with('.')
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
            // Some resolvers take a name whose last label is a number as an address.
            && host.rsplit('.').next().is_some_and(|label| !label.bytes().all(|b| b.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::limits::Limits;
    use crate::outbound::SystemLookup;

    fn of(value: Value) -> Result<Server, BadServer> {
        Server::from_settings(json!({ "imap": value }).as_object().unwrap(), "imap")
    }

    #[test]
    fn settings_name_a_server() {
        let server = of(json!({"host": "Mail.Example.org", "port": 993})).unwrap();
        assert_eq!(server, Server { host: "mail.example.org".into(), port: 993, tls: Tls::Implicit });
        assert_eq!(of(json!({"host": "::1", "port": 143, "tls": "starttls"})).unwrap().tls, Tls::Upgrade);
        for (value, field) in [
            (json!("mail.example.org"), ""),
            (json!({"host": "imaps://mail.example.org", "port": 993}), "host"),
            (json!({"host": "2130706433", "port": 993}), "host"),
            (json!({"host": "a b", "port": 993}), "host"),
            (json!({"host": "a.example", "port": 0}), "port"),
            (json!({"host": "a.example", "port": 99999}), "port"),
            (json!({"host": "a.example", "port": 993, "tls": "ssl"}), "tls"),
            (json!({"host": "a.example", "port": 993, "user": "x"}), "user"),
        ] {
            assert_eq!(of(value.clone()).unwrap_err().field, field, "{value}");
        }
    }

    #[tokio::test]
    async fn addresses_are_held_against_the_policy() {
        let allowed = ["127.0.0.0/8".parse().unwrap()];
        let names = Names::new(Arc::new(SystemLookup), &Limits::default());
        let at = |host: &str, tls| Server { host: host.into(), port: 143, tls };
        for (server, allowed, code) in [
            (at("127.0.0.1", Tls::Implicit), &[][..], "denied"),
            (at("169.254.169.254", Tls::Upgrade), &allowed[..], "denied"),
            (at("::ffff:10.0.0.1", Tls::Implicit), &allowed[..], "denied"),
            (at("1.1.1.1", Tls::None), &allowed[..], "denied"),
        ] {
            assert_eq!(server.addresses(&names, "t", allowed).await.unwrap_err().code, code, "{server:?}");
        }
        assert_eq!(at("127.0.0.1", Tls::None).addresses(&names, "t", &allowed).await.unwrap().len(), 1);
        assert_eq!(at("1.1.1.1", Tls::Implicit).addresses(&names, "t", &[]).await.unwrap().len(), 1);
    }
}
