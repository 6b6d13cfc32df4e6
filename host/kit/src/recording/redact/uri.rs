//! Private parts of URLs, and of texts with URLs in them.

use url::Url;
use url::form_urlencoded::{self, Serializer};

use crate::escapes::{decoded, escaped};
use crate::recording::addresses::is_address;
use crate::recording::names::Secrecy;
use crate::recording::redact::{MAX_DEPTH, Redactor, part};
use crate::recording::scan::urls;
use crate::recording::secrets::placeholder;

/// The host whose paths are secrets: with one, anyone may post.
const HOOKS: &str = "hooks.slack.com";

impl Redactor<'_> {
    pub(super) fn url(&mut self, url: &str) -> String {
        let Ok(mut parsed) = Url::parse(url) else { return self.plain(url) };
        if self.depth >= MAX_DEPTH {
            return self.plain(url);
        }
        self.depth += 1;
        let is_changed = self.clean_url(&mut parsed);
        self.depth -= 1;
        let clean = if is_changed { parsed.to_string() } else { url.to_owned() };
        // A scheme cannot be replaced, nor some hosts.
        if self.secrets.matches(clean.as_bytes()).is_empty() { clean } else { self.plain(&clean) }
    }

    /// Cleans each part of a URL. Returns whether one has changed.
    fn clean_url(&mut self, url: &mut Url) -> bool {
        let before = url.clone();
        let (user, password) = (decoded(url.username()), decoded(url.password().unwrap_or_default()));
        if !user.is_empty() {
            let is_address = is_address(&user);
            let user = if is_address { self.text(&user) } else { self.secret(&user, Secrecy::Everywhere) };
            // Fails only for URLs that cannot have a user, and this one has one.
            let _ = url.set_username(&user);
        }
        if !password.is_empty() {
            let _ = url.set_password(Some(&self.secret(&password, Secrecy::Everywhere)));
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let clean = self.secrets.replaced(host.as_bytes());
        if clean != host.as_bytes() {
            let _ = url.set_host(Some(&String::from_utf8_lossy(&clean)));
        }
        let segments = url.path().split('/').enumerate().map(|(at, segment)| {
            let plain = decoded(segment);
            let clean = match host == HOOKS && at > 1 {
                true => self.secret(&plain, Secrecy::Everywhere),
                false => self.text(&plain),
            };
            match clean == plain {
                true => segment.to_owned(),
                // Parameters of a segment stay parameters.
                false if segment.contains(';') => escaped(&clean).replace("%3B", ";").replace("%3D", "="),
                false => escaped(&clean),
            }
        });
        let path = segments.collect::<Vec<_>>().join("/");
        if path != url.path() {
            url.set_path(&path);
        }
        let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let clean = self.pairs(&query);
        if clean != query {
            url.query_pairs_mut().clear().extend_pairs(&clean);
        }
        if let Some(fragment) = url.fragment().map(str::to_owned) {
            let pairs: Vec<(String, String)> =
                form_urlencoded::parse(fragment.as_bytes()).into_owned().collect();
            let clean = self.pairs(&pairs);
            if clean != pairs {
                let clean = Serializer::new(String::new()).extend_pairs(&clean).finish();
                url.set_fragment(Some(&clean));
            }
        }
        *url != before
    }

    /// A text with URLs in it.
    pub(super) fn text(&mut self, text: &str) -> String {
        let is_whole = text.starts_with("https://") || text.starts_with("http://");
        if is_whole && !text.contains(char::is_whitespace) && !text.contains("&amp;") {
            return self.around_whole_secrets(text, Redactor::url);
        }
        self.around_whole_secrets(text, Redactor::around_urls)
    }

    /// Secrets that are URLs themselves are replaced before a URL is parsed; `rest` cleans the text around them.
    fn around_whole_secrets(&mut self, text: &str, rest: fn(&mut Self, &str) -> String) -> String {
        let known = self.secrets.matches(text.as_bytes());
        let mut whole =
            known.iter().filter(|known| part(text, known.range.clone()).contains("://")).peekable();
        if whole.peek().is_none() {
            return rest(self, text);
        }
        let (mut clean, mut at) = (String::new(), 0);
        for known in whole {
            clean.push_str(&self.around_urls(part(text, at..known.range.start)));
            clean.push_str(&placeholder(known.number));
            at = known.range.end;
        }
        clean.push_str(&self.around_urls(part(text, at..text.len())));
        clean
    }

    fn around_urls(&mut self, text: &str) -> String {
        let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
        for range in urls(text) {
            let url = part(text, range.clone());
            // In markup a URL has other escapes: it is redacted together with the text around it.
            if url.contains("&amp;") {
                continue;
            }
            clean.push_str(&self.plain(part(text, at..range.start)));
            clean.push_str(&self.url(url));
            at = range.end;
        }
        clean.push_str(&self.plain(part(text, at..text.len())));
        clean
    }
}
