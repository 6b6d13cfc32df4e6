//! The frame of every page: its head, its one style, and the headers that it leaves with. There is no script, and nothing is loaded but
//! the picture that the event type names.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderName, HeaderValue, StatusCode, header};
use model::scheduling::event_type::EventType;
use sha2::{Digest, Sha256};
use url::Url;

use crate::api::book::texts::texts;
use crate::api::request_id::X_REQUEST_ID;
use crate::html::Html;
use crate::locale::Language;

const STYLE: &str = "\
:root{color-scheme:light dark;--ground:#fff;--raised:#f6f7f8;--text:#16191d;--muted:#565e69;--line:#7b8490;--accent:#1257c4;--on:#fff;--error:#b3261e}\
@media(prefers-color-scheme:dark){:root{--ground:#121519;--raised:#1a1f25;--text:#e9ecef;--muted:#a4adb8;--line:#76808c;--accent:#7fb2ff;--on:#000;--error:#ff9a92}}\
*{box-sizing:border-box}\
body{margin:0;font:1rem/1.5 system-ui,sans-serif;background:var(--ground);color:var(--text);overflow-wrap:anywhere}\
main{max-width:48rem;margin:0 auto;padding:1.5rem 1rem 3rem}\
h1{font-size:1.5rem;line-height:1.3;margin:0 0 1rem}\
h2{font-size:1.25rem;line-height:1.4;margin:1.5rem 0 .5rem}\
p{margin:0 0 1rem}\
a{color:var(--accent)}\
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}\
.about{white-space:pre-line}\
.muted,.hint{color:var(--muted)}\
.logo{display:block;max-height:4rem;max-width:100%;margin:0 0 1rem}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:0 0 1rem}\
dt{color:var(--muted)}dd{margin:0}\
nav ul,.times{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:0 0 1rem;padding:0}\
.times a,.times span{display:block;min-width:5rem;padding:.6rem .75rem;text-align:center;border:1px solid var(--line);border-radius:8px;font-variant-numeric:tabular-nums}\
table{border-collapse:collapse;width:100%;max-width:30rem;table-layout:fixed;margin:0 0 1rem}\
th{font-weight:400;font-size:.875rem;color:var(--muted)}\
td{text-align:center;padding:0;height:2.75rem;color:var(--muted)}\
td a{display:block;padding:.6rem 0;font-weight:600;border-radius:8px}\
td a[aria-current]{background:var(--accent);color:var(--on)}\
label,legend{display:block;font-weight:600;margin:0 0 .25rem}\
fieldset{border:1px solid var(--line);border-radius:8px;margin:0 0 1rem;padding:.75rem 1rem}\
fieldset label,.check label{font-weight:400}\
.field{margin:0 0 1rem}\
input:not([type=radio]):not([type=checkbox]),textarea,select{width:100%;font:inherit;padding:.6rem .75rem;color:inherit;background:var(--ground);border:1px solid var(--line);border-radius:8px}\
[aria-invalid]{border-color:var(--error)!important}\
.error{color:var(--error);margin:0 0 .25rem}\
.alert{border:2px solid var(--error);border-radius:8px;padding:.75rem 1rem;margin:0 0 1rem}\
.alert p{margin:0}\
button{font:inherit;font-weight:600;padding:.7rem 1.25rem;border:0;border-radius:8px;background:var(--accent);color:var(--on)}\
details{margin:0 0 1rem}\
.trap{position:absolute;left:-100rem}";

static STYLE_SOURCE: LazyLock<String> =
    LazyLock::new(|| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(STYLE))));

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// Which sites may show the page in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frames {
    Nowhere,
    Anywhere,
    /// Host names.
    On(Vec<String>),
}

/// A page before it is printed.
#[derive(Debug)]
pub struct Page {
    status: StatusCode,
    title: String,
    body: Html,
    frames: Frames,
    logo_url: Option<String>,
    retry_after_s: Option<u64>,
    leave_for: Option<String>,
}

impl Page {
    /// A page that no other site may show. `body` is what follows the heading.
    pub fn new(title: impl Into<String>, body: Html) -> Page {
        Page {
            status: StatusCode::OK,
            title: title.into(),
            body,
            frames: Frames::Nowhere,
            logo_url: None,
            retry_after_s: None,
            leave_for: None,
        }
    }

    /// A page that says one thing: a heading and a sentence.
    pub fn message(status: StatusCode, said: [&str; 2]) -> Page {
        let [title, text] = said;
        let mut body = Html::default();
        body.element("p", text);
        Page::new(title, body).with_status(status)
    }

    /// The one page for what is not there, inactive, expired or somebody else's.
    pub fn not_found(language: Language) -> Page {
        Page::message(StatusCode::NOT_FOUND, texts(language).not_found)
    }

    /// The page after something that is no visitor's doing.
    pub fn broken(language: Language) -> Page {
        Page::message(StatusCode::INTERNAL_SERVER_ERROR, texts(language).broken)
    }

    pub fn with_status(self, status: StatusCode) -> Page {
        Page { status, ..self }
    }

    /// Shown as the event type says: with its picture, and in frames of the sites that it names, or of all where it names none.
    pub fn of(self, event_type: &EventType) -> Page {
        let domains = &event_type.link.embed_domains;
        let frames = match domains.is_empty() {
            true => Frames::Anywhere,
            false => Frames::On(domains.clone()),
        };
        Page { frames, logo_url: event_type.link.logo_url.clone(), ..self }
    }

    /// Shown in no frame, whatever the event type says.
    pub fn unframed(self) -> Page {
        Page { frames: Frames::Nowhere, ..self }
    }

    pub fn retry_after_s(self, seconds: u64) -> Page {
        Page { retry_after_s: Some(seconds), ..self }
    }

    /// The browser goes on to this address by itself.
    pub fn leave_for(self, url: &str) -> Page {
        Page { leave_for: Url::parse(url).ok().map(String::from), ..self }
    }

    pub fn into_response(self, language: Language, request_id: &str) -> Response {
        let policy = policy(&self.frames, self.logo_url.as_deref());
        let mut response = Response::new(Body::from(self.html(language)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        let fixed = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CONTENT_LANGUAGE, language.tag()),
            (header::VARY, "accept-language"),
            (header::CACHE_CONTROL, "private, no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (PERMISSIONS_POLICY, "camera=(), geolocation=(), microphone=(), payment=()"),
            (X_ROBOTS_TAG, "noindex, nofollow"),
        ];
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        // Browsers that know `frame-ancestors` do not look at this one, which cannot name sites.
        if self.frames == Frames::Nowhere {
            headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(value) =
            self.leave_for.and_then(|url| HeaderValue::try_from(format!("0; url={url}")).ok())
        {
            headers.insert(header::REFRESH, value);
        }
        if let Ok(value) = HeaderValue::from_str(request_id) {
            headers.insert(X_REQUEST_ID, value);
        }
        response
    }

    fn html(&self, language: Language) -> String {
        let mut html = Html::default();
        html.raw("<!doctype html>\n<html lang=\"")
            .text(language.tag())
            .raw("\">\n<head>\n<meta charset=\"utf-8\">\n");
        html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.element("title", &self.title)
            .raw("<style>")
            .raw(STYLE)
            .raw("</style>\n</head>\n<body>\n<main>\n");
        if let Some(url) = &self.logo_url {
            html.raw("<img class=\"logo\" alt=\"\" src=\"").text(url).raw("\">\n");
        }
        html.element("h1", &self.title).html(&self.body).raw("</main>\n</body>\n</html>\n");
        html.as_str().to_owned()
    }
}

/// The page loads nothing but the picture, and its forms lead to this service alone.
fn policy(frames: &Frames, logo_url: Option<&str>) -> HeaderValue {
    let origin = logo_url.and_then(|url| Url::parse(url).ok()).map(|url| url.origin().ascii_serialization());
    let images = origin.map(|origin| format!(" img-src {origin};")).unwrap_or_default();
    let frames = match frames {
        Frames::Nowhere => "'none'".to_owned(),
        Frames::Anywhere => "*".to_owned(),
        Frames::On(hosts) => {
            let is_name =
                |host: &&String| host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
            let hosts: Vec<String> =
                hosts.iter().filter(is_name).map(|host| format!("https://{host}")).collect();
            if hosts.is_empty() { "'none'".to_owned() } else { hosts.join(" ") }
        }
    };
    let text = format!(
        "default-src 'none'; style-src {};{images} form-action 'self'; base-uri 'none'; frame-ancestors {frames}",
        *STYLE_SOURCE
    );
    // Not reached: all its parts are ASCII.
    HeaderValue::try_from(text)
        .unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"))
}
