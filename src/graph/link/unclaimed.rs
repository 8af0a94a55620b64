//! Policies that retry calls to a known service and whose callers nobody knows (contracts.md D-4): they stand on no edge and
//! change no number, but whoever calls that service may be the one that retries.

use std::collections::{HashMap, HashSet};

use petgraph::graph::NodeIndex;

use super::Linker;
use super::policies::Standings;
use crate::facts::{PolicyId, Position};

/// More of them at one position, or on one call, say no more about it.
const MOST: usize = 8;

impl Linker<'_> {
    /// Those policies with their callees, in order.
    pub(super) fn unclaimed(&self, standings: &Standings) -> Vec<(PolicyId, NodeIndex)> {
        let scope = self.scope;
        let listed = standings.list.iter().filter(|standing| standing.is_nobodys());
        let retries = |id: PolicyId| scope.policy(id).is_some_and(|it| it.may_retry() && scope.is_in_force(it));
        listed
            .filter(|standing| retries(standing.policy))
            .filter_map(|standing| Some((standing.policy, standing.callee?)))
            .collect()
    }

    /// Tells every edge which of them may stand on it: those at a position where nothing does. What has a layer there is
    /// told how it retries, and the others are another caller's.
    pub(super) fn mark_unclaimed(&mut self, unclaimed: &[(PolicyId, NodeIndex)]) {
        let mut of: HashMap<NodeIndex, Vec<(PolicyId, Position)>> = HashMap::new();
        for (id, callee) in unclaimed {
            let Some(policy) = self.scope.policy(*id) else { continue };
            let all = of.entry(*callee).or_default();
            if all.iter().filter(|(_, position)| *position == policy.position).count() < MOST {
                all.push((*id, policy.position));
            }
        }
        if of.is_empty() {
            return;
        }
        for index in self.graph.edge_indices() {
            let Some((_, callee)) = self.graph.edge_endpoints(index) else { continue };
            let (Some(all), Some(edge)) = (of.get(&callee), self.graph.edge_weight_mut(index)) else { continue };
            let taken: HashSet<Position> = edge.layers.iter().map(|layer| layer.position).collect();
            let free = all.iter().filter(|(_, position)| !taken.contains(position));
            edge.unclaimed = free.map(|(id, _)| *id).take(MOST).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::{Attempts, Caller, Confidence, Dialect, PolicyId, Position, Sourced};
    use crate::graph::fixtures::{Tree, callee, reference};

    fn nobodys(tree: &mut Tree, to: &str) {
        tree.policy("services/cart/appsettings.json", Dialect::Dotnet, Position::CallerCode, 4).callee = callee(to);
    }

    #[test]
    fn what_nobody_claims_may_be_any_callers() {
        let mut tree = Tree::default();
        tree.call("cart", "stock");
        tree.call("cart", "audit");
        nobodys(&mut tree, "stock");
        let net = tree.link();
        assert_eq!(net.unclaimed, [PolicyId(0)]);
        assert_eq!(
            (net.edge("cart", "stock").outline(), &net.edge("cart", "stock").unclaimed),
            (vec![], &net.unclaimed)
        );
        // A call to somebody else is nobody's business.
        assert_eq!(net.edge("cart", "audit").unclaimed, []);
    }

    #[test]
    fn a_caller_that_retries_in_its_code_is_told_and_one_that_does_so_elsewhere_is_not() {
        let mut tree = Tree::default();
        for caller in ["cart", "web"] {
            tree.call(caller, "stock");
        }
        nobodys(&mut tree, "stock");
        for (caller, position) in [("cart", Position::CallerCode), ("web", Position::ClientSidecar)] {
            let policy = tree.policy("all.yaml", Dialect::Manifest, position, 2);
            (policy.caller, policy.callee) = (Caller::Service(reference(caller)), callee("stock"));
        }
        let net = tree.link();
        assert_eq!(net.edge("cart", "stock").unclaimed, []);
        assert_eq!(net.edge("web", "stock").unclaimed, [PolicyId(0)]);
    }

    #[test]
    fn what_does_not_retry_or_is_not_in_force_is_not_asked_after() {
        let mut tree = Tree::default();
        tree.call("cart", "stock");
        nobodys(&mut tree, "stock");
        tree.facts.policies[0].attempts = Sourced::default_of(Attempts::Times(1), "x", "y");
        nobodys(&mut tree, "stock");
        tree.facts.policies[1].confidence = Confidence::Low;
        let net = tree.link();
        assert_eq!((&net.unclaimed[..], &net.edge("cart", "stock").unclaimed[..]), (&[][..], &[][..]));
    }

    #[test]
    fn a_proxy_that_only_its_own_machine_reaches_is_no_gateway() {
        let mut tree = Tree::default();
        tree.call("cart", "stock");
        tree.sidecar("services/web/envoy.yaml", "stock", 3);
        tree.facts.policies[0].caller = Caller::Beside;
        let net = tree.link();
        assert_eq!(net.edge("cart", "stock").outline(), []);
        assert_eq!(net.edge("cart", "stock").unclaimed, [PolicyId(0)]);
        // It is checked by itself all the same.
        let open = net.open_of("stock");
        assert_eq!(
            open.iter().map(|edge| edge.outline()).collect::<Vec<_>>(),
            [[(Position::ClientSidecar, vec![vec![0]])]]
        );
    }

    #[test]
    fn with_paths_it_is_its_services_sidecar() {
        let mut tree = Tree::default();
        tree.service("web").paths = vec!["services/web".into()];
        tree.call("cart", "stock");
        tree.sidecar("services/web/envoy.yaml", "stock", 3);
        tree.facts.policies[0].caller = Caller::Beside;
        let net = tree.link();
        assert_eq!(net.unclaimed, []);
        assert_eq!(net.edge("web", "stock").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
        assert!(net.open.is_empty() && !net.edge("web", "stock").layers[0].alternatives[0].is_inferred);
    }

    #[test]
    fn a_gateway_that_no_caller_names_is_inferred() {
        let mut tree = Tree::default();
        tree.call("cart", "stock");
        tree.sidecar("deploy/envoy.yaml", "stock", 3);
        let net = tree.link();
        let nest = &net.edge("cart", "stock").layers[0].alternatives[0];
        assert_eq!((nest.is_inferred, nest.confidence), (true, Confidence::Medium));
        assert_eq!(net.unclaimed, []);
    }
}
