use crate::facts::{Methods, Operation, Policy, Protocol};
use crate::graph::nets::{Sketch, code, of_unknown_tries, timed, written};

/// `web -> orders` with four tries of some methods within 1 s each, an operation and a protocol: the load at `orders`, the
/// seconds that the call may take, whether a number is missing.
fn of(methods: Methods, operation: &str, protocol: Option<Protocol>) -> (f64, u64, bool) {
    of_policy(timed(Some(1000), None, code(4)), methods, operation, protocol)
}

fn of_policy(mut policy: Policy, methods: Methods, operation: &str, protocol: Option<Protocol>) -> (f64, u64, bool) {
    policy.methods = written(methods);
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "orders", [policy]);
    sketch.edge_mut(edge).operation = (!operation.is_empty()).then(|| Operation::parse(operation));
    sketch.edge_mut(edge).protocol = protocol;
    let orders = sketch.service("orders");
    sketch.analysed(|system| {
        let node = &system.amplification.nodes[orders.index()];
        assert_eq!(node.load, node.worst);
        let slowest = system.deadlines.edges[edge.index()].slowest.map_or(0, |time| time.0 / 1_000_000_000);
        (node.load.as_f64(), slowest, node.is_lower_bound)
    })
}

fn only(methods: &[&str]) -> Methods {
    Methods::Only(methods.iter().map(|method| (*method).into()).collect())
}

/// M-34, M-62, M-81.
#[test]
fn what_has_a_method_that_a_policy_leaves_alone_is_tried_once() {
    for (methods, operation) in [
        (only(&["GET"]), "POST /orders"),
        (only(&["GET", "HEAD"]), "PUT /orders"),
        (only(&["GET"]), "POST"),
        (Methods::Idempotent, "POST /orders"),
        (Methods::Idempotent, "PATCH /orders"),
    ] {
        assert_eq!(of(methods.clone(), operation, None), (1.0, 1, false), "{methods:?}, {operation}");
    }
    for (methods, operation) in [
        (only(&["GET"]), "GET /orders"),
        (only(&["GET", "POST"]), "POST /orders"),
        (Methods::Idempotent, "DELETE /orders"),
        (Methods::Any, "POST /orders"),
        // It may be a GET.
        (only(&["GET"]), "/orders"),
        (only(&["GET"]), ""),
    ] {
        assert_eq!(of(methods.clone(), operation, None), (4.0, 4, false), "{methods:?}, {operation}");
    }
}

#[test]
fn an_rpc_is_a_post() {
    let grpc = Some(Protocol::Grpc);
    assert_eq!(of(only(&["GET"]), "shop.Orders/Place", grpc), (1.0, 1, false));
    assert_eq!(of(Methods::Idempotent, "", grpc), (1.0, 1, false));
    assert_eq!(of(only(&["POST"]), "shop.Orders/Place", grpc), (4.0, 4, false));
    assert_eq!(of(Methods::Any, "shop.Orders/Place", grpc), (4.0, 4, false));
}

#[test]
fn unknown_tries_of_other_methods_hide_nothing() {
    let unknown = || of_unknown_tries(code(2));
    assert!(!of_policy(unknown(), only(&["GET"]), "POST /orders", None).2);
    assert!(of_policy(unknown(), only(&["GET"]), "GET /orders", None).2);
    assert!(of_policy(unknown(), only(&["GET"]), "", None).2);
}
