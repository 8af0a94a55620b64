use super::*;

fn millis(text: &str, syntax: Syntax) -> Option<f64> {
    parse(text, syntax).map(Nanos::as_millis_f64)
}

fn refused(syntax: Syntax, texts: &[&str]) {
    for text in texts {
        assert_eq!(parse(text, syntax), None, "{text:?} as {syntax:?}");
    }
}

#[test]
fn proto_takes_decimal_seconds_and_nothing_else() {
    assert_eq!(millis("0.25s", Syntax::Proto), Some(250.0));
    assert_eq!(millis("3s", Syntax::Proto), Some(3000.0));
    assert_eq!(parse("0.000001s", Syntax::Proto), Some(Nanos(1000)));
    assert_eq!(parse("0s", Syntax::Proto), Some(Nanos::ZERO));
    refused(
        Syntax::Proto,
        &["25ms", "1m", "30", "0", "-1s", "1h", "s", "", ".s", "1.s", "1m30s", "1.0000000001s", "１s"],
    );
}

#[test]
fn istio_takes_go_durations_of_whole_milliseconds() {
    assert_eq!(millis("1h", Syntax::Istio), Some(3_600_000.0));
    assert_eq!(millis("1m", Syntax::Istio), Some(60_000.0));
    assert_eq!(millis("2s", Syntax::Istio), Some(2000.0));
    assert_eq!(millis("25ms", Syntax::Istio), Some(25.0));
    assert_eq!(millis("0.5s", Syntax::Istio), Some(500.0));
    refused(Syntax::Istio, &["0s", "0", "100us", "1500us", "2", "1d", "-2s"]);
}

#[test]
fn go_takes_fractions_and_sums() {
    assert_eq!(millis("1m30s", Syntax::Go), Some(90_000.0));
    assert_eq!(millis("1.5s", Syntax::Go), Some(1500.0));
    assert_eq!(millis(".5s", Syntax::Go), Some(500.0));
    assert_eq!(parse("1µs", Syntax::Go), Some(Nanos(1000)));
    assert_eq!(parse("1us1ns", Syntax::Go), Some(Nanos(1001)));
    assert_eq!(parse("0", Syntax::Go), Some(Nanos::ZERO));
    refused(Syntax::Go, &["30", "", ".", "1", "s", "1 s", "1d", "-1s", "1h-2m", "1.2.3s"]);
}

#[test]
fn gateway_api_takes_four_short_whole_numbers() {
    assert_eq!(millis("1h2h", Syntax::GatewayApi), Some(10_800_000.0));
    assert_eq!(millis("1m30s", Syntax::GatewayApi), Some(90_000.0));
    assert_eq!(millis("99999ms", Syntax::GatewayApi), Some(99_999.0));
    assert_eq!(parse("0s", Syntax::GatewayApi), Some(Nanos::ZERO));
    refused(Syntax::GatewayApi, &["1.5s", "0", "10us", "", "600000ms", "1h1m1s1ms1h", "-1s", "5"]);
}

#[test]
fn linkerd_annotations_take_one_whole_number() {
    assert_eq!(millis("300ms", Syntax::Linkerd), Some(300.0));
    assert_eq!(millis("1d", Syntax::Linkerd), Some(86_400_000.0));
    assert_eq!(parse("0", Syntax::Linkerd), Some(Nanos::ZERO));
    refused(Syntax::Linkerd, &["1.5s", "5", "-1s", "1m30s", ""]);
}

#[test]
fn a_bare_number_is_what_its_reader_makes_of_it() {
    assert_eq!(millis("30", Syntax::Traefik), Some(30_000.0));
    assert_eq!(millis("100ms", Syntax::Traefik), Some(100.0));
    assert_eq!(millis("30", Syntax::Nginx), Some(30_000.0));
    assert_eq!(millis("1m 30s", Syntax::Nginx), Some(90_000.0));
    assert_eq!(millis("30", Syntax::Dapr), Some(30.0));
    assert_eq!(millis("5s", Syntax::Dapr), Some(5000.0));
    assert_eq!(millis("30", Syntax::Argo), Some(30_000.0));
    assert_eq!(millis("1d", Syntax::Argo), Some(86_400_000.0));
    assert_eq!(millis("30", Syntax::BareSeconds), Some(30_000.0));
    assert_eq!(millis("1.5", Syntax::BareSeconds), Some(1500.0));
    assert_eq!(millis("30", Syntax::BareMillis), Some(30.0));
    assert_eq!(millis("30", Syntax::Dotnet), Some(30.0 * 86_400_000.0));
    refused(Syntax::Dapr, &["1.5"]);
    refused(Syntax::BareSeconds, &["30s", "-1", "", "1e3", "NaN", "inf"]);
    refused(Syntax::BareMillis, &["30ms", "-1", ""]);
    refused(Syntax::Nginx, &["1.5s", "", "x"]);
}

#[test]
fn dotnet_time_spans_are_days_and_a_clock() {
    assert_eq!(millis("00:00:30", Syntax::Dotnet), Some(30_000.0));
    assert_eq!(millis("1.02:03:04.5", Syntax::Dotnet), Some(93_784_500.0));
    assert_eq!(millis("1:02:03:04", Syntax::Dotnet), Some(93_784_000.0));
    assert_eq!(millis("00:00:00.2000000", Syntax::Dotnet), Some(200.0));
    assert_eq!(millis("01:30", Syntax::Dotnet), Some(5_400_000.0));
    refused(
        Syntax::Dotnet,
        &["24:00:00", "00:60:00", "00:00:60", "-00:00:01", "2s", "PT2S", "", "00:00:00.12345678", "::"],
    );
}

#[test]
fn iso_durations_have_designators_in_order() {
    assert_eq!(millis("PT2S", Syntax::Iso8601), Some(2000.0));
    assert_eq!(millis("PT0.5S", Syntax::Iso8601), Some(500.0));
    assert_eq!(millis("PT1M30S", Syntax::Iso8601), Some(90_000.0));
    assert_eq!(millis("P1DT2H", Syntax::Iso8601), Some(93_600_000.0));
    refused(Syntax::Iso8601, &["P", "PT", "P1Y", "P1M", "PT1S1M", "2s", "PT2", "P1DT", "PT1SS"]);
}

#[test]
fn a_manifest_takes_every_spelling_with_a_unit() {
    assert_eq!(millis("250ms", Syntax::Any), Some(250.0));
    assert_eq!(millis("1m30s", Syntax::Any), Some(90_000.0));
    assert_eq!(millis("0.25s", Syntax::Any), Some(250.0));
    assert_eq!(millis("PT2S", Syntax::Any), Some(2000.0));
    assert_eq!(millis("00:00:30", Syntax::Any), Some(30_000.0));
    refused(Syntax::Any, &["30", "0", "1.5", "01:30", "", "fast", "-1s"]);
}

#[test]
fn what_is_too_long_saturates() {
    assert_eq!(parse("99999999999999999999999h", Syntax::Go), Some(Nanos::MAX));
    assert_eq!(parse("600000000000s", Syntax::Proto), Some(Nanos::MAX));
    assert_eq!(parse("0.00000000000000000000000000001h", Syntax::Go), Some(Nanos::ZERO));
    refused(Syntax::Dotnet, &["99999999999999999999", "10675200"]);
}
