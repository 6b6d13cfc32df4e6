//! Cases of mail: folders, flags, moves, drafts, sending, attachments, odd and large messages.

mod drafts;
mod files;
mod flags;
mod folders;
mod lost;
mod messages;
mod moves;
mod odd;
mod paths;
mod sending;
pub mod table;
mod texts;
