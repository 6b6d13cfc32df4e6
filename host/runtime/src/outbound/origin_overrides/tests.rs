//! Replaceable origins, and requests that a registration redirects to another server, over the network of this machine.

use std::sync::Arc;

use super::*;
use crate::bindings::http::{Req, Segment};
use crate::limits::Limits;
use crate::outbound::tests::{egress_to, request, server};
use crate::outbound::{CallEgress, Egress, HttpSettings, Policy, Rules};

/// The egress of a connector for `https://api.example.test` alone, which the operator replaced by `server`. `allowed` is the
/// operator's network.
fn overridden(server: &str, allowed: &str) -> Arc<CallEgress> {
    let manifest = Manifest::parse(
        r#"
        name = "x"
        version = "1.0.0"
        title = "X"
        surfaces = ["calendar"]
        hosts = [{ host = "api.example.test", methods = ["POST"], inject = "default" }]
        "#,
    );
    let origins = BTreeMap::from([("https://api.example.test".to_owned(), server.to_owned())]);
    let policy = Policy::new(Arc::new(manifest.unwrap()), &serde_json::Map::new(), &[])
        .with_overrides(Arc::new(OriginOverrides::parse(&origins).unwrap()));
    let limits = Limits::default();
    let rules = Rules::of_tests(vec![allowed.parse().unwrap()]);
    let shared = Arc::new(Egress::new(HttpSettings::default(), rules, &limits).unwrap());
    let mut egress = egress_to(server, limits, HttpSettings::default());
    let own = Arc::get_mut(&mut egress).unwrap();
    (own.policy, own.shared) = (policy, shared);
    egress
}

#[tokio::test]
async fn an_origin_override_moves_what_the_manifest_permits() {
    let origin = server().await;
    let egress = overridden(&origin, "127.0.0.0/8");
    let sent = async |path: &str, body: &[u8]| {
        let url = format!("https://api.example.test{path}");
        egress.clone().send(request(url, vec![Segment::Bytes(body.to_vec())])).await.unwrap().body
    };
    assert_eq!(sent("/echo?x=%20", b"moved").await, b"moved");
    // A server on this machine gets the same requests as the provider.
    assert_eq!(sent("/host", b"").await, b"api.example.test");
    let with_token = sent("/token", b"").await;
    assert!(with_token.ends_with(b"Bearer **************** end"), "it has the original host's credentials");
    // The original rules decide, and the connector may not name the other server.
    let echo = || request("https://api.example.test/echo".into(), vec![]);
    let refused = [
        Req { method: "GET".into(), ..echo() },
        request("http://api.example.test/echo".into(), vec![]),
        request("https://api.example.test:444/echo".into(), vec![]),
        request("https://www.example.test/echo".into(), vec![]),
        request(format!("{origin}/echo"), vec![]),
    ];
    for request in refused {
        let shown = format!("{} {}", request.method, request.url);
        assert_eq!(egress.clone().send(request).await.unwrap_err().code, "denied", "{shown}");
    }
}

#[tokio::test]
async fn an_origin_override_leads_into_no_network_that_the_operator_has_not_named() {
    let origin = server().await;
    for server in [origin.clone(), origin.replace("127.0.0.1", "localhost")] {
        let egress = overridden(&server, "10.0.0.0/8");
        // Without credentials too: the body was meant for https.
        for auth in [None, Some("none".to_owned())] {
            let asked = Req { auth, ..request("https://api.example.test/echo".into(), vec![]) };
            assert_eq!(egress.clone().send(asked).await.unwrap_err().code, "denied", "{server}");
        }
    }
}

fn overrides(pairs: &[(&str, &str)]) -> anyhow::Result<OriginOverrides> {
    let own = |&(replaced, server): &(&str, &str)| (replaced.to_owned(), server.to_owned());
    OriginOverrides::parse(&pairs.iter().map(own).collect())
}

fn manifest() -> Manifest {
    Manifest::parse(
        r#"
        name = "x"
        version = "1.0.0"
        title = "X"
        surfaces = ["calendar"]
        hosts = [{ host = "api.example.com", path_prefix = "/v1" }, { host = "*.files.example.com", port = 8443 }]
        "#,
    )
    .unwrap()
}

#[test]
fn both_ends_are_origins_and_nothing_more() {
    for good in ["https://api.example.com", "https://API.example.com:443/", "http://[::1]:7100"] {
        assert!(parse_origin(good).is_ok(), "{good}");
    }
    assert_eq!(parse_origin("https://API.example.com:443/").as_deref(), Ok("https://api.example.com"));
    let long = format!("https://{}.example.com", "a".repeat(300));
    for bad in [
        "api.example.com",
        "ftp://api.example.com",
        "https://api.example.com/v1",
        "https://api.example.com/?x",
        "https://api.example.com/#x",
        "https://user@api.example.com",
        "https://@api.example.com",
        "https://api.example.com.",
        "https://api.example.com\\@evil.test",
        "https://*.example.com",
        "https://%2a.example.com",
        "https://",
        "",
        long.as_str(),
    ] {
        assert!(parse_origin(bad).is_err(), "{bad}");
        assert!(overrides(&[("https://api.example.com", bad)]).is_err(), "{bad}");
        assert!(overrides(&[(bad, "https://api.example.com")]).is_err(), "{bad}");
    }
}

#[test]
fn an_origin_is_replaced_once_and_their_number_is_bounded() {
    let twice = [("https://a.test", "https://b.test"), ("https://A.test:443", "https://c.test")];
    assert!(overrides(&twice).unwrap_err().to_string().contains("replaced twice"));
    let many = |count: usize| {
        (0..count).map(|n| (format!("https://a{n}.test"), "https://b.test".to_owned())).collect()
    };
    assert!(OriginOverrides::parse(&many(MAX_OVERRIDES)).is_ok());
    assert!(OriginOverrides::parse(&many(MAX_OVERRIDES + 1)).is_err());
}

#[test]
fn hosts_of_the_manifest_alone_are_replaced() {
    for good in ["https://api.example.com", "https://eu.files.example.com:8443"] {
        let overrides = overrides(&[(good, "https://b.test")]).unwrap();
        assert!(overrides.ensure_named_by(&manifest()).is_ok(), "{good}");
    }
    for bad in [
        "http://api.example.com",
        "https://api.example.com:444",
        "https://www.example.com",
        "https://files.example.com:8443",
        "https://a.b.files.example.com:8443",
    ] {
        let why = overrides(&[(bad, "https://b.test")]).unwrap().ensure_named_by(&manifest()).unwrap_err();
        let why = why.to_string();
        assert!(why.contains(bad) && why.contains("https://*.files.example.com:8443"), "{why}");
    }
}
