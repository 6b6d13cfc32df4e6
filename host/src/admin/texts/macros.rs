//! How the words of a page are declared.

/// Declares the words of a page and what they are in English.
macro_rules! page_texts {
    ($(#[$doc:meta])* $page:ident, $english:ident, { $($field:ident: $text:literal,)* }) => {
        $(#[$doc])*
        pub struct $page {
            $(pub $field: &'static str,)*
        }

        pub static $english: $page = $page { $($field: $text,)* };
    };
}
pub(crate) use page_texts;
