//! The frame of every page: its head, style and headers. A page loads only its own script, and the images that the event type names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use base::error::Refusal;
use http::{HeaderName, HeaderValue, StatusCode, header};
use model::scheduling::event_type::EventType;
use service::bookings::brand::Color;
use service::locale::Language;
use service::locale::html::Html;
use url::Url;

use crate::api::book::assets;
use crate::api::book::icon;
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::controls::controls;
use crate::api::book::texts::texts;
use crate::web::csp::{image_source, style_source};
use crate::web::error;
use crate::web::request_id::X_REQUEST_ID;

static STYLE_SOURCE: LazyLock<String> = LazyLock::new(|| style_source(assets::STYLE));

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// The sites that may show the page in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frames {
    Nowhere,
    Anywhere,
    /// Host names.
    On(Vec<String>),
}

/// The columns of a page's sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetShape {
    /// One column: the result of an action.
    One,
    /// Two columns: the event type, and the action.
    Two,
    /// Three columns: the event type, the calendar, and the times.
    Three,
}

/// A page before it is rendered.
#[derive(Debug)]
pub struct HtmlPage {
    status: StatusCode,
    title: String,
    body: Html,
    /// The columns of which `body` is the content, including the page's heading; none: `body` follows the heading in a single column.
    shape: Option<SheetShape>,
    /// The text of the link that skips everything before the times.
    skip_link: Option<&'static str>,
    frames: Frames,
    /// Whether it is a single notice without controls.
    is_notice: bool,
    logo_url: Option<String>,
    /// Addresses of other images in `body`.
    pictures: Vec<String>,
    color: Option<Color>,
    retry_after_s: Option<u64>,
    leave_for: Option<String>,
    facts: Vec<(&'static str, String)>,
}

impl HtmlPage {
    /// Creates a page that no other site may frame. `body` follows the heading.
    pub fn new(title: impl Into<String>, body: Html) -> HtmlPage {
        HtmlPage {
            status: StatusCode::OK,
            title: title.into(),
            body,
            shape: None,
            skip_link: None,
            frames: Frames::Nowhere,
            is_notice: false,
            logo_url: None,
            pictures: Vec::new(),
            color: None,
            retry_after_s: None,
            leave_for: None,
            facts: Vec::new(),
        }
    }

    /// Creates a notice: a heading and a sentence. Every site that may frame this service's pages may frame it.
    pub fn message(status: StatusCode, said: [&str; 2]) -> HtmlPage {
        let [title, text] = said;
        let mut body = Html::default();
        body.element("p", text);
        HtmlPage { is_notice: true, ..HtmlPage::new(title, body).with_status(status) }
    }

    /// Creates a page that redirects the browser, with a link for programs that do not follow redirects.
    pub fn see_other(location: &str, label: &str) -> HtmlPage {
        let mut body = Html::default();
        body.raw("<p>").link(location, label).raw("</p>\n");
        HtmlPage { is_notice: true, ..HtmlPage::new(label, body).with_status(StatusCode::SEE_OTHER) }
    }

    /// Creates the page for unknown, inactive, expired and foreign addresses, the same for all.
    pub fn not_found(language: Language) -> HtmlPage {
        HtmlPage::message(StatusCode::NOT_FOUND, texts(language).not_found)
    }

    /// Creates the page for an internal error.
    pub fn broken(language: Language) -> HtmlPage {
        HtmlPage::message(StatusCode::INTERNAL_SERVER_ERROR, texts(language).broken)
    }

    /// Sets the status and the retry time of a temporary refusal; leaves other pages unchanged.
    pub fn for_refusal(self, refusal: &Refusal) -> HtmlPage {
        match error::status(refusal.code) {
            StatusCode::SERVICE_UNAVAILABLE => self
                .with_status(StatusCode::SERVICE_UNAVAILABLE)
                .retry_after_s(refusal.retry_after_s.unwrap_or(5)),
            _ => self,
        }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    pub fn with_status(self, status: StatusCode) -> HtmlPage {
        HtmlPage { status, ..self }
    }

    /// Applies the event type's settings: its image, its colour, and the sites that may frame the page, by default all. The domains of API
    /// keys (`allowedDomains`) do not apply to frames.
    pub fn with_event_type(self, event_type: &EventType) -> HtmlPage {
        let domains = &event_type.link.embed_domains;
        let frames = match domains.is_empty() {
            true => Frames::Anywhere,
            false => Frames::On(domains.clone()),
        };
        let color = event_type.color.as_deref().and_then(Color::read);
        HtmlPage { frames, logo_url: event_type.link.logo_url.clone(), color, ..self }
    }

    /// Lets every site frame a notice; leaves other pages unchanged. Sites frame booking links without any parameters, and an empty frame
    /// would not show the reason.
    pub fn framed_notice(self) -> HtmlPage {
        let is_open = self.is_notice && self.frames == Frames::Nowhere;
        if is_open { HtmlPage { frames: Frames::Anywhere, ..self } } else { self }
    }

    /// Arranges the body in these columns, including the page's heading and image.
    pub fn shaped(self, shape: SheetShape) -> HtmlPage {
        HtmlPage { shape: Some(shape), ..self }
    }

    /// Adds a skip link to the times.
    pub fn with_skip_link(self, text: &'static str) -> HtmlPage {
        HtmlPage { skip_link: Some(text), ..self }
    }

    /// Allows the images of these addresses, which the body shows.
    pub fn with_pictures(self, pictures: Vec<String>) -> HtmlPage {
        HtmlPage { pictures, ..self }
    }

    /// Forbids frames, whatever the event type says.
    pub fn unframed(self) -> HtmlPage {
        HtmlPage { frames: Frames::Nowhere, ..self }
    }

    pub fn retry_after_s(self, seconds: u64) -> HtmlPage {
        HtmlPage { retry_after_s: Some(seconds), ..self }
    }

    /// Makes the browser navigate to this URL.
    pub fn leave_for(self, url: &str) -> HtmlPage {
        HtmlPage { leave_for: Url::parse(url).ok().map(String::from), ..self }
    }

    /// Passes a value to the page's script, as the attribute `data-{name}` of the main element.
    pub fn with_fact(mut self, name: &'static str, value: impl Into<String>) -> HtmlPage {
        self.facts.push((name, value.into()));
        self
    }

    pub fn into_response(self, visit: &PageRequest) -> Response {
        let language = visit.language;
        // A frame that may not show a notice would be empty, and the visitor would see no reason.
        let frames = match &self.frames {
            Frames::Nowhere if self.is_notice && visit.choice.is_embedded => Frames::Anywhere,
            frames => frames.clone(),
        };
        let brand = visit.choice.color.or(self.color).map(Color::css);
        let pictures = self.logo_url.iter().chain(&self.pictures).map(String::as_str);
        let policy = policy(&frames, pictures, brand.as_deref());
        let mut response = Response::new(Body::from(self.html(visit, brand.as_deref())));
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
        // Browsers that support `frame-ancestors` ignore this header, which cannot name sites.
        if frames == Frames::Nowhere {
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
        if let Ok(value) = HeaderValue::from_str(&visit.request_id) {
            headers.insert(X_REQUEST_ID, value);
        }
        response
    }

    fn html(&self, visit: &PageRequest, brand: Option<&str>) -> String {
        let mut html = Html::default();
        html.raw("<!doctype html>\n<html lang=\"").text(visit.language.tag()).raw("\"");
        if visit.language.is_right_to_left() {
            html.raw(" dir=\"rtl\"");
        }
        if let Some(theme) = visit.choice.theme {
            html.raw(" data-theme=\"").raw(theme.name()).raw("\"");
        }
        html.raw(if visit.choice.is_embedded { " data-embed>" } else { ">" });
        html.raw("\n<head>\n<meta charset=\"utf-8\">\n");
        html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.element("title", &self.title).raw("<style>").raw(assets::STYLE).raw("</style>\n");
        if let Some(brand) = brand {
            // It contains no character that needs escaping.
            html.raw("<style>").text(brand).raw("</style>\n");
        }
        html.raw("<script defer src=\"").text(&visit.up).text(assets::script_path());
        html.raw("\"></script>\n</head>\n<body class=\"book\">\n<main");
        for (name, value) in &self.facts {
            html.raw(" data-").raw(name).raw("=\"").text(value).raw("\"");
        }
        html.raw(" data-loading=\"").text(controls(visit.language).loading).raw("\">\n");
        // Inside the main element, because a page that replaces another one brings its own.
        html.html(&icon::sprite(&self.body));
        if let Some(text) = self.skip_link {
            // Lets keyboard users skip durations, months and days.
            html.raw("<a class=\"skip\" href=\"#times\">").text(text).raw("</a>\n");
        }
        html.html(&self.sheet()).raw("</main>\n</body>\n</html>\n");
        html.as_str().to_owned()
    }

    /// The sheet with the heading, the image and the body.
    fn sheet(&self) -> Html {
        let mut html = Html::default();
        html.raw(match self.shape {
            None | Some(SheetShape::One) => "<div class=\"sheet one\">\n",
            Some(SheetShape::Two) => "<div class=\"sheet two\">\n",
            Some(SheetShape::Three) => "<div class=\"sheet three\">\n",
        });
        if self.shape.is_some() {
            html.html(&self.body).raw("</div>\n");
            return html;
        }
        html.raw(if self.is_notice { "<div class=\"stack\">\n" } else { "<div class=\"stack wide\">\n" });
        if let Some(url) = &self.logo_url {
            html.raw("<img class=\"logo\" alt=\"\" src=\"").text(url).raw("\">\n");
        }
        // An event type's title has its own text direction.
        html.raw("<h1 dir=\"auto\">").text(&self.title).raw("</h1>\n");
        html.html(&self.body).raw("</div>\n</div>\n");
        html
    }
}

/// Returns the content security policy: the page loads only its own script and images of these addresses, and its script and forms contact
/// only this service.
fn policy<'p>(frames: &Frames, pictures: impl Iterator<Item = &'p str>, brand: Option<&str>) -> HeaderValue {
    let brand = brand.map(|css| format!(" {}", style_source(css))).unwrap_or_default();
    let sources: BTreeSet<String> = pictures.filter_map(image_source).collect();
    let images = match sources.is_empty() {
        true => String::new(),
        false => format!(" img-src {};", Vec::from_iter(sources).join(" ")),
    };
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
        "default-src 'none'; style-src {}{brand}; script-src 'self'; connect-src 'self';{images} form-action 'self'; base-uri 'none'; \
         frame-ancestors {frames}",
        *STYLE_SOURCE
    );
    // Unreachable: all its parts are ASCII.
    HeaderValue::try_from(text)
        .unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy_of(urls: &[&str]) -> String {
        let policy = policy(&Frames::Nowhere, urls.iter().copied(), None);
        policy.to_str().expect("ASCII").to_owned()
    }

    #[test]
    fn the_address_of_a_picture_adds_a_source_and_nothing_else() {
        let usual = policy_of(&["https://cdn.example.org:8443/logo.png"]);
        assert!(usual.contains("; img-src https://cdn.example.org:8443; form-action"), "{usual}");
        for logo_url in ["https://a;sandbox/x.png", "https://a,b/x.png", "https://a'b/x.png", "nothing"] {
            let policy = policy_of(&[logo_url]);
            assert!(!policy.contains("sandbox") && !policy.contains("img-src"), "{logo_url}: {policy}");
            assert!(policy.contains("connect-src 'self'; form-action 'self';"), "{logo_url}: {policy}");
        }
        let three =
            policy_of(&["https://b.example/1.png", "https://a.example/x.png", "https://b.example/2.png"]);
        assert!(three.contains("; img-src https://a.example https://b.example; form-action"), "{three}");
    }
}
