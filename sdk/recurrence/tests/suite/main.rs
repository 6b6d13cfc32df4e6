//! The recurrence tests: what a series means, sets of several rules, laws of its edits, bounds on hostile rules, and python-dateutil as a second opinion.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod carried;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod exceptions;
#[cfg(test)]
mod following;
#[cfg(test)]
mod generator;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod lazy;
#[cfg(test)]
mod lengths;
#[cfg(test)]
mod literal;
#[cfg(test)]
mod meaning;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod sets;
#[cfg(test)]
mod support;
#[cfg(test)]
mod windows;
