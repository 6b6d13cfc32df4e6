//! Text that its writer hid from readers: it is neither shown nor quoted, and lists do not begin with it.

use mail::html::{Safe, plain, safe, to_text};
use mail::text::snippet;

/// The texts that are made of HTML: shown, quoted, searched, and of a list.
fn texts(html: &str) -> [String; 4] {
    [safe(html, &Safe::default()), plain(html), to_text(html), snippet(None, Some(html))]
}

#[track_caller]
fn assert_hidden(html: &str) {
    for text in texts(html) {
        assert!(!text.contains("secret"), "{html}\n{text}");
        assert!(text.contains("seen"), "{html}\n{text}");
    }
    assert_settled(html);
}

#[track_caller]
fn assert_seen(html: &str) {
    for text in texts(html) {
        assert!(text.contains("seen"), "{html}\n{text}");
    }
    assert_settled(html);
}

/// To make it fit once more changes nothing.
#[track_caller]
fn assert_settled(html: &str) {
    let once = safe(html, &Safe::default());
    assert_eq!(safe(&once, &Safe::default()), once, "{html}");
}

#[test]
fn styles_that_hide_an_element_hide_all_that_is_in_it() {
    for style in [
        "display:none",
        "DISPLAY : None ! important",
        "d\\69splay:none",
        "display/*x*/:/*y*/none",
        "display&#58;none",
        "d&#105;splay&colon;none",
        "display:block;display:none",
        "display:none !important;display:block",
        "color:red;opacity:0",
        "opacity:0.0%",
        "position:absolute;left:-9999px",
        "position:fixed;top:-100em",
        "position:absolute;right:9999px",
        "margin-left:-5000px",
    ] {
        for element in ["div", "p", "span", "center", "form", "label", "custom"] {
            assert_hidden(&format!("<{element} style=\"{style}\">secret<b>secret</b></{element}>seen"));
        }
    }
    for style in [
        "max-height:0;overflow:hidden",
        "height:0px;overflow:hidden;padding:0",
        "overflow-y:hidden;max-height:1px",
        "width:0;overflow:hidden",
        "margin:-200em 0 0",
    ] {
        for element in ["div", "p", "center"] {
            assert_hidden(&format!("<{element} style=\"{style}\">secret<b>secret</b></{element}>seen"));
        }
        assert_hidden(&format!("<span style=\"display:inline-block;{style}\">secret</span>seen"));
        assert_hidden(&format!("<form style=\"display:block;{style}\">secret</form>seen"));
    }
    assert_hidden("<tr><table><tr style='display:none'><td>secret<tr><td>seen</table>");
    assert_hidden("<table style='display:none'>secret<td>secret</table>seen");
    assert_hidden("<div hidden>secret</div>seen");
    assert_hidden("<p HIDDEN=until-found>secret<p>seen");
    assert_hidden(
        "<dialog>secret</dialog><template>secret</template><datalist><option>secret</datalist>seen",
    );
    assert_hidden("<!--[if mso]>secret<![endif]--><!-- secret -->seen");
}

#[test]
fn text_without_size_or_colour_is_hidden_and_elements_in_it_may_be_seen() {
    for style in [
        "font-size:0",
        "font-size:1px",
        "font:0/0 a",
        "visibility:hidden",
        "color:transparent",
        "color:#fff0",
        "color:rgba(0,0,0,0)",
    ] {
        assert_hidden(&format!("<div style='{style}'>secret<i>secret</i></div>seen"));
        assert_hidden(&format!("<form style='{style}'>secret</form>seen"));
    }
    // As frameworks for mail write it.
    assert_hidden(
        "<table><td style='font-size:0px;padding:20px'>secret<div style='font-size:13px'>seen</div>secret</td></table>",
    );
    assert_hidden("<p style='visibility:hidden'>secret<b style='visibility:visible'>seen</b></p>");
    assert_hidden("<p style='color:transparent'>secret<b style='color:red'>seen</b></p>");
    assert_hidden("<p style='font-size:0'>secret<font size=2>seen</font></p>");
    let picture = "<p style='font-size:0'><img src='data:image/png;base64,AAAA'></p><p>seen</p>";
    assert!(safe(picture, &Safe::default()).contains("<img"), "a picture has a size of its own");
    let picture = "<p style='visibility:hidden'><img src='data:image/png;base64,AAAA'></p>";
    assert!(!safe(picture, &Safe::default()).contains("<img"));
}

#[test]
fn rules_of_style_sheets_hide_too() {
    for css in [
        ".x{display:none}",
        "<!-- td, .x , .y { color:red; display : none !important } -->",
        "@media screen { .X { opacity:0 } }",
        "#i{visibility:hidden}",
        "div.x{max-height:0;overflow:hidden}",
    ] {
        let (before, after) =
            (format!("<style>{css}</style>"), format!("<style type='text/css'>{css}</style>"));
        assert_hidden(&format!("{before}<div class='y x' id=i>secret</div>seen"));
        assert_hidden(&format!("<div class='y x' id=i>secret</div>seen{after}"));
    }
    for css in [
        ".x{color:red}",
        ".x{display:none}.x{display:block}",
        "@media (max-width:600px){.x{display:none}}",
        "@media print{.x{display:none}}",
        ".other .x{display:none}",
        "body{display:none}",
    ] {
        assert_seen(&format!("<style>{css}</style><body><div class=x>seen</div>"));
    }
    assert_seen("<style media=print>.x{display:none}</style><div class=x>seen</div>");
    assert_seen("<style>.x{display:block!important}</style><div class=x style='display:none'>seen</div>");
    assert_seen("<style>.x{font-size:14px!important}</style><div class=x style='font-size:0'>seen</div>");
}

#[test]
fn what_readers_see_stays() {
    for html in [
        "<div aria-hidden=true>seen</div>",
        // Hidden from Outlook alone, which has a picture in its place.
        "<a style='mso-hide:all;display:inline-block'>seen</a>",
        "<div style='display:none;display:block'>seen</div>",
        "<div style='display:none;display:inline-block !important'>seen</div>",
        "<div style='height:0'>seen</div>",
        "<div style='height:0;overflow:hidden;padding-bottom:56.25%'>seen</div>",
        "<table><td style='height:1px;width:1px;overflow:hidden'>seen</td></table>",
        "<div style='left:-9999px'>seen</div>",
        "<div style='position:relative;left:-2px'>seen</div>",
        "<details><summary>More</summary>seen</details>",
        "<noscript>seen</noscript>",
        "<![if !mso]>seen<![endif]>",
        "<body style='display:none'>seen</body>",
        "<dialog open>seen</dialog>",
        "<div style='font-size:0;font-s\\69ze:20px'>seen</div>",
        "<div style='font-size:0;font-size:20px/*url*/'>seen</div>",
        // An element that is hidden ends where its parent does.
        "<div><span style='display:none'>x</div>seen",
        "<p style='display:none'>x<p>seen",
        "<ul><li hidden>x<li>seen</ul>",
        "<table><tr><td hidden>x<td>seen</table>",
        "<div hidden><div>x</div>x</div>seen",
        "<br hidden><img style='display:none'><input hidden>seen",
    ] {
        assert_seen(html);
    }
}

/// A newsletter whose sheet is not inlined, and rules that apply on some screens, after a click, or with some programs.
#[test]
fn what_a_rule_may_show_is_shown() {
    let columns = ".two-column{text-align:center;font-size:0}.two-column .column{width:100%;max-width:300px;display:inline-block}\
        .two-column .contents{font-size:14px;text-align:left}";
    let table = "<div class=column><table class=contents><tr><td>seen</td></tr></table></div>";
    for html in [
        format!("<style>{columns}</style><table><td class=two-column>{table}</td></table>"),
        format!("<!doctype html><style>{columns}</style><table><td class=two-column>{table}</td></table>"),
        // Of what is shown no rule is left that gives the text its size.
        format!(
            "<!doctype html><style>{columns}</style><table><td class=two-column style='font-size:0'>{table}</table>"
        ),
    ] {
        assert_seen(&html);
    }
    let resized = "<style>.w .x{font-size:14px}</style><p style='font-size:0'>a<b class=x>seen</b></p>";
    assert!(safe(resized, &Safe::default()).contains("font-size:initial"));
    for css in [
        ".x{display:none}.w .x{display:block}",
        ".x{display:none}@media(min-width:600px){.x{display:block}}",
        ".x{display:none}#t1:checked~.x{display:block}",
        ".x{max-height:0;overflow:hidden}#t1:checked~.x{max-height:900px}",
        ".x{display:none}@supports (display:grid){.x{display:block}}",
        ".x{display:none}div[class~=x]{display:block!important}",
        ".x{display:none}u + .body .x{display:block!important}",
        ".x{display:none}.w{.x{display:block}}",
        ".x{opacity:0;animation:come 1s forwards}@keyframes come{to{opacity:1}}",
        ".x, ..y{display:none}",
        ".x, p::-moz-bogus{display:none}",
    ] {
        assert_seen(&format!("<style>{css}</style><div class=x>seen</div>"));
    }
    let inline = "<div class=x style='display:none'>seen</div>";
    assert_seen(&format!("<style>@media(max-width:600px){{.x{{display:block!important}}}}</style>{inline}"));
    // A rule that does not weigh more than the attribute cannot show.
    assert_hidden("<style>.w .x{display:block}</style><div class=x style='display:none'>secret</div>seen");
}

#[test]
fn nothing_is_hidden_where_rules_are_too_many_to_be_judged() {
    let rules = |count: usize| ".a{display:none}".repeat(count);
    assert_seen(&format!("<style>{}</style><p class=a>seen", rules(5_000)));
    let long = format!("<style>.b{{display:none}}{}</style><p class=b>seen", " ".repeat(300_000));
    assert!(safe(&long, &Safe::default()).contains("seen") && plain(&long).contains("seen"));
    let elements = |n: usize| format!("<i class='b n{n}'></i>");
    let elements: String = (0..200).map(elements).collect();
    let css = format!(".a{{display:none}}{}", ".b{display:block}".repeat(3_000));
    assert_seen(&format!("<style>{css}</style>{elements}<p class=a>seen"));
}

#[test]
fn values_that_do_not_hide_are_not_taken_for_hiding() {
    for style in [
        "position:absolute;top:1050px;left:85px",
        "position:absolute;left:1000px",
        "position:sticky;top:-1000px",
        "position:absolute;top:0;bottom:-1000px",
        "position:absolute;left:0;right:9999px",
        "font-size:0;font-size:100%",
        "color:transparent;color:inherit",
        "visibility:hidden;visibility:unset",
        "height:0;overflow:hidden;overflow:unset",
        "display:none;display:-webkit-flex",
        "display:block;display:none x",
        "width:1px;min-width:100%;overflow:hidden",
        "height:0;min-height:200px;overflow:hidden",
        "width:0;flex:1;overflow:hidden",
        "width:0;overflow:hidden;padding:0 40px",
        "height:0;overflow:clip visible",
        "margin:0 0 -32767px 0;padding-bottom:32767px",
        "margin:0 -9999rem;padding:.25rem 9999rem",
        "margin-left:-9999px;padding-left:9999px",
        "text-indent:-1000px;padding-left:1000px",
        "-webkit-background-clip:text;color:transparent",
        "color:transparent;text-shadow:0 0 0 #000",
        "color:transparent;-webkit-text-fill-color:#f00",
    ] {
        assert_seen(&format!("<div style='{style}'>seen</div>"));
        assert_seen(&format!("<style>.x{{{style}}}</style><div class=x>seen</div>"));
    }
    for (css, style) in [
        ("font-size:0", "font-size:1em"),
        ("visibility:hidden", "visibility:inherit"),
        ("display:none", "display:revert"),
    ] {
        assert_seen(&format!("<style>.x{{{css}}}</style><p class=x style='{style}'>seen</p>"));
    }
    for size in ["calc(1vw + 12px)", "clamp(12px,2vw,16px)", "var(--x,14px)", "14px"] {
        assert_seen(&format!("<div style='font-size:0'><p style='font-size:{size}'>seen</p></div>"));
    }
    assert_seen("<div style='font-size:1px'><p style='font-size:16em'>seen</p></div>");
    assert_seen("<div style='font-size:0'><p style='font:menu'>seen</p></div>");
    assert_seen("<div style='font-size:0'><table><td>seen</table></div>");
    assert_seen("<p style='color:transparent'><a href='https://x.example'>seen</a></p>");
    assert_seen("<p style='color:transparent'><font color=red>seen</font></p>");
    for element in ["span", "a", "b"] {
        assert_seen(&format!("<{element} style='height:0px;overflow:hidden'>seen</{element}>"));
    }
    assert_seen("<h1 style='text-indent:-9999px'>x<br>seen</h1>");
}

/// The element that gives a text back its size counts as one.
#[test]
fn a_text_that_gets_its_size_back_is_no_deeper_than_allowed() {
    let rule = "<style>.small{font-size:12px}</style>";
    let around = "<b style='font-size:0'>".repeat(mail::html::DEPTH + 2);
    let html = format!("{rule}{around}<i class=small>seen</i>");
    let shown = safe(&html, &Safe::default());
    let mut open = 0;
    let depths = shown.split('<').skip(1).map(|tag| {
        open = if tag.starts_with('/') { open - 1 } else { open + 1 };
        open
    });
    assert_eq!(depths.max(), Some(mail::html::DEPTH));
    assert_settled(&html);
}

#[test]
fn nothing_is_hidden_too_deep_to_be_found() {
    for depth in [100, 250, 253, 255, 256, 257, 300, 600, 5_000] {
        let open = "<div>".repeat(depth);
        for hidden in [
            "<div style='display:none'>secret</div>",
            "<b style='opacity:0'>secret</b>",
            "<form hidden>secret</form>",
            "<table hidden><td>secret</table>",
        ] {
            let html = format!("seen{open}{hidden}");
            for text in texts(&html) {
                assert!(text.contains("seen") && !text.contains("secret"), "{depth} {hidden}");
            }
        }
    }
    let nested = format!("{}secret{}seen", "<i hidden>".repeat(200), "</i>".repeat(200));
    assert_hidden(&nested);
}

#[test]
fn a_list_shows_the_text_and_not_the_padding_before_it() {
    let padding = "&#847;&zwnj;&nbsp;&#8199;&shy;&#65279;".repeat(100);
    let html = format!("<div style='display:none'>Preview{padding}</div><span>Hello</span>{padding} you");
    assert_eq!(snippet(None, Some(&html)), "Hello you");
    let tags: String = "ignore".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect();
    assert_eq!(snippet(Some(&format!("He{tags}llo\u{200b}\u{202e} you")), None), "Hello you");
    let written: String = "ignore".chars().map(|c| format!("&#x{:x};", 0xe0000 + u32::from(c))).collect();
    let html = format!("<p title='{written}'>He{written}llo</p>");
    for text in texts(&html) {
        assert!(
            text.contains("Hello") && !text.contains(|c: char| ('\u{e0000}'..='\u{e007f}').contains(&c)),
            "{text:?}"
        );
    }
    let scotland = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
    for text in texts(scotland) {
        assert!(text.contains(scotland), "{text:?}");
    }
    let kept = format!("{scotland} 👩\u{200d}💻 می\u{200c}خواهم क्\u{200d}ष");
    assert_eq!(snippet(Some(&kept), None), kept);
}

/// NUL is U+FFFD for a parser of HTML: a name that has one is no property's, also once it is written.
#[test]
fn a_name_with_nul_is_no_property() {
    let html = "<td style=\"font\0\0-size:0\"><p style=\"font-size\0:0\">seen</p></td>";
    assert_settled(html);
    assert_eq!(plain(html).trim(), "seen");
    assert!(safe(html, &Safe::default()).contains("seen"));
}
