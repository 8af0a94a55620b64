//! Failure classes that behave alike over a whole graph. Most graphs tell one or two kinds of failure apart, so one pass
//! over the edges carries one or two figures per service instead of seventeen.

use std::collections::HashSet;

use super::handover::{self, Speaker};
use super::tries::Tries;
use super::{Net, handover::answers};
use crate::facts::{Class, Classes, Protocol};

/// The order in which equals are shown: what an overloaded or slow service answers comes first.
const PREFERENCE: [Class; 14] = [
    Class::Overload,
    Class::Unavailable,
    Class::TryTimeout,
    Class::Deadline,
    Class::BadGateway,
    Class::ServerError,
    Class::Internal,
    Class::Reset,
    Class::RateLimited,
    Class::Exhausted,
    Class::Conflict,
    Class::Aborted,
    Class::ClientError,
    Class::Rejected,
];

/// A partition of the classes.
#[derive(Debug)]
pub struct Alike {
    kind: [u8; Class::COUNT],
    representatives: Vec<Class>,
    /// By protocol: one class of each kind that can arrive at a callee.
    arriving: [Vec<Class>; 2],
    /// By protocol: `connect` and `unsent`, as far as no arriving class behaves like them.
    unsent: [Vec<Class>; 2],
    /// One class of each kind that can arrive at any callee of the graph.
    causes: Vec<Class>,
}

impl Alike {
    /// Two classes are of one kind if no policy retries the one and not the other, and everybody on the way makes classes
    /// of one kind of them.
    pub fn new(tries: &Tries, net: &Net) -> Self {
        let mut told_apart: HashSet<Classes> = HashSet::new();
        let mut speakers: HashSet<Speaker> = HashSet::new();
        for retry in &tries.retries {
            told_apart.insert(retry.on);
            if retry.is_hedged() {
                told_apart.insert(retry.hedged_on());
            }
            speakers.insert(retry.speaker);
        }
        let mut spoken = [false; 2];
        let edges = net.graph.edge_weights().chain(net.open.iter().map(|(_, edge)| edge));
        edges.for_each(|edge| spoken[index(edge.protocol.unwrap_or(Protocol::Http))] = true);
        let protocols: Vec<Protocol> =
            [Protocol::Http, Protocol::Grpc].into_iter().filter(|protocol| spoken[index(*protocol)]).collect();
        let emits: HashSet<Option<Class>> =
            net.graph.node_weights().map(|node| node.service.emits.as_ref()?.known().copied()).chain([None]).collect();

        let possible = protocols.iter().fold(Classes::NONE, |all, protocol| all.or(handover::possible(*protocol)));
        let mut told_apart: Vec<Classes> = told_apart.into_iter().map(|set| set.and(possible)).collect();
        told_apart.sort_unstable_by_key(|set| set.iter().map(|class| 1_u32 << class as u32).sum::<u32>());
        told_apart.dedup();

        let mut kind = [0_u8; Class::COUNT];
        let mut count = 1;
        loop {
            // What a class is made into, as kinds. Sets of classes become sets of kinds.
            let kinds_of = |classes: Classes| classes.iter().fold(0_u32, |set, class| set | 1 << kind[class as usize]);
            let mut seen: Vec<(u8, Vec<bool>, Vec<u32>)> = Vec::new();
            let mut next = [0_u8; Class::COUNT];
            for class in possible.iter() {
                let retried = told_apart.iter().map(|set| set.contains(class)).collect();
                let mut becomes = Vec::new();
                for protocol in &protocols {
                    becomes.push(kinds_of(Classes::of(&[handover::translate(class, *protocol)])));
                    becomes.extend(speakers.iter().map(|speaker| kinds_of(speaker.hands_out(class, *protocol))));
                    becomes.extend(emits.iter().map(|emits| kinds_of(answers(class, *protocol, *emits))));
                }
                let signature = (kind[class as usize], retried, becomes);
                let at = seen.iter().position(|other| *other == signature).unwrap_or_else(|| {
                    seen.push(signature);
                    seen.len() - 1
                });
                next[class as usize] = at as u8;
            }
            kind = next;
            if seen.len() <= count {
                break;
            }
            count = seen.len();
        }
        let first_of_each = |classes: &mut dyn Iterator<Item = Class>| {
            let mut seen = 0_u32;
            classes
                .filter(|class| {
                    let bit = 1 << kind[*class as usize];
                    let is_new = seen & bit == 0;
                    seen |= bit;
                    is_new
                })
                .collect::<Vec<Class>>()
        };
        let preferred = |set: Classes| PREFERENCE.into_iter().filter(move |class| set.contains(*class));
        let arriving = [Protocol::Http, Protocol::Grpc]
            .map(|protocol| first_of_each(&mut preferred(handover::arriving(protocol))));
        let unsent = [0, 1].map(|protocol: usize| {
            let covered: Vec<u8> = arriving[protocol].iter().map(|class| kind[*class as usize]).collect();
            [Class::Connect, Class::Unsent]
                .into_iter()
                .filter(|class| !covered.contains(&kind[*class as usize]))
                .collect()
        });
        let anywhere = protocols.iter().fold(Classes::NONE, |all, protocol| all.or(handover::arriving(*protocol)));
        let mut representatives = vec![Class::Overload; count];
        for class in possible.iter() {
            if let Some(slot) = representatives.get_mut(usize::from(kind[class as usize])) {
                *slot = class;
            }
        }
        Alike { kind, representatives, arriving, unsent, causes: first_of_each(&mut preferred(anywhere)) }
    }

    /// The same partition, of a graph in which one class alone is what services fail with. What the parties on the way make
    /// of it is as before.
    #[must_use]
    pub fn caused_by(self, class: Class) -> Self {
        let [http, grpc] =
            [Protocol::Http, Protocol::Grpc].map(|protocol| vec![super::amplification::spoken(class, protocol)]);
        Alike { causes: vec![class], arriving: [http, grpc], unsent: [Vec::new(), Vec::new()], ..self }
    }

    /// The kind of a class.
    pub fn kind(&self, class: Class) -> usize {
        usize::from(self.kind[class as usize])
    }

    /// One class of each kind.
    pub fn representatives(&self) -> &[Class] {
        &self.representatives
    }

    /// How many kinds there are; at least one.
    pub fn count(&self) -> usize {
        self.representatives.len()
    }

    /// One class of each kind that can arrive over a protocol.
    pub fn arriving(&self, protocol: Protocol) -> &[Class] {
        &self.arriving[index(protocol)]
    }

    /// `connect` and `unsent`, where they behave unlike everything that arrives.
    pub fn unsent(&self, protocol: Protocol) -> &[Class] {
        &self.unsent[index(protocol)]
    }

    /// One class of each kind that can arrive anywhere in the graph.
    pub fn causes(&self) -> &[Class] {
        &self.causes
    }
}

fn index(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Http => 0,
        Protocol::Grpc => 1,
    }
}
