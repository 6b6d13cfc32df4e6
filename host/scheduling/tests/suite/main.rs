//! Tests of the slot engine: its rules by example, its properties against a naive second implementation, sequences of bookings, and the
//! same rules in Python, minute by minute.

#[cfg(test)]
mod assignment;
#[cfg(test)]
mod bookings;
#[cfg(test)]
mod clock_changes;
#[cfg(test)]
mod configurations;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod generator;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod support;
