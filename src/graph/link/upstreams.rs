//! Which settings about a callee bound which policy: Envoy's clusters, Istio's DestinationRules.

use std::collections::HashMap;

use petgraph::graph::NodeIndex;

use super::Linker;
use super::identity::Place;
use super::scope::Folder;
use crate::facts::{Caller, Dialect, Evidence, Policy, Position, Upstream};
use crate::source::FileId;

/// Of so many settings for one callee and holder, the first are looked at.
const MOST: usize = 16;

/// Who holds the settings of a callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder<'f> {
    File(FileId),
    Caller(NodeIndex),
    /// Nobody knows who, of the files in this folder.
    Folder(Folder<'f>),
    /// Every member of the mesh, or nobody knows who.
    Anyone,
}

/// Settings of proxies about callees, found by callee, position, dialect and holder.
#[derive(Default)]
pub(super) struct Upstreams<'f> {
    of: HashMap<(NodeIndex, Position, Dialect, Holder<'f>), Vec<u32>>,
}

/// Through what a request goes to a callee.
#[derive(Clone, Copy)]
pub(super) struct Through<'f> {
    pub policy: &'f Policy,
    pub position: Position,
    /// Who sends it, if that is known.
    pub caller: Option<NodeIndex>,
    /// Whether the proxy is the caller's own.
    pub is_own: bool,
}

impl<'f> Linker<'f> {
    /// Indexes the settings of callees and gives each node those about it.
    pub(super) fn gather_upstreams(&mut self) -> Upstreams<'f> {
        let mut upstreams = Upstreams::default();
        let mut all: Vec<(u32, &Upstream)> = self.scope.upstreams().collect();
        // What an environment says about a callee comes before what its base says, and what is for some callers before
        // what is for all.
        all.sort_by_key(|(_, upstream)| (upstream.environment.is_none(), !is_narrowed(&upstream.caller)));
        for (index, upstream) in all {
            let caller = self.caller(&upstream.caller, upstream.span.file);
            let place = Place { file: Some(upstream.span.file), caller };
            let mut callee = self.id(&upstream.callee, place, caller);
            // What a policy's callee is concluded from holds for the cluster of that name too.
            if self.node_of(callee).is_none()
                && upstream.callee.evidence != Evidence::Written
                && let Some(likenesses) = &self.likenesses
                && let Some(known) = likenesses.find(upstream.names.iter().map(|name| &**name), &self.names, None)
            {
                callee = known;
            }
            let Some(node) = self.node_of(callee) else { continue };
            if let Some(node) = self.graph.node_weight_mut(node) {
                node.upstreams.push(index);
            }
            let caller = caller.filter(|caller| *caller != callee).and_then(|caller| self.node_of(caller));
            let is_known = caller.is_some() || matches!(upstream.caller, Caller::Members { .. });
            let position = match upstream.position {
                Position::ClientSidecar if !is_known => Position::Gateway,
                position => position,
            };
            let holder = caller.map_or(Holder::Anyone, Holder::Caller);
            // A proxy may have its clusters and its routes in files of their own.
            let is_open = holder == Holder::Anyone && upstream.dialect == Dialect::Envoy;
            let folder = is_open.then(|| Holder::Folder(self.scope.folder(upstream.span.file)));
            for holder in [Some(Holder::File(upstream.span.file)), folder, Some(holder)].into_iter().flatten() {
                let key = (node, at_proxy(upstream.dialect, position), upstream.dialect, holder);
                let list = upstreams.of.entry(key).or_default();
                if list.len() < MOST {
                    list.push(index);
                }
            }
        }
        upstreams
    }
}

impl<'f> Upstreams<'f> {
    /// The settings that bound a policy: those of its own file first, then those of the same caller, those beside it that
    /// name nobody, and those of all members. Of several that belong to nobody knows whom, none.
    pub fn find(&self, linker: &Linker<'f>, through: Through<'_>, callees: [NodeIndex; 2]) -> Option<u32> {
        let Through { policy, position, caller, is_own } = through;
        let position = at_proxy(policy.dialect, position);
        let own = caller.filter(|_| is_own).map(Holder::Caller);
        // The proxies of a mesh all have its rules, gateways included; another proxy has its own file.
        let anyone = (own.is_none() || policy.dialect == Dialect::Istio).then_some(Holder::Anyone);
        let folder = Some(Holder::Folder(linker.scope.folder(policy.span.file)));
        let holders = [Some(Holder::File(policy.span.file)), own, folder, anyone];
        callees.into_iter().find_map(|callee| {
            holders.into_iter().flatten().find_map(|holder| {
                let list = self.of.get(&(callee, position, policy.dialect, holder))?;
                let mut fitting = list.iter().copied().filter_map(|index| {
                    let upstream = linker.scope.facts.upstreams.get(index as usize)?;
                    linker.is_among(&upstream.caller, caller).then_some((index, upstream))
                });
                let (first, upstream) = fitting.next()?;
                let belongs = matches!(holder, Holder::File(_) | Holder::Caller(_))
                    || matches!(upstream.caller, Caller::Members { .. });
                (belongs || fitting.next().is_none()).then_some(first)
            })
        })
    }
}

/// Sidecars and gateways of one mesh are the same proxy with the same rules.
fn at_proxy(dialect: Dialect, position: Position) -> Position {
    match position {
        Position::Gateway | Position::EgressGateway if dialect == Dialect::Istio => Position::ClientSidecar,
        position => position,
    }
}

fn is_narrowed(caller: &Caller) -> bool {
    matches!(caller, Caller::Members { namespace, labels } if namespace.is_some() || !labels.is_empty())
}
