//! A component's imports and contents, for display only: no decision depends on them.

use memchr::memmem;

use crate::loaded::LoadedConnector;

/// Names of DWARF's custom sections, each behind its length as in the binary format.
const DEBUG_SECTIONS: [&[u8]; 2] = [b"\x0b.debug_info", b"\x0b.debug_line"];

impl LoadedConnector {
    /// The names of all interfaces that the component imports, with their versions, in its own order.
    pub fn imports(&self) -> Vec<String> {
        let component = self.pre.component();
        let component_type = component.component_type();
        let names = component_type.imports(component.engine()).map(|(name, _)| name.to_owned());
        names.collect()
    }
}

/// Whether a component has debug information. Data that happens to contain the name of such a section after its length counts
/// too.
pub fn has_debug_info(wasm: &[u8]) -> bool {
    DEBUG_SECTIONS.iter().any(|name| memmem::find(wasm, name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_information_is_a_section() {
        assert!(has_debug_info(b"\0asm\x0d\0\x01\0\0\x0d\x0b.debug_info\0"));
        assert!(!has_debug_info(b"\0asm\x0d\0\x01\0 a text on .debug_info"));
    }
}
