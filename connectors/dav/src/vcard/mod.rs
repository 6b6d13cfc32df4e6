//! vCard 3.0 (RFC 2426) and 4.0 (RFC 6350) to `model::contacts::Contact` and `ContactGroup` and back. Pure: no HTTP, no clock.
//! Reading is forgiving and takes what Apple, Google, Microsoft and others add; writing changes the lines of the fields that were
//! changed and leaves every other byte as another client wrote it. A card keeps its version.

pub mod addresses;
pub mod dates;
pub mod entries;
pub mod extra;
pub mod group;
pub mod lines;
pub mod lists;
pub mod organizations;
pub mod people;
pub mod photo;
pub mod read;
pub mod tag;
pub mod write;
