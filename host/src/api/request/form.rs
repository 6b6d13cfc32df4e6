//! Bodies of the token endpoint: forms (`application/x-www-form-urlencoded`), which RFC 6749 requires, or JSON.

use axum::extract::{FromRequest, Request};
use base::error::{Code, refuse};
use http::{HeaderValue, header};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::api::request::received_body::{Form, Object, ReceivedBody};
use crate::api::response::error::ApiError;

/// Most parameters of a form.
const MAX_PARAMETERS: usize = 100;

/// Whether the content type is that of a form.
pub fn is_form(content_type: Option<&HeaderValue>) -> bool {
    let kind = content_type.and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The parameters of a form, with camelCase names as in JSON. A repeated one is an error (RFC 6749, section 3.2).
pub fn object(bytes: &[u8]) -> Object {
    let mut object = Map::new();
    for (name, value) in form_urlencoded::parse(bytes) {
        if object.len() >= MAX_PARAMETERS {
            let message = format!("a form has at most {MAX_PARAMETERS} parameters");
            return Err(refuse(Code::InvalidRequest, message));
        }
        if object.insert(camel(&name), Value::from(value.into_owned())).is_some() {
            return Err(refuse(
                Code::InvalidRequest,
                format!("the parameter {name:?} is there more than once"),
            ));
        }
    }
    Ok(object)
}

/// `code_verifier` → `codeVerifier`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut is_next_large = false;
    for c in name.chars() {
        match c {
            '_' => is_next_large = !out.is_empty(),
            c if is_next_large => {
                out.push(c.to_ascii_uppercase());
                is_next_large = false;
            }
            c => out.push(c),
        }
    }
    out
}

/// A body that is a form or a JSON object; its names are camelCase.
pub struct FormOrJson(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for FormOrJson {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, ApiError> {
        if !request.headers().contains_key(header::CONTENT_TYPE) {
            let message = "send application/x-www-form-urlencoded or application/json";
            return Err(ApiError(refuse(Code::UnsupportedMediaType, message)));
        }
        let form = request.extensions_mut().remove::<Form>().map(|form| form.0);
        let received = form.or_else(|| request.extensions_mut().remove::<ReceivedBody>());
        let received = received.ok_or_else(|| anyhow::anyhow!("the body was not read before the handler"))?;
        Ok(FormOrJson(received.into_object()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_an_object_and_a_parameter_is_there_once() {
        let form = object(b"grant_type=refresh_token&scope=a+b%20c&x=").unwrap();
        assert_eq!(form["grantType"], "refresh_token");
        assert_eq!((&form["scope"], &form["x"]), (&Value::from("a b c"), &Value::from("")));
        assert!(object(b"code=a&code=a").is_err());
        assert!(object(b"grant_type=a&grantType=b").is_err());
    }
}
