//! What git knows of a revision. git is run for nothing else.
//!
//! Only objects are read (`rev-parse`, `merge-base`, `ls-tree`, `cat-file`): none of these commands looks at the index or
//! at the files of the work tree, so that no hook, file-system monitor, filter, external diff or text conversion that a
//! repository configures is ever run. What a partial clone lacks is not fetched.

use std::collections::{BTreeMap, HashMap};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Bytes that are read of a revision at most.
const MOST: u64 = 1 << 30;

/// A repository that git knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Git {
    /// The root of the work tree, links resolved.
    root: PathBuf,
}

/// A commit: its object id, and nothing that a user wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit(String);

/// The object id of a file's contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blob(String);

/// What a commit holds, by paths from the root with `/` between the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Its files, and their contents.
    pub files: BTreeMap<String, Blob>,
    /// Its submodules, and the commit of each, which is in the submodule's own repository.
    pub submodules: BTreeMap<String, Commit>,
}

/// Why a revision cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("cannot run git: {0}")]
    NotRun(String),
    /// The folder is in no repository, or git does not trust it.
    #[error("{} is not a git repository that can be read: {message}", folder.display())]
    NoRepository {
        /// Where it was looked for.
        folder: PathBuf,
        /// What git says.
        message: String,
    },
    /// No commit has this name.
    #[error("git knows no revision `{revision}`")]
    Unknown {
        /// As asked for.
        revision: String,
        /// Whether the repository lacks its older history.
        is_shallow: bool,
    },
    /// Two commits have nothing in common.
    #[error("`{revision}` and HEAD have no common ancestor here")]
    NoMergeBase {
        /// As asked for.
        revision: String,
        /// Whether the repository lacks its older history.
        is_shallow: bool,
    },
    /// git said something that cannot be.
    #[error("cannot read revision `{revision}`: {message}")]
    Failed {
        /// As asked for.
        revision: String,
        /// What git says.
        message: String,
    },
}

impl GitError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            GitError::NotRun(_) => "install git, or leave out `--since`",
            GitError::NoRepository { message, .. } if message.contains("dubious ownership") => {
                "it belongs to somebody else; if you trust it, `git config --global --add safe.directory FOLDER` says so"
            }
            GitError::NoRepository { .. } => "`--since` needs a work tree of git; a baseline does not",
            GitError::Unknown { is_shallow: true, .. } | GitError::NoMergeBase { is_shallow: true, .. } => {
                "this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` where a workflow checks it out"
            }
            GitError::Unknown { .. } => {
                "`git branch --all` and `git tag` list names; a remote one may need `git fetch`"
            }
            GitError::NoMergeBase { .. } => "leave out the `...` to compare with the revision itself",
            GitError::Failed { .. } => "`git fsck` says whether the repository is whole",
        }
    }
}

impl Git {
    /// The repository that a folder lies in.
    ///
    /// # Errors
    /// If there is no git, no repository, or only a bare one.
    pub fn of(folder: &Path) -> Result<Git, GitError> {
        let output = run(folder, &["rev-parse", "--show-toplevel"])?;
        let none = |message: String| GitError::NoRepository { folder: folder.to_path_buf(), message };
        if !output.status.success() {
            return Err(none(complaint(&output)));
        }
        let root = path(output.stdout.trim_ascii_end());
        match root.filter(|root| !root.as_os_str().is_empty()).map(|root| root.canonicalize()) {
            Some(Ok(root)) => Ok(Git { root }),
            _ => Err(none("it has no work tree".into())),
        }
    }

    /// The root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit that a revision names. `main...` is where HEAD left `main`, as in `git diff main...`.
    ///
    /// # Errors
    /// If git knows none, or what is asked for is an option of git.
    pub fn commit(&self, revision: &str) -> Result<Commit, GitError> {
        let unknown = || GitError::Unknown { revision: revision.to_string(), is_shallow: self.is_shallow() };
        let (name, is_fork) = match revision.strip_suffix("...") {
            Some(name) => (name, true),
            None => (revision, false),
        };
        // No revision begins with `-`: to git that would be an option.
        if name.is_empty() || name.starts_with('-') || name.contains(|c: char| c.is_control()) {
            return Err(GitError::Unknown { revision: revision.to_string(), is_shallow: false });
        }
        let commit =
            self.id(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?.ok_or_else(unknown)?;
        if !is_fork {
            return Ok(Commit(commit));
        }
        let none = || GitError::NoMergeBase { revision: name.to_string(), is_shallow: self.is_shallow() };
        Ok(Commit(self.id(&["merge-base", "HEAD", &commit])?.ok_or_else(none)?))
    }

    /// The one object id that a command answers with; none if it fails.
    fn id(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = run(&self.root, arguments)?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
        let is_id = output.status.success() && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(is_id.then_some(text))
    }

    fn is_shallow(&self) -> bool {
        let output = run(&self.root, &["rev-parse", "--is-shallow-repository"]);
        output.is_ok_and(|output| output.stdout.trim_ascii() == b"true")
    }

    /// The files and submodules of a commit. Links are left out, and so are names that are no UTF-8.
    ///
    /// # Errors
    /// If the commit is not whole.
    pub fn tree(&self, commit: &Commit) -> Result<Tree, GitError> {
        let output = run(&self.root, &["ls-tree", "-r", "-z", "--full-tree", &commit.0])?;
        if !output.status.success() {
            return Err(GitError::Failed { revision: commit.0.clone(), message: complaint(&output) });
        }
        let entries = output.stdout.split(|byte| *byte == 0).filter_map(|entry| {
            // `100644 blob 0123…\tpath`: with -z the path is written as it is.
            let (head, path) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
            let mut head = head.split(' ');
            let (mode, kind, id) = (head.next()?, head.next()?, head.next()?);
            Some((mode, kind, id.to_string(), path.to_string()))
        });
        let mut tree = Tree::default();
        for (mode, kind, id, path) in entries {
            match kind {
                "blob" if mode.starts_with("100") => drop(tree.files.insert(path, Blob(id))),
                "commit" => drop(tree.submodules.insert(path, Commit(id))),
                _ => {}
            }
        }
        Ok(tree)
    }

    /// The contents of blobs, as they are stored.
    ///
    /// # Errors
    /// If one is not there.
    pub fn contents(&self, blobs: &[Blob]) -> Result<HashMap<Blob, Vec<u8>>, GitError> {
        let mut contents = HashMap::new();
        if blobs.is_empty() {
            return Ok(contents);
        }
        let mut child = command(&self.root, &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| not_run(&error))?;
        let ids: String = blobs.iter().map(|blob| format!("{}\n", blob.0)).collect();
        let mut stdin = child.stdin.take();
        // It answers while it is asked: who only asked would wait for it for ever.
        let asking = std::thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(ids.as_bytes())));
        let mut answer = Vec::new();
        let read = child.stdout.take().map(|stdout| stdout.take(MOST).read_to_end(&mut answer));
        let _ = (asking.join(), child.wait());
        let mut rest = answer.as_slice();
        for blob in blobs {
            let failed = |message: &str| GitError::Failed { revision: blob.0.clone(), message: message.to_string() };
            if !matches!(read, Some(Ok(_))) {
                return Err(failed("git stopped answering"));
            }
            // `0123… blob 42\n`, the contents, `\n`.
            let (content, behind) = content(rest).ok_or_else(|| failed("it is not in this clone"))?;
            contents.insert(blob.clone(), content.to_vec());
            rest = behind;
        }
        Ok(contents)
    }
}

/// The first answer of `cat-file --batch`, and what comes behind it.
fn content(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = memchr::memchr(b'\n', answer)?;
    let head = std::str::from_utf8(answer.get(..line)?).ok()?;
    let size: usize = head.rsplit_once(" blob ")?.1.parse().ok()?;
    let start = line + 1;
    let end = start.checked_add(size)?;
    Some((answer.get(start..end)?, answer.get(end + 1..)?))
}

/// git in a folder, with everything off that would run or fetch something, and without what a hook that runs us has set.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).arg("--no-pager");
    for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"] {
        git.args(["-c", setting]);
    }
    git.args(arguments);
    for name in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_EXTERNAL_DIFF",
    ] {
        git.env_remove(name);
    }
    git.envs([("GIT_OPTIONAL_LOCKS", "0"), ("GIT_NO_LAZY_FETCH", "1"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")]);
    git
}

fn run(folder: &Path, arguments: &[&str]) -> Result<Output, GitError> {
    command(folder, arguments).stdin(Stdio::null()).output().map_err(|error| not_run(&error))
}

fn not_run(error: &std::io::Error) -> GitError {
    GitError::NotRun(match error.kind() {
        ErrorKind::NotFound => "it is not installed, or not on the PATH".into(),
        _ => crate::facts::words::in_words(error),
    })
}

/// The first line that git complains with, without what it puts in front.
fn complaint(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().next().unwrap_or_default();
    line.trim_start_matches("fatal: ").trim_end_matches('.').to_string()
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}
