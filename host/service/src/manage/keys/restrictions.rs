//! Upper bounds of a new API key: the rights of the key that creates it. The new key inherits each restriction that it does not name,
//! and may only narrow it.

use std::net::IpAddr;

use base::error::{Code, Result, invalid, refuse};
use base::input::errors;
use base::scopes;
use ipnet::IpNet;
use model::Instant;
use model::application::NewApiKey;
use model::bounds::access::MAX_NAME;
use model::formats;
use storage::api_keys::ApiKey;

use crate::manage::acting;
use crate::manage::keys::agent;

/// Requests per minute of a key that is given no limit.
const DEFAULT_RATE: i64 = 1_000;

/// An entry of a list of allowed addresses: an address or a CIDR range.
pub fn network(text: &str) -> Option<IpNet> {
    text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Checks a new key, and completes it with what it inherits from `maker`. `now` in milliseconds.
///
/// # Errors
/// Names the field that is wrong, or wider than `maker` has it.
pub fn restrict(new: &mut NewApiKey, maker: &ApiKey, now: i64) -> Result<()> {
    check_name(&new.name)?;
    check_scopes(&new.scopes, maker)?;
    restrict_domains(&mut new.allowed_domains, &maker.allowed_domains)?;
    restrict_addresses(&mut new.allowed_ips, &maker.allowed_ips)?;
    restrict_connections(&mut new.connection_ids, &maker.connection_ids)?;
    restrict_rate(&mut new.rate_limit_per_minute, maker.rate_limit_per_minute)?;
    restrict_expiry(&mut new.expires_at, maker.expires_at, now)?;
    agent::restrict_agent(&mut new.agent, maker.agent.as_ref())
}

/// Checks a new key of the administration, and gives it a limit where it has none. Such a key is used by servers: sites and connections are none
/// of its restrictions. `now` in milliseconds.
///
/// # Errors
/// Names the field that is wrong.
pub fn restrict_admin(new: &mut NewApiKey, now: i64) -> Result<()> {
    check_name(&new.name)?;
    if new.scopes.is_empty() {
        return Err(invalid(Code::MissingField, "scopes", "scopes needs at least one scope"));
    }
    if let Some(i) = new.scopes.iter().position(|scope| !scopes::is_admin_scope(scope)) {
        let message = format!("scopes[{i}] must be one of {}", scopes::ADMIN.join(", "));
        return Err(invalid(Code::InvalidParameter, format!("scopes[{i}]"), message));
    }
    if new.agent.is_some() {
        let message = "a key of the administration is not for assistants: leave agent out";
        return Err(invalid(Code::InvalidParameter, "agent", message));
    }
    restrict_addresses(&mut new.allowed_ips, &[])?;
    restrict_rate(&mut new.rate_limit_per_minute, acting::RATE_LIMIT)?;
    restrict_expiry(&mut new.expires_at, None, now)
}

/// Refuses a name that is empty or longer than 100 characters.
fn check_name(name: &str) -> Result<()> {
    match name.is_empty() || name.chars().count() > MAX_NAME {
        true => Err(invalid(Code::InvalidParameter, "name", "name must have 1 to 100 characters")),
        false => Ok(()),
    }
}

/// Checks that a key may do no more than `other`, which is about to learn its secret.
///
/// # Errors
/// `insufficient_scope` for a scope that `other` lacks; `forbidden` where a restriction of `other` does not hold for the key.
pub fn ensure_within(key: &ApiKey, other: &ApiKey) -> Result<()> {
    if let Some(scope) = key.scopes.iter().find(|scope| !scopes::holds(&other.scopes, scope)) {
        let message = format!("the key that asks lacks the scope {scope}, which this API key has");
        return Err(refuse(Code::InsufficientScope, message));
    }
    let is_among = |own: &[String], most: &[String]| {
        most.is_empty() || (!own.is_empty() && own.iter().all(|one| most.contains(one)))
    };
    let ranges: Vec<IpNet> = other.allowed_ips.iter().filter_map(|text| network(text)).collect();
    let is_in_ranges = |text: &String| {
        network(text).is_some_and(|wanted| ranges.iter().any(|range| range.contains(&wanted)))
    };
    let has_addresses = other.allowed_ips.is_empty()
        || (!key.allowed_ips.is_empty() && key.allowed_ips.iter().all(is_in_ranges));
    let ends_in_time = other.expires_at.is_none_or(|last| key.expires_at.is_some_and(|at| at <= last));
    for (is_within, what) in [
        (is_among(&key.allowed_domains, &other.allowed_domains), "domains"),
        (has_addresses, "addresses"),
        (is_among(&key.connection_ids, &other.connection_ids), "connections"),
        (key.rate_limit_per_minute <= other.rate_limit_per_minute, "requests per minute"),
        (ends_in_time, "time until it expires"),
        (agent::is_within(key.agent.as_ref(), other.agent.as_ref()), "policy for assistants"),
    ] {
        if !is_within {
            let message = format!("this API key is less restricted than the key that asks: {what}");
            return Err(refuse(Code::Forbidden, message));
        }
    }
    Ok(())
}

fn check_scopes(scopes: &[String], maker: &ApiKey) -> Result<()> {
    if scopes.is_empty() {
        return Err(invalid(Code::MissingField, "scopes", "scopes needs at least one scope"));
    }
    for (i, scope) in scopes.iter().enumerate() {
        let field = format!("scopes[{i}]");
        if !scopes::is_scope(scope) {
            let message = format!("{scope:?} is not a scope; see /docs");
            return Err(invalid(Code::InvalidParameter, field, message));
        }
        if !scopes::holds(&maker.scopes, scope) {
            let message = format!("the key that asks lacks the scope {scope}");
            return Err(invalid(Code::InsufficientScope, field, message));
        }
    }
    Ok(())
}

fn restrict_domains(new: &mut Vec<String>, maker: &[String]) -> Result<()> {
    for (i, domain) in new.iter_mut().enumerate() {
        let field = || format!("allowedDomains[{i}]");
        let Some(host) = errors::host_name(domain) else {
            let message = "an allowed domain is an exact host name: no scheme, port or wildcard";
            return Err(invalid(Code::InvalidParameter, field(), message));
        };
        if !maker.is_empty() && !maker.contains(&host) {
            return Err(wider(field(), "domains"));
        }
        *domain = host;
    }
    inherit(new, maker);
    Ok(())
}

fn restrict_addresses(new: &mut Vec<String>, maker: &[String]) -> Result<()> {
    let allowed: Vec<IpNet> = maker.iter().filter_map(|text| network(text)).collect();
    for (i, text) in new.iter().enumerate() {
        let field = || format!("allowedIps[{i}]");
        let Some(wanted) = network(text) else {
            let message = "an allowed IP is an address or a CIDR range, such as 192.0.2.0/24";
            return Err(invalid(Code::InvalidParameter, field(), message));
        };
        if !maker.is_empty() && !allowed.iter().any(|range| range.contains(&wanted)) {
            return Err(wider(field(), "addresses"));
        }
    }
    inherit(new, maker);
    Ok(())
}

fn restrict_connections(new: &mut Vec<String>, maker: &[String]) -> Result<()> {
    if let Some(i) = new.iter().position(|id| !formats::Id::is_match(id)) {
        let message = format!("connectionIds[{i}] must be the id of a connection; got {:?}", new[i]);
        return Err(invalid(Code::InvalidParameter, format!("connectionIds[{i}]"), message));
    }
    if !maker.is_empty() && new.iter().any(|id| !maker.contains(id)) {
        return Err(wider("connectionIds".to_owned(), "connections"));
    }
    inherit(new, maker);
    Ok(())
}

/// An empty list is no restriction, so it becomes the maker's.
fn inherit(new: &mut Vec<String>, maker: &[String]) {
    if new.is_empty() {
        *new = maker.to_vec();
    }
}

fn wider(field: String, what: &str) -> base::error::Error {
    let message = format!("the key that asks is bound to other {what}; name some of those");
    invalid(Code::InvalidParameter, field, message)
}

fn restrict_rate(new: &mut Option<i64>, maker: i64) -> Result<()> {
    let rate = *new.get_or_insert(DEFAULT_RATE.min(maker));
    if !(1..=maker).contains(&rate) {
        let message = format!("rateLimitPerMinute must be from 1 to {maker}, which the key that asks has");
        return Err(invalid(Code::InvalidParameter, "rateLimitPerMinute", message));
    }
    Ok(())
}

fn restrict_expiry(new: &mut Option<Instant>, maker: Option<i64>, now: i64) -> Result<()> {
    if new.is_some_and(|at| at.as_millis() <= now) {
        return Err(invalid(Code::InvalidParameter, "expiresAt", "expiresAt must be in the future"));
    }
    let Some(last) = maker.map(Instant::from_millis) else { return Ok(()) };
    if new.get_or_insert(last).as_millis() > last.as_millis() {
        let message = format!("expiresAt must be at most {last}, when the key that asks expires");
        return Err(invalid(Code::InvalidParameter, "expiresAt", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base::tenant::Tenant;

    use super::*;
    use crate::manage::actor::Role;
    use crate::manage::actor::tests::operator;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_key_of_the_administration_has_its_scopes_alone() {
        let refused = |scopes: &[&str]| {
            let mut new =
                NewApiKey { name: "Robot".to_owned(), scopes: texts(scopes), ..NewApiKey::default() };
            let refused = restrict_admin(&mut new, 0).err().and_then(|e| e.code());
            (refused, new.rate_limit_per_minute)
        };
        assert_eq!(refused(&["admin.read", "admin.operators"]), (None, Some(DEFAULT_RATE)));
        assert_eq!(refused(&[]).0, Some(Code::MissingField));
        for other in ["email.read", "admin.*", "all", ""] {
            assert_eq!(refused(&["admin.read", other]).0, Some(Code::InvalidParameter), "{other}");
        }
    }

    #[test]
    fn a_key_is_within_another_one_where_every_restriction_holds_for_it() {
        let tenant = Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() };
        let open = ApiKey::clone(&acting::key(&operator(Some(Role::Developer), false), &tenant));
        let bound = ApiKey {
            allowed_domains: texts(&["a.example", "b.example"]),
            allowed_ips: texts(&["192.0.2.0/24"]),
            connection_ids: texts(&["conn_1"]),
            expires_at: Some(10),
            ..open.clone()
        };
        let narrow = ApiKey {
            allowed_domains: texts(&["b.example"]),
            allowed_ips: texts(&["192.0.2.7"]),
            expires_at: Some(9),
            rate_limit_per_minute: 1,
            ..bound.clone()
        };
        let code = |key: &ApiKey, other: &ApiKey| ensure_within(key, other).err().and_then(|e| e.code());
        for (key, other) in [(&open, &open), (&bound, &open), (&bound, &bound), (&narrow, &bound)] {
            assert_eq!(code(key, other), None, "{key:?}");
        }
        for wider in [
            ApiKey { allowed_domains: Vec::new(), ..bound.clone() },
            ApiKey { allowed_domains: texts(&["a.example", "c.example"]), ..bound.clone() },
            ApiKey { allowed_ips: Vec::new(), ..bound.clone() },
            ApiKey { allowed_ips: texts(&["192.0.0.0/16"]), ..bound.clone() },
            ApiKey { connection_ids: Vec::new(), ..bound.clone() },
            ApiKey { expires_at: None, ..bound.clone() },
            ApiKey { expires_at: Some(11), ..bound.clone() },
            ApiKey { rate_limit_per_minute: bound.rate_limit_per_minute + 1, ..bound.clone() },
        ] {
            assert_eq!(code(&wider, &bound), Some(Code::Forbidden), "{wider:?}");
        }
        let reading = ApiKey { scopes: texts(&["email.read"]), ..open.clone() };
        assert_eq!(code(&open, &reading), Some(Code::InsufficientScope));
    }
}
