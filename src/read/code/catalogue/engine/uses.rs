//! Constructs that are described in one place and used in others of the same file: which methods are called on them through
//! locals, and which of those send requests.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::format::{Is, Layer};
use super::chain::Root;
use super::changes::Done;
use super::reach::Reach;
use super::scope::Scope;
use super::spot::Spot;
use super::state::State;
use super::{Engine, Hit};
use crate::facts::Why;
use crate::read::code::site::Site;
use crate::read::code::tree::{Id, Kind, Sym};
use crate::source::Span;

/// Methods of one name that are looked at for one client.
const MOST_TOLD: usize = 64;

/// What is called on the constructs of a unit through locals.
#[derive(Debug, Default)]
pub(super) struct Uses<'p> {
    /// By the place of the construct: the chains, each by its last method, with what they were called on.
    chains: HashMap<Span, Vec<(Id, Root<'p>)>>,
    /// Methods that only describe: a chain further on begins with what they gave.
    describing: HashSet<Id>,
    /// All methods by their names.
    methods: HashMap<Sym, Vec<Id>>,
}

impl<'p> Engine<'p> {
    /// What is called on constructs through locals; nothing in units without any.
    pub(super) fn uses(&self, hits: &[Hit<'p>]) -> Uses<'p> {
        let mut uses = Uses::default();
        let is_wanted = |hit: &Hit<'_>| matches!(hit.found.shape.is, Is::Client | Is::Policy | Is::Stack | Is::Part);
        let constructs: Vec<Id> = hits.iter().filter(|hit| is_wanted(hit)).map(|hit| hit.id).collect();
        if constructs.is_empty() {
            return uses;
        }
        let reach = Reach::of(&self.unit, &constructs);
        for (id, node) in self.unit.ids() {
            let Kind::Method { on, name, .. } = &node.kind else { continue };
            uses.methods.entry(Arc::clone(name)).or_default().push(id);
            let Some(receiver) = self.first_of_chain(id, *on).filter(|id| reach.has(&self.unit, *id)) else { continue };
            if let Some(root) = self.root(&self.place(receiver), 0)
                && Arc::ptr_eq(&root.place.unit, &self.unit)
            {
                // A statement of its own is no step on the way.
                let is_statement = |id: Id| {
                    self.unit.parent(id).is_some_and(|parent| matches!(self.unit.kind(parent), Kind::Block(_)))
                };
                let methods = root.methods.iter().map(|method| method.id);
                uses.describing.extend(methods.filter(|id| !is_statement(*id)));
                uses.chains.entry(root.place.span()).or_default().push((self.last_of_chain(id), root));
            }
        }
        uses
    }

    /// The local or field that a chain begins with, if this is its first method.
    fn first_of_chain(&self, id: Id, on: Id) -> Option<Id> {
        let is_local = match self.unit.kind(on) {
            Kind::Name(name) => name.full.is_none(),
            Kind::Member { .. } => true,
            _ => false,
        };
        (is_local && id > on).then_some(on)
    }

    /// The last method of the chain that a method stands in; waiting and handing on failures do not end it.
    fn last_of_chain(&self, id: Id) -> Id {
        let (mut at, mut last) = (id, id);
        while let Some(parent) = self.unit.parent(at) {
            match self.unit.kind(parent) {
                Kind::Method { on, .. } if *on == at => last = parent,
                Kind::Await(_) => {}
                Kind::Branch { on: Some(on), .. } if *on == at => {}
                _ => break,
            }
            at = parent;
        }
        last
    }

    /// The sites of something that is described here and that nothing in this unit runs.
    pub(super) fn described_site(&self, hit: &Hit<'p>, uses: &Uses<'p>, used: &mut Vec<Span>) -> Vec<Site> {
        let span = self.unit.span(hit.id);
        let is_client = hit.found.shape.is == Is::Client;
        let none = Vec::new();
        let chains = uses.chains.get(&span).unwrap_or(&none);
        // Methods that follow at once, then those of the longest chain through locals.
        let direct: Vec<Id> = self.through(hit.id);
        let mut methods: Vec<Done> = direct.iter().map(|id| Done::surely(self.place(*id))).collect();
        let mut operations = Vec::new();
        for (last, root) in chains {
            let own = self.through_from(*last, root);
            let whole = match is_client {
                // What sends is not what describes.
                true if !uses.describing.contains(last) => {
                    let is_call = hit.found.shape.sends.is_empty() || own.iter().any(|method| sends(hit, method));
                    operations.extend(is_call.then_some(*last));
                    root.methods.clone()
                }
                _ => {
                    // What is asked of a policy is no part of it.
                    let describes =
                        |method: &Done| hit.found.shape.is != Is::Policy || self.says_of(&hit.found, method);
                    root.methods.iter().cloned().chain(own.into_iter().take_while(describes)).collect()
                }
            };
            if whole.len() > methods.len() {
                methods = whole;
            }
        }
        if is_client {
            if let Some(first) = methods.iter().position(|method| direct.contains(&method.id) && sends(hit, method))
                && chains.is_empty()
                && !self.is_held(*direct.last().unwrap_or(&hit.id))
            {
                operations.extend(direct.last());
                methods.truncate(first);
            } else if hit.found.all(|says| Some(&says.method)).flatten().next().is_none() {
                operations.push(hit.id);
            }
        }
        let root = Root { found: hit.found.clone(), place: self.place(hit.id), methods };
        let mut state = self.state(&root, 0);
        self.requests(hit, uses, &operations, &mut state);
        used.extend(state.uses.iter().copied().filter(|other| *other != span));
        // A part of a stack that retries stands for a stack that is put together elsewhere.
        if hit.found.shape.is == Is::Part && !state.layers.iter().any(|layer| layer.kind == Layer::Retry) {
            return Vec::new();
        }
        let construct = if operations.contains(direct.last().unwrap_or(&hit.id)) {
            hit.id
        } else {
            *direct.last().unwrap_or(&hit.id)
        };
        operations.sort_unstable();
        operations.dedup();
        self.finish(hit, state, construct, &operations, used)
    }

    /// What calls on a client say of themselves. It holds for one call; where there are others, or none is seen, nobody knows
    /// for which.
    fn requests(&self, hit: &Hit<'p>, uses: &Uses<'p>, operations: &[Id], state: &mut State) {
        let builds = self.through(hit.id);
        for (key, says) in hit.found.all(|says| Some(&says.request)).flatten() {
            let told = uses.methods.get(key).into_iter().flatten().filter(|id| match operations {
                [] => !uses.describing.contains(id) && !builds.contains(id),
                _ => operations.iter().any(|operation| self.unit.is_below(**id, *operation)),
            });
            for id in told.copied().take(MOST_TOLD) {
                let said = self.unit.span(id);
                if let ([_], Kind::Method { on, args, .. }) = (operations, self.unit.kind(id)) {
                    let scope = Scope {
                        args,
                        receiver: Some(*on),
                        said: Some(said),
                        key: Some(key),
                        ..Scope::bare(hit.found.library, self.place(id))
                    };
                    self.apply(says, &scope, state, 0);
                } else {
                    let why = Why::Other(format!("some of its calls say it themselves, by `{key}`").into());
                    state.blur(says.settings().map(|setting| setting.target).collect::<Vec<_>>(), &why, said);
                }
            }
        }
    }

    /// The methods that follow a node at once, through waiting and handing on failures.
    fn through(&self, id: Id) -> Vec<Id> {
        let (mut at, mut all) = (id, Vec::new());
        while let Some(parent) = self.unit.parent(at) {
            match self.unit.kind(parent) {
                Kind::Method { on, .. } if *on == at => all.push(parent),
                Kind::Await(_) => {}
                Kind::Branch { on: Some(on), .. } if *on == at => {}
                _ => break,
            }
            at = parent;
        }
        all
    }

    /// The methods of a chain through a local, the first that was called first.
    fn through_from(&self, last: Id, root: &Root<'p>) -> Vec<Done> {
        let mut all = Vec::new();
        let mut at = last;
        for _ in 0..256 {
            match self.unit.kind(at) {
                Kind::Method { on, .. } => {
                    all.push(Done::surely(self.place(at)));
                    at = *on;
                }
                Kind::Await(of) => at = *of,
                Kind::Branch { on: Some(on), .. } => at = *on,
                _ => break,
            }
        }
        all.retain(|method| !root.methods.iter().any(|known| known.id == method.id));
        all.reverse();
        all
    }

    /// Whether a value is kept in a variable, a constant, a field.
    fn is_held(&self, id: Id) -> bool {
        let around = self.unit.around(id).find(|around| {
            !matches!(self.unit.kind(*around), Kind::Await(_) | Kind::Branch { .. } | Kind::Call { .. })
        });
        matches!(
            around.map(|around| self.unit.kind(around)),
            Some(Kind::Let { .. } | Kind::Constant { .. } | Kind::Record { .. } | Kind::Assign { .. })
        )
    }
}

/// Whether a method begins a call on a client.
fn sends(hit: &Hit<'_>, method: &Spot) -> bool {
    let Kind::Method { name, .. } = method.kind() else { return false };
    if hit.found.shape.sends.is_empty() {
        return !hit.found.all(|says| Some(&says.method)).flatten().any(|(known, _)| known == name);
    }
    hit.found.shape.sends.contains(name)
}
