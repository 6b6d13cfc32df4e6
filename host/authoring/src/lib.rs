//! Connector projects: `switchboard connector new` writes them, and `connector build` turns them into components. The binary contains
//! everything of Switchboard that a project needs: no repository is asked, only the registry of the language for third-party packages.

mod archive;
mod create;
mod fault;
mod group;
mod javascript;
mod language;
mod name;
mod places;
mod project;
mod sources;
mod surface;
mod text_file;
mod toolchain;
mod wit;

pub use archive::{SDK_VERSION, archive_bytes};
pub use create::{CreatedProject, create};
pub use fault::{Fault, Result};
pub use language::Language;
pub use name::ConnectorName;
pub use places::{own_frames, placed};
pub use project::{AccountLogin, BuiltComponent, BuiltIn, Local, Profile, Project, Provider, Record};
pub use sources::{SourceWatch, Sources};
pub use surface::TemplateSurface;
pub use toolchain::{Install, TARGET, Toolchain};
pub use wit::{SURFACES, write_wit};
