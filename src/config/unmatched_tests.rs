//! What is said of settings that nothing answers to.

use super::*;

/// A folder that goes away.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, settings: &str, files: &[&str]) -> Scratch {
        let path = std::env::temp_dir().join(format!("retrylint-unmatched-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        for (file, text) in files.iter().map(|file| (*file, "dist/\n")).chain([("retrylint.toml", settings)]) {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Scratch(path.canonicalize().unwrap())
    }

    /// What is said in a run over these paths.
    fn said(&self, paths: &[&str]) -> Vec<String> {
        let config = Config::load(&self.0.join("retrylint.toml"), &[]).unwrap();
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.0.join(path)).collect();
        let folder = format!("{}/", self.0.to_string_lossy());
        let said = config.unmatched(&paths);
        said.iter().map(|line| line.strip_prefix(&*folder).unwrap_or(line).to_string()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_pattern_of_nothing_is_told_with_what_was_meant() {
    let settings = "\
[scan]
include = [\"srevices/**\", \"services/**\"]
[[per-path]]
paths = [\"services/*/src\", \"services/*/test\"]
rules = {}
[[environment]]
name = \"us\"
paths = [\"clusters/us/**\"]
[services.checkout]
paths = [
  \"services/checkout\",
  \"services/chekout/**\",
]
";
    let scratch = Scratch::new("told", settings, &["services/checkout/src/a.go", "clusters/eu/a.yaml"]);
    let expected = [
        "retrylint.toml:2: `srevices/**` of `include` matches no file; did you mean `services/**`?",
        "retrylint.toml:4: `services/*/test` of `[[per-path]]` matches no file; paths start at the folder of this file",
        "retrylint.toml:8: `clusters/us/**` of `[[environment]]` matches no file; paths start at the folder of this file",
        "retrylint.toml:12: `services/chekout/**` of `[services.checkout]` matches no file; did you mean \
         `services/checkout/**`?",
    ];
    assert_eq!(scratch.said(&["."]), expected);
    // The rest of the repository is there, whatever part of it is read.
    assert_eq!(scratch.said(&["services/checkout/src"]), expected);
    // Who is pointed at another folder by `--config` is no part of these settings.
    assert_eq!(scratch.said(&[".", ".."]), [""; 0]);
}

#[test]
fn what_may_come_and_go_is_not_told() {
    let settings = "\
[scan]
exclude = [\"dist/**\", \"sub/dist/x\", \"*.gen.yaml\", \"vendor\", \"third_party/**\", \"a/./b\"]
[[per-path]]
paths = [\"*.py\", \".hidden/**\", \"link/x/**\", \"li*/x/**\"]
rules = {}
[services.web]
paths = [\".\", \"./app\", \"app/\"]
";
    let scratch = Scratch::new("near", settings, &[".gitignore", "a/b/c.py", ".hidden/x", "app/x", "real/x/y"]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("real", scratch.0.join("link")).unwrap();
    let expected =
        "retrylint.toml:2: `third_party/**` of `exclude` matches no file; paths start at the folder of this file";
    assert_eq!(scratch.said(&["."]), [expected]);
}

#[test]
fn what_the_nearer_file_says_instead_is_the_only_thing_told() {
    let inner = "extend = \"outer.toml\"\n[scan]\ninclude = [\"none/**\"]\n[services.web]\npaths = [\"web\"]\n";
    let scratch = Scratch::new("extended", inner, &["web/a.yaml"]);
    let outer = "[scan]\ninclude = [\"gone/**\"]\nexclude = [\"../web/**\"]\n[services.web]\npaths = [\"gone\"]\n";
    std::fs::write(scratch.0.join("outer.toml"), outer).unwrap();
    let expected = [
        "outer.toml:3: `../web/**` of `exclude` matches no file; patterns do not lead out of the folder of this file",
        "retrylint.toml:3: `none/**` of `include` matches no file; paths start at the folder of this file",
    ];
    assert_eq!(scratch.said(&["."]), expected);
}
