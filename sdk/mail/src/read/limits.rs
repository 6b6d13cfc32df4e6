//! The limits of reading a message. Parts beyond a limit are left out, not refused: an odd message is still a message.

/// Largest message, bytes. Above every provider's limit (150 MB), and far below where 32-bit offsets end.
pub const MESSAGE_BYTES: usize = 256 << 20;

/// Deepest nesting of multiparts. Mail in the wild has 10 at most; an inner multipart is read as an opaque file.
pub const DEPTH: usize = 100;

/// Most parts of a message. Each costs about 200 bytes here and more where it is stored.
pub const PARTS: usize = 10_000;

/// Most bytes of one header block. Servers take 64 KiB to 1 MiB; a thousand recipients are 60 KiB.
pub const HEADER_BYTES: usize = 512 << 10;

/// Most fields of one header block.
pub const HEADER_FIELDS: usize = 5_000;

/// Most bytes of a part's Content-Type and Content-Disposition: the time to read one grows with the square of its length.
pub const PARAMETER_BYTES: usize = 4 << 10;

/// Most addresses of one field.
pub const ADDRESSES: usize = 1_000;

/// Most Message-IDs of one field. The first and the last ones are kept: they name the thread and the message that is answered.
pub const MESSAGE_IDS: usize = 1_000;

/// Longest Message-ID, address or display name, bytes: a line of mail (RFC 5322 2.1.1).
pub const TOKEN_BYTES: usize = model::bounds::mail::MAX_NAME;

/// Longest boundary, bytes. RFC 2046 5.1.1 says 70, some senders do not.
pub const BOUNDARY_BYTES: usize = 256;

/// Longest file name, bytes: the limit of file systems.
pub const FILE_NAME_BYTES: usize = model::bounds::mail::MAX_FILE_NAME;

/// Longest snippet, characters.
pub const SNIPPET_CHARS: usize = 200;
