//! Which of competing routes a call can take (contracts.md D-7).

use std::collections::HashMap;

use crate::facts::{Methods, Operation, PathMatch, Route};
use crate::source::Span;

/// Whether a route may take a call of this operation, and whether it certainly does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    No,
    Maybe,
    Surely,
}

/// Keeps what may handle a call: routes that its operation rules out go, and so do those of an ordered list that stand
/// behind one that surely takes it. Several destinations of one route have the same place in the list and stay together.
pub(super) fn narrow<T>(items: &mut Vec<T>, route: impl Fn(&T) -> Option<&Route>, operation: Option<&Operation>) {
    items.retain(|item| route(item).is_none_or(|route| matches(route, operation) != Match::No));
    let mut taken: HashMap<Span, u32> = HashMap::new();
    for route in items.iter().filter_map(&route) {
        if matches(route, operation) == Match::Surely {
            let first = taken.entry(route.list).or_insert(route.order);
            *first = route.order.min(*first);
        }
    }
    if !taken.is_empty() {
        items.retain(|item| {
            route(item).is_none_or(|route| taken.get(&route.list).is_none_or(|first| route.order <= *first))
        });
    }
}

/// Whether a route takes every call of this operation.
pub(super) fn surely_takes(route: &Route, operation: Option<&Operation>) -> bool {
    matches(route, operation) == Match::Surely
}

fn matches(route: &Route, operation: Option<&Operation>) -> Match {
    let method = match (&route.methods, operation.and_then(|operation| operation.method.as_deref())) {
        (Methods::Any, _) => Match::Surely,
        (methods, Some(method)) if methods.covers(method) => Match::Surely,
        (_, Some(_)) => Match::No,
        (_, None) => Match::Maybe,
    };
    let path = match (&route.path, operation.and_then(|operation| operation.path.as_deref())) {
        (PathMatch::Any, _) => Match::Surely,
        (path, Some(literal)) => match takes(path, literal) {
            Some(true) => Match::Surely,
            Some(false) => Match::No,
            None => Match::Maybe,
        },
        (PathMatch::Prefix(prefix), None) if &**prefix == "/" => Match::Surely,
        (_, None) => Match::Maybe,
    };
    match (method, path) {
        (Match::No, _) | (_, Match::No) => Match::No,
        (Match::Surely, Match::Surely) if !route.conditional => Match::Surely,
        _ => Match::Maybe,
    }
}

/// Whether a route takes a path. The name of an RPC travels as the path `/package.Service/Method`; a bare method name
/// decides nothing.
fn takes(route: &PathMatch, literal: &str) -> Option<bool> {
    if literal.starts_with('/') {
        route.takes(literal)
    } else if literal.contains('/') {
        route.takes(&format!("/{literal}"))
    } else {
        match route {
            PathMatch::Prefix(prefix) if &**prefix == "/" => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn route(order: u32, path: PathMatch) -> Route {
        let list = Span::new(FileId(0), 0..9);
        Route { list, order, methods: Methods::Any, path, conditional: false, protocol: None }
    }

    fn kept(routes: &[Route], operation: &str) -> Vec<u32> {
        let mut items: Vec<&Route> = routes.iter().collect();
        let operation = (!operation.is_empty()).then(|| Operation::parse(operation));
        narrow(&mut items, |route| Some(*route), operation.as_ref());
        items.iter().map(|route| route.order).collect()
    }

    #[test]
    fn the_first_route_that_surely_matches_wins() {
        let routes = [
            route(0, PathMatch::Exact("/health".into())),
            route(1, PathMatch::Prefix("/pay".into())),
            route(2, PathMatch::Any),
        ];
        assert_eq!(kept(&routes, "POST /pay/1"), [1]);
        assert_eq!(kept(&routes, "GET /cart"), [2]);
        assert_eq!(kept(&routes, ""), [0, 1, 2]);
    }

    #[test]
    fn a_route_with_conditions_wins_over_nothing() {
        let mut conditional = route(0, PathMatch::Prefix("/pay".into()));
        conditional.conditional = true;
        let pattern = route(1, PathMatch::Pattern("/p.*".into()));
        assert_eq!(kept(&[conditional, pattern, route(2, PathMatch::Any)], "POST /pay"), [0, 1, 2]);
    }

    #[test]
    fn a_route_behind_one_that_takes_everything_is_never_taken() {
        assert_eq!(kept(&[route(0, PathMatch::Any), route(1, PathMatch::Prefix("/pay".into()))], ""), [0]);
    }

    #[test]
    fn destinations_of_one_route_stay_together() {
        assert_eq!(kept(&[route(0, PathMatch::Any), route(0, PathMatch::Any)], "GET /"), [0, 0]);
    }

    #[test]
    fn methods_rule_routes_out_only_where_the_method_is_known() {
        let mut reads = route(0, PathMatch::Any);
        reads.methods = Methods::Only(vec!["GET".into()]);
        let routes = [reads, route(1, PathMatch::Any)];
        assert_eq!(kept(&routes, "POST /pay"), [1]);
        assert_eq!(kept(&routes, "GET /pay"), [0]);
        assert_eq!(kept(&routes, "/pay"), [0, 1]);
    }

    #[test]
    fn a_grpc_method_is_a_path() {
        let routes = [route(0, PathMatch::Prefix("/shop.Payments/".into())), route(1, PathMatch::Any)];
        assert_eq!(kept(&routes, "shop.Payments/Charge"), [0]);
        assert_eq!(kept(&routes, "Charge"), [0, 1]);
    }

    #[test]
    fn lists_do_not_compete_with_each_other() {
        let mut other = route(7, PathMatch::Any);
        other.list = Span::new(FileId(1), 0..9);
        assert_eq!(kept(&[route(0, PathMatch::Any), other], "GET /"), [0, 7]);
    }
}
