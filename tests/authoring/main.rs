//! The path of a new author: from an empty folder outside the repository to a tested and installed connector, with only the program and
//! the registry.

#![expect(clippy::unwrap_used, reason = "helpers of tests: a panic is the report")]

mod bundled;
mod check;
mod dav;
mod dev;
mod install;
mod javascript;
mod mail;
mod packages;
mod project;
mod providers;
mod recipes;
mod recordings;
mod stranger;
mod surfaces;
mod tutorial;
mod wrong;
