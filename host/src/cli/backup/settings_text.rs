//! The settings file for a backup: without the passwords and keys in its URLs, in any notation.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use storage::dialect::Dialect;
use toml::{Spanned, Value};
use url::Url;

/// Replaces a secret.
const HIDDEN: &str = "***";
/// Parts of the names of parameters whose values are secret.
const SECRET_NAMES: [&str; 6] = ["key", "password", "secret", "sig", "token", "auth"];

/// The text of a settings file, with `***` in place of the secrets in its URLs, including those in comments.
///
/// # Errors
/// If the text is no TOML, or a secret would stay.
pub fn without_secrets(text: &str) -> Result<String> {
    // The crate's own message would quote the line.
    let parse = |text: &str| toml::from_str::<BTreeMap<String, Spanned<Value>>>(text).ok();
    let settings = parse(text).context("it is no TOML")?;
    let mut places: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    for setting in settings.values() {
        let Some(value) = setting.get_ref().as_str() else { continue };
        let shown = mask_secrets(value);
        if shown != value {
            places.push((setting.span(), Value::String(shown).to_string()));
        }
    }
    places.sort_by_key(|(span, _)| span.start);
    let (mut kept, mut end) = (String::with_capacity(text.len()), 0);
    for (span, shown) in places {
        let quoted = text.get(span.clone()).context("a setting has no place in it")?;
        ensure!(quoted.starts_with(['"', '\'']), "a setting has no place in it");
        kept.push_str(&mask_urls(text.get(end..span.start).context("two settings have one place in it")?));
        kept.push_str(&shown);
        end = span.end;
    }
    kept.push_str(&mask_urls(text.get(end..).context("a setting has no place in it")?));
    let settings = parse(&kept).context("its URLs cannot be left out")?;
    let is_clean = |value: &str| mask_secrets(value) == value;
    ensure!(
        settings.values().all(|setting| setting.get_ref().as_str().is_none_or(is_clean)),
        "its passwords cannot be left out"
    );
    Ok(kept)
}

/// A text with `***` in place of the secrets of each URL in it.
fn mask_urls(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '(' | ')');
    text.split_inclusive(is_end)
        .map(|word| {
            let url = word.trim_end_matches(is_end);
            let shown = mask_secrets(url);
            if shown == url { word.to_owned() } else { word.replacen(url, &shown, 1) }
        })
        .collect()
}

/// A URL without its secrets. Other values stay as they are.
fn mask_secrets(value: &str) -> String {
    if !value.contains("://") {
        return value.to_owned();
    }
    if let Ok(dialect) = Dialect::from_url(value) {
        return dialect.redact_url(value);
    }
    let Ok(mut url) = Url::parse(value) else { return without_users(value) };
    let is_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        SECRET_NAMES.iter().any(|secret| name.contains(secret))
    };
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    if pairs.iter().all(|(name, value)| !is_secret(name) || value == HIDDEN) {
        return without_users(value);
    }
    let hidden = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), if is_secret(name) { HIDDEN } else { value.as_str() }));
    url.query_pairs_mut().clear().extend_pairs(hidden);
    without_users(url.as_str())
}

/// A text with `***` in place of user and password of each URL in it.
fn without_users(text: &str) -> String {
    let mut parts = text.split("://");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['/', '?', '#', '\\']).unwrap_or(part.len());
        let (authority, rest) = part.split_at_checked(end).unwrap_or((part, ""));
        kept.push_str("://");
        match authority.rsplit_once('@') {
            Some((_, host)) => kept.push_str(&format!("{HIDDEN}@{host}")),
            None => kept.push_str(authority),
        }
        kept.push_str(rest);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_database_urls_are_left_out_of_settings() {
        let text = "# ours\ndatabase_url = \"postgres://sb:hunter2@db/sb\"\nfreshness_ms = 5\n";
        let kept = without_secrets(text).unwrap();
        assert_eq!(kept, "# ours\ndatabase_url = \"postgres://sb:***@db/sb\"\nfreshness_ms = 5\n");
    }

    #[test]
    fn secrets_are_left_out_however_they_are_written() {
        for line in [
            r#"database_listen_url = "postgres://sb:hunt\u0065r2@127.0.0.1:1/sb""#,
            r#"database_url = "postgres://sb:hunter2\"\\@db/sb""#,
            "database_url = \"\"\"postgres://sb:hun\\\n   ter2@db/sb\"\"\"",
            "database_url = 'postgres://sb:hunter2@db/sb'",
            "database_url = 'postgres://sb:a#hunter2/b@db/sb'",
            "database_url = 'postgres://db/sb?user=sb&PASSWORD=hunter2'",
            "database_url = 'postgres://sb:x@db/sb?sslpassword=hunter2'",
            "# database_url = \"postgres://sb:hunter2@old/sb\"",
            "# before: postgresql://sb:hun/ter2@old/sb, and on (https://ann:hunter2@old/)",
            "booking_verdict_url = 'https://ann:hunter2@spam.example/check'",
            "booking_verdict_url = 'https://hunter2@spam.example/check'",
            "booking_verdict_url = \"https://spam.example/check?api_k\\u0065y=hunter2&v=1\"",
        ] {
            let text =
                format!("public_url = \"https://cal.example/@us?a=b\"\n{line}\nfreshness_ms = 5 # @all\n");
            let kept = without_secrets(&text).unwrap();
            assert!(!kept.contains("hunter2") && !kept.contains("ter2@"), "{kept}");
            assert!(kept.contains(HIDDEN), "{kept}");
            assert!(kept.starts_with("public_url = \"https://cal.example/@us?a=b\"\n"), "{kept}");
            assert!(kept.ends_with("\nfreshness_ms = 5 # @all\n"), "{kept}");
            assert_eq!(without_secrets(&kept).unwrap(), kept, "what is clean stays as it is");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_without_its_text() {
        let refused = without_secrets("database_url = \"postgres://sb:hunter2@db/sb").unwrap_err();
        assert!(!format!("{refused:#}").contains("hunter2"), "{refused:#}");
    }
}
