//! The sandbox, tried with components that behave and components that do not (`guests/`).

mod bundled;
mod discovery;
mod extra;
mod hostile;
mod install;
mod languages;
mod speed;
mod swaps;
mod wasi_http;
mod world;
