//! The passes of the loop that is looked at.

use super::follow::AGAIN;
use super::number::Number;
use super::value::{Origins, Unknown, Val};
use super::{Compared, Flow, Machine, Mode, Out, Outs, State, before, names, one};
use crate::read::code::tree::{Exit, Id, Kind, LoopKind, Sym};

/// How a pass ends.
#[derive(Clone, Debug)]
pub struct End {
    /// What holds then.
    pub state: State,
    /// What comes next.
    pub how: Leaving,
}

/// What comes behind a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaving {
    /// The next pass.
    GoesOn,
    /// The loop is over: its range, list or condition is.
    IsOver,
    /// Something left it.
    Left(Exit, Val),
}

impl Machine<'_> {
    /// The state in which the loop begins: what it changes is a variable of the run.
    pub fn start(&self) -> State {
        let mut state = State::default();
        if let Kind::Function { params, .. } = self.unit.kind(self.target) {
            for param in params.iter().filter_map(|param| param.name.as_ref()) {
                let value = self.traced(self.unit, self.target, param);
                let from = value.origin().from.and(Origins::COUNT).and(Origins::OUTSIDE);
                state.bind(param, Val::Unknown(Unknown { from, ..value.origin() }));
            }
            return state;
        }
        let mut known: Vec<Sym> = Vec::new();
        for (name, id) in self.changed() {
            if known.contains(&name) {
                continue;
            }
            let value = if name.contains('.') { self.traced(self.unit, id, &name) } else { self.outside(&name, id) };
            let value = match value {
                Val::Number(number) => Val::number((*number).clone().varying()),
                // Flags, lists and things with a state of their own: in any pass they may be anything.
                Val::Bool(_)
                | Val::Absent
                | Val::Present(_)
                | Val::Good(_)
                | Val::Bad(_)
                | Val::Try(_)
                | Val::Option(_)
                    if self.mode == Mode::Explore =>
                {
                    self.marked(&name, Val::from(Origins::COUNT))
                }
                // So may a variant.
                Val::Record(record) if record.fields.is_empty() && self.mode == Mode::Explore => {
                    self.marked(&name, Val::from(Origins::COUNT))
                }
                other => other,
            };
            state.bind(&name, value);
            known.push(name);
        }
        state
    }

    /// Variables from outside that the loop changes: by assignment, by lending, or by asking them for the next of what is in
    /// them; with a node that names each.
    fn changed(&self) -> Vec<(Sym, Id)> {
        let unit = self.unit;
        let inside = unit.below(self.target);
        let mut all = Vec::new();
        for id in unit.assignments(inside.clone()) {
            if let Kind::Assign { place, .. } = unit.kind(*id)
                && let Some(path) = names::path_of(unit, *place)
            {
                all.push((path, *place));
            }
        }
        let is_made_before = |name: &Sym, at: Id| matches!(self.definition(name, at).0, names::Definition::Value(_));
        for id in inside.clone() {
            if let Kind::Method { on, .. } = unit.kind(id)
                && let Kind::Name(name) = unit.kind(*on)
                && name.full.is_none()
                && is_made_before(&name.text, *on)
                && matches!(self.outside(&name.text, *on), Val::Record(_) | Val::List(_) | Val::Series(_))
            {
                all.push((Sym::clone(&name.text), *on));
            }
        }
        for id in unit.lent.iter().copied().filter(|id| inside.contains(id)) {
            if let Some((root, _)) = names::root_of(unit, id)
                && is_made_before(&root, id)
                && before::is_data(&self.outside(&root, id))
            {
                all.push((root, id));
            }
        }
        all
    }

    /// The value of an expression that is evaluated once.
    pub fn value_before(&self, id: Id) -> Val {
        self.pass.set(0);
        self.the_only(self.run(self.unit, id, State::default()))
    }

    /// The value of an expression of the loop, in its first pass.
    pub fn value_of(&self, id: Id) -> Val {
        self.pass.set(1);
        self.the_only(self.run(self.unit, id, self.start()))
    }

    /// What becomes of the function after the loop has ended: the ways to its end, each with what it gives.
    pub fn rest(&self, end: &End) -> Outs {
        let value = match &end.how {
            Leaving::Left(Exit::Break, value) => value.clone(),
            Leaving::Left(how, value) => {
                return vec![Out { state: end.state.clone(), flow: Flow::Leave(*how, None, value.clone()) }];
            }
            Leaving::IsOver | Leaving::GoesOn => Val::Unit,
        };
        let unit = self.unit;
        let mut outs = vec![Out::value(end.state.clone(), value)];
        let mut inside = self.target;
        for around in unit.around(self.target) {
            outs = match unit.kind(around) {
                Kind::Block(ids) => {
                    let at = ids.iter().position(|id| unit.is_below(inside, *id)).unwrap_or(ids.len());
                    let rest = ids.get(at + 1..).unwrap_or_default();
                    if rest.is_empty() { outs } else { self.then(outs, |state, _| self.block(unit, rest, state)) }
                }
                Kind::Let { names, .. } => self.then(outs, |mut state, value| {
                    super::bind_all(&mut state, names, value);
                    one(state, Val::Unit)
                }),
                Kind::Assign { place, .. } => self.then(outs, |mut state, value| {
                    names::store(unit, *place, value, &mut state);
                    one(state, Val::Unit)
                }),
                Kind::Exit { how, label, .. } => self.then(outs, |mut state, value| {
                    state.exit = Some(around);
                    vec![Out { state, flow: Flow::Leave(*how, label.clone(), value) }]
                }),
                Kind::Function { .. } | Kind::Closure { .. } => break,
                Kind::Loop { .. } => return Vec::new(),
                Kind::Branch { on: Some(on), .. } if unit.is_below(inside, *on) => return Vec::new(),
                Kind::Call { .. } | Kind::Method { .. } => {
                    self.then(outs, |state, value| one(state, Val::Unknown(value.origin())))
                }
                _ => outs,
            };
            inside = around;
        }
        outs
    }

    /// What was compared in the last pass.
    pub fn comparisons(&self) -> Vec<Compared> {
        self.compared.borrow().clone()
    }

    /// From now on no number that changes from pass to pass ends anything.
    pub fn go_beyond(&self) {
        self.is_beyond.set(true);
    }

    /// Whether the loop runs at all: false where its condition is known not to hold at first.
    pub fn begins(&self, state: &State) -> bool {
        let Kind::Loop { kind: LoopKind::While(test), .. } = self.unit.kind(self.target) else { return true };
        let outs = self.condition(self.unit, *test, state.clone());
        outs.is_empty() || outs.iter().any(|out| out.flow != Flow::Value(Val::Bool(false)))
    }

    /// All ends of one pass; passes are counted from 1.
    pub fn pass(&self, number: u32, mut state: State) -> Vec<End> {
        self.pass.set(number);
        self.compared.borrow_mut().clear();
        state.begin_pass();
        let depth = state.enter();
        let (label, body) = match self.unit.kind(self.target) {
            Kind::Loop { kind, label, body } => {
                if !self.bind_item(kind, number, &mut state) {
                    return vec![End { state, how: Leaving::IsOver }];
                }
                (label.as_ref(), *body)
            }
            Kind::Function { body: Some(body), .. } => (None, *body),
            _ => return Vec::new(),
        };
        let outs = self.run(self.unit, body, state);
        let mut ends = Vec::with_capacity(outs.len());
        for out in outs {
            let mut state = out.state;
            let is_function = matches!(self.unit.kind(self.target), Kind::Function { .. });
            let is_mine =
                |target: &Option<Sym>| target.is_none() || target.as_ref() == label || target.as_deref() == Some(AGAIN);
            let how = match out.flow {
                Flow::Value(value) if is_function => Leaving::Left(Exit::Return, value),
                Flow::Value(_) => Leaving::GoesOn,
                Flow::Leave(Exit::Continue, target, _) if is_mine(&target) => {
                    state.log.continued = true;
                    Leaving::GoesOn
                }
                Flow::Leave(how, _, value) => Leaving::Left(how, value),
            };
            state.leave(depth);
            match how {
                Leaving::GoesOn => ends.extend(self.next(number, state)),
                how => ends.push(End { state, how }),
            }
        }
        merged(ends)
    }

    /// Gives the names of the loop what they hold in a pass; false if there is no such pass.
    fn bind_item(&self, kind: &LoopKind, number: u32, state: &mut State) -> bool {
        let place = f64::from(number.saturating_sub(1));
        match kind {
            LoopKind::Count { var, range } => {
                let Some(over) = self.gone_through(*range) else { return true };
                let Val::Series(series) = &over else { return true };
                let is_over = series.known_len().is_some_and(|len| place >= len);
                if is_over && !self.is_beyond.get() {
                    return false;
                }
                if let Some(var) = var {
                    let value = match series.at(place) {
                        Val::Number(number) => Val::number((*number).clone().varying()),
                        other => {
                            Val::Unknown(Unknown { from: other.origin().from.and(Origins::COUNT), ..other.origin() })
                        }
                    };
                    state.bind(var, value);
                }
                true
            }
            LoopKind::Each { vars, over } => {
                let (over, is_numbered) = self.numbered(*over);
                let Some(all) = self.gone_through(over) else { return true };
                let item = match &all {
                    Val::List(items) if self.mode != Mode::Explore => match items.get(place as usize) {
                        Some(item) => item.clone(),
                        None => return false,
                    },
                    Val::List(items) => {
                        let origin = items.iter().fold(Unknown::of(Origins::ITEM), |all, item| all.and(&item.origin()));
                        Val::Unknown(Unknown { from: origin.from.and(Origins::ITEM), ..origin })
                    }
                    Val::Series(series) => {
                        let is_over = series.known_len().is_some_and(|len| place >= len);
                        if is_over && !self.is_beyond.get() {
                            return false;
                        }
                        match series.at(place) {
                            Val::Number(number) => Val::number((*number).clone().varying()),
                            other => {
                                Val::Unknown(Unknown { from: other.origin().from.and(Origins::ITEM), ..other.origin() })
                            }
                        }
                    }
                    other => Val::Unknown(Unknown { from: other.origin().from.and(Origins::ITEM), ..other.origin() }),
                };
                let mut vars = vars.as_slice();
                if let (true, Some((first, rest))) = (is_numbered, vars.split_first()) {
                    state.bind(first, Val::number(Number::whole(i128::from(number) - 1, None).varying()));
                    vars = rest;
                }
                super::bind_all(state, vars, item);
                true
            }
            LoopKind::While(_) | LoopKind::DoWhile(_) | LoopKind::Forever => true,
        }
    }

    /// `x.enumerate()` is `x`, numbered.
    fn numbered(&self, over: Id) -> (Id, bool) {
        match self.unit.kind(over) {
            Kind::Method { on, name, .. } if self.words.loops.numberings.iter().any(|one| **one == **name) => {
                (*on, true)
            }
            _ => (over, false),
        }
    }

    /// What the loop goes through, evaluated once, before it.
    pub fn gone_through(&self, over: Id) -> Option<Val> {
        let key: Sym = format!("\u{0}{over}").into();
        if let Some(known) = self.outside.borrow().get(&key) {
            return Some(known.clone());
        }
        let pass = self.pass.replace(0);
        let mut state = State::default();
        for (name, id) in self.changed() {
            if !name.contains('.') {
                let value = self.outside(&name, id);
                state.bind(&name, value);
            }
        }
        let outs: Outs = self.run(self.unit, over, state);
        self.pass.set(pass);
        let value = self.the_only(outs);
        self.outside.borrow_mut().insert(key, value.clone());
        Some(value)
    }

    /// What comes behind a pass that went on: the condition may end the loop.
    fn next(&self, number: u32, state: State) -> Vec<End> {
        let test = match self.unit.kind(self.target) {
            Kind::Loop { kind: LoopKind::While(test) | LoopKind::DoWhile(test), .. } => *test,
            Kind::Loop { kind: LoopKind::Count { range, .. }, .. } => return self.counted(*range, number, state),
            Kind::Loop { kind: LoopKind::Each { over, .. }, .. } => {
                let (over, _) = self.numbered(*over);
                return self.counted(over, number, state);
            }
            _ => return vec![End { state, how: Leaving::GoesOn }],
        };
        let outs = self.condition(self.unit, test, state);
        let all = outs.into_iter().map(|out| {
            let how = match out.flow {
                Flow::Value(Val::Bool(false)) => Leaving::IsOver,
                Flow::Value(_) => Leaving::GoesOn,
                Flow::Leave(how, _, value) => Leaving::Left(how, value),
            };
            End { state: out.state, how }
        });
        all.collect()
    }

    /// The end of a range or list ends the loop.
    fn counted(&self, over: Id, number: u32, mut state: State) -> Vec<End> {
        let all = self.gone_through(over).unwrap_or_else(Val::unknown);
        let len = match &all {
            Val::List(items) => Some(items.len() as f64),
            Val::Series(series) => match &series.len {
                None => return vec![End { state, how: Leaving::GoesOn }],
                Some(_) => series.known_len(),
            },
            _ => None,
        };
        match (self.mode, len) {
            (Mode::Count | Mode::Grow, Some(len)) if !self.is_beyond.get() => {
                let how = if f64::from(number) >= len { Leaving::IsOver } else { Leaving::GoesOn };
                vec![End { state, how }]
            }
            (Mode::Grow, _) => vec![End { state, how: Leaving::GoesOn }],
            _ => {
                let on = match &all {
                    Val::Series(series) => series.len.as_ref().map(Val::origin).unwrap_or_default(),
                    other => other.origin(),
                };
                let on = Unknown { from: on.from.and(Origins::COUNT), ..on };
                let mut over_now = state.clone();
                self.choose(self.unit, &mut state, over, 1, &on);
                self.choose(self.unit, &mut over_now, over, 0, &on);
                vec![End { state, how: Leaving::GoesOn }, End { state: over_now, how: Leaving::IsOver }]
            }
        }
    }
}

/// Ends that come to the same are one.
fn merged(ends: Vec<End>) -> Vec<End> {
    let mut all: Vec<End> = Vec::with_capacity(ends.len());
    for end in ends {
        let alike = |known: &&mut End| {
            known.how == end.how
                && known.state.log.continued == end.state.log.continued
                && known.state.is_like(&end.state)
        };
        match all.iter_mut().find(alike) {
            Some(known) => known.state.merge(&end.state),
            None => all.push(end),
        }
    }
    all
}
