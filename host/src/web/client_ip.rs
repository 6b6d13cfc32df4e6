//! The address of a client, also behind proxies.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address at the other end of the connection; the loopback address if there is none, as in a call within the process.
pub fn peer(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::from([127, 0, 0, 1]), |info| info.0.ip())
}

/// The client's address: the peer, or, behind configured proxies, the rightmost forwarded address that is not one of them. An invalid entry
/// ends the walk there, because the entries left of it cannot be trusted.
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|n| n.contains(ip));
    let mut ip = peer.to_canonical();
    if trusted.is_empty() || !is_trusted(&ip) {
        return ip;
    }
    let lines: Vec<&str> =
        headers.get_all(X_FORWARDED_FOR).iter().map(|v| v.to_str().unwrap_or_default()).collect();
    for hop in lines.iter().flat_map(|l| l.split(',')).rev() {
        let Some(address) = hop_address(hop.trim()) else { return ip };
        ip = address;
        if !is_trusted(&ip) {
            break;
        }
    }
    ip
}

fn hop_address(hop: &str) -> Option<IpAddr> {
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>()
        .ok()
        .or_else(|| hop.parse::<std::net::SocketAddr>().ok().map(|a| a.ip()))
        .map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(X_FORWARDED_FOR, line.parse().unwrap());
        }
        headers
    }

    #[test]
    fn forwarded_headers_count_only_behind_a_listed_proxy() {
        let peer: IpAddr = "203.0.113.9".parse().unwrap();
        let proxy = ["10.0.0.0/8".parse().unwrap()];
        assert_eq!(client_ip(peer, &forwarded(&["1.1.1.1"]), &proxy), peer);
        let peer: IpAddr = "10.0.0.1".parse().unwrap();
        let client = |lines: &[&str]| client_ip(peer, &forwarded(lines), &proxy).to_string();
        assert_eq!(client(&["1.1.1.1, 2.2.2.2"]), "2.2.2.2");
        assert_eq!(client(&["1.1.1.1", "2.2.2.2, 10.0.0.7"]), "2.2.2.2");
        assert_eq!(client(&["1.1.1.1, nonsense, 10.0.0.7"]), "10.0.0.7");
        assert_eq!(client(&["::ffff:9.9.9.9"]), "9.9.9.9");
        assert_eq!(client(&["[2001:db8::1]:443"]), "2001:db8::1");
    }
}
