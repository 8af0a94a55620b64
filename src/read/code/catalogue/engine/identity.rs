//! Whether a name in code really is a library's (rust-crates.md section 0): by its full path, and by what the package of the
//! code depends on.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::format::{Library, Shape, behind};
use super::super::index::{Entry, How, last};
use super::Engine;
use super::spot::Spot;
use crate::facts::Confidence;
use crate::read::code::packages::{Package, Version};
use crate::read::code::tree::{Id, Kind, Name, Unit};

/// Something in code that is of a shape.
#[derive(Clone, Debug)]
pub(super) struct Found<'p> {
    pub(super) library: &'p Arc<Library>,
    pub(super) shape: &'p Shape,
    /// The version that is in use; none where no lock file tells, and for the newest.
    pub(super) version: Option<Version>,
    /// How sure it is that it is the library.
    pub(super) confidence: Confidence,
    /// Whether the receiver of a method stands among the arguments: `Trait::method(receiver, argument)`.
    pub(super) is_by_path: bool,
}

impl<'p> Engine<'p> {
    /// What a node is, by itself.
    pub(super) fn found(&self, place: &Spot) -> Option<Found<'p>> {
        let unit = &place.unit;
        match place.kind() {
            Kind::Call { of, .. } => {
                let name = unit.callee(*of)?;
                self.named(place, name, &[How::Call, How::MethodOf])
            }
            Kind::Record { of: Some(name), .. } => self.named(place, name, &[How::Record]),
            Kind::Name(name) => self.named(place, name, &[How::Constant]),
            Kind::Method { on, name, .. } => self.method(place, *on, name),
            _ => None,
        }
    }

    /// What a mark of a function is: with or without arguments.
    pub(super) fn mark(&self, mark: &Spot) -> Option<Found<'p>> {
        match mark.kind() {
            Kind::Call { of, .. } => self.named(mark, mark.unit.callee(*of)?, &[How::Mark]),
            Kind::Name(name) => self.named(mark, name, &[How::Mark]),
            _ => None,
        }
    }

    fn named(&self, place: &Spot, name: &Name, hows: &[How]) -> Option<Found<'p>> {
        let entries = self.catalogue.paths(name.last());
        // The last part may be an alias: then only the full path knows it.
        let by_full = name.full.as_deref().map(last).filter(|part| *part != name.last());
        let all = entries.iter().chain(by_full.map_or(&[][..], |part| self.catalogue.paths(part)));
        let wanted = all.filter(|entry| hows.contains(&entry.how)).collect::<Vec<_>>();
        let by = |path: &str| wanted.iter().find_map(|entry| self.identify(&place.unit, entry, path));
        let Some(full) = &name.full else {
            return if wanted.is_empty() {
                None
            } else {
                self.full_paths(place, name).iter().find_map(|path| by(path))
            };
        };
        // Constructors of all types have the same few names: what the project hands on is only asked for where the type fits.
        let type_of = |path: &str| {
            let (before, _) = path.rsplit_once("::")?;
            Some(last(before).to_string()).filter(|part| part.starts_with(char::is_uppercase))
        };
        let own = type_of(full);
        let fits = |entry: &&Entry| type_of(&entry.path) == own;
        by(full).or_else(|| {
            let may_be_handed_on = wanted.iter().any(fits);
            let outside = may_be_handed_on.then(|| self.project.outside(&place.unit, full)).flatten()?;
            by(&outside)
        })
    }

    /// What the name may be in full: through the imports, through what the project hands on, through modules of which
    /// everything is imported.
    pub(super) fn full_paths(&self, place: &Spot, name: &Name) -> Vec<String> {
        match &name.full {
            Some(full) => {
                let outside = self.project.outside(&place.unit, full).map(|path| path.to_string());
                std::iter::once(full.to_string()).chain(outside).collect()
            }
            None => {
                let globs = place.unit.globs.iter().take(64);
                globs.map(|module| format!("{module}::{}", name.text)).collect()
            }
        }
    }

    fn method(&self, place: &Spot, on: Id, name: &str) -> Option<Found<'p>> {
        let entries = self.catalogue.methods(name);
        // What says more of its receiver comes first.
        let of_receiver = entries.iter().filter(|entry| entry.how == How::Method);
        let of_scope = entries.iter().filter(|entry| entry.how == How::MethodOf);
        of_receiver
            .filter_map(|entry| self.by_receiver(place, entry, on))
            .next()
            .or_else(|| of_scope.filter_map(|entry| self.by_scope(&place.unit, entry)).next())
    }

    /// A method by what stands in its receiver.
    fn by_receiver(&self, place: &Spot, entry: &Entry, on: Id) -> Option<Found<'p>> {
        let (library, shape) = self.catalogue.get(entry)?;
        let (version, confidence) = self.dependency(&place.unit, library, "")?;
        if !shape.on.is_empty() && self.on(&place.at(on), library, shape).is_none() {
            return None;
        }
        Some(Found { library, shape, version, confidence, is_by_path: false })
    }

    /// A method of a trait, or an extension method: what it belongs to must be imported.
    fn by_scope(&self, unit: &Arc<Unit>, entry: &Entry) -> Option<Found<'p>> {
        let (owner, _) = entry.path.rsplit_once("::")?;
        let (library, _) = self.catalogue.get(entry)?;
        let real = |path: &str| -> Vec<String> { self.spellings(unit, library, path).map(Cow::into_owned).collect() };
        let is_imported = unit.imports.iter().filter(|import| last(&import.full) == last(owner)).any(|import| {
            real(&import.full).iter().any(|path| path == owner)
                || self.project.outside(unit, &import.full).is_some_and(|path| real(&path).iter().any(|p| p == owner))
        });
        let module = owner.rsplit_once("::").map_or(owner, |(module, _)| module);
        let is_among = || {
            unit.globs.iter().take(64).any(|glob| {
                real(glob).iter().any(|path| path == module || path == owner)
                    || self
                        .project
                        .outside(unit, &format!("{glob}::{}", last(owner)))
                        .is_some_and(|path| *path == *owner)
            })
        };
        (is_imported || is_among()).then(|| self.identify(unit, entry, &entry.path)).flatten()
    }

    /// The entry, if the path is its own and the package is what it is known for.
    fn identify(&self, unit: &Unit, entry: &Entry, path: &str) -> Option<Found<'p>> {
        let (library, shape) = self.catalogue.get(entry)?;
        if !self.spellings(unit, library, path).any(|path| *path == *entry.path) {
            return None;
        }
        let (version, mut confidence) = self.dependency(unit, library, path)?;
        if version.is_none() && !shape.when.is_empty() && !library.packages.is_empty() {
            confidence = confidence.min(Confidence::Medium);
        }
        Some(Found { library, shape, version, confidence, is_by_path: entry.how == How::MethodOf })
    }

    /// A path as the library's file may have it: as it is, with a renamed package under its own name, with the package's own
    /// name for `crate`, and each of these through the re-exports that the file names.
    fn spellings<'a>(
        &self,
        unit: &Unit,
        library: &'a Library,
        path: &'a str,
    ) -> impl Iterator<Item = Cow<'a, str>> + use<'a, 'p> {
        let package = self.package(unit);
        let (first, rest) = path.split_once("::").unwrap_or((path, ""));
        let renamed = package.and_then(|package| {
            let name: Cow<'_, str> = match (first, package.dependencies.get(first)) {
                ("crate", _) => Cow::Borrowed(&*package.library_name),
                (_, Some(dependency)) => Cow::Owned(dependency.package.replace('-', "_")),
                _ => return None,
            };
            (name != first).then(|| Cow::Owned(format!("{name}::{rest}")))
        });
        std::iter::once(Cow::Borrowed(path)).chain(renamed).flat_map(|path: Cow<'a, str>| {
            let aliases = library.aliases.iter();
            let through: Vec<Cow<'a, str>> = aliases
                .filter_map(|(alias, real)| Some(Cow::Owned(format!("{real}{}", behind(&path, alias)?))))
                .collect();
            std::iter::once(path).chain(through)
        })
    }

    fn package(&self, unit: &Unit) -> Option<&'p Package> {
        unit.package.and_then(|id| self.project.packages.get(id))
    }

    /// Whether the unit's package may use the library, which version, and how sure that is. None: it cannot be the library.
    fn dependency(&self, unit: &Unit, library: &Library, path: &str) -> Option<(Option<Version>, Confidence)> {
        if library.packages.is_empty() {
            return Some((None, Confidence::High));
        }
        let Some(package) = self.package(unit) else { return Some((None, Confidence::Medium)) };
        let first = path.split("::").next().unwrap_or_default();
        let dependency = match package.dependencies.get(first) {
            Some(dependency) => Some(dependency).filter(|dependency| library.is(dependency)),
            None => package.dependencies.values().find(|dependency| library.is(dependency)),
        }?;
        Some((dependency.version.filter(|_| dependency.locked), Confidence::High))
    }
}
