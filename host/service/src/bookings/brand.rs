//! Colours derived from a brand colour so that they are readable on the page. Pure. Contrast is that of WCAG 2.2, and lightness, chroma and
//! hue are those of OKLCH (CSS Color 4).

/// Least contrast of text with its background (WCAG 2.2, 1.4.3).
const MIN_CONTRAST: f64 = 4.5;
/// Least contrast between a button and its hover state.
const MIN_HOVER_CONTRAST: f64 = 1.02;
/// Change of a button's colour on hover, away from its text.
const HOVER_PERCENT: u32 = 12;
/// Steps of lightness, each .01, on the way to black or white.
const STEPS: u32 = 100;
/// Share of the brand's chroma in a tint, before the limit of the theme.
const TINT_CHROMA: f64 = 0.4;
/// Share of the text's colour in a tint on hover, as `web/assets/base.css` mixes them.
const TINT_MORE: f64 = 0.1;
/// Tolerance of a channel outside of 0 to 1: less than rounding removes.
const GAMUT_TOLERANCE: f64 = 1e-4;

/// The default brand, as in `web/assets/base.css`.
pub const USUAL_BRAND: Color = Color([0x12, 0x57, 0xc4]);
const BLACK: Color = Color([0, 0, 0]);
const WHITE: Color = Color([255, 255, 255]);

/// The backgrounds of text in a theme, and the limits of its tints of a brand.
struct BrandTheme {
    /// The page, the card and the quiet areas in `web/assets/base.css`.
    grounds: [Color; 3],
    tint_lightness: f64,
    max_tint_chroma: f64,
    /// The change of lightness that moves text away from the backgrounds.
    step: f64,
}

const LIGHT: BrandTheme = BrandTheme {
    grounds: [Color([0xf5, 0xf6, 0xf8]), WHITE, Color([0xf1, 0xf3, 0xf6])],
    tint_lightness: 0.955,
    max_tint_chroma: 0.021,
    step: -0.01,
};
const DARK: BrandTheme = BrandTheme {
    grounds: [Color([0x0e, 0x11, 0x15]), Color([0x16, 0x1a, 0x20]), Color([0x1e, 0x23, 0x2b])],
    tint_lightness: 0.275,
    max_tint_chroma: 0.034,
    step: 0.01,
};

/// A colour of sRGB: red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color([u8; 3]);

/// The colours of a brand in mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailColors {
    /// The main button.
    pub fill: String,
    pub on_fill: String,
    /// Links on a light card, and on a dark one.
    pub link: String,
    pub link_on_dark: String,
}

impl Color {
    /// Reads `rrggbb`, also with `#` before it.
    pub fn read(text: &str) -> Option<Color> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let parts: [u8; 3] = hex::decode(digits).ok()?.try_into().ok()?;
        Some(Color(parts))
    }

    /// `rrggbb`
    pub fn digits(self) -> String {
        hex::encode(self.0)
    }

    /// Returns the custom properties that `web/assets/base.css` reads: the brand, the text colour on it, the brand on hover, and for the
    /// light and the dark theme the brand as text and the tint of selectable items.
    pub fn css(self) -> String {
        let properties = [
            ("brand", self),
            ("brand-on", self.text_on()),
            ("brand-hover", self.under_pointer()),
            ("brand-light", self.text_in(&LIGHT).color()),
            ("brand-dark", self.text_in(&DARK).color()),
            ("brand-tint-light", self.tint_in(&LIGHT).color()),
            ("brand-tint-dark", self.tint_in(&DARK).color()),
        ];
        let properties = properties.map(|(name, color)| format!("--{name}:#{}", color.digits()));
        format!(":root{{{}}}", properties.join(";"))
    }

    /// The colours of mail, as `#rrggbb`. Mail programs do not support custom properties.
    pub fn mail_colors(self) -> MailColors {
        let written = |color: Color| format!("#{}", color.digits());
        MailColors {
            fill: written(self),
            on_fill: written(self.text_on()),
            link: written(self.text_in(&LIGHT).color()),
            link_on_dark: written(self.text_in(&DARK).color()),
        }
    }

    /// Black or white, whichever has more contrast.
    fn text_on(self) -> Color {
        if contrast(self, BLACK) >= contrast(self, WHITE) { BLACK } else { WHITE }
    }

    /// The colour of a button on hover: further away from its text, or nearer if there is no room left.
    fn under_pointer(self) -> Color {
        let text = self.text_on();
        let away = self.mixed(if text == BLACK { WHITE } else { BLACK }, HOVER_PERCENT);
        if contrast(away, self) >= MIN_HOVER_CONTRAST { away } else { self.mixed(text, HOVER_PERCENT) }
    }

    /// The background of selectable items: the colour's hue, pale.
    fn tint_in(self, theme: &BrandTheme) -> Oklch {
        let brand = Oklch::from_color(self);
        let chroma = (brand.chroma * TINT_CHROMA).min(theme.max_tint_chroma);
        Oklch { lightness: theme.tint_lightness, chroma, ..brand }.fitted()
    }

    /// The colour itself, or the one of its hue with the nearest lightness that is readable on all backgrounds of the theme.
    fn text_in(self, theme: &BrandTheme) -> Oklch {
        let (brand, tint) = (Oklch::from_color(self), self.tint_in(theme));
        let is_readable = |text: &Oklch| {
            let color = text.color();
            let tints = [tint.color(), tint_more(tint, *text)];
            theme.grounds.iter().chain(&tints).all(|ground| contrast(color, *ground) >= MIN_CONTRAST)
        };
        let mut steps = (0..=STEPS).map(|n| {
            let lightness = (brand.lightness + f64::from(n) * theme.step).clamp(0.0, 1.0);
            Oklch { lightness, ..brand }.fitted()
        });
        let end = Oklch { lightness: if theme.step > 0.0 { 1.0 } else { 0.0 }, chroma: 0.0, hue: 0.0 };
        steps.find(is_readable).unwrap_or(end)
    }

    fn mixed(self, other: Color, percent: u32) -> Color {
        let mut parts = self.0;
        for (part, other) in parts.iter_mut().zip(other.0) {
            let sum = u32::from(*part) * (100 - percent) + u32::from(other) * percent;
            *part = u8::try_from(sum / 100).unwrap_or(u8::MAX);
        }
        Color(parts)
    }

    /// Linear red, green and blue.
    fn linear(self) -> [f64; 3] {
        self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

/// From 1 to 21.
fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (one.luminance() + 0.05, other.luminance() + 0.05);
    one.max(other) / one.min(other)
}

/// The tint on hover, for the text on it.
fn tint_more(tint: Oklch, text: Oklch) -> Color {
    let mix = |tint: f64, text: f64| tint * (1.0 - TINT_MORE) + text * TINT_MORE;
    let (lightness, chroma) = (mix(tint.lightness, text.lightness), mix(tint.chroma, text.chroma));
    Oklch { lightness, chroma, hue: text.hue }.color()
}

/// A colour by lightness (0 to 1), chroma (0: gray) and hue (radians).
#[derive(Clone, Copy, Debug)]
struct Oklch {
    lightness: f64,
    chroma: f64,
    hue: f64,
}

impl Oklch {
    fn from_color(color: Color) -> Oklch {
        let [red, green, blue] = color.linear();
        let long = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
        let medium = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
        let short = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
        let lightness = 0.210_454_255_3 * long + 0.793_617_785_0 * medium - 0.004_072_046_8 * short;
        let a = 1.977_998_495_1 * long - 2.428_592_205_0 * medium + 0.450_593_709_9 * short;
        let b = 0.025_904_037_1 * long + 0.782_771_766_2 * medium - 0.808_675_766_0 * short;
        Oklch { lightness, chroma: a.hypot(b), hue: b.atan2(a) }
    }

    /// Linear red, green and blue; outside of 0 to 1 if the colour is not in sRGB.
    fn linear(self) -> [f64; 3] {
        let (sine, cosine) = self.hue.sin_cos();
        let (a, b) = (self.chroma * cosine, self.chroma * sine);
        let long = (self.lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let medium = (self.lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let short = (self.lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
        [
            4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short,
            -1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short,
            -0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short,
        ]
    }

    fn is_in_srgb(self) -> bool {
        let range = -GAMUT_TOLERANCE..=1.0 + GAMUT_TOLERANCE;
        self.linear().iter().all(|part| range.contains(part))
    }

    /// Reduces the chroma to the most that sRGB has at this lightness.
    fn fitted(self) -> Oklch {
        if self.is_in_srgb() {
            return self;
        }
        let (mut least, mut most) = (0.0, self.chroma);
        // Twelve halvings are finer than a step of a channel.
        for _ in 0..12 {
            let chroma = f64::midpoint(least, most);
            if (Oklch { chroma, ..self }).is_in_srgb() {
                least = chroma;
            } else {
                most = chroma;
            }
        }
        Oklch { chroma: least, ..self }
    }

    /// The nearest colour of sRGB.
    fn color(self) -> Color {
        Color(self.linear().map(|part| {
            let part = part.clamp(0.0, 1.0);
            let part = if part <= 0.003_130_8 { part * 12.92 } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
            (part * 255.0).round() as u8
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: &str = include_str!("../../../src/web/assets/base.css");

    #[test]
    fn every_brand_can_be_read() {
        for number in 0..4_096_u32 {
            let text: String = format!("{number:03x}").chars().flat_map(|digit| [digit, digit]).collect();
            let brand = Color::read(&text).unwrap();
            for fill in [brand, brand.under_pointer()] {
                assert!(contrast(fill, brand.text_on()) >= MIN_CONTRAST, "{text}: {fill:?}");
            }
            assert_ne!(brand.under_pointer(), brand, "{text}");
            for theme in [LIGHT, DARK] {
                let (text_color, tint) = (brand.text_in(&theme), brand.tint_in(&theme));
                let [page, card, sunk] = theme.grounds;
                for ground in [page, card, sunk, tint.color(), tint_more(tint, text_color)] {
                    assert!(contrast(text_color.color(), ground) >= MIN_CONTRAST, "{text}: {ground:?}");
                }
                assert!(tint.is_in_srgb() && text_color.is_in_srgb(), "{text}");
            }
        }
    }

    #[test]
    fn a_brand_is_changed_no_more_than_it_must_be() {
        let teal = Color::read("#0f766e").unwrap().css();
        let expected = ":root{--brand:#0f766e;--brand-on:#ffffff;--brand-hover:#0d6760;--brand-light:#007068;--brand-dark:#52aaa1;\
                        --brand-tint-light:#e1f5f2;--brand-tint-dark:#122d2a}";
        assert_eq!(teal, expected);
        let mail = Color::read("#0f766e").unwrap().mail_colors();
        assert_eq!(
            [mail.fill, mail.on_fill, mail.link, mail.link_on_dark],
            ["#0f766e", "#ffffff", "#007068", "#52aaa1"]
        );
        let blue = Color::read("1257c4").unwrap();
        assert_eq!(blue.text_in(&LIGHT).color(), blue);
        assert_eq!(Color::read("ffff00").unwrap().text_on(), BLACK);
        assert_eq!((Color::read("fff"), Color::read("#12345g"), Color::read("")), (None, None, None));
    }

    #[test]
    fn grey_brands_get_greys_and_the_ends_go_back() {
        let grey = Color::read("777777").unwrap();
        for theme in [LIGHT, DARK] {
            let [red, green, blue] = grey.tint_in(&theme).color().0;
            assert_eq!((red, green), (green, blue));
        }
        assert_eq!(BLACK.under_pointer(), Color([30; 3]));
        assert_eq!(WHITE.under_pointer(), Color([224; 3]));
    }

    #[test]
    fn the_ground_is_that_of_the_style() {
        assert!(STYLE.contains("--ground:#f5f6f8;--card:#fff;--sunk:#f1f3f6;"));
        assert_eq!(LIGHT.grounds.map(Color::digits), ["f5f6f8", "ffffff", "f1f3f6"]);
        let [page, card, sunk] = DARK.grounds.map(Color::digits);
        let dark = format!("--ground:#{page};--card:#{card};--sunk:#{sunk};");
        // By the visitor's system, and by the address.
        assert_eq!(STYLE.matches(&dark).count(), 2, "{dark}");
        assert!(STYLE.contains("color-mix(in oklch,var(--accent) 10%,var(--tint))"));
    }

    #[test]
    fn a_page_without_a_brand_has_a_brand_that_can_be_read() {
        let css = USUAL_BRAND.css();
        for property in css.trim_start_matches(":root{").trim_end_matches('}').split(';') {
            let (name, value) = property.split_once(':').unwrap();
            let short = value.replace("#ffffff", "#fff");
            assert!(STYLE.contains(&format!("var({name},{short})")), "{property}");
        }
    }
}
