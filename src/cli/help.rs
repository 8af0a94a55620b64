//! What the help says besides the options.

/// The order of its parts.
pub const TEMPLATE: &str = "{before-help}{about}

{usage-heading} {usage}

{all-args}{after-help}";

/// What one would try first.
pub const EXAMPLES: &str = "\
Examples:
  retrylint                                 check everything below this folder
  retrylint deploy services.yaml            check a folder and a file
  retrylint --format sarif > out.sarif      for code scanning; the summary goes to standard error
  retrylint graph --path web..ledger        who calls whom on the way, and how often
  retrylint explain retry-amplification     what a rule means and what to do about it
";

/// What scripts want to know.
pub const EXIT: &str = "\
Exit status: 0 no finding at the --fail-on level, 1 findings, 2 wrong usage, configuration or path";

/// What `--help` says beyond `-h`.
pub const MORE: &str = "\
Exit status:
  0  no finding at the --fail-on level; of other commands: done
  1  findings at that level or above; suppressed and hidden ones do not count
  2  wrong usage, configuration or path; nothing was checked

Configuration:
  The nearest retrylint.toml from the first path upwards to the root of its repository, or
  --config FILE; the command line wins. An unknown key is an error.

    extend, baseline           another retrylint.toml to build on; a file of known findings
    [scan]                     include, exclude, follow-ignore-files, max-file-size
    [limits]                   max-attempts, max-attempts-job, max-amplification,
                               error-amplification, max-backoff, max-total-wait, min-jitter,
                               min-jitter-delay
    [rules]                    missing-jitter = \"off\", or \"error\", \"warning\", \"note\"
    [[per-path]]               paths, rules: other levels for findings in some files
    [services.NAME]            what no file says of a service: rate, pool, emits, accept ...
    [[calls]]                  from, to: a call that no file shows
    [[environment]]            name, paths: files that belong together
    [[library]]                a retry helper of your own: docs/libraries.md
    [dialects.istio]           version = \"1.24\": whose defaults hold

  A comment silences one place: # retrylint: allow(RULE) REASON, or with its last day:
  allow(RULE, until=2027-01-31).
  .gitignore and .retrylintignore are followed; exclude holds for named files too.

Environment variables:
  NO_COLOR           no colours, if it is set
  CLICOLOR_FORCE     colours in pipes too, unless it is 0
  COLUMNS            the width of text where standard output is no terminal [default: 100]
  SOURCE_DATE_EPOCH  the day of the run in seconds since 1970, where --today does not say it
";
