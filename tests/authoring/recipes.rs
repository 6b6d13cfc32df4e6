//! The cookbook is correct: every recipe compiles in Rust and in TypeScript. All recipes of a language are one file of one project.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::project::{Ended, Notes};
use crate::tutorial::{Shell, blocks, pages};

/// The start of the line in a template that a recipe replaces.
const PLACE: &str = "// recipe: ";

/// The recipes in this language, by name.
fn recipes(code: &str) -> BTreeMap<String, String> {
    let page = fs::read_to_string(pages().join("cookbook.md")).unwrap();
    let start = format!("{code} recipe=");
    let found = blocks(&page).into_iter().filter_map(|block| {
        assert_ne!(block.info, code, "cookbook.md:{}: code needs a name: {start}NAME", block.line);
        block.info.strip_prefix(&start).map(|name| (name.to_owned(), block.text.clone()))
    });
    found.collect()
}

/// Returns the template of a language with each recipe in the place of its name.
fn filled(code: &str, extension: &str) -> String {
    let recipes = recipes(code);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("authoring/recipes/template.{extension}"));
    let (mut text, mut count) = (String::new(), 0);
    for line in fs::read_to_string(path).unwrap().lines() {
        match line.trim_start().strip_prefix(PLACE) {
            Some(name) => {
                let recipe = recipes.get(name);
                text.push_str(recipe.unwrap_or_else(|| panic!("cookbook.md has no {code} recipe={name}")));
                count += 1;
            }
            None => text.extend([line, "\n"]),
        }
    }
    assert_eq!(count, recipes.len(), "recipes without a place in the template: {:?}", recipes.keys());
    text
}

#[test]
fn every_recipe_compiles_in_rust() {
    let notes = Notes::new("recipes");
    notes.write("tests/recipes.rs", &filled("rust", "rs"));
    let root = tempfile::tempdir().unwrap();
    let mut shell = Shell::new(root.path());
    shell.folder = notes.folder();
    let ended = shell.run("cargo test --no-run --test recipes");
    assert_eq!(ended.code, Some(0), "{}\n{}", filled("rust", "rs"), ended.stderr);
}

#[test]
fn every_recipe_has_the_right_types_in_typescript() {
    let notes = Notes::with_tools("typescript", "typed-recipes");
    notes.write("src/recipes.ts", &filled("ts", "ts"));
    let mut checker = Command::new(notes.folder().join("node_modules/.bin/tsc"));
    let ended = Ended::of(checker.current_dir(notes.folder()).output().unwrap());
    assert_eq!(ended.code, Some(0), "{}\n{}", filled("ts", "ts"), ended.stdout);
}

#[test]
fn every_recipe_is_there_in_both_languages() {
    let names = |code: &str| recipes(code).into_keys().collect::<Vec<_>>();
    assert_eq!(names("rust"), names("ts"));
    assert!(names("ts").len() >= 15, "{:?}", names("ts"));
}
