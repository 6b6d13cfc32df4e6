//! Cookies of the panel. Over TLS their names begin with `__Host-`, so that no other host of the domain can set them; on the loopback address,
//! where there is no TLS, browsers take no such name.

use http::{HeaderMap, HeaderValue, header};

/// The purpose of a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieKind {
    /// The session of an operator.
    Session,
    /// A random value that binds forms to a browser before there is a session.
    Form,
    /// A sign-in that still needs its second factor.
    HalfSession,
    /// A browser in which an operator has signed in before.
    Device,
    /// A browser whose user is on the way to the OpenID provider and back.
    Provider,
}

/// Days for which a browser is remembered.
const DEVICE_DAYS: u32 = 90;
/// Seconds for which a way to the provider and back may take.
const PROVIDER_S: u32 = 600;

impl CookieKind {
    /// The cookie's name.
    pub fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (CookieKind::Session, true) => "__Host-sb_session",
            (CookieKind::Session, false) => "sb_session",
            (CookieKind::Form, true) => "__Host-sb_form",
            (CookieKind::Form, false) => "sb_form",
            (CookieKind::HalfSession, true) => "__Host-sb_code",
            (CookieKind::HalfSession, false) => "sb_code",
            (CookieKind::Device, true) => "__Host-sb_device",
            (CookieKind::Device, false) => "sb_device",
            (CookieKind::Provider, true) => "__Host-sb_provider",
            (CookieKind::Provider, false) => "sb_provider",
        }
    }

    /// The value of the request's cookie of this kind. None where two have the name: one of them was set by another host.
    pub fn read(self, headers: &HeaderMap, is_secure: bool) -> Option<String> {
        let name = self.name(is_secure);
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(found, _)| *found == name).map(|(_, value)| value);
        let first = values.next()?;
        (values.next().is_none() && !first.is_empty() && first.len() <= MAX_VALUE).then(|| first.to_owned())
    }

    /// The `Set-Cookie` that gives a browser this value, or that takes the cookie away. A value is one of ours: it has no character that would
    /// end it.
    pub fn set(self, value: Option<&str>, is_secure: bool) -> Option<HeaderValue> {
        let name = self.name(is_secure);
        let life = match (value, self) {
            (None, _) => "; Max-Age=0".to_owned(),
            (Some(_), CookieKind::Device) => format!("; Max-Age={}", DEVICE_DAYS * 86_400),
            (Some(_), CookieKind::Provider) => format!("; Max-Age={PROVIDER_S}"),
            (Some(_), _) => String::new(),
        };
        let secure = if is_secure { "; Secure" } else { "" };
        let value = value.unwrap_or_default();
        HeaderValue::try_from(format!("{name}={value}{life}; Path=/; HttpOnly; SameSite=Lax{secure}")).ok()
    }
}

/// Longest value that is read, in bytes.
const MAX_VALUE: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, line.parse().unwrap());
        }
        headers
    }

    #[test]
    fn one_cookie_of_a_name_counts_and_two_are_none() {
        let read = |lines: &[&str]| CookieKind::Session.read(&sent(lines), true);
        assert_eq!(read(&["a=b; __Host-sb_session=x; c=d"]).as_deref(), Some("x"));
        for none in [
            &["sb_session=x"][..],
            &["__Host-sb_session="],
            &["__Host-sb_session=x; __Host-sb_session=y"],
            &["__Host-sb_session=x", "__Host-sb_session=x"],
            &["x__Host-sb_session=x"],
            &[],
        ] {
            assert_eq!(read(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_cookie_is_for_this_host_alone() {
        let set = |value, is_secure| CookieKind::Session.set(value, is_secure).unwrap();
        assert_eq!(set(Some("x"), true), "__Host-sb_session=x; Path=/; HttpOnly; SameSite=Lax; Secure");
        assert_eq!(set(Some("x"), false), "sb_session=x; Path=/; HttpOnly; SameSite=Lax");
        assert_eq!(set(None, true), "__Host-sb_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure");
    }
}
