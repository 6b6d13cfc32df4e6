//! Parameters of a query or of a form (`application/x-www-form-urlencoded`).

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use url::form_urlencoded;

/// Parameters in their order. One without a value counts as left out (RFC 6749, section 3.1).
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Reads a query or a body.
    pub fn read(text: &[u8]) -> Params {
        Params(form_urlencoded::parse(text).into_owned().filter(|(_, value)| !value.is_empty()).collect())
    }

    /// Parses a body that has to be a form. The error says what the request lacks.
    pub fn of_form(headers: &HeaderMap, body: &[u8]) -> Result<Params, &'static str> {
        let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            true => Ok(Params::read(body)),
            false => Err("send the parameters as application/x-www-form-urlencoded"),
        }
    }

    /// The first value; none: it was left out.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The name of a repeated parameter, which RFC 6749, section 3.1 forbids.
    pub fn repeated(&self) -> Option<&str> {
        let names = self.0.iter().enumerate();
        let mut repeated = names.filter(|(at, (name, _))| self.0.iter().take(*at).any(|(n, _)| n == name));
        repeated.next().map(|(_, (name, _))| name.as_str())
    }
}
