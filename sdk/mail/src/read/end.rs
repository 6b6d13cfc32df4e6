//! Whether the bytes of a text end where the text does.

/// Whether the bytes are all there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A character that is not finished at the end is damage.
    Whole,
    /// The bytes were cut anywhere: the rest of the last character is elsewhere, and it is left out.
    Cut,
}
