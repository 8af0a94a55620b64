//! Suppressions that suppress nothing, or no longer. Page: `rules/unused-suppression.md`.

use super::findings::Draft;
use super::{Findings, find};
use crate::facts::{Accept, Date, Facts, Service, ServiceSource};
use crate::graph::System;
use crate::graph::link::unnamed;
use crate::suppress::Used;

/// What a comment silences is known only when every other rule has spoken: see [`drafts`].
pub(super) fn check(_: &System, _: &mut Findings) {}

/// A finding for every name in a suppression that covered nothing, or whose last day is over. Names of no rule are
/// unknown-suppression's business. `is_part`: where only some environments are looked at, what covers nothing in these may do
/// so in others.
pub(super) fn drafts(facts: &Facts, today: Option<Date>, used: &Used, is_part: bool) -> Vec<Draft> {
    let Some(rule) = find("unused-suppression") else { return Vec::new() };
    let mut drafts = Vec::new();
    for (index, suppression) in facts.suppressions.iter().enumerate() {
        let expired = suppression.until.filter(|_| suppression.is_expired(today));
        for (place, (name, span)) in suppression.rules.iter().enumerate() {
            // A comment that allows this very finding is used by being there.
            let covers = used.contains(index, place);
            if ((covers || is_part) && expired.is_none()) || name == rule.id || find(name).is_none() {
                continue;
            }
            let (message, label) = match expired {
                Some(until) => (format!("`allow({name})` ended on {until}"), "suppresses nothing any more".to_owned()),
                None => (format!("`allow({name})` suppresses nothing"), format!("no `{name}` is found here")),
            };
            let help = if covers {
                format!("mend what it was written for, or agree on another day: `allow({name}, until=YYYY-MM-DD)`")
            } else if suppression.rules.len() > 1 {
                format!("remove `{name}` from the comment, so that it cannot hide a new finding")
            } else {
                "remove the comment, so that it cannot hide a new finding".to_owned()
            };
            let mut draft = Draft::new(rule, *span, message);
            draft.label(label).everywhere().help(help);
            drafts.push(draft);
        }
    }
    let accepted = facts.services.iter().filter_map(|service| Some((service, service.accept.as_ref()?)));
    for (service, accept) in accepted.filter(|(_, accept)| accept.is_expired(today)) {
        let Some(until) = accept.until else { continue };
        let mut draft = Draft::new(rule, accept.span, format!("`accept` of `{}` ended on {until}", service.name));
        draft
            .label("covers nothing any more")
            .everywhere()
            .help("remove it if nothing is found without it, or agree on another day: `until = YYYY-MM-DD`");
        drafts.push(draft);
    }
    drafts.extend(unknown_services(facts, today).into_iter().map(|(service, accept, meant)| {
        let message = format!("`accept` covers nothing: no call and no other file names `{}`", service.name);
        let mut draft = Draft::new(rule, accept.span, message);
        draft.label("covers nothing").everywhere().help(match meant {
            Some(name) => format!("did you mean `[services.{name}]`?"),
            None => "remove it, so that it cannot hide a new finding".to_owned(),
        });
        draft
    }));
    drafts
}

/// Services that retrylint.toml accepts something of and nothing else names, each with the name that was probably meant.
fn unknown_services(facts: &Facts, today: Option<Date>) -> Vec<(&Service, &Accept, Option<String>)> {
    fn accept(service: &Service, today: Option<Date>) -> Option<&Accept> {
        service.accept.as_ref().filter(|accept| !accept.is_expired(today))
    }
    let stated = facts.services.iter().filter(|service| service.source == ServiceSource::Settings);
    let accepted = unnamed(facts, stated.filter(|service| accept(service, today).is_some()).collect());
    accepted.into_iter().filter_map(|(service, meant)| Some((service, accept(service, today)?, meant))).collect()
}
