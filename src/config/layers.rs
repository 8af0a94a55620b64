//! The files that settings are made of: a retrylint.toml, and those that it extends.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ConfigError, LoadError};
use crate::facts::words::in_words;
use crate::read::data::toml;
use crate::source::{FileId, Source, Span};

/// One file of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Where it is; none for a text that was given.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: Arc<str>,
}

impl Layer {
    /// The file, for those that point into it. Its path is shown relative to where the run started if it lies below.
    pub fn source(&self) -> Source {
        let path = self.path.as_deref().unwrap_or(Path::new(super::FILE_NAME));
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
        let shown = path.strip_prefix(&here).unwrap_or(path);
        Source::new(shown.to_string_lossy().replace('\\', "/"), self.text.clone())
    }
}

/// The file at `path` and all that it extends, the outermost first: each says what holds where the next says nothing.
pub fn load(path: &Path) -> Result<Vec<Layer>, LoadError> {
    let text = read(path).map_err(|error| LoadError::Unreadable { path: path.to_path_buf(), error })?;
    let mut layers = vec![Layer { path: Some(path.to_path_buf()), text: text.into() }];
    let mut seen: Vec<PathBuf> = path.canonicalize().into_iter().collect();
    while let Some(inner) = layers.last() {
        let Some(outer) = outer(inner, &mut seen)
            .map_err(|fault| LoadError::Invalid { source_file: inner.source(), errors: vec![fault] })?
        else {
            break;
        };
        layers.push(outer);
    }
    layers.reverse();
    Ok(layers)
}

/// The file that a layer extends. What is wrong with the layer otherwise, its reader says.
fn outer(inner: &Layer, seen: &mut Vec<PathBuf>) -> Result<Option<Layer>, ConfigError> {
    let tree = toml::parse(FileId(0), &inner.text);
    let entry = tree.documents().find_map(|document| document.entry("extend")).filter(|_| tree.errors.is_empty());
    let node = entry.map(|entry| entry.value).filter(|node| node.is_quoted());
    let Some((node, text)) = node.and_then(|node| Some((node, node.text()?))) else { return Ok(None) };
    let path = folder(inner).join(text.trim());
    let fault = |message: String, help: &str| fault(node.span(), message, help);
    let whole = path.canonicalize().map_err(|error| {
        fault(format!("cannot read `{text}`: {}", in_words(&error)), "paths start at this file's folder")
    })?;
    // Nothing else is read in its place: a link must not bring the lines of another file into a log.
    if whole.extension().is_none_or(|extension| extension != "toml") || !whole.is_file() {
        return Err(fault(format!("`{text}` is no TOML file"), "write `extend = \"../retrylint.toml\"`"));
    }
    if seen.contains(&whole) {
        return Err(fault(format!("`{text}` extends this file in turn"), "remove one `extend` of the circle"));
    }
    let read = read(&whole)
        .map_err(|error| fault(format!("cannot read `{text}`: {}", in_words(&error)), "it must be text"))?;
    seen.push(whole.clone());
    Ok(Some(Layer { path: Some(whole), text: read.into() }))
}

fn fault(span: Span, message: String, help: &str) -> ConfigError {
    ConfigError { span, message, help: Some(help.to_string()) }
}

/// The folder that a layer lies in.
pub fn folder(layer: &Layer) -> PathBuf {
    layer.path.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
}

/// The folder below which all layers lie, and from there the folder of each, `/` between its parts.
pub fn bases(layers: &[Layer]) -> (Option<PathBuf>, Vec<String>) {
    let own = layers.last().and_then(|layer| layer.path.as_ref()).and(layers.last().map(folder));
    if layers.len() < 2 {
        return (own, vec![String::new(); layers.len()]);
    }
    let folders: Vec<PathBuf> = layers
        .iter()
        .map(|layer| {
            let folder = folder(layer);
            let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
            folder.canonicalize().unwrap_or(folder)
        })
        .collect();
    let first = folders.first().cloned().unwrap_or_default();
    let base = first.ancestors().find(|base| folders.iter().all(|folder| folder.starts_with(base)));
    let base = base.unwrap_or(Path::new("/")).to_path_buf();
    let below =
        folders.iter().map(|folder| folder.strip_prefix(&base).unwrap_or(folder).to_string_lossy().replace('\\', "/"));
    let below = below.collect();
    (Some(base), below)
}

/// Bytes of a retrylint.toml at most: whatever is larger is something else, a device that never ends for one.
const MOST: u64 = 4 << 20;

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    crate::regular::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            "a retrylint.toml of more than 4 MiB is none",
        ));
    }
    Ok(text)
}
