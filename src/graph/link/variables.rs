//! Environment variables of workloads whose values name a host (contracts.md D-4): code that reads `PAYMENTS_URL` calls
//! whom the workload that runs it says.

use std::collections::HashMap;

use super::Linker;
use super::identity::{Id, Place};
use crate::facts::{Evidence, ServiceRef};
use crate::source::FileId;

/// Of so many workloads that set a variable, no further one changes what is known.
const MOST: usize = 4096;

/// Variables of all workloads of an environment, by name.
#[derive(Debug, Default)]
pub(super) struct Variables<'f> {
    of: HashMap<&'f str, Vec<Setting<'f>>>,
}

/// A workload sets a variable.
#[derive(Clone, Copy, Debug)]
struct Setting<'f> {
    workload: Id,
    value: &'f ServiceRef,
    file: FileId,
}

impl<'f> Linker<'f> {
    fn gather_variables(&mut self) -> Variables<'f> {
        let mut variables = Variables::default();
        for workload in self.scope.workloads().filter(|workload| !workload.variables.is_empty()) {
            let id = self.names.object(&workload.name, workload.namespace.as_ref());
            let id = self.names.follow(id);
            for (name, value) in &workload.variables {
                let settings = variables.of.entry(name).or_default();
                if settings.len() < MOST {
                    settings.push(Setting { workload: id, value, file: workload.span.file });
                }
            }
        }
        variables
    }

    /// The service whose address a variable of this name holds: where the caller's own workload says so, as good as
    /// written; where all workloads that have such a variable agree, inferred.
    pub(super) fn behind_variable(&mut self, name: &str, caller: Option<Id>) -> Option<(Id, Evidence)> {
        if self.variables.is_none() {
            self.variables = Some(self.gather_variables());
        }
        let settings = self.variables.as_ref()?.of.get(name)?.clone();
        let mut own = Vec::new();
        for setting in &settings {
            let owner = self.ownership.owner(self.scope, setting.file);
            if caller.is_some() && (caller == Some(setting.workload) || caller == owner) {
                own.push(*setting);
            }
        }
        let (settings, evidence) = match own.is_empty() {
            true => (settings, Evidence::Inferred),
            false => (own, Evidence::Written),
        };
        let mut found = None;
        for Setting { workload, value, file } in settings {
            let place = Place { file: Some(file), caller: Some(workload) };
            let id = self.id(value, place, Some(workload));
            if found.is_some_and(|found| found != id) {
                return None;
            }
            found = Some(id);
        }
        Some((found?, evidence))
    }
}

#[cfg(test)]
mod tests;
