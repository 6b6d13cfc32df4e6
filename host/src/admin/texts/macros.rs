//! How the words of a page are declared.

/// The words of a page with the names of their fields.
#[cfg(test)]
pub type PageFields = Vec<(&'static str, &'static str)>;

/// Declares the words of a page and what they are in English.
macro_rules! page_texts {
    ($(#[$doc:meta])* $page:ident, $english:ident, { $($field:ident: $text:literal,)* }) => {
        $(#[$doc])*
        pub struct $page {
            $(pub $field: &'static str,)*
        }

        #[cfg(test)]
        impl $page {
            /// The words with the names of their fields.
            pub fn fields(&self) -> $crate::admin::texts::macros::PageFields {
                vec![$((stringify!($field), self.$field),)*]
            }
        }

        pub static $english: $page = $page { $($field: $text,)* };
    };
}
pub(crate) use page_texts;

/// Declares the words of all pages.
macro_rules! panel_texts {
    ($(#[$doc:meta])* $panel:ident, { $(pub $page:ident: &'static $texts:ty,)* }) => {
        $(#[$doc])*
        pub struct $panel {
            $(pub $page: &'static $texts,)*
        }

        #[cfg(test)]
        impl $panel {
            /// The words of each page with the names of their fields.
            pub fn pages(&self) -> Vec<(&'static str, $crate::admin::texts::macros::PageFields)> {
                vec![$((stringify!($page), self.$page.fields()),)*]
            }
        }
    };
}
pub(crate) use panel_texts;
