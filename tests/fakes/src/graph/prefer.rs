//! The header Prefer: a comma list of preferences.

use http::HeaderMap;

/// Preferences of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// `IdType="ImmutableId"`
    pub immutable_ids: bool,
    /// `outlook.body-content-type="text"`
    pub text_bodies: bool,
    /// `outlook.allow-unsafe-html`
    pub unsafe_html: bool,
    /// `odata.maxpagesize=50`
    pub max_page_size: Option<usize>,
    /// `outlook.timezone="W. Europe Standard Time"`
    pub time_zone: Option<String>,
}

impl Preferences {
    /// Reads the first header Prefer; a second one is lost (mguessan/davmail, `GraphExchangeSession`: both in one header).
    pub fn read(headers: &HeaderMap) -> Preferences {
        let text = headers.get("prefer").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut read = Preferences::default();
        for one in split(text) {
            let (name, value) = one.split_once('=').unwrap_or((one, ""));
            let value = value.trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "idtype" => read.immutable_ids = value.eq_ignore_ascii_case("ImmutableId"),
                "outlook.body-content-type" => read.text_bodies = value.eq_ignore_ascii_case("text"),
                "outlook.allow-unsafe-html" => read.unsafe_html = true,
                "odata.maxpagesize" => read.max_page_size = value.parse().ok().filter(|size| *size > 0),
                "outlook.timezone" => read.time_zone = Some(value.to_owned()),
                _ => {}
            }
        }
        read
    }

    /// The value of Preference-Applied; none where no preference was applied.
    pub fn applied(&self) -> Option<String> {
        let mut all = Vec::new();
        if self.immutable_ids {
            all.push("IdType=\"ImmutableId\"".to_owned());
        }
        if self.text_bodies {
            all.push("outlook.body-content-type=\"text\"".to_owned());
        }
        all.extend(self.time_zone.iter().map(|zone| format!("outlook.timezone=\"{zone}\"")));
        all.extend(self.max_page_size.map(|size| format!("odata.maxpagesize={size}")));
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// The members of a comma list, in which quoted texts may have commas.
fn split(text: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = text.split(|c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    parts.map(str::trim).filter(|one| !one.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::Preferences;

    #[test]
    fn one_list_has_all_preferences_and_a_second_header_is_lost() {
        let list = "IdType=\"ImmutableId\", odata.maxpagesize=50,outlook.timezone=\"A, B\"";
        let mut headers = HeaderMap::new();
        headers.append("prefer", HeaderValue::from_static(list));
        headers.append("prefer", HeaderValue::from_static("outlook.body-content-type=\"text\""));
        let expected = Preferences {
            immutable_ids: true,
            max_page_size: Some(50),
            time_zone: Some("A, B".to_owned()),
            ..Preferences::default()
        };
        assert_eq!(Preferences::read(&headers), expected);
        assert_eq!(Preferences::read(&HeaderMap::new()), Preferences::default());
    }
}
