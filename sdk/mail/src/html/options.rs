//! How HTML is shown, and how much of it.

/// Most bytes of HTML that are looked at; the rest is left out.
pub const INPUT_BYTES: usize = 2 << 20;

/// Most bytes of HTML that are returned, about: the rest is left out.
pub const OUTPUT_BYTES: usize = 4 << 20;

/// Deepest nesting of elements; the tags of deeper ones are left out, their text stays.
pub const DEPTH: usize = 256;

/// Largest picture in a `data:` URL, bytes of the URL; a larger one is left out.
pub const DATA_URL_BYTES: usize = 256 << 10;

/// How HTML is shown.
pub struct Safe<'a> {
    /// Show pictures from foreign servers. Else their `src` is called `data-src`, and no request is made.
    pub images: bool,
    /// Returns the address of the part with this Content-ID; none: the picture is not shown.
    pub cid: &'a dyn Fn(&str) -> Option<String>,
}

impl Default for Safe<'_> {
    /// No pictures but those in the HTML itself.
    fn default() -> Self {
        Safe { images: false, cid: &|_| None }
    }
}
