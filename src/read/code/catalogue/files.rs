//! The files of `rules/libraries/`, built into the program.

/// A line for each file, by its name without `.toml`.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each.
        pub const FILES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/libraries/", $name, ".toml"))),)*
        ];
    };
}

files![
    "aws-sdk",
    "backoff",
    "backon",
    "exponential-backoff",
    "opentelemetry-otlp",
    "reqwest-retry",
    "reqwest",
    "retry-policies",
    "retry",
    "tokio-retry",
    "tokio-retry2",
    "tonic",
    "tower",
    "tryhard"
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::code::catalogue::format;

    #[test]
    fn every_file_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/libraries");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .map(|files| files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect())
            .unwrap_or_default();
        names.sort();
        let built_in: Vec<String> = FILES.iter().map(|(name, _)| format!("{name}.toml")).collect();
        assert_eq!(built_in, names);
    }

    #[test]
    fn every_file_is_understood() {
        let rules: Vec<&str> = crate::rules::ALL.iter().map(|rule| rule.id).collect();
        for (name, text) in FILES {
            match format::parse(text, Some(&rules)) {
                Ok(library) => assert_eq!(&*library.name, *name),
                Err(faults) => {
                    let lines = faults.iter().map(|fault| {
                        let line = text[..fault.span.start as usize].matches('\n').count() + 1;
                        format!("{name}.toml:{line}: {} ({:?})", fault.message, fault.help)
                    });
                    panic!("{}", lines.collect::<Vec<_>>().join("\n"));
                }
            }
        }
    }

    /// `[[library]]` is the same format.
    #[test]
    fn every_file_is_valid_by_the_schema() {
        let mut schema = crate::report::schemas::of_settings();
        let root = schema.as_object_mut().unwrap();
        root.retain(|key, _| key == "$defs");
        root.insert("$ref".into(), "#/$defs/library".into());
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for (name, text) in FILES {
            let file: serde_json::Value = toml::from_str(text).unwrap();
            let errors: Vec<String> =
                validator.iter_errors(&file).map(|error| format!("{error} at {}", error.instance_path())).collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
        }
    }
}
