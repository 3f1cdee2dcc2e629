//! The files that the rules look at, and the tokens and paths in them.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A broken rule and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}:{}: {}", self.file, self.line, self.what)
    }
}

/// One file: its path from the root of the package (`src/domain/body.rs`) and its text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
}

/// All files of a folder, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
}

impl Tree {
    /// Reads a folder of the package; one that does not exist is empty.
    pub(crate) fn read(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut tree = Self::default();
        tree.add(root, &root.join(folder));
        tree.sources.sort_by(|a, b| a.file.cmp(&b.file));
        tree
    }

    /// A tree made up for a self-test.
    pub(crate) fn of(sources: &[(&str, &str)]) -> Self {
        let source = |(file, text): &(&str, &str)| Source {
            file: (*file).to_owned(),
            text: (*text).to_owned(),
        };
        Self {
            sources: sources.iter().map(source).collect(),
        }
    }

    fn add(&mut self, root: &Path, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries {
            let path = entry
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
                .path();
            if path.is_dir() {
                self.add(root, &path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                let relative = path.strip_prefix(root).unwrap_or(&path);
                self.sources.push(Source {
                    file: relative.display().to_string(),
                    text,
                });
            }
        }
    }

    /// The Rust files only.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| {
            Path::new(&source.file)
                .extension()
                .is_some_and(|ext| ext == "rs")
        })
    }

    /// Whether there is a module file for this path of names below `src/`.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.sources.iter().any(|source| source.file == file)
    }
}

impl Source {
    pub(crate) fn finding(&self, line: usize, what: impl Into<String>) -> Finding {
        Finding {
            file: self.file.clone(),
            line,
            what: what.into(),
        }
    }

    /// The names of the folders below `src/` and of the file, without `mod`, `lib` and `main`:
    /// the path of its module.
    pub(crate) fn module(&self) -> Vec<String> {
        let inner = self.file.trim_start_matches("src/").trim_end_matches(".rs");
        let names = inner.split('/').map(str::to_owned);
        names
            .filter(|name| !["mod", "lib", "main"].contains(&name.as_str()))
            .collect()
    }

    /// Whether all of the file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.module().iter().any(|name| name == "tests")
    }

    pub(crate) fn tokens(&self) -> TokenStream {
        TokenStream::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{}: does not parse: {error}", self.file))
    }

    /// Every path in the file: `a::b::c`, with the trees of `use` taken apart.
    pub(crate) fn paths(&self) -> Vec<Named> {
        let mut found = Vec::new();
        collect(self.tokens(), &self.module(), self.is_test(), &mut found);
        found
    }
}

/// A path as it is written, resolved against its module where it starts at the crate.
#[derive(Debug)]
pub(crate) struct Named {
    /// `["crate", "store", "comments"]`, `["sqlx", "query"]`.
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// Whether it stands in test code.
    pub(crate) is_test: bool,
}

impl Named {
    /// The names below the crate, if the path starts there.
    pub(crate) fn in_crate(&self) -> Option<&[String]> {
        self.path
            .split_first()
            .filter(|(first, _)| *first == "crate")
            .map(|(_, rest)| rest)
    }

    /// Whether these names follow one another anywhere in the path.
    pub(crate) fn contains(&self, names: &[&str]) -> bool {
        self.path.windows(names.len()).any(|window| window == names)
    }
}

/// Walks tokens; `module` is where they stand.
fn collect(tokens: TokenStream, module: &[String], is_test: bool, found: &mut Vec<Named>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    let mut next_is_test = is_test;
    while at < trees.len() {
        match &trees[at] {
            TokenTree::Group(group) => {
                let inner = group.stream();
                let text = inner.to_string();
                if is_hash(trees.get(at.wrapping_sub(1))) && text.starts_with("cfg (test)") {
                    next_is_test = true;
                }
                collect(inner, module, is_test, found);
                if group.delimiter() == Delimiter::Brace {
                    next_is_test = is_test;
                }
                at += 1;
            }
            TokenTree::Ident(word) if word == "mod" => {
                at += inline_module(&trees[at..], module, next_is_test, found);
                next_is_test = is_test;
            }
            TokenTree::Ident(_) => {
                let before = found.len();
                at += path(&trees[at..], &[], found);
                for named in &mut found[before..] {
                    named.path = resolve(std::mem::take(&mut named.path), module);
                    named.is_test = next_is_test;
                }
            }
            TokenTree::Punct(punct) => {
                if punct.as_char() == ';' {
                    next_is_test = is_test;
                }
                // A leading `::` starts the path of a crate.
                at += 1;
            }
            TokenTree::Literal(_) => at += 1,
        }
    }
}

fn is_hash(tree: Option<&TokenTree>) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == '#')
}

/// `mod name { … }`: the tokens inside stand one module deeper. Returns how many were passed.
fn inline_module(
    trees: &[TokenTree],
    module: &[String],
    is_test: bool,
    found: &mut Vec<Named>,
) -> usize {
    if let [_, TokenTree::Ident(name), TokenTree::Group(body), ..] = trees {
        let mut inner = module.to_vec();
        inner.push(name.to_string());
        collect(body.stream(), &inner, is_test, found);
        return 3;
    }
    1
}

fn is_path_separator(trees: &[TokenTree]) -> bool {
    matches!(
        trees,
        [TokenTree::Punct(a), TokenTree::Punct(b), ..] if a.as_char() == ':' && b.as_char() == ':'
    )
}

/// Reads one path that starts here, with its `{…}` branches; returns how many tokens it took.
fn path(trees: &[TokenTree], prefix: &[String], found: &mut Vec<Named>) -> usize {
    let mut names = prefix.to_vec();
    let mut at = 0;
    let mut line = 0;
    while let Some(tree) = trees.get(at) {
        match tree {
            TokenTree::Ident(name) => names.push(name.to_string().replacen("r#", "", 1)),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && at > 0 => {
                branches(group.stream(), &names, found);
                return at + 1;
            }
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => break,
        }
        line = if line == 0 {
            tree.span().start().line
        } else {
            line
        };
        at += 1;
        if !is_path_separator(&trees[at..]) {
            break;
        }
        at += 2;
    }
    found.push(Named {
        path: names,
        line,
        is_test: false,
    });
    at.max(1)
}

/// The parts of `{a, b::c, d as e}` below `prefix`.
fn branches(inner: TokenStream, prefix: &[String], found: &mut Vec<Named>) {
    let trees: Vec<TokenTree> = inner.into_iter().collect();
    let is_comma =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    for branch in trees.split(is_comma).filter(|branch| !branch.is_empty()) {
        path(branch, prefix, found);
    }
}

/// Turns `self::…` and `super::…` into `crate::…`.
fn resolve(path: Vec<String>, module: &[String]) -> Vec<String> {
    let mut here: Vec<String> = module.to_vec();
    let mut rest = path.as_slice();
    let mut is_relative = false;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "self" => is_relative = true,
            "super" => {
                is_relative = true;
                here.pop();
            }
            _ => break,
        }
        rest = after;
    }
    if !is_relative || rest.is_empty() {
        return path;
    }
    let mut full = vec!["crate".to_owned()];
    full.append(&mut here);
    full.extend_from_slice(rest);
    full
}
