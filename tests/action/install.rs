//! Which program the action runs: the released one if it is what this tag lists, one built from the action's checkout where there
//! is none, and never one that cannot be verified.

use std::path::PathBuf;
use std::process::Command;

use crate::folder::Folder;
use crate::runner::{Job, build_of, commands, executable, outputs, root};

const REPOSITORY: &str = "owner/retrylint";
/// A program that tells that it ran.
const PROGRAM: &str = "#!/usr/bin/env bash\necho \"retrylint 0.1.0, released\"\ntouch \"$RUNNER_TEMP/ran\"\n";

/// An action's checkout at the tag of a release, whose archives lie in a folder.
pub struct Released {
    pub folder: Folder,
    action: PathBuf,
    variables: Vec<(&'static str, String)>,
    programs: Vec<(&'static str, String)>,
    without: Vec<&'static str>,
}

/// What the step did.
pub struct Installed {
    pub status: i32,
    pub log: String,
    pub binary: Option<String>,
    pub ran: bool,
}

impl Released {
    /// The release of this version, made by the release's own scripts.
    pub fn new(name: &str) -> Self {
        let folder = Folder::new(name, &[("program", PROGRAM)]);
        executable(&folder.path("program"));
        let action = folder.path("action-checkout");
        copy(&action);
        let downloads = folder.path(&format!("server/{REPOSITORY}/releases/download/v0.1.0"));
        std::fs::create_dir_all(downloads.parent().unwrap()).unwrap();
        let server = format!("file://{}", folder.path("server").display());
        for target in crate::release::TARGETS {
            let done = crate::release::script(
                "package.sh",
                &action,
                &[("VERSION", "0.1.0"), ("TARGET", target), ("PROGRAM", folder.path("program").to_str().unwrap())],
            );
            assert_eq!(done.0, 0, "{}", done.1);
        }
        let variables = [("VERSION", "0.1.0"), ("GITHUB_SERVER_URL", &server), ("GITHUB_REPOSITORY", REPOSITORY)];
        let done = crate::release::script("describe.sh", &action, &variables);
        assert_eq!(done.0, 0, "{}", done.1);
        std::fs::rename(action.join("dist"), downloads).unwrap();
        Released {
            folder,
            action,
            variables: vec![("GITHUB_SERVER_URL", server)],
            programs: vec![("cargo", build_of("cp \"$GITHUB_ACTION_PATH/../program\""))],
            without: Vec::new(),
        }
    }

    pub fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_string()));
        self
    }

    /// A `gh` that knows attestations and says what it was asked, with this exit status.
    fn gh(mut self, status: i32) -> Self {
        let script =
            format!("if [ \"$3\" = --help ]; then echo --source-ref; exit 0; fi\necho \"gh $*\" >&2\nexit {status}");
        self.programs.push(("gh", script));
        self.variables.push(("GH_TOKEN", "a-token".into()));
        self
    }

    fn without(mut self, program: &'static str) -> Self {
        self.without.push(program);
        self
    }

    fn archive(&self, version: &str) -> PathBuf {
        let name = format!("v{version}/retrylint-{version}-x86_64-unknown-linux-musl.tar.gz");
        self.folder.path(&format!("server/{REPOSITORY}/releases/download")).join(name)
    }

    /// Another release beside it, of which this tag knows nothing.
    fn also(self, version: &str) -> Self {
        let archive = self.archive(version);
        std::fs::create_dir_all(archive.parent().unwrap()).unwrap();
        let (status, log) = crate::release::script(
            "package.sh",
            &self.action,
            &[
                ("VERSION", version),
                ("TARGET", "x86_64-unknown-linux-musl"),
                ("PROGRAM", self.folder.path("program").to_str().unwrap()),
            ],
        );
        assert_eq!(status, 0, "{log}");
        std::fs::rename(self.action.join("dist").join(archive.file_name().unwrap()), archive).unwrap();
        self
    }

    pub fn install(&self, version: &str) -> Installed {
        let _ = std::fs::remove_dir_all(self.folder.path("bin"));
        let _ = std::fs::remove_dir_all(self.folder.path("temp"));
        let mut job = Job::new(&self.folder);
        job.action = self.action.clone();
        for (name, value) in &self.variables {
            job.variables.insert(name, value.clone());
        }
        for (name, script) in &self.programs {
            job.program(name, script);
        }
        for program in &self.without {
            job.without(program);
        }
        let file = self.folder.path("output");
        std::fs::write(&file, "").unwrap();
        let mut command = job.shell("\"$BASH\" \"$GITHUB_ACTION_PATH/action/install.sh\"");
        let output = command.env("INPUT_VERSION", version).env("GITHUB_OUTPUT", &file).output().unwrap();
        Installed {
            status: output.status.code().unwrap(),
            log: String::from_utf8(output.stdout).unwrap(),
            binary: outputs(&std::fs::read_to_string(&file).unwrap()).remove("binary"),
            ran: self.folder.path("temp/ran").exists(),
        }
    }
}

impl Installed {
    /// The released program is the one for the next step.
    #[track_caller]
    pub fn is_released(&self) {
        assert_eq!(self.status, 0, "{}", self.log);
        assert!(
            self.ran && self.log.contains("retrylint 0.1.0, released\n") && !self.log.contains("cargo in"),
            "{}",
            self.log
        );
        assert!(std::path::Path::new(self.binary.as_ref().unwrap()).is_file());
    }

    /// It was built from the action's checkout, for this reason.
    #[track_caller]
    fn is_built(&self, reason: &str) {
        assert_eq!(self.status, 0, "{}", self.log);
        let said = format!("Building retrylint from the action's own checkout: {reason}\ncargo in ");
        assert!(self.log.contains(&said), "{}", self.log);
        assert!(self.log.contains("action-checkout: build --release --locked --target-dir "), "{}", self.log);
        assert!(self.binary.as_ref().unwrap().ends_with("/target/release/retrylint"));
    }

    /// Nothing was run, and the job ends.
    #[track_caller]
    fn is_refused(&self, said: &str) {
        assert_eq!((self.status, &self.binary, self.ran), (2, &None, false), "{}", self.log);
        let command = commands(&self.log).pop().unwrap();
        let start = format!("::error title=retrylint::{said}");
        assert!(command.starts_with(&start) && command.contains("%0Ahelp: "), "{}", self.log);
    }
}

/// What of this checkout an action's checkout needs here.
pub fn copy(action: &std::path::Path) {
    std::fs::create_dir_all(action).unwrap();
    let files = ["action", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"].map(|file| root().join(file));
    assert!(Command::new("cp").arg("-r").args(files).arg(action).status().unwrap().success());
}

#[test]
fn the_released_program_is_taken_if_it_is_the_listed_one() {
    let released = Released::new("action-released");
    for version in ["", "0.1.0", "v0.1.0"] {
        released.install(version).is_released();
    }
}

#[test]
fn a_program_that_is_not_the_listed_one_is_never_run() {
    let released = Released::new("action-mismatch");
    let other = std::fs::read(released.archive("0.1.0")).unwrap();
    let released = released.also("0.2.0");
    // A whole archive, as good as the other; only not the one.
    std::fs::write(released.archive("0.1.0"), [&other[..], b"\n"].concat()).unwrap();
    let installed = released.install("");
    installed.is_refused(
        "retrylint-0.1.0-x86_64-unknown-linux-musl.tar.gz is not the one that was released: its SHA-256 is ",
    );
    assert!(!installed.log.contains("cargo in"), "{}", installed.log);
    std::fs::write(released.archive("0.1.0"), other).unwrap();
    released.install("").is_released();
}

#[test]
fn where_nothing_can_be_downloaded_it_is_built() {
    let released = Released::new("action-offline");
    std::fs::remove_file(released.archive("0.1.0")).unwrap();
    released.install("").is_built("retrylint-0.1.0-x86_64-unknown-linux-musl.tar.gz could not be downloaded");
    released.without("cargo").install("").is_refused(
        "there is no released program to run here (retrylint-0.1.0-x86_64-unknown-linux-musl.tar.gz could not be downloaded), \
         and no cargo to build one",
    );
    let released = Released::new("action-no-curl").without("curl");
    released.install("").is_built("retrylint-0.1.0-x86_64-unknown-linux-musl.tar.gz could not be downloaded");
}

#[test]
fn a_system_without_a_released_program_builds_it() {
    let released = Released::new("action-system").variable("RUNNER_ARCH", "ARM");
    released.install("").is_built("release 0.1.0 has none for Linux on ARM");
}

#[test]
fn the_source_is_built_where_that_is_asked_for_or_nothing_is_released() {
    let released = Released::new("action-source");
    released.install("source").is_built("version: source");
    std::fs::write(released.folder.path("action-checkout/Cargo.toml"), "version = \"0.2.0\"\n").unwrap();
    released.install("").is_built("action/release is about another version than this checkout");
    std::fs::remove_file(released.folder.path("action-checkout/action/release")).unwrap();
    released.install("").is_built("this commit of the action belongs to no release");
    released
        .install("0.1.0")
        .is_refused("`version: 0.1.0` asks for a release, and this commit of the action belongs to none");
}

#[test]
fn an_attestation_is_verified_where_gh_is() {
    let asked = "--repo owner/retrylint --signer-workflow owner/retrylint/.github/workflows/release.yml \
                 --source-ref refs/tags/build-v0.1.0 --deny-self-hosted-runners\n";
    let released = Released::new("action-attested").gh(0);
    let installed = released.install("");
    installed.is_released();
    assert!(installed.log.contains("gh attestation verify ") && installed.log.contains(asked), "{}", installed.log);
    Released::new("action-unattested").gh(1).install("").is_refused(
        "retrylint-0.1.0-x86_64-unknown-linux-musl.tar.gz has the listed SHA-256, but no attestation of owner/retrylint's",
    );
    // A server of one's own knows nothing of it: the checksum it is.
    let elsewhere = Released::new("action-elsewhere").gh(1).variable("GITHUB_SERVER_URL", "https://example.com");
    elsewhere.install("").is_released();
}

#[test]
fn another_release_needs_its_attestation() {
    let refused = Released::new("action-other").also("0.2.0");
    refused
        .install("0.2.0")
        .is_refused("retrylint 0.2.0 cannot be verified: this tag lists the checksums of 0.1.0 only");
    let refused = refused.gh(1);
    refused.install("0.2.0").is_refused(
        "retrylint-0.2.0-x86_64-unknown-linux-musl.tar.gz has no attestation of owner/retrylint's release workflow for version 0.2.0",
    );
    refused.install("0.3.0").is_refused("file://");
    let released = Released::new("action-other-attested").also("0.2.0").gh(0);
    let installed = released.install("v0.2.0");
    installed.is_released();
    assert!(installed.log.contains("--source-ref refs/tags/build-v0.2.0 "), "{}", installed.log);
}

#[test]
fn what_is_no_version_is_refused() {
    let released = Released::new("action-version");
    for version in ["latest", "1", "0.1", "../0.1.0", "0.1.0/..", "$(touch pwned)", "0.1.0\n0.2.0", "main"] {
        released.install(version).is_refused("`version` is no version: ");
        assert!(!released.folder.path("workspace/pwned").exists());
    }
}

/// A program that does not run on this machine is found out here, not by the next step.
#[test]
fn a_program_that_does_not_run_is_told() {
    let mut released = Released::new("action-broken");
    released.programs = vec![("cargo", build_of("touch"))];
    let installed = released.install("source");
    installed.is_refused("the program that was installed does not run here: retrylint");
}
