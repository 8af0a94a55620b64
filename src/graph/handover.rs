//! What a failure looks like one step further out (contracts.md D-10): what a proxy hands outward after giving up, what a
//! service answers after its own calls failed, and what a class of one protocol is in the other.

use crate::facts::{Class, Classes, Dialect, Policy, Protocol, Proxy};

/// The failures of an edge that are no answers: they come about on the way. Breakers and limiters included.
const ON_THE_WAY: Classes =
    Classes::of(&[Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout, Class::BreakerOpen]);

/// Everything that an edge can fail with.
pub fn possible(protocol: Protocol) -> Classes {
    match protocol {
        Protocol::Http => Classes::HTTP,
        Protocol::Grpc => Classes::GRPC,
    }
}

/// The classes in which a request has arrived at the callee, so that its tries are load. Besides `connect` and `unsent`
/// (D-5), an open breaker of the caller's own sends nothing.
pub fn arriving(protocol: Protocol) -> Classes {
    possible(protocol).without(Classes::of(&[Class::Connect, Class::Unsent, Class::BreakerOpen]))
}

/// The same failure as an edge of `protocol` says it: HTTP answers become codes (503, 502, 504 and 429 are UNAVAILABLE to
/// a gRPC client, 500 is INTERNAL), codes become the status that gateways map them to.
pub fn translate(class: Class, protocol: Protocol) -> Class {
    match protocol {
        Protocol::Grpc => match class {
            Class::Overload | Class::BadGateway | Class::RateLimited => Class::Unavailable,
            Class::ServerError => Class::Internal,
            Class::Conflict => Class::Aborted,
            Class::ClientError => Class::Rejected,
            other => other,
        },
        Protocol::Http => match class {
            Class::Unavailable => Class::Overload,
            Class::Exhausted => Class::RateLimited,
            Class::Deadline => Class::BadGateway,
            Class::Aborted => Class::Conflict,
            Class::Internal => Class::ServerError,
            Class::Rejected => Class::ClientError,
            other => other,
        },
    }
}

/// What a service may answer on an edge of `protocol` after a call of its own failed with `class`. Answers are passed on
/// unchanged; what failed on the way becomes any of three server errors, of which the caller takes the worst; `emits`
/// fixes it.
pub fn answers(class: Class, protocol: Protocol, emits: Option<Class>) -> Classes {
    let class = emits.map_or(class, |emitted| translate(emitted, protocol));
    if ON_THE_WAY.contains(class) {
        return match protocol {
            Protocol::Http => Classes::of(&[Class::Overload, Class::BadGateway, Class::ServerError]),
            Protocol::Grpc => Classes::of(&[Class::Unavailable, Class::Deadline, Class::Internal]),
        };
    }
    Classes::of(&[translate(class, protocol)])
}

/// Who hands outward at a policy's place: a proxy with words of its own, or code, which passes the last failure on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Speaker {
    proxy: Option<Proxy>,
    /// Istio honours `grpc-timeout`, so that a timeout may come out as DEADLINE_EXCEEDED.
    honours_grpc_timeout: bool,
}

impl Speaker {
    /// Whoever stands where `policy` does. What a manifest describes at a proxy's position behaves like the Envoy family.
    pub fn of(policy: &Policy) -> Speaker {
        let is_described = matches!(policy.dialect, Dialect::Manifest | Dialect::Generic);
        let described = (is_described && policy.position.is_proxy()).then_some(Proxy::Envoy);
        Speaker { proxy: policy.dialect.proxy().or(described), honours_grpc_timeout: policy.dialect == Dialect::Istio }
    }

    /// The classes as which `class` may come out: the table of D-10. More than one where the class holds two of the
    /// table's columns: `reset` is also a broken answer.
    pub fn hands_out(self, class: Class, protocol: Protocol) -> Classes {
        let Some(proxy) = self.proxy.filter(|_| ON_THE_WAY.contains(class)) else {
            return Classes::of(&[class]);
        };
        if protocol == Protocol::Grpc && proxy == Proxy::Envoy {
            return match class {
                Class::TryTimeout if self.honours_grpc_timeout => Classes::of(&[Class::Unavailable, Class::Deadline]),
                _ => Classes::of(&[Class::Unavailable]),
            };
        }
        let out: &[Class] = match (proxy, class) {
            (Proxy::Envoy, Class::Reset) => &[Class::Overload, Class::BadGateway],
            (Proxy::Envoy, Class::TryTimeout) => &[Class::BadGateway],
            (Proxy::Envoy, _) => &[Class::Overload],
            (Proxy::Nginx, _) => &[Class::BadGateway],
            (Proxy::Haproxy, Class::Connect | Class::BreakerOpen) => &[Class::Overload],
            (Proxy::Haproxy, _) => &[Class::BadGateway],
            (Proxy::Traefik, Class::Reset) => &[Class::BadGateway, Class::ServerError],
            (Proxy::Traefik, Class::BreakerOpen) => &[Class::Overload],
            (Proxy::Traefik, _) => &[Class::BadGateway],
        };
        out.iter().map(|class| translate(*class, protocol)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(proxy: Proxy, class: Class, protocol: Protocol) -> Vec<&'static str> {
        let speaker = Speaker { proxy: Some(proxy), honours_grpc_timeout: false };
        speaker.hands_out(class, protocol).iter().map(Class::name).collect()
    }

    /// M-8, M-13, M-14.
    #[test]
    fn proxies_answer_in_their_own_words() {
        use Class::*;
        let http = Protocol::Http;
        for (class, words) in [
            (Connect, &["overload"][..]),
            (Unsent, &["overload"]),
            (Reset, &["overload", "bad-gateway"]),
            (TryTimeout, &["bad-gateway"]),
            (BreakerOpen, &["overload"]),
            // Answers pass unchanged.
            (Overload, &["overload"]),
            (ServerError, &["server-error"]),
        ] {
            assert_eq!(out(Proxy::Envoy, class, http), words, "envoy, {}", class.name());
        }
        assert_eq!(out(Proxy::Nginx, Connect, http), ["bad-gateway"]);
        assert_eq!(out(Proxy::Haproxy, Connect, http), ["overload"]);
        assert_eq!(out(Proxy::Haproxy, Reset, http), ["bad-gateway"]);
        assert_eq!(out(Proxy::Traefik, Reset, http), ["bad-gateway", "server-error"]);
        for class in [Connect, Unsent, Reset, TryTimeout, BreakerOpen] {
            assert_eq!(out(Proxy::Envoy, class, Protocol::Grpc), ["unavailable"]);
        }
    }

    #[test]
    fn code_passes_the_last_failure_on() {
        let code = Speaker { proxy: None, honours_grpc_timeout: false };
        for class in Class::ALL {
            assert_eq!(code.hands_out(class, Protocol::Http), Classes::of(&[class]));
        }
    }

    #[test]
    fn a_handler_passes_answers_on_and_makes_answers_of_the_rest() {
        let (http, grpc) = (Protocol::Http, Protocol::Grpc);
        assert_eq!(answers(Class::Overload, http, None), Classes::of(&[Class::Overload]));
        assert_eq!(
            answers(Class::Connect, http, None),
            Classes::of(&[Class::Overload, Class::BadGateway, Class::ServerError])
        );
        assert_eq!(
            answers(Class::BreakerOpen, grpc, None),
            Classes::of(&[Class::Unavailable, Class::Deadline, Class::Internal])
        );
        assert_eq!(answers(Class::Overload, grpc, None), Classes::of(&[Class::Unavailable]));
        assert_eq!(answers(Class::Internal, http, None), Classes::of(&[Class::ServerError]));
        assert_eq!(answers(Class::Overload, http, Some(Class::ServerError)), Classes::of(&[Class::ServerError]));
        assert_eq!(answers(Class::Reset, grpc, Some(Class::ServerError)), Classes::of(&[Class::Internal]));
    }

    #[test]
    fn every_class_of_one_protocol_has_a_word_in_the_other() {
        for protocol in [Protocol::Http, Protocol::Grpc] {
            for class in Class::ALL {
                assert!(possible(protocol).contains(translate(class, protocol)));
            }
        }
    }
}
