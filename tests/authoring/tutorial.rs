//! The documentation is correct: every command of the tutorial for authors runs in Rust and in TypeScript, and every link has a target.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{Ended, built, share_sdk, share_tools, target};

/// The service's address in the pages.
const SHOWN_ADDRESS: &str = "127.0.0.1:8099";

/// The folder of the pages for authors.
pub fn pages() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/connectors")).to_owned()
}

/// A fenced block of a page.
#[derive(Debug, PartialEq)]
pub struct Block {
    /// The words behind the fence: `sh run`.
    pub info: String,
    pub text: String,
    /// The line of its first fence.
    pub line: usize,
}

/// The languages that pages show code in, as `--lang` spells them, and the first word of their blocks.
const LANGUAGES: [(&str, &str); 2] = [("rust", "rust"), ("typescript", "ts")];

impl Block {
    /// The words behind the fence without the language that the block is for; none if it is for another language. A block for one language
    /// is code in it, or names it in its last word: `sh run rust`.
    fn words_for(&self, language: &str) -> Option<Vec<&str>> {
        let mut words: Vec<&str> = self.info.split(' ').collect();
        let code = LANGUAGES.iter().find(|(_, first)| words.first() == Some(first));
        let named = LANGUAGES.iter().find(|(name, _)| words.len() > 1 && words.last() == Some(name));
        if named.is_some() {
            words.pop();
        }
        code.or(named).is_none_or(|(name, _)| *name == language).then_some(words)
    }
}

/// The blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block { info: info.to_owned(), text: String::new(), line: at + 1 });
            }
            (None, None) => {}
            (Some(block), Some(_)) => found.push(block),
            (Some(mut block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
        }
    }
    assert!(open.is_none(), "a block has no end: {open:?}");
    found
}

/// A shell whose folder is kept from one block to the next.
pub struct Shell {
    pub folder: PathBuf,
    /// The file to which each block writes its folder at its end.
    state: PathBuf,
    /// Holds a link `switchboard` to the program under test.
    programs: PathBuf,
}

impl Shell {
    pub fn new(root: &Path) -> Shell {
        let (folder, programs) = (root.join("author"), root.join("programs"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&programs).unwrap();
        let program = env!("CARGO_BIN_EXE_switchboard-under-test");
        std::os::unix::fs::symlink(program, programs.join("switchboard")).unwrap();
        Shell { folder, state: root.join("folder"), programs }
    }

    /// Runs the commands; the first that fails ends the block.
    pub fn run(&mut self, commands: &str) -> Ended {
        let script = format!("set -euo pipefail\n{commands}\npwd >\"$TUTORIAL_FOLDER\"\n");
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(&self.folder);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = [self.programs.clone()].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(paths).unwrap());
        command.env("TUTORIAL_FOLDER", &self.state);
        command.env("CARGO_TARGET_DIR", target().join("authoring"));
        // Cargo's variables for this package and this workspace's compiler flags are not for the author's project.
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_this_build(&name.to_string_lossy())) {
            command.env_remove(name);
        }
        let ended = Ended::of(command.output().unwrap());
        if ended.code == Some(0) {
            self.folder = fs::read_to_string(&self.state).unwrap().trim_end().into();
        }
        ended
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn is_of_this_build(name: &str) -> bool {
    const FLAGS: [&str; 6] = [
        "CARGO_PRIMARY_PACKAGE",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CLIPPY_ARGS",
    ];
    let of_package = ["SWITCHBOARD_", "CARGO_PKG_", "CARGO_MANIFEST_"];
    FLAGS.contains(&name) || of_package.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns whether a text is as expected. `…` matches any text within a line; on a line of its own it matches any lines, or none.
fn matches(expected: &[&str], lines: &[&str]) -> bool {
    match expected {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|from| matches(rest, &lines[from..])),
        [pattern, rest @ ..] => match lines {
            [line, others @ ..] => line_matches(pattern, line.trim_end()) && matches(rest, others),
            [] => false,
        },
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let Some((before, after)) = pattern.split_once('…') else { return pattern == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    let mut from = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    from.any(|at| rest.get(at..).is_some_and(|rest| line_matches(after, rest)))
}

#[test]
fn every_command_of_the_tutorial_runs_in_rust() {
    // Another project is called notes too, and all build into one folder: it is built first, and not again.
    built();
    run_tutorial("rust");
}

#[test]
fn every_command_of_the_tutorial_runs_in_typescript() {
    run_tutorial("typescript");
}

/// Runs the blocks of the tutorial that are for this language, in order.
fn run_tutorial(language: &str) {
    let page = fs::read_to_string(pages().join("tutorial.md")).unwrap();
    // A port that is free now.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let page = page.replace(SHOWN_ADDRESS, &address);
    let root = tempfile::tempdir().unwrap();
    let mut shell = Shell::new(root.path());
    let (mut output, mut run) = (None, 0);
    for block in blocks(&page) {
        let Some(words) = block.words_for(language) else { continue };
        match words.as_slice() {
            ["sh", "run"] => {
                let ended = shell.run(&block.text);
                let shown =
                    format!("tutorial.md:{}\n{}\n{}\n{}", block.line, block.text, ended.stdout, ended.stderr);
                assert_eq!(ended.code, Some(0), "{shown}");
                share_sdk(&shell.folder.join("vendor"));
                if shell.folder.join("package.json").is_file() && !shell.folder.join("node_modules").exists()
                {
                    share_tools(&shell.folder);
                }
                (output, run) = (Some((ended.stdout, shown)), run + 1);
            }
            ["text", "expect"] => {
                let (stdout, shown) = output.take().expect("a block `expect` follows a block `run`");
                let (expected, lines): (Vec<_>, Vec<_>) =
                    (block.text.lines().collect(), stdout.lines().collect());
                assert!(
                    matches(&expected, &lines),
                    "tutorial.md:{} expects\n{}\n{shown}",
                    block.line,
                    block.text
                );
            }
            [_, file] if file.starts_with("file=") => {
                shell.write(&file.replacen("file=", "", 1), &block.text)
            }
            [_] => {}
            _ => panic!("tutorial.md:{}: a block cannot be {:?}", block.line, block.info),
        }
    }
    assert!(run >= 5, "{run} blocks were run");
}

/// The tutorial shows everything in both languages.
#[test]
fn the_tutorial_has_the_same_blocks_for_both_languages() {
    let page = fs::read_to_string(pages().join("tutorial.md")).unwrap();
    let [rust, typescript] = LANGUAGES.map(|(language, code)| {
        let found = blocks(&page);
        let words = found.iter().filter_map(|block| block.words_for(language));
        let kinds = words.map(|words| words[0].replace(code, "code"));
        kinds.collect::<Vec<_>>()
    });
    assert!(rust.iter().filter(|kind| *kind == "code").count() >= 5, "{rust:?}");
    assert_eq!(rust, typescript);
}

/// The text of a page outside its blocks, line by line.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    page.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// The targets of the links in a text.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The anchors of a page's headings, as GitHub makes them: lower case, without punctuation, `-` for a space.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    headings
        .map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn links_and_anchors_exist() {
    let mut broken = Vec::new();
    // The pages for customers beside those for authors.
    let folders = [pages(), pages().join("..")].map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    for path in &files {
        let page = fs::read_to_string(path).unwrap();
        let text: Vec<&str> = prose(&page).map(|(_, line)| line).collect();
        // A link may continue on the next line.
        for link in links(&text.join(" ")) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (file, anchor) =
                link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let has_anchor =
                |anchor: &str| fs::read_to_string(&target).is_ok_and(|page| anchors(&page).contains(anchor));
            if !target.exists() || !anchor.is_none_or(has_anchor) {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(files.len() > 1 && broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn an_ellipsis_is_any_text() {
    let matches = |expected: &str, text: &str| {
        matches(&expected.lines().collect::<Vec<_>>(), &text.lines().collect::<Vec<_>>())
    };
    assert!(matches("a … c\n…\nz", "a b c\nx\ny\nz"));
    assert!(matches("…\nz", "z"));
    assert!(matches("a…", "a"));
    assert!(!matches("a\n…\nz", "a\nb"));
    assert!(!matches("a … c", "a b d"));
    assert!(!matches("a", "a\nb"));
}

#[test]
fn a_page_is_read_block_by_block() {
    let page = "# A `b`: c-d\n\n```sh run\ncd x\n```\n[e](f.md#g)\n```text\n[no](link)\n```\n";
    let found = blocks(page);
    assert_eq!((found.len(), &*found[0].info, &*found[0].text, found[0].line), (2, "sh run", "cd x\n", 3));
    assert_eq!(found[0].words_for("rust"), found[0].words_for("typescript"));
    let block = |info: &str| Block { info: info.to_owned(), text: String::new(), line: 1 };
    assert_eq!(block("sh run rust").words_for("rust"), Some(vec!["sh", "run"]));
    assert_eq!(block("sh run rust").words_for("typescript"), None);
    assert_eq!(block("ts file=a.ts").words_for("typescript"), Some(vec!["ts", "file=a.ts"]));
    assert_eq!(block("rust").words_for("typescript"), None);
    let text: Vec<&str> = prose(page).map(|(_, line)| line).collect();
    assert_eq!(links(&text.join(" ")), ["f.md#g"]);
    assert!(anchors(page).contains("a-b-c-d"));
}
