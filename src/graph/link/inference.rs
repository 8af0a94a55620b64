//! Names that are like a known service's (contracts.md D-4): `PAYMENTS_URL`, `payments.base-url` and `PaymentsClient` mean
//! `payments`, if exactly one known service is called so.

use std::collections::HashMap;

use super::identity::{Id, Identities, Known};

/// Words that say what a thing is, not which: stripped from the end, as long as something is left.
const KINDS: [&str; 17] = [
    "client", "service", "svc", "api", "url", "uri", "base", "host", "hostname", "endpoint", "address", "addr", "http",
    "grpc", "baseurl", "options", "settings",
];

/// Of so many services that are alike, no name tells one.
const MOST_ALIKE: usize = 64;

/// Known services by what is left of their names.
#[derive(Default)]
pub(super) struct Likenesses {
    /// By all words of the name.
    whole: HashMap<String, Only>,
    /// By the words that say which.
    stem: HashMap<String, Only>,
}

/// Services of one likeness.
enum Only {
    One(Id),
    /// Several: told apart by namespace, if at all.
    Several(Vec<Id>),
}

impl Likenesses {
    /// All known services: what is declared, what Kubernetes objects show, and what `is_called` says is referred to.
    pub fn gather(names: &Identities, is_called: impl Fn(Id) -> bool) -> Self {
        let mut likenesses = Likenesses::default();
        for (id, identity) in names.iter() {
            let main = names.follow(id);
            if identity.is_whole || !(identity.known > Known::Referred || is_called(main)) {
                continue;
            }
            let words = words(&identity.name);
            add(&mut likenesses.whole, words.concat(), main);
            add(&mut likenesses.stem, stem(&words).concat(), main);
        }
        likenesses
    }

    /// The known service that the first of these names to be like any is like; seen from namespace `from`.
    pub fn find<'n>(
        &self,
        candidates: impl Iterator<Item = &'n str>,
        names: &Identities,
        from: Option<&str>,
    ) -> Option<Id> {
        for candidate in candidates {
            let mut words = words(candidate);
            let mut found = self.lookup(&words, names, from);
            // .NET writes `IPaymentsClient` for the interface.
            if found.is_none() && words.len() > 1 && words.first().is_some_and(|word| word == "i") {
                words.remove(0);
                found = self.lookup(&words, names, from);
            }
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn lookup(&self, words: &[String], names: &Identities, from: Option<&str>) -> Option<Id> {
        let stem = stem(words).concat();
        let choices = [self.whole.get(&words.concat()), self.whole.get(&stem), self.stem.get(&stem)];
        let ids: &[Id] = match choices.into_iter().flatten().next()? {
            Only::One(id) => return Some(*id),
            Only::Several(ids) => ids,
        };
        let from = from.filter(|_| ids.len() < MOST_ALIKE)?;
        let mut here =
            ids.iter().filter(|id| names.get(**id).is_some_and(|identity| identity.namespace.as_deref() == Some(from)));
        let first = here.next()?;
        here.next().is_none().then_some(*first)
    }
}

fn add(map: &mut HashMap<String, Only>, key: String, id: Id) {
    if key.is_empty() {
        return;
    }
    match map.entry(key).or_insert(Only::One(id)) {
        Only::One(other) if *other == id => {}
        Only::Several(ids) => {
            // Ids of one name come in order, so that looking at the last one is enough for most.
            if ids.last() != Some(&id) && ids.len() < MOST_ALIKE {
                ids.push(id);
            }
        }
        one @ Only::One(_) => {
            let Only::One(other) = *one else { return };
            *one = Only::Several(vec![other, id]);
        }
    }
}

/// All that a name may be compared by: its words, those that say which, and both without the `I` of an interface.
pub(super) fn likenesses(name: &str) -> Vec<String> {
    let all = words(name);
    let bare = all.get(1..).filter(|rest| !rest.is_empty() && all.first().is_some_and(|word| word == "i"));
    [Some(&*all), bare].into_iter().flatten().flat_map(|words| [words.concat(), stem(words).concat()]).collect()
}

/// `payments.base-url`, `PAYMENTS_BASE_URL` and `PaymentsBaseUrl` alike: payments, base, url.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let chars: Vec<char> = name.chars().take(256).collect();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        let starts_word = c.is_uppercase()
            && (before.is_some_and(|b| b.is_lowercase() || b.is_numeric())
                || (before.is_some_and(|b| b.is_uppercase()) && after.is_some_and(|a| a.is_lowercase())));
        if starts_word || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn stem(words: &[String]) -> &[String] {
    let mut stem = words;
    while let [rest @ .., last] = stem
        && !rest.is_empty()
        && KINDS.contains(&last.as_str())
    {
        stem = rest;
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> String {
        stem(&words(name)).concat()
    }

    #[test]
    fn a_name_is_compared_by_all_that_it_may_mean() {
        assert_eq!(likenesses("IPaymentsClient"), ["ipaymentsclient", "ipayments", "paymentsclient", "payments"]);
        assert_eq!(likenesses("ledger"), ["ledger", "ledger"]);
        assert_eq!(likenesses("i"), ["i", "i"]);
    }

    #[test]
    fn spellings_of_one_service_have_one_likeness() {
        for name in [
            "payments",
            "PAYMENTS_URL",
            "payments.base-url",
            "PaymentsClient",
            "payments-service",
            "PaymentsHTTPClient",
        ] {
            assert_eq!(key(name), "payments", "{name}");
        }
        assert_eq!(key("PaymentGateway"), "paymentgateway");
    }

    #[test]
    fn only_whole_words_are_stripped_and_never_all() {
        assert_eq!(key("okapi"), "okapi");
        assert_eq!(key("api"), "api");
        assert_eq!(key("HttpClient"), "http");
    }
}
