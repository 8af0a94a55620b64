//! Kubernetes objects that are known to retry and that no dialect reads yet. They are counted, so that silence about them is
//! not taken for calm.

use crate::facts::{Facts, Unread};
use crate::read::data::tree::Node;
use crate::read::{Context, Dialect};

/// Objects whose retries are not read.
pub const DIALECT: Dialect = Dialect { name: "unread", words: &KINDS, recognises, read };

/// Kinds whose retries repeat requests: Envoy Gateway, Gateway API, Linkerd, Kuma, Consul, Contour, Dapr, Traefik, APISIX; and
/// patches of Envoy's own configuration.
const KINDS: [&str; 12] = [
    "BackendTrafficPolicy",
    "HTTPRoute",
    "GRPCRoute",
    "ServiceProfile",
    "MeshRetry",
    "ServiceRouter",
    "HTTPProxy",
    "Resiliency",
    "Middleware",
    "ApisixRoute",
    "ApisixUpstream",
    "EnvoyFilter",
];

fn recognises(document: Node<'_>) -> bool {
    let has_kind = kind(document).is_some_and(|kind| KINDS.contains(&kind));
    let retries = |node: Node<'_>| {
        node.is_map() && node.written_entries().any(|entry| entry.key.to_ascii_lowercase().contains("retr"))
    };
    has_kind && document.get("apiVersion").is_some() && document.walk().any(retries)
}

fn kind(document: Node<'_>) -> Option<&str> {
    document.get("kind")?.text()
}

fn read(document: Node<'_>, _: &Context<'_>, facts: &mut Facts) {
    if let Some(kind) = kind(document) {
        facts.unread.push(Unread { kind: kind.into(), span: document.span() });
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::FileKind;
    use crate::read::{ReadSettings, read_file};
    use crate::source::FileId;

    fn kinds(text: &str) -> Vec<String> {
        let facts = read_file(FileId(0), "a.yaml", FileKind::Yaml, text, &ReadSettings::default());
        assert!(facts.policies.is_empty());
        facts.unread.iter().map(|one| one.kind.to_string()).collect()
    }

    #[test]
    fn objects_that_retry_are_counted_although_nothing_of_them_is_read() {
        let gateway = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nspec: { retry: { numRetries: 9 } }\n";
        assert_eq!(kinds(gateway), ["BackendTrafficPolicy"]);
        let linkerd =
            "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nspec: { retryBudget: { retryRatio: 2.0 } }\n";
        assert_eq!(kinds(&format!("{gateway}---\n{linkerd}")), ["BackendTrafficPolicy", "ServiceProfile"]);
        // Without any word of retrying there is nothing to miss, and a step that is run again repeats no request.
        assert!(kinds("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: { rules: [] }\n").is_empty());
        assert!(
            kinds("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: { retryStrategy: { limit: 10 } }\n")
                .is_empty()
        );
    }
}
