//! What one module or block says about names: its imports and its items.

use rustc_hash::{FxHashMap, FxHashSet};

use syn::ext::IdentExt;

use super::LONGEST;

/// What one module, or the block of a function, says about names.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Scope {
    /// Imports by the name that they give.
    pub(super) imports: FxHashMap<String, Path>,
    /// All imports as written, also those without a name.
    pub(super) written: Vec<(Option<String>, Path)>,
    pub(super) globs: Vec<Path>,
    /// Other names for types: `type Client = reqwest::Client`.
    pub(super) aliases: FxHashMap<String, Path>,
    /// Functions, types, constants.
    pub(super) items: FxHashSet<String>,
    /// Modules.
    pub(super) inner: FxHashSet<String>,
    /// `macro_rules!`.
    pub(super) macros: FxHashSet<String>,
    /// Of a block: the path of its function, in which its items stand.
    pub(super) path: String,
}

/// A path as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Path {
    /// Whether it begins with `::`: the first part is a crate.
    pub(in super::super) is_rooted: bool,
    /// Its parts, without type arguments.
    pub(in super::super) parts: Vec<String>,
}

impl Path {
    /// The path of a syntax tree.
    pub(in super::super) fn of(path: &syn::Path) -> Self {
        Path {
            is_rooted: path.leading_colon.is_some(),
            parts: path.segments.iter().map(|segment| text(&segment.ident)).collect(),
        }
    }

    /// As written, without type arguments.
    pub(in super::super) fn text(&self) -> String {
        self.parts.join("::")
    }
}

/// A name without the `r#` of raw identifiers.
pub(in super::super) fn text(ident: &proc_macro2::Ident) -> String {
    ident.unraw().to_string()
}

impl Scope {
    /// That of a block in the function with this path.
    pub(in super::super) fn of_block(path: &str) -> Self {
        Scope { path: path.to_owned(), ..Scope::default() }
    }

    /// Whether it says nothing.
    pub(in super::super) fn is_empty(&self) -> bool {
        let has_items = !(self.aliases.is_empty() && self.items.is_empty() && self.inner.is_empty());
        !has_items && self.written.is_empty() && self.globs.is_empty() && self.macros.is_empty()
    }

    /// Whether what a name means is defined here. `is_path`: more stands behind it, so that it is no function or constant, as
    /// far as there is a choice.
    pub(super) fn has_item(&self, name: &str, is_path: bool) -> bool {
        let is_imported = self.imports.contains_key(name);
        match is_path {
            true => self.inner.contains(name) || !is_imported && self.items.contains(name),
            false => self.items.contains(name) || !is_imported && self.inner.contains(name),
        }
    }

    /// Whether it knows a name by itself.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.leads_to(name).is_some() || self.items.contains(name) || self.inner.contains(name)
    }

    /// What an import or another name of a type leads to.
    pub(super) fn leads_to(&self, name: &str) -> Option<&Path> {
        self.aliases.get(name).or_else(|| self.imports.get(name))
    }

    /// What an item says: an import, a definition. Inline modules count by their name only.
    pub(in super::super) fn add(&mut self, item: &syn::Item) {
        use syn::Item;
        match item {
            Item::Use(one) => {
                let mut path = Path { is_rooted: one.leading_colon.is_some(), parts: Vec::new() };
                self.tree(&one.tree, &mut path);
            }
            Item::ExternCrate(one) if one.ident == "self" => {
                if let Some((_, name)) = &one.rename {
                    self.bind(Some(text(name)), Path { is_rooted: false, parts: vec!["crate".to_owned()] });
                }
            }
            Item::ExternCrate(one) => {
                let name = one.rename.as_ref().map_or_else(|| text(&one.ident), |(_, name)| text(name));
                let path = Path { is_rooted: true, parts: vec![text(&one.ident)] };
                self.bind((name != "_").then_some(name), path);
            }
            Item::Macro(one) => match &one.ident {
                Some(name) => {
                    self.macros.insert(text(name));
                }
                None => super::super::lower::defined_in(&one.mac).iter().for_each(|name| {
                    self.items.insert(text(name));
                }),
            },
            // Another name for a type is like an import.
            Item::Type(one) if one.generics.params.is_empty() => {
                let name = text(&one.ident);
                match &*one.ty {
                    syn::Type::Path(ty) if ty.qself.is_none() && !ty.path.is_ident(&one.ident) => {
                        self.aliases.insert(name, Path::of(&ty.path));
                    }
                    _ => {
                        self.items.insert(name);
                    }
                }
            }
            Item::Mod(one) => {
                self.inner.insert(text(&one.ident));
            }
            _ => {
                if let Some(name) = defined(item) {
                    self.items.insert(text(name));
                }
            }
        }
    }

    fn tree(&mut self, mut tree: &syn::UseTree, path: &mut Path) {
        use syn::UseTree;
        let depth = path.parts.len();
        while let UseTree::Path(step) = tree {
            if path.parts.len() < LONGEST {
                path.parts.push(text(&step.ident));
            }
            tree = &step.tree;
        }
        if path.parts.len() < LONGEST {
            self.end(tree, path);
        }
        path.parts.truncate(depth);
    }

    fn end(&mut self, tree: &syn::UseTree, path: &mut Path) {
        use syn::UseTree;
        match tree {
            UseTree::Path(_) => {}
            UseTree::Name(leaf) => self.leaf(text(&leaf.ident), None, path),
            UseTree::Rename(leaf) => self.leaf(text(&leaf.ident), Some(text(&leaf.rename)), path),
            UseTree::Glob(_) => self.globs.push(path.clone()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, path)),
        }
    }

    fn leaf(&mut self, last: String, alias: Option<String>, path: &Path) {
        let mut path = path.clone();
        let is_group_itself = last == "self" && !path.parts.is_empty();
        if !is_group_itself {
            path.parts.push(last);
        }
        let name = alias.or_else(|| path.parts.last().cloned()).filter(|name| name != "_");
        self.bind(name, path);
    }

    fn bind(&mut self, name: Option<String>, path: Path) {
        if let Some(name) = &name {
            self.imports.insert(name.clone(), path.clone());
        }
        self.written.push((name, path));
    }
}

/// The name that an item defines.
pub(in super::super) fn defined(item: &syn::Item) -> Option<&syn::Ident> {
    use syn::Item;
    Some(match item {
        Item::Const(one) => &one.ident,
        Item::Enum(one) => &one.ident,
        Item::Fn(one) => &one.sig.ident,
        Item::Mod(one) => &one.ident,
        Item::Static(one) => &one.ident,
        Item::Struct(one) => &one.ident,
        Item::Trait(one) => &one.ident,
        Item::TraitAlias(one) => &one.ident,
        Item::Type(one) => &one.ident,
        Item::Union(one) => &one.ident,
        _ => return None,
    })
}
