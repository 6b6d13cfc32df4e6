//! Cycles of files: each imports the next one, and the last the first. They can only be read, moved and turned into a crate together.
//!
//! Sources are read as text. A file imports another one if it names an item of it by `crate::`, `super::`, `self::` or from a module that
//! it declares itself. `mod x;` is no import. Items that a `mod.rs` or a `lib.rs` re-exports from the files below it (`pub use`) count as
//! items of those files, for it and for its importers. Tests and macros of the crate's root do not count.

use std::collections::BTreeMap;

use crate::files::{Project, Source};
use crate::ratchet::Offence;

/// The files of host/runtime that its interface makes cyclic: `bindgen!` makes traits in `bindings.rs`, which name the host's types and
/// are implemented for `State`, which holds what the implementations use, which return the types that `bindgen!` makes.
const TIED: [&str; 13] = [
    "host/runtime/src/bindings.rs",
    "host/runtime/src/outbound/body.rs",
    "host/runtime/src/outbound/client.rs",
    "host/runtime/src/outbound/headers.rs",
    "host/runtime/src/outbound/mod.rs",
    "host/runtime/src/outbound/tcp/line.rs",
    "host/runtime/src/outbound/tcp/mod.rs",
    "host/runtime/src/outbound/tcp/opening.rs",
    "host/runtime/src/outbound/tcp/pool.rs",
    "host/runtime/src/outbound/tcp/refusal.rs",
    "host/runtime/src/outbound/tcp/server.rs",
    "host/runtime/src/outbound/wasi_http.rs",
    "host/runtime/src/state.rs",
];

/// Folders whose crates are checked.
const FOLDERS: [&str; 4] = ["connectors/", "host/", "sdk/", "xtask/"];

/// The folder of templates. A surface's files lack those that all surfaces share, so what they import from these is unknown here.
const TEMPLATES: &str = "sdk/templates/";

/// Maximum length of a chain of re-exports that is followed.
const MAX_HOPS: usize = 8;

/// Returns the cycles of files in every crate. The list counts the files of a crate that are in cycles.
pub fn files(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut tied = Vec::new();
    for (folder, sources) in crates(project).into_iter().filter(|(folder, _)| !folder.starts_with(TEMPLATES))
    {
        let graph = Graph::new(folder, &sources);
        for circle in graph.circles() {
            let paths: Vec<&str> = circle.iter().map(|file| graph.paths[*file]).collect();
            if paths.iter().all(|path| TIED.contains(path)) {
                tied.extend(paths);
            } else {
                offences.push(Offence::size(folder, circle.len(), graph.complaint(&circle)));
            }
        }
    }
    // If their cycle has grown, that is the complaint.
    let has_grown = offences.iter().any(|offence| TIED[0].starts_with(&offence.place));
    let free = TIED.iter().filter(|path| !has_grown && !tied.contains(path));
    offences.extend(free.map(|path| Offence::new(*path, "it is in no circle: take it out of TIED")));
    offences
}

/// Returns the number of files of each cycle with the `src` folder of their crate, including allowed cycles.
pub fn sizes(project: &Project) -> Vec<(&str, usize)> {
    let mut sizes = Vec::new();
    for (folder, sources) in crates(project) {
        let circles = Graph::new(folder, &sources).circles();
        sizes.extend(circles.iter().map(|circle| (folder, circle.len())));
    }
    sizes
}

/// The sources of each crate by its `src` folder.
fn crates(project: &Project) -> BTreeMap<&str, Vec<&Source>> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for file in project.rust().filter(|file| !file.is_test()) {
        let folder = file.path.find("/src/").and_then(|at| file.path.get(..at + "/src".len()));
        if let Some(folder) = folder.filter(|folder| FOLDERS.iter().any(|top| folder.starts_with(top))) {
            crates.entry(folder).or_default().push(file);
        }
    }
    crates
}

/// The files of a crate, and their imports.
struct Graph<'p> {
    paths: Vec<&'p str>,
    /// For each file the files that it imports, each with one path by which it does.
    imports: Vec<BTreeMap<usize, String>>,
}

impl<'p> Graph<'p> {
    fn new(folder: &str, sources: &[&'p Source]) -> Graph<'p> {
        let has_library = sources.iter().any(|source| source.path == format!("{folder}/lib.rs"));
        let mut known = Crate::default();
        let mut read = Vec::new();
        for source in sources {
            let Some(module) = module(folder, &source.path, has_library) else { continue };
            known.modules.insert(module.clone(), read.len());
            read.push((source.path.as_str(), module, named(&without_test_lines(source))));
        }
        for (_, module, named) in &read {
            let exports = known.exports_of(module, named);
            known.exports.push(exports);
        }
        let mut imports = Vec::new();
        for (file, (_, module, named)) in read.iter().enumerate() {
            let mut of_file = BTreeMap::new();
            for name in named {
                if let Some(to) = known.imported(module, name).filter(|to| *to != file) {
                    of_file.entry(to).or_insert_with(|| name.path.join("::"));
                }
            }
            imports.push(of_file);
        }
        Graph { paths: read.into_iter().map(|(path, _, _)| path).collect(), imports }
    }

    /// Returns the cycles: sets of several files in which each file reaches all others.
    fn circles(&self) -> Vec<Vec<usize>> {
        let mut search = Search::new(&self.imports);
        for file in 0..self.paths.len() {
            if search.number[file].is_none() {
                search.visit(file);
            }
        }
        search.circles
    }

    fn complaint(&self, circle: &[usize]) -> String {
        let mut lines = vec![format!(
            "these {} files import each other: move what both need into a file of its own",
            circle.len()
        )];
        for from in circle {
            for (to, path) in self.imports[*from].iter().filter(|(to, _)| circle.contains(to)) {
                lines.push(format!("{} imports {path} of {}", self.paths[*from], self.paths[*to]));
            }
        }
        lines.join("\n    ")
    }
}

/// The paths of several names that a file's code has, those in groups one by one.
pub fn paths(file: &Source) -> Vec<Vec<&str>> {
    named(&without_test_lines(file)).into_iter().map(|named| named.path).collect()
}

/// The code without the lines that only tests have.
fn without_test_lines(source: &Source) -> Vec<&str> {
    let code = source.code();
    let before = std::iter::once("").chain(code.iter().map(|(_, line)| line.trim_start()));
    let is_tested = |(_, before): &(&(usize, &str), &str)| *before == "#[cfg(test)]";
    code.iter().zip(before).filter(|pair| !is_tested(pair)).map(|((_, line), _)| *line).collect()
}

/// The path of a module in its crate; that of the crate itself is empty.
type Module<'p> = Vec<&'p str>;

/// Returns the module of a file. None for the program beside a library, which is a crate of its own.
fn module<'p>(folder: &str, path: &'p str, has_library: bool) -> Option<Module<'p>> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let mut module: Module<'p> = inner.split('/').collect();
    match inner {
        "main" if has_library => return None,
        "lib" | "main" => module.clear(),
        _ if module.last() == Some(&"mod") => drop(module.pop()),
        _ => {}
    }
    Some(module)
}

/// The modules of a crate that are files.
#[derive(Default)]
struct Crate<'p> {
    modules: BTreeMap<Module<'p>, usize>,
    /// The re-exports of each file from the files below it: the name here, and the path that it comes from.
    exports: Vec<BTreeMap<&'p str, Module<'p>>>,
}

impl<'p> Crate<'p> {
    fn exports_of(&self, module: &[&'p str], named: &[Named<'p>]) -> BTreeMap<&'p str, Module<'p>> {
        let exported = named.iter().filter_map(|name| Some((name.exported?, self.absolute(module, name)?)));
        exported.filter(|(_, path)| is_below(module, path)).collect()
    }

    /// Returns the file whose item a file of this module names; none if the item belongs to another crate or is re-exported.
    fn imported(&self, module: &[&'p str], name: &Named<'p>) -> Option<usize> {
        let mut path = self.absolute(module, name)?;
        if name.exported.is_some() && is_below(module, &path) {
            return None;
        }
        for _ in 0..MAX_HOPS {
            let depth = (0..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]))?;
            let file = *self.modules.get(&path[..depth])?;
            let from = path.get(depth).and_then(|item| self.exports.get(file)?.get(item));
            let Some(from) = from else {
                return Some(file).filter(|_| depth > 0 || !name.is_macro);
            };
            path = from.iter().chain(&path[depth + 1..]).copied().collect();
        }
        None
    }

    /// Returns a path from the crate's root; none if it leads out of the crate.
    fn absolute(&self, module: &[&'p str], name: &Named<'p>) -> Option<Module<'p>> {
        let mut path = match *name.path.first()? {
            "crate" => Module::new(),
            "self" | "super" => module.to_vec(),
            child => {
                let path: Module<'p> = module.iter().copied().chain([child]).collect();
                return self.modules.contains_key(&path).then(|| [module, name.path.as_slice()].concat());
            }
        };
        let mut rest = name.path.as_slice();
        while let [first @ ("crate" | "self" | "super"), after @ ..] = rest {
            if *first == "super" {
                path.pop()?;
            }
            rest = after;
        }
        path.extend(rest);
        Some(path)
    }
}

/// An item of a file below this module.
fn is_below(module: &[&str], path: &[&str]) -> bool {
    path.len() > module.len() + 1 && path.starts_with(module)
}

/// A path of several names in a source.
struct Named<'p> {
    path: Vec<&'p str>,
    /// The name under which a `pub use` re-exports it.
    exported: Option<&'p str>,
    is_macro: bool,
}

/// The paths in these lines; those in groups one by one.
fn named<'p>(lines: &[&'p str]) -> Vec<Named<'p>> {
    let tokens: Vec<&str> = lines.iter().flat_map(|line| tokens(line)).collect();
    let mut reader = Reader { tokens: &tokens, at: 0, is_export: false, named: Vec::new() };
    while let Some(token) = reader.peek() {
        let before = reader.at.checked_sub(1).and_then(|before| tokens.get(before)).copied();
        match token {
            "use" => reader.is_export = matches!(before, Some("pub" | ")")),
            ";" => reader.is_export = false,
            _ => {}
        }
        // `$crate::x` and `.collect::<T>()` begin elsewhere.
        if is_name(token) && !matches!(before, Some("::" | "." | "$")) {
            reader.path(&[]);
        } else {
            reader.at += 1;
        }
    }
    reader.named
}

struct Reader<'t, 'p> {
    tokens: &'t [&'p str],
    at: usize,
    /// In a `pub use`.
    is_export: bool,
    named: Vec<Named<'p>>,
}

impl<'p> Reader<'_, 'p> {
    fn peek(&self) -> Option<&'p str> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'p str> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// A path that begins here, and those of the group that it ends with.
    fn path(&mut self, prefix: &[&'p str]) {
        let mut path = prefix.to_vec();
        path.extend(self.next());
        let mut is_item = true;
        while self.peek() == Some("::") {
            self.at += 1;
            match self.peek() {
                Some(name) if is_name(name) => path.extend(self.next()),
                Some("{") => return self.group(&path),
                // `*` and `<`.
                _ => {
                    is_item = false;
                    break;
                }
            }
        }
        if path.len() > 1 && path.last() == Some(&"self") {
            path.pop();
        }
        let is_macro = self.peek() == Some("!");
        let renamed = (self.peek() == Some("as")).then(|| self.tokens.get(self.at + 1).copied()).flatten();
        let exported = renamed.or(path.last().copied()).filter(|_| self.is_export && is_item);
        if path.len() > 1 {
            self.named.push(Named { path, exported, is_macro });
        }
    }

    fn group(&mut self, prefix: &[&'p str]) {
        self.at += 1;
        while let Some(token) = self.peek() {
            match token {
                "}" => break,
                name if is_name(name) => self.path(prefix),
                _ => self.at += 1,
            }
        }
        self.at += 1;
    }
}

/// Splits a line into words, `::` and single other characters.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            c if is_part(c) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(len);
        if token == "/" && after.starts_with('/') {
            break;
        }
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Tarjan's search for the strongly connected components of a graph (SIAM J. Comput. 1, 1972), in time linear in it.
struct Search<'g> {
    imports: &'g [BTreeMap<usize, String>],
    /// The order in which the files were reached.
    number: Vec<Option<usize>>,
    /// The number of the earliest open file that each file reaches.
    earliest: Vec<usize>,
    reached: usize,
    /// Files whose component is not complete yet.
    open: Vec<usize>,
    circles: Vec<Vec<usize>>,
}

impl<'g> Search<'g> {
    fn new(imports: &'g [BTreeMap<usize, String>]) -> Search<'g> {
        let (number, earliest) = (vec![None; imports.len()], vec![usize::MAX; imports.len()]);
        Search { imports, number, earliest, reached: 0, open: Vec::new(), circles: Vec::new() }
    }

    fn visit(&mut self, file: usize) {
        let number = self.reached;
        self.reached += 1;
        (self.number[file], self.earliest[file]) = (Some(number), number);
        let start = self.open.len();
        self.open.push(file);
        for to in self.imports[file].keys() {
            if self.number[*to].is_none() {
                self.visit(*to);
            }
            self.earliest[file] = self.earliest[file].min(self.earliest[*to]);
        }
        if self.earliest[file] == number {
            let mut component = self.open.split_off(start);
            // From here on no file leads back to it.
            for member in &component {
                self.earliest[*member] = usize::MAX;
            }
            component.sort_unstable();
            if component.len() > 1 {
                self.circles.push(component);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, Source};

    /// Returns the cycles of a crate of these files, each as its paths without the folder.
    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let mut sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("sdk/x/src/{path}"), *text)).collect();
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        let graph = Graph::new("sdk/x/src", &sources.iter().collect::<Vec<_>>());
        let name = |file: usize| graph.paths[file].trim_start_matches("sdk/x/src/").to_owned();
        graph.circles().into_iter().map(|circle| circle.into_iter().map(name).collect()).collect()
    }

    #[test]
    fn two_files_or_more_are_a_circle() {
        let two = [
            ("lib.rs", "mod a;\nmod b;"),
            ("a.rs", "use crate::b::B;\npub struct A(B);"),
            ("b.rs", "pub fn of() -> crate::a::A {}\npub struct B;"),
        ];
        assert_eq!(circles(&two), [["a.rs", "b.rs"]]);
        let three = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\nuse crate::a::A;"),
            ("a.rs", "use crate::{\n    b::{self, B},\n    d,\n};"),
            ("b.rs", "use crate::d::D;\nuse super::c;"),
            ("c.rs", "use crate::d;\npub use crate::a::A;"),
            ("d.rs", "pub struct D;"),
        ];
        assert_eq!(circles(&three), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn two_circles_are_told_apart() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b::B;\nuse crate::c::C;"),
            ("b.rs", "use crate::a::A;"),
            ("c.rs", "use crate::d::D;"),
            ("d.rs", "use crate::c::C;"),
        ];
        let mut found = circles(&files);
        found.sort();
        assert_eq!(found, [["a.rs", "b.rs"], ["c.rs", "d.rs"]]);
    }

    #[test]
    fn a_folder_and_its_files_can_be_a_circle() {
        let by_child = [
            ("lib.rs", "pub mod a;"),
            ("a/mod.rs", "mod b;\npub struct A;\npub fn run() { b::run(A) }"),
            ("a/b.rs", "use crate::a::A;\npub fn run(a: A) {}"),
        ];
        assert_eq!(circles(&by_child), [["a/b.rs", "a/mod.rs"]]);
        let by_parent = [
            ("lib.rs", "mod a;\npub const LIMIT: u32 = 1;\nuse a::{LOW, HIGH};"),
            ("a.rs", "pub fn limit() -> u32 { super::LIMIT }"),
        ];
        assert_eq!(circles(&by_parent), [["a.rs", "lib.rs"]]);
    }

    #[test]
    fn what_is_handed_on_is_of_the_file_that_has_it() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use crate::a::A;\npub use b::{B as Renamed, C};"),
            ("a.rs", "use crate::Renamed;"),
            ("b.rs", "pub struct B;\npub struct C;"),
        ];
        assert!(circles(&files).is_empty());
        let [front, a, (b, _)] = files;
        assert_eq!(circles(&[front, a, (b, "use crate::A;")]), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn tests_macros_comments_and_other_crates_do_not_count() {
        let files = [
            ("lib.rs", "#[macro_use]\nmod m;\nmod a;\nmod b;\nuse crate::a::A;"),
            ("a.rs", "use crate::b::B;\nfn f() { crate::log!(1); model::b::f(); x.b::<B>(); }"),
            (
                "b.rs",
                "//! As crate::a::A.\nfn f() {} // crate::a::f\n#[cfg(test)]\nuse crate::a::f;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
            ),
            ("b/tests.rs", "use crate::a::A;"),
            ("m.rs", "macro_rules! log { () => { $crate::a::A } }"),
        ];
        assert!(circles(&files).is_empty());
    }

    #[test]
    fn a_program_beside_a_library_is_a_crate_of_its_own() {
        let files = [("lib.rs", "mod a;"), ("main.rs", "use crate::a::A;"), ("a.rs", "use crate::main::M;")];
        assert!(circles(&files).is_empty());
        assert_eq!(circles(&[("main.rs", "mod a;\na::run();\nfn f() {}"), ("a.rs", "crate::f();")]).len(), 1);
    }
}
