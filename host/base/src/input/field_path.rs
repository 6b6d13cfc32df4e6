//! The position of a value in a JSON document, as a list linked from the value up to the root. It costs nothing until it is
//! printed, which happens in errors and warnings alone: a path that is built as text for each value makes reading quadratic.

use std::fmt;

/// A location such as `attendees[2].email`. Lives on the stack of the code that walks the document.
#[derive(Clone, Copy, Debug)]
pub enum FieldPath<'p> {
    Root,
    Member { parent: &'p FieldPath<'p>, name: &'p str },
    Item { parent: &'p FieldPath<'p>, index: usize },
}

impl<'p> FieldPath<'p> {
    /// The member of an object.
    pub fn member(&'p self, name: &'p str) -> FieldPath<'p> {
        FieldPath::Member { parent: self, name }
    }

    /// The item of a list, counted from 0.
    pub fn item(&'p self, index: usize) -> FieldPath<'p> {
        FieldPath::Item { parent: self, index }
    }

    fn is_root(&self) -> bool {
        matches!(self, FieldPath::Root)
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldPath::Root => Ok(()),
            FieldPath::Member { parent, name } if parent.is_root() => f.write_str(name),
            FieldPath::Member { parent, name } => write!(f, "{parent}.{name}"),
            FieldPath::Item { parent, index } => write!(f, "{parent}[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FieldPath;

    #[test]
    fn it_prints_as_clients_write_it() {
        let attendees = FieldPath::Root.member("attendees");
        let third = attendees.item(2);
        assert_eq!(third.member("email").to_string(), "attendees[2].email");
        assert_eq!(FieldPath::Root.to_string(), "");
    }
}
