//! The colours that the colour of a brand comes to, so that it can be read on the page whatever it is. Pure. Contrast is that of WCAG 2.2.

/// Contrast of text with what is behind it (WCAG 2.2, 1.4.3).
const MIN_CONTRAST: f64 = 4.5;
/// Steps in which a colour is mixed until it can be read, in percent.
const STEP: usize = 4;

const BLACK: Color = Color([0, 0, 0]);
const WHITE: Color = Color([255, 255, 255]);
/// The ground of the page in `assets/page.css`, light and dark.
const LIGHT_GROUND: Color = WHITE;
const DARK_GROUND: Color = Color([0x12, 0x15, 0x19]);

/// A colour of sRGB: red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color([u8; 3]);

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

    /// The custom properties that `assets/page.css` reads: the brand as it is given, what can be read on it, and the brand as text on the
    /// light and on the dark ground.
    pub fn css(self) -> String {
        let [brand, on, light, dark] = [
            self,
            self.text_on(),
            self.text_on_ground(LIGHT_GROUND, BLACK),
            self.text_on_ground(DARK_GROUND, WHITE),
        ]
        .map(Color::digits);
        format!(":root{{--brand:#{brand};--brand-on:#{on};--brand-light:#{light};--brand-dark:#{dark}}}")
    }

    /// Black or white, whichever differs more.
    fn text_on(self) -> Color {
        if contrast(self, BLACK) >= contrast(self, WHITE) { BLACK } else { WHITE }
    }

    /// The colour itself, or the one nearest to it on the way to `toward` that can be read on this ground.
    fn text_on_ground(self, ground: Color, toward: Color) -> Color {
        let mut mixed = (0..=100_u32).step_by(STEP).map(|percent| self.mixed(toward, percent));
        mixed.find(|mixed| contrast(*mixed, ground) >= MIN_CONTRAST).unwrap_or(toward)
    }

    fn mixed(self, other: Color, percent: u32) -> Color {
        let mut parts = self.0;
        for (part, other) in parts.iter_mut().zip(other.0) {
            let sum = u32::from(*part) * (100 - percent) + u32::from(other) * percent;
            *part = u8::try_from(sum / 100).unwrap_or(u8::MAX);
        }
        Color(parts)
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

/// From 1 to 21.
fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (one.luminance() + 0.05, other.luminance() + 0.05);
    one.max(other) / one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_brand_can_be_read() {
        for number in 0..4_096_u32 {
            let text: String = format!("{number:03x}").chars().flat_map(|digit| [digit, digit]).collect();
            let brand = Color::read(&text).unwrap();
            assert!(contrast(brand, brand.text_on()) >= MIN_CONTRAST, "{text}");
            for (ground, toward) in [(LIGHT_GROUND, BLACK), (DARK_GROUND, WHITE)] {
                assert!(contrast(brand.text_on_ground(ground, toward), ground) >= MIN_CONTRAST, "{text}");
            }
        }
    }

    #[test]
    fn a_brand_is_changed_no_more_than_it_must_be() {
        let blue = Color::read("#1257c4").unwrap();
        let css = blue.css();
        assert!(
            css.starts_with(":root{--brand:#1257c4;--brand-on:#ffffff;--brand-light:#1257c4;--brand-dark:#"),
            "{css}"
        );
        assert_eq!(Color::read("ffff00").unwrap().text_on(), BLACK);
        assert_eq!((Color::read("fff"), Color::read("#12345g"), Color::read("")), (None, None, None));
    }

    #[test]
    fn the_ground_is_that_of_the_style() {
        let style = include_str!("assets/page.css");
        assert!(style.contains("--ground:#fff;"));
        assert!(style.contains(&format!("--ground:#{};", DARK_GROUND.digits())));
    }
}
