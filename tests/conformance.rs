//! Whether libraries do what `rules/libraries/*.toml` says of them: every `[[example]]` becomes a program that uses the real
//! library, and what it measures is compared with what the example expects. Building them needs the registry and some minutes,
//! so it is done where `RETRYLINT_CONFORMANCE` names a folder for them; without it, it is only seen to that programs can be made.
//!
//! An example is a module with a function `example`, asynchronous or not, which may take the address of a server, `url: &str`.
//! In scope are `op`, an asynchronous operation that fails with `Failed`; `blocking_op`, the same for threads; and
//! `hanging_op`, which never ends. All of them count; the twelfth try succeeds, so that what never gives up comes to an end.
//! `measure` says how it is run:
//! `clock = "real"` where time must really pass, `server` for what the server does (a status, `hang`, `reset`), `tries` where
//! the count of requests follows from more than one policy, and `elapsed` for the whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use retrylint::read::data::duration::{Syntax, parse as duration};
use toml::{Table, Value};

const HARNESS: &str = include_str!("conformance/harness.rs");
const DEPENDENCIES: &str = include_str!("conformance/dependencies.toml");
/// Runs of an example whose delays are spread: one of them comes within a tenth of either end, but for one time in a billion.
const RUNS: u64 = 200;
/// Tries after which the operation succeeds; the harness has the same number.
const ENOUGH: u64 = 12;

/// One example.
struct Program {
    library: String,
    /// The module that it becomes.
    module: String,
    /// The packages that it is built with.
    set: String,
    code: String,
    measure: Table,
    expect: Vec<Table>,
}

impl Program {
    /// The policy that it is about; none if it is about several.
    fn policy(&self) -> Option<&Table> {
        self.expect.first().filter(|_| self.expect.len() == 1)
    }

    fn is_spread(&self) -> bool {
        self.expect.iter().any(|policy| policy.get("jitter").is_some_and(|jitter| jitter.as_str() != Some("none")))
    }

    /// Sockets, threads that sleep, and clocks of the system take real time.
    fn takes_time(&self) -> bool {
        self.measure.contains_key("clock") || self.measure.contains_key("server") || !self.is_async()
    }

    fn is_async(&self) -> bool {
        self.code.contains("async fn example(")
    }

    /// The module's text.
    fn text(&self) -> String {
        let takes_url = !self.code.contains("fn example()");
        let call = format!("example({})", if takes_url { "&url" } else { "" });
        let run = if self.is_async() {
            format!("let _ = {call}.await;")
        } else {
            format!("let _ = tokio::task::spawn_blocking(move || {{ let _ = {call}; }}).await;")
        };
        format!(
            "#![allow(warnings)]\nuse crate::harness::*;\n{}\n\
             pub fn run(url: String) -> std::pin::Pin<Box<dyn std::future::Future<Output = ()>>> {{\n    \
             Box::pin(async move {{ {run} }})\n}}\n",
            self.code
        )
    }

    /// Its line in `main`.
    fn entry(&self) -> String {
        let server = match self.measure.get("server").and_then(Value::as_str) {
            None => "None".to_string(),
            Some("hang") => "Hang".to_string(),
            Some("reset") => "Reset".to_string(),
            Some(status) => format!("Status({status})"),
        };
        let runs = if self.is_spread() { RUNS } else { 5 };
        format!(
            "Example {{ name: \"{0}\", server: Server::{server}, real: {1}, runs: {runs}, run: {0}::run }},",
            self.module,
            self.takes_time()
        )
    }
}

/// All examples in Rust.
fn programs() -> Vec<Program> {
    let mut all = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/libraries");
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap) {
        if !entry.file_type().is_file() {
            continue;
        }
        let file: Table = std::fs::read_to_string(entry.path()).unwrap().parse().unwrap();
        if file["language"].as_str() != Some("rust") {
            continue;
        }
        let library = file["name"].as_str().unwrap();
        let examples = file.get("example").and_then(Value::as_array);
        for (i, example) in examples.into_iter().flatten().enumerate() {
            all.push(Program {
                library: library.to_string(),
                module: format!("{}_{}", library.replace('-', "_"), i + 1),
                set: match example.get("version").and_then(Value::as_str) {
                    Some(version) => format!("{library} {version}"),
                    None => "newest".to_string(),
                },
                code: example["code"].as_str().unwrap().to_string(),
                measure: example.get("measure").and_then(Value::as_table).cloned().unwrap_or_default(),
                expect: match &example["expect"] {
                    Value::Array(all) => all.iter().map(|one| one.as_table().unwrap().clone()).collect(),
                    one => vec![one.as_table().unwrap().clone()],
                },
            });
        }
    }
    all
}

/// Writes a project for each set of packages. Their names.
fn write(folder: &Path, programs: &[Program]) -> Vec<String> {
    let sets: Table = DEPENDENCIES.parse().unwrap();
    let mut by_set: BTreeMap<&str, Vec<&Program>> = BTreeMap::new();
    programs.iter().for_each(|program| by_set.entry(&program.set).or_default().push(program));
    let mut projects = Vec::new();
    for (set, programs) in by_set {
        let name = set.replace([' ', '.'], "-");
        let source = folder.join(&name).join("src");
        std::fs::create_dir_all(&source).unwrap();
        let dependencies = Table::from_iter([("dependencies".to_string(), sets[set].clone())]);
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[lib]\nname = \"conformance\"\n\n[workspace]\n\n{dependencies}"
        );
        std::fs::write(folder.join(&name).join("Cargo.toml"), manifest).unwrap();
        // A library may have more than its one program uses.
        std::fs::write(source.join("lib.rs"), "pub mod harness;\n").unwrap();
        std::fs::write(source.join("harness.rs"), HARNESS).unwrap();
        let (mut modules, mut entries) = (String::new(), String::new());
        for program in programs {
            std::fs::write(source.join(format!("{}.rs", program.module)), program.text()).unwrap();
            writeln!(modules, "mod {};", program.module).unwrap();
            writeln!(entries, "        {}", program.entry()).unwrap();
        }
        let main = format!(
            "{modules}\nuse conformance::harness::{{self, Example, Server, measure}};\n\n\
             fn main() {{\n    let only: Vec<String> = std::env::args().skip(1).collect();\n    let all = [\n{entries}    ];\n    \
             let chosen = |example: &&Example| only.is_empty() || only.iter().any(|name| name == example.name);\n    \
             all.iter().filter(chosen).for_each(measure);\n}}\n"
        );
        std::fs::write(source.join("main.rs"), main).unwrap();
        projects.push(name);
    }
    projects
}

/// Of all runs the least, what nine of ten stay below, and the greatest.
type Span = [u64; 3];

/// What one program measured; times are nanoseconds.
#[derive(serde::Deserialize)]
struct Measured {
    example: String,
    attempts: Span,
    elapsed: Span,
    delays: Vec<Span>,
    tries: Vec<Span>,
}

/// Runs a project. What it measured, by example.
fn run(folder: &Path, project: &str) -> BTreeMap<String, Measured> {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--target-dir"])
        .arg(folder.join("target"))
        .current_dir(folder.join(project))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{project}: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let all =
        lines.lines().map(|line| serde_json::from_str::<Measured>(line).unwrap_or_else(|e| panic!("{line}: {e}")));
    all.map(|measured| (measured.example.clone(), measured)).collect()
}

fn nanos(value: &Value) -> f64 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no time"));
    duration(text, Syntax::Any).unwrap_or_else(|| panic!("{text} is no time")).0 as f64
}

/// The interval that a delay must lie in: as `Jitter` in the facts has it, worked out once more.
fn interval(policy: &Table, nominal: f64) -> (f64, f64) {
    let (mut low, mut high, mut plus, mut least) = (1.0, 1.0, 0.0, 0.0);
    match policy.get("jitter") {
        Some(Value::String(word)) if word == "full" => low = 0.0,
        Some(Value::String(word)) => assert_eq!(word, "none"),
        Some(Value::Table(jitter)) => {
            let number = |key: &str| jitter.get(key).and_then(Value::as_float);
            low = number("low").unwrap_or(1.0);
            high = number("high").unwrap_or(1.0);
            plus = jitter.get("plus").map_or(0.0, nanos);
            least = jitter.get("least").map_or(0.0, nanos);
        }
        _ => {}
    }
    let low = (low * nominal).max(least);
    (low, (high * nominal + plus).max(low))
}

/// What is not as expected, in words.
fn differences(program: &Program, measured: &Measured) -> Vec<String> {
    const MILLI: f64 = 1e6;
    let takes_time = program.takes_time();
    let mut all = Vec::new();
    let mut within = |what: &str, [least, most, greatest]: Span, (low, high): (f64, f64), early: f64| {
        // Timers of tokio are exact to a millisecond. Real ones are late as soon as the machine is busy: then nine of ten count.
        let (late, greatest) = if takes_time { (30.0 * MILLI, most) } else { (2.0 * MILLI, greatest) };
        let (least, greatest, width) = (least as f64, greatest as f64, high - low);
        let is_in = least >= low - early && greatest <= high + late;
        // An interval that is far wider than what was measured is no prediction.
        let edge = if takes_time { 0.2 * width } else { 0.1 * width };
        let is_filled = width == 0.0 || (least <= low + edge + 2.0 * MILLI && greatest >= high - edge);
        if !is_in || !is_filled {
            let ms = |nanos: f64| (nanos / 1e3).round() / 1e3;
            let (low, high, least, greatest) = (ms(low), ms(high), ms(least), ms(greatest));
            all.push(format!("{what}: expected {low} to {high} ms, measured {least} to {greatest} ms"));
        }
    };
    let expected = match (program.measure.get("tries"), program.policy().and_then(|policy| policy.get("attempts"))) {
        (Some(tries), _) => tries.as_integer(),
        (None, Some(Value::Integer(tries))) => Some(*tries),
        (None, Some(Value::String(word))) if word == "unbounded" => Some(ENOUGH as i64),
        _ => None,
    };
    let expected = expected.unwrap_or_else(|| panic!("{}: `measure.tries` must say how many", program.module)) as u64;
    if let Some(policy) = program.policy() {
        let nominal = policy.get("delays").and_then(Value::as_array).into_iter().flatten().take(expected as usize - 1);
        for (i, nominal) in nominal.enumerate() {
            let span = measured.delays.get(i).copied().unwrap_or_default();
            within(&format!("delay {}", i + 1), span, interval(policy, nanos(nominal)), 2.0 * MILLI);
        }
        if let (Some(limit), Some(first)) = (policy.get("attempt_timeout"), measured.tries.first())
            && !matches!(limit.as_str(), Some("none" | "unknown"))
        {
            // A server sees a try somewhat after it began.
            within("first try", *first, (nanos(limit), nanos(limit)), 15.0 * MILLI);
        }
    }
    if let Some(elapsed) = program.measure.get("elapsed") {
        within("all tries", measured.elapsed, (nanos(elapsed), nanos(elapsed)), 2.0 * MILLI);
    }
    if measured.attempts != [expected; 3] {
        let [least, _, most] = measured.attempts;
        all.push(format!("expected {expected} tries, measured {least} to {most}"));
    }
    all
}

#[test]
fn programs_can_be_made_of_all_examples() {
    let sets: Table = DEPENDENCIES.parse().unwrap();
    assert!(HARNESS.contains(&format!("const ENOUGH: usize = {ENOUGH};")));
    let mut by_library: BTreeMap<String, usize> = BTreeMap::new();
    for program in programs() {
        let name = &program.module;
        assert!(program.code.contains("fn example("), "{name}");
        assert!(sets.contains_key(&program.set), "{name}: no packages are listed for `{}`", program.set);
        for key in program.measure.keys() {
            assert!(["clock", "server", "tries", "elapsed"].contains(&&**key), "{name}: `{key}` measures nothing");
        }
        *by_library.entry(program.library).or_default() += 1;
    }
    assert!(by_library.values().all(|count| *count >= 3), "{by_library:?}");
}

#[test]
fn libraries_do_what_is_expected_of_them() {
    let Some(folder) = std::env::var_os("RETRYLINT_CONFORMANCE") else {
        eprintln!("skipped: RETRYLINT_CONFORMANCE is not set, so no library was measured");
        return;
    };
    let folder = Path::new(&folder);
    let programs = programs();
    let measured: BTreeMap<String, Measured> =
        write(folder, &programs).iter().flat_map(|project| run(folder, project)).collect();
    let mut failed = 0;
    let mut by_library: BTreeMap<&str, usize> = BTreeMap::new();
    for program in &programs {
        *by_library.entry(&program.library).or_default() += 1;
        let measured = measured.get(&program.module);
        let differences = measured.map_or(vec!["did not run".to_string()], |measured| differences(program, measured));
        failed += differences.len();
        differences.iter().for_each(|difference| eprintln!("{}: {difference}", program.module));
    }
    by_library.iter().for_each(|(library, count)| eprintln!("{library}: {count} examples measured"));
    assert_eq!(failed, 0, "measured otherwise than expected");
}
