//! Which file of a crate imports what from which other one, read from `use` declarations and paths.
//!
//! An import counts for the file that defines the item: a re-export in between is followed. So a `mod.rs`
//! that only declares and re-exports its children is imported by nobody, and one that defines an item which
//! its children import is in a circle with them.
//!
//! Not seen are names that a macro makes, methods of a type that another file defines in an `impl`
//! block, and everything under `#[cfg(test)]`, on purpose: tests may look at all of what they test.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// (importing file, defining file) and the names that are imported. Files are named from the root's folder.
pub type Imports = BTreeMap<(String, String), BTreeSet<String>>;

/// Names as they follow each other in a path.
type Names = Vec<String>;

/// Re-exports are followed so far; a longer chain is taken for a loop.
const MOST_STEPS: usize = 16;

/// The imports between the files of the crate with this root file.
pub fn of_crate(root: &Path) -> Imports {
    let mut modules = Modules { all: Vec::new(), folder: root.parent().expect("a folder").into() };
    modules.read_file(root.to_path_buf(), None);
    modules.imports()
}

#[derive(Default)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    /// Several modules may have one name, one for each system.
    children: Vec<(String, usize)>,
    /// Names of `use` declarations, and what they stand for.
    uses: HashMap<String, Vec<Names>>,
    /// `use names::*`.
    globs: Vec<Names>,
    items: HashSet<String>,
    /// Paths of more than one name in the code.
    paths: Vec<Names>,
}

struct Modules {
    all: Vec<Module>,
    folder: PathBuf,
}

/// What a path leads to.
enum Target {
    Module(usize),
    Item { module: usize, name: String },
}

impl Modules {
    fn read_file(&mut self, file: PathBuf, parent: Option<usize>) -> usize {
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.read(file, parent, tokens)
    }

    fn read(&mut self, file: PathBuf, parent: Option<usize>, tokens: TokenStream) -> usize {
        let module = self.all.len();
        self.all.push(Module { file, parent, ..Module::default() });
        self.walk(module, tokens);
        module
    }

    /// Takes in the declarations and paths of a module, or of a part of one.
    fn walk(&mut self, module: usize, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        // Of the item that comes next.
        let mut is_test = false;
        let mut other_files = Vec::new();
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    at += usize::from(is_mark(tokens.get(at), '!'));
                    if let Some(attribute) = group(tokens.get(at), Delimiter::Bracket) {
                        at += 1;
                        is_test |= is_for_tests(attribute);
                        other_files.extend(path_of(attribute.stream()));
                    }
                }
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    if word == "pub" {
                        // What follows may be the visibility, `(in crate::x)`, which imports nothing.
                        at += usize::from(group(tokens.get(at), Delimiter::Parenthesis).is_some());
                        continue;
                    }
                    if std::mem::take(&mut is_test) {
                        other_files.clear();
                        at = after_item(&tokens, at - 1);
                        continue;
                    }
                    let files = std::mem::take(&mut other_files);
                    at = self.word(module, &word, &tokens, at, &files);
                }
                TokenTree::Group(inner) => self.walk(module, inner.stream()),
                _ => {}
            }
        }
    }

    /// Takes in what begins with a word, the token before `at`, and returns where to go on.
    fn word(
        &mut self, module: usize, word: &str, tokens: &[TokenTree], mut at: usize, files: &[String],
    ) -> usize {
        match word {
            // Not the captures of a type: `impl Trait + use<'a>`.
            "use" if !is_mark(tokens.get(at), '<') => {
                let end = after_item(tokens, at - 1);
                self.take_use(module, &tokens[at..end - 1], &[]);
                return end;
            }
            "mod" => {
                let Some(TokenTree::Ident(name)) = tokens.get(at) else { return at };
                let name = name.to_string();
                if let Some(inner) = group(tokens.get(at + 1), Delimiter::Brace) {
                    let file = self.all[module].file.clone();
                    let child = self.read(file, Some(module), inner.stream());
                    self.all[module].children.push((name, child));
                } else {
                    for file in self.files_of(module, &name, files) {
                        let child = self.read_file(file, Some(module));
                        self.all[module].children.push((name.clone(), child));
                    }
                }
                return at + 2;
            }
            // No items: `*const T`, `&'static T`.
            "const" | "static"
                if at >= 2 && ['*', '\''].iter().any(|&mark| is_mark(tokens.get(at - 2), mark)) => {
            }
            "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" => {
                if let Some(TokenTree::Ident(name)) = tokens.get(at) {
                    self.all[module].items.insert(name.to_string());
                }
                return at;
            }
            _ => {}
        }
        // A path. What stands before it, as in `<T as Trait>::Item`, is none.
        let is_colon = |back: usize| at >= back && is_mark(tokens.get(at - back), ':');
        let continues = is_colon(2) && is_colon(3);
        let mut names = vec![word.to_owned()];
        let mut is_path = false;
        while is_mark(tokens.get(at), ':') && is_mark(tokens.get(at + 1), ':') {
            is_path = true;
            at += 2;
            match tokens.get(at) {
                Some(TokenTree::Ident(name)) => names.push(name.to_string()),
                _ => break,
            }
            at += 1;
        }
        if is_path && !continues {
            self.all[module].paths.push(names);
        }
        at
    }

    /// The files of `mod name;`: that of its name, or those that attributes name for some systems.
    fn files_of(&self, module: usize, name: &str, named: &[String]) -> Vec<PathBuf> {
        let file = &self.all[module].file;
        let folder = file.parent().expect("a folder");
        let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let below = match stem {
            "mod" | "lib" | "main" => folder.to_path_buf(),
            _ => folder.join(stem),
        };
        let usual = [below.join(name).join("mod.rs"), below.join(format!("{name}.rs"))];
        let named = named.iter().map(|name| folder.join(name));
        let files: Vec<PathBuf> = usual.into_iter().chain(named).filter(|f| f.exists()).collect();
        assert!(!files.is_empty(), "{}: mod {name}: there is no such file", file.display());
        files
    }

    /// Takes in a tree of `use`, below the names in front of it.
    fn take_use(&mut self, module: usize, tokens: &[TokenTree], before: &[String]) {
        if tokens.is_empty() {
            return; // after a last comma
        }
        let mut names = before.to_vec();
        let mut new_name = None;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    new_name = tokens.get(at + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) => names.push(word.to_string()),
                TokenTree::Group(inner) => {
                    let inner: Vec<TokenTree> = inner.stream().into_iter().collect();
                    for tree in inner.split(|token| is_mark(Some(token), ',')) {
                        self.take_use(module, tree, &names);
                    }
                    return;
                }
                TokenTree::Punct(mark) if mark.as_char() == '*' => {
                    self.all[module].globs.push(names);
                    return;
                }
                _ => {}
            }
        }
        if names.len() > 1 && names.last().is_some_and(|name| name == "self") {
            names.pop();
        }
        if let Some(last) = names.last() {
            let name = new_name.unwrap_or_else(|| last.clone());
            self.all[module].uses.entry(name).or_default().push(names);
        }
    }

    fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        let mut add = |from: usize, to: usize, name: &str| {
            let (from, to) = (self.name(from), self.name(to));
            if from != to {
                imports.entry((from, to)).or_default().insert(name.to_owned());
            }
        };
        for (module, own) in self.all.iter().enumerate() {
            for path in own.uses.values().flatten() {
                for target in self.resolve(module, path, MOST_STEPS) {
                    // A module is not imported from before a path goes on into it.
                    if let Target::Item { module: to, name } = target {
                        add(module, to, &name);
                    }
                }
            }
            for path in own.globs.iter().chain(&own.paths) {
                for target in self.resolve(module, path, MOST_STEPS) {
                    match target {
                        Target::Module(to) => add(module, to, "*"),
                        Target::Item { module: to, name } => add(module, to, &name),
                    }
                }
            }
        }
        imports
    }

    fn name(&self, module: usize) -> String {
        let file = &self.all[module].file;
        let name = file.strip_prefix(&self.folder).unwrap_or(file);
        name.to_str().expect("a name in UTF-8").replace('\\', "/")
    }

    /// What a path in a module leads to; nothing for paths into other crates and into the types of this one.
    fn resolve(&self, module: usize, path: &[String], steps: usize) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return vec![Target::Module(module)] };
        match first.as_str() {
            "crate" => self.inside(0, rest, steps),
            "self" => self.inside(module, rest, steps),
            "super" => match self.all[module].parent {
                // What follows may be `super` once more.
                Some(parent) if rest.first().is_some_and(|name| name == "super") => {
                    self.resolve(parent, rest, steps)
                }
                Some(parent) => self.inside(parent, rest, steps),
                None => Vec::new(),
            },
            name if self.knows(module, name) => self.inside(module, path, steps),
            _ => Vec::new(),
        }
    }

    fn knows(&self, module: usize, name: &str) -> bool {
        let own = &self.all[module];
        own.children.iter().any(|(child, _)| child == name)
            || own.uses.contains_key(name)
            || own.items.contains(name)
    }

    /// What a path leads to that begins in a module.
    fn inside(&self, module: usize, path: &[String], steps: usize) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return vec![Target::Module(module)] };
        let own = &self.all[module];
        let item = || vec![Target::Item { module, name: first.clone() }];
        if steps == 0 {
            return item();
        }
        let children = own.children.iter().filter(|(name, _)| name == first);
        let found: Vec<Target> =
            children.flat_map(|&(_, child)| self.inside(child, rest, steps - 1)).collect();
        if !found.is_empty() {
            return found;
        }
        if own.items.contains(first) {
            return item();
        }
        if let Some(paths) = own.uses.get(first) {
            let targets = paths.iter().flat_map(|path| self.resolve(module, path, steps - 1));
            return targets
                .flat_map(|target| match target {
                    Target::Module(inner) => self.inside(inner, rest, steps - 1),
                    item => vec![item],
                })
                .collect();
        }
        let globs = own.globs.iter().flat_map(|path| self.resolve(module, path, steps - 1));
        for target in globs {
            if let Target::Module(inner) = target
                && self.knows(inner, first)
            {
                return self.inside(inner, path, steps - 1);
            }
        }
        // Perhaps a macro makes it.
        item()
    }
}

fn is_mark(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == wanted)
}

fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Where the item that begins at `at` ends: after its body or its semicolon.
fn after_item(tokens: &[TokenTree], at: usize) -> usize {
    let mut to_semicolon = false;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token {
            TokenTree::Ident(word) if word == "use" => to_semicolon = true,
            TokenTree::Punct(mark) if mark.as_char() == '=' => to_semicolon = true,
            TokenTree::Punct(mark) if mark.as_char() == ';' => return index + 1,
            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace && !to_semicolon => {
                return index + 1;
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Whether an attribute is `cfg(test)`, or a `cfg(all(...))` with `test`.
fn is_for_tests(attribute: &Group) -> bool {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let [TokenTree::Ident(name), TokenTree::Group(condition)] = &tokens[..] else { return false };
    let has_test = |tokens: &[TokenTree]| {
        tokens.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "test"))
    };
    let condition: Vec<TokenTree> = condition.stream().into_iter().collect();
    name == "cfg"
        && match &condition[..] {
            [TokenTree::Ident(all), TokenTree::Group(parts)] if all == "all" => {
                has_test(&parts.stream().into_iter().collect::<Vec<_>>())
            }
            single => single.len() == 1 && has_test(single),
        }
}

/// The file that an attribute names, `path = "file"`, whatever the condition.
fn path_of(attribute: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    tokens.iter().enumerate().find_map(|(at, token)| match token {
        TokenTree::Ident(word) if word == "path" && is_mark(tokens.get(at + 1), '=') => {
            Some(tokens.get(at + 2)?.to_string().trim_matches('"').to_owned())
        }
        TokenTree::Group(inner) => path_of(inner.stream()),
        _ => None,
    })
}
