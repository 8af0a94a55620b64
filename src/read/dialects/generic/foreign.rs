//! Files and documents in which `retry` is something else: a job that is run again, a check that is repeated, a schema that
//! describes the words, a dialect that deserves a reader of its own.

use crate::read::data::tree::Node;

/// Directories of tools that run jobs, playbooks or checks.
const DIRECTORIES: &[&str] = &[
    ".github",
    ".gitlab",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".azuredevops",
    ".azure-pipelines",
    ".drone",
    ".semaphore",
    ".teamcity",
    ".tekton",
    ".vscode",
    ".idea",
    ".devcontainer",
    "node_modules",
    "ansible",
    "playbooks",
    "roles",
    "locales",
    "i18n",
];

/// Whole names of files, in lower case.
const FILES: &[&str] = &[
    "retrylint.toml",
    "package.json",
    "package-lock.json",
    "composer.json",
    "composer.lock",
    "cargo.toml",
    "cargo.lock",
    "pyproject.toml",
    "tsconfig.json",
    "renovate.json",
    "renovate.json5",
    ".renovaterc",
    ".renovaterc.json",
    "nextest.toml",
    "cypress.json",
    ".travis.yml",
    ".drone.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "buildspec.yaml",
    "skaffold.yaml",
    "values.schema.json",
    "playbook.yml",
    "playbook.yaml",
    "site.yml",
    "pnpm-lock.yaml",
    "taskfile.yml",
    "taskfile.yaml",
    "openapi.yaml",
    "openapi.json",
    "swagger.json",
    "swagger.yaml",
];

/// Beginnings of names of files, in lower case.
const BEGINNINGS: &[&str] = &[
    ".gitlab-ci",
    "azure-pipelines",
    "docker-compose",
    "compose.",
    "dependabot",
    ".mocharc",
    ".jest",
    "jest.config",
    "playwright",
    ".pre-commit",
    ".codecov",
    "codecov",
    ".buildkite",
    ".circleci",
    "buildkite",
];

/// Whether a file is of a tool whose `retry` means something else, from its path.
pub(super) fn is_file(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", &path));
    directories.split('/').any(|directory| DIRECTORIES.contains(&directory))
        || FILES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.ends_with(".schema.json")
        || name.ends_with(".asl.json")
}

/// Whether a mapping is a Kubernetes object: in lists and in files of several tools they stand further in, too.
pub(super) fn is_object(node: Node<'_>) -> bool {
    node.get("apiVersion").is_some() && node.get("kind").is_some()
}

/// Whether a document is one of those, from its shape.
pub(super) fn is_document(document: Node<'_>) -> bool {
    // Playbooks and pipelines are lists of plays or steps; a program's settings are a mapping.
    if !document.is_map() {
        return true;
    }
    let has = |key: &str| document.get(key).is_some();
    let holds_map = |key: &str| document.get(key).is_some_and(Node::is_map);
    let is_api = has("openapi") || has("swagger") || has("asyncapi");
    let is_schema =
        (has("$schema") || has("$id") || has("type")) && (has("properties") || has("definitions") || has("$defs"));
    let is_workflow = has("jobs") && (has("on") || has("true") || has("workflows") || has("orbs") || has("version"));
    let is_pipeline =
        has("stages") || has("pipelines") || has("pipeline") || document.get("steps").is_some_and(Node::is_seq);
    let is_state_machine = has("StartAt") && has("States");
    let is_compose = document.get("services").is_some_and(|services| {
        services.written_entries().any(|service| service.value.get_any(&["image", "build", "extends"]).is_some())
    });
    // GitLab: any job has a `script`.
    let is_gitlab = document.written_entries().any(|job| job.value.is_map() && job.value.get("script").is_some());
    let is_renovate = has("packageRules") || (has("extends") && holds_map("hostRules"));
    is_object(document)
        || is_api
        || is_schema
        || is_workflow
        || is_pipeline
        || is_state_machine
        || is_compose
        || is_gitlab
        || is_renovate
}
