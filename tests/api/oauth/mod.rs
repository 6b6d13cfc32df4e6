//! Connecting accounts by OAuth: what operators register for it.

mod apps;
