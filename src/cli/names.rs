//! Values of which a shell completes the names that there are, without a help that lists them all.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use retrylint::facts::Class;
use retrylint::rules;

/// A parser of text that has names, and says itself what is wrong with others.
#[derive(Clone)]
pub struct Named<T> {
    /// From text, or what is wrong with it.
    pub parse: fn(&str) -> Result<T, String>,
    /// What may stand there, or how it may begin.
    pub names: fn() -> Vec<&'static str>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// The rules.
pub fn ids() -> Vec<&'static str> {
    rules::ALL.iter().map(|rule| rule.id).collect()
}

/// The failure classes.
pub fn classes() -> Vec<&'static str> {
    Class::ALL.iter().map(|class| class.name()).collect()
}

/// How a value of `--output` begins.
pub fn outputs() -> Vec<&'static str> {
    OUTPUTS.to_vec()
}

const OUTPUTS: [&str; 9] =
    ["full=", "concise=", "json=", "jsonl=", "sarif=", "github=", "gitlab=", "junit=", "markdown="];

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::cli::Format;

    #[test]
    fn an_output_begins_with_each_format() {
        let formats: Vec<String> = Format::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .map(|value| format!("{}=", value.get_name()))
            .collect();
        assert_eq!(formats, OUTPUTS);
    }
}
