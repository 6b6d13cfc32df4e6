//! The facts of `facts/google_tasks.toml`.

use std::sync::LazyLock;

use crate::google::people::facts::FactTable;

pub static TASKS: LazyLock<FactTable> =
    LazyLock::new(|| FactTable::parse(include_str!("../../../facts/google_tasks.toml")));
