//! Addresses that may be connected to: public ones, and those that the operator allows. The resolver checks every answer, and the
//! client connects to the checked address, so that a name cannot resolve to another one in between.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::Name;
use ipnet::IpNet;
use tower::{BoxError, Service};

use crate::outbound::names::Names;

/// Networks that are not reached from outside: this machine, and those of RFC 1918, RFC 4193 and RFC 6598. Not link-local
/// addresses, where clouds serve the metadata of a machine.
pub(crate) const PRIVATE: [IpNet; 7] = [
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)), 8),
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(172, 16, 0, 0)), 12),
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(192, 168, 0, 0)), 16),
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(100, 64, 0, 0)), 10),
    IpNet::new_assert(IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
    IpNet::new_assert(IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0)), 7),
];

/// No address of this name may be connected to. The client's error contains it.
#[derive(Debug)]
pub(crate) struct ProhibitedAddress;

impl fmt::Display for ProhibitedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address is not public, and the operator does not allow it")
    }
}

impl Error for ProhibitedAddress {}

/// Credentials would go over plain http to a public address. The client's error contains it.
#[derive(Debug)]
pub(crate) struct UnencryptedCredentials;

impl fmt::Display for UnencryptedCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("credentials go over http to addresses alone that the operator allows")
    }
}

impl Error for UnencryptedCredentials {}

/// The name could not be looked up. The client's error contains it.
#[derive(Debug)]
pub(crate) struct UnresolvedName(io::Error);

impl fmt::Display for UnresolvedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name could not be looked up")
    }
}

impl Error for UnresolvedName {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// An error, and the errors that led to it.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Whether a network of the operator contains `address`.
pub(crate) fn is_allowed(address: IpAddr, allowed: &[IpNet]) -> bool {
    let embedded = embedded_ipv4(address);
    allowed.iter().any(|net| net.contains(&address) || net.contains(&embedded))
}

/// The embedded IPv4 address, if there is one.
fn embedded_ipv4(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => embedded_v4(v6).map_or(address, IpAddr::V4),
    }
}

/// Whether `address` may be connected to. `allowed` are the operator's networks beside the public ones.
pub(crate) fn permitted(address: IpAddr, allowed: &[IpNet]) -> bool {
    is_allowed(address, allowed) || is_public(address)
}

/// Whether `address` is public.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match embedded_ipv4(address) {
        IpAddr::V4(v4) => public_v4(v4),
        IpAddr::V6(v6) => public_v6(v6),
    }
}

/// The IPv4 address in an IPv6 address: mapped (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] if high != 0 || low > 1 => Some(v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// IANA's special-purpose registry, as of RFC 6890 and its updates.
fn public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !matches!(
        (a, b, c),
        (0 | 10 | 127, ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224..=255, ..)
    )
}

/// Global unicast only, without Teredo and the other assignments of 2001::/23, and without documentation.
fn public_v6(address: Ipv6Addr) -> bool {
    let s = address.segments();
    let global = s[0] & 0xe000 == 0x2000;
    let assigned = s[0] == 0x2001 && s[1] < 0x200;
    let documentation = (s[0] == 0x2001 && s[1] == 0xdb8) || s[0] & 0xfff0 == 0x3ff0;
    global && !assigned && !documentation
}

/// The resolver of one tenant's clients.
#[derive(Clone)]
pub(crate) struct Resolver {
    pub(crate) names: Arc<Names>,
    pub(crate) tenant: Arc<str>,
    pub(crate) allowed: Arc<[IpNet]>,
    /// Whether public addresses are refused: for requests with credentials over plain http, and for webhooks over it.
    pub(crate) is_plain: bool,
}

impl Resolver {
    async fn resolve(self, host: Name) -> Result<std::vec::IntoIter<SocketAddr>, BoxError> {
        let found = self.names.resolve(&self.tenant, host.as_str()).await.map_err(UnresolvedName)?;
        let good: Vec<IpAddr> = found.into_iter().filter(|a| permitted(*a, &self.allowed)).collect();
        if good.is_empty() {
            return Err(ProhibitedAddress.into());
        }
        let good: Vec<SocketAddr> = good
            .into_iter()
            .filter(|a| !self.is_plain || is_allowed(*a, &self.allowed))
            .map(|a| SocketAddr::new(a, 0))
            .collect();
        if good.is_empty() { Err(UnencryptedCredentials.into()) } else { Ok(good.into_iter()) }
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(self.clone().resolve(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_the_operators_leads_into_private_networks() {
        for address in ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd00::1"]
        {
            assert!(is_allowed(address.parse().unwrap(), &PRIVATE), "{address}");
        }
        for address in ["169.254.169.254", "0.0.0.0", "224.0.0.1", "fe80::1", "::ffff:169.254.169.254"] {
            assert!(!permitted(address.parse().unwrap(), &PRIVATE), "{address}");
        }
        assert!(!is_allowed("1.1.1.1".parse().unwrap(), &PRIVATE));
    }

    #[test]
    fn only_public_addresses_are_permitted() {
        let refused = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.170",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:a00:1::1",
            "2001::1",
            "2001:db8::1",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "fec0::1",
        ];
        for address in refused {
            assert!(!permitted(address.parse().unwrap(), &[]), "{address}");
        }
        for address in
            ["1.1.1.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
        {
            assert!(permitted(address.parse().unwrap(), &[]), "{address}");
        }
    }

    #[test]
    fn the_operator_may_allow_more() {
        let allowed = ["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        for address in ["10.9.9.9", "::ffff:10.9.9.9", "::1"] {
            assert!(permitted(address.parse().unwrap(), &allowed), "{address}");
        }
        assert!(!permitted("127.0.0.1".parse().unwrap(), &allowed));
    }
}
