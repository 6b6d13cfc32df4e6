//! What a new API key may do at most: no more than the key that makes it. Each restriction of that one is inherited where the new key
//! names none, and can only be narrowed.

use base::error::{Code, Result, invalid};
use base::input::errors;
use base::scopes;
use ipnet::IpNet;
use model::Instant;
use model::application::NewApiKey;
use storage::api_keys::ApiKey;

use crate::api::access::api_key::network;

/// Requests per minute of a key that is given no limit.
const DEFAULT_RATE: i64 = 1_000;

/// Checks a new key, and completes it with what it inherits from `maker`. `now` in milliseconds.
///
/// # Errors
/// Names the field that is wrong, or wider than `maker` has it.
pub fn restrict(new: &mut NewApiKey, maker: &ApiKey, now: i64) -> Result<()> {
    if new.name.is_empty() || new.name.chars().count() > 100 {
        return Err(invalid(Code::InvalidParameter, "name", "name must have 1 to 100 characters"));
    }
    check_scopes(&new.scopes, maker)?;
    restrict_domains(&mut new.allowed_domains, &maker.allowed_domains)?;
    restrict_addresses(&mut new.allowed_ips, &maker.allowed_ips)?;
    restrict_connections(&mut new.connection_ids, &maker.connection_ids)?;
    restrict_rate(&mut new.rate_limit_per_minute, maker.rate_limit_per_minute)?;
    restrict_expiry(&mut new.expires_at, maker.expires_at, now)
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
