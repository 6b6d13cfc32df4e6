//! A builder of HTML from our own markup and foreign text. Markup is `&'static str`; everything else passes `text`, which escapes it: no
//! content of a request or a row can be taken for markup.

/// A piece of HTML.
#[derive(Clone, Debug, Default)]
pub struct Html(String);

impl Html {
    /// Adds markup.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds text, escaped for use between tags and in attribute values in double quotes. Control characters other than tab and line feed
    /// are left out.
    pub fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\t' | '\n' => self.0.push(c),
                c if c.is_control() => {}
                c => self.0.push(c),
            }
        }
        self
    }

    /// Adds an element without attributes that holds text alone.
    pub fn element(&mut self, name: &'static str, text: &str) -> &mut Self {
        self.raw("<").raw(name).raw(">").text(text).raw("</").raw(name).raw(">\n")
    }

    /// Adds a link.
    pub fn link(&mut self, href: &str, text: &str) -> &mut Self {
        self.raw("<a href=\"").text(href).raw("\">").text(text).raw("</a>")
    }

    /// Adds a piece that was built before.
    pub fn html(&mut self, other: &Html) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// The markup.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let mut html = Html::default();
        html.raw("<p title=\"").text("\"><script>alert('1')</script>&\u{0}\n").raw("\">");
        let expected = "<p title=\"&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;\n\">";
        assert_eq!(html.as_str(), expected);
    }
}
