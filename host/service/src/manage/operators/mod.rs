//! Operators: the people who sign in to the administration panel, how they prove who they are, and what they may do.

pub mod acceptance;
pub mod account;
pub mod address;
pub mod devices;
pub mod directory;
pub mod links;
pub mod oidc;
pub mod passwords;
pub mod recovery;
pub mod rights;
pub mod second_factor;
pub mod sessions;
pub mod sign_in;
pub mod store;
pub mod totp;
pub mod tries;
pub mod update;
