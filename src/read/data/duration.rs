//! Durations as each dialect spells them. One text means different things to different readers, `30` most of all, and
//! what a reader refuses must not be taken for a value here; so every call names the syntax.

use crate::facts::Nanos;

/// Who reads the duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Protobuf JSON (Envoy): decimal seconds that end in `s`.
    Proto,
    /// Istio: Go durations of at least 1 ms, in whole milliseconds.
    Istio,
    /// Go's `time.ParseDuration`; what is negative is refused, since none of our settings means anything then.
    Go,
    /// Gateway API (GEP-2257): up to four whole numbers of up to five digits, with `h`, `m`, `s` or `ms` each.
    GatewayApi,
    /// Linkerd's policy annotations: one whole number with `ms`, `s`, `m`, `h` or `d`, or `0`.
    Linkerd,
    /// Traefik: Go durations, or a bare number of seconds.
    Traefik,
    /// nginx: whole numbers with `ms`, `s`, `m`, `h`, `d`, or a bare number of seconds.
    Nginx,
    /// Dapr: Go durations, or a bare whole number of milliseconds.
    Dapr,
    /// Argo Workflows: Go durations and days, or a bare number of seconds.
    Argo,
    /// .NET's `TimeSpan`: `[d.]hh:mm[:ss[.fffffff]]`, and a bare whole number of *days*.
    Dotnet,
    /// ISO 8601 without years and months: `PT2S`, `P1DT2H`.
    Iso8601,
    /// A bare number of seconds.
    BareSeconds,
    /// A bare number of milliseconds.
    BareMillis,
    /// Every spelling with a unit (manifests): `250ms`, `1m30s`, `0.25s`, `PT2S`, `00:00:30`. A bare number is refused.
    Any,
}

impl Syntax {
    /// What would be right, for a message: behind "is not".
    pub fn expected(self) -> &'static str {
        match self {
            Syntax::Proto => "a duration in seconds such as 0.25s",
            Syntax::Istio | Syntax::Go => "a duration such as 250ms or 1m30s",
            Syntax::GatewayApi => "a duration in whole numbers such as 250ms or 1m30s",
            Syntax::Linkerd => "a whole number with one unit such as 250ms",
            Syntax::Traefik | Syntax::Nginx | Syntax::Argo => "a duration such as 250ms, or a number of seconds",
            Syntax::Dapr => "a duration such as 250ms, or a whole number of milliseconds",
            Syntax::Dotnet => "a time span such as 00:00:30",
            Syntax::Iso8601 => "an ISO 8601 duration such as PT2S",
            Syntax::BareSeconds => "a number of seconds",
            Syntax::BareMillis => "a number of milliseconds",
            Syntax::Any => "a duration with its unit such as 250ms or 1m30s",
        }
    }
}

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLI;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

type Unit = (&'static str, u64);

/// Longer names first, so that `ms` is not taken for `m`.
const GO: &[Unit] =
    &[("ns", 1), ("us", 1_000), ("µs", 1_000), ("μs", 1_000), ("ms", MILLI), ("s", SECOND), ("m", MINUTE), ("h", HOUR)];
const GO_AND_DAYS: &[Unit] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", MILLI),
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
    ("d", DAY),
];
const WHOLE: &[Unit] = &[("ms", MILLI), ("s", SECOND), ("m", MINUTE), ("h", HOUR), ("d", DAY)];
const GATEWAY: &[Unit] = &[("ms", MILLI), ("s", SECOND), ("m", MINUTE), ("h", HOUR)];

/// The duration that `text` means to a reader of this syntax; `None` if it would be refused. What is too long to count
/// saturates.
pub fn parse(text: &str, syntax: Syntax) -> Option<Nanos> {
    let text = text.trim();
    match syntax {
        Syntax::Proto => proto(text),
        Syntax::Istio => go(text).filter(|time| time.0 >= MILLI && time.0.is_multiple_of(MILLI)),
        Syntax::Go => go(text),
        Syntax::GatewayApi => gateway(text),
        Syntax::Linkerd => {
            if text == "0" {
                Some(Nanos::ZERO)
            } else {
                single(text, WHOLE)
            }
        }
        Syntax::Traefik => go(text).or_else(|| bare(text, SECOND)),
        Syntax::Nginx => nginx(text),
        Syntax::Dapr => go(text).or_else(|| whole(text).map(|n| Nanos(n.saturating_mul(MILLI)))),
        Syntax::Argo => units(text, GO_AND_DAYS).or_else(|| bare(text, SECOND)),
        Syntax::Dotnet => timespan(text, Bare::Days),
        Syntax::Iso8601 => iso8601(text),
        Syntax::BareSeconds => bare(text, SECOND),
        Syntax::BareMillis => bare(text, MILLI),
        Syntax::Any => units(text, GO_AND_DAYS).or_else(|| iso8601(text)).or_else(|| timespan(text, Bare::Refused)),
    }
}

/// Digits only; more than fit count as the largest number.
fn whole(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().unwrap_or(u64::MAX))
}

/// `digits[.digits]` times a unit, exact to the nanosecond (cut off, as the readers do). `1.` and `.5` only if `is_loose`.
fn decimal(text: &str, unit: u64, is_loose: bool) -> Option<Nanos> {
    let (int, fraction) = match text.split_once('.') {
        Some((int, fraction)) => (int, Some(fraction)),
        None => (text, None),
    };
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let fraction_text = fraction.unwrap_or_default();
    if !is_digits(int) || !is_digits(fraction_text) || (int.is_empty() && fraction_text.is_empty()) {
        return None;
    }
    if !is_loose && (int.is_empty() || fraction.is_some_and(str::is_empty)) {
        return None;
    }
    let int = if int.is_empty() { 0 } else { whole(int)? };
    let mut nanos = int.saturating_mul(unit);
    let mut place = u128::from(unit);
    let mut part = 0_u128;
    // Twenty digits are finer than a nanosecond of a day.
    let mut scale = 1_u128;
    let mut digits = 0_u128;
    for byte in fraction_text.bytes().take(20) {
        digits = digits * 10 + u128::from(byte - b'0');
        scale *= 10;
    }
    if scale > 1 {
        place *= digits;
        part = place / scale;
    }
    nanos = nanos.saturating_add(u64::try_from(part).unwrap_or(u64::MAX));
    Some(Nanos(nanos))
}

fn bare(text: &str, unit: u64) -> Option<Nanos> {
    decimal(text, unit, false)
}

fn proto(text: &str) -> Option<Nanos> {
    let number = text.strip_suffix('s')?;
    if number.split_once('.').is_some_and(|(_, fraction)| fraction.len() > 9) {
        return None;
    }
    decimal(number, SECOND, false)
}

fn go(text: &str) -> Option<Nanos> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" { Some(Nanos::ZERO) } else { units(text, GO) }
}

/// Numbers with a unit each, summed: `1h30m`, `1.5s`.
fn units(text: &str, table: &[Unit]) -> Option<Nanos> {
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut total = Nanos::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, behind) = rest.split_at_checked(digits)?;
        let (name, unit) = table.iter().find(|(name, _)| behind.starts_with(name))?;
        total = total + decimal(number, *unit, true)?;
        rest = behind.strip_prefix(name)?;
    }
    Some(total)
}

/// One whole number with one unit.
fn single(text: &str, table: &[Unit]) -> Option<Nanos> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, name) = text.split_at_checked(digits)?;
    let (_, unit) = table.iter().find(|(unit, _)| *unit == name)?;
    Some(Nanos(whole(number)?.saturating_mul(*unit)))
}

fn gateway(text: &str) -> Option<Nanos> {
    let mut rest = text;
    let mut total = Nanos::ZERO;
    for _ in 0..4 {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, behind) = rest.split_at_checked(digits)?;
        if !(1..=5).contains(&number.len()) {
            return None;
        }
        let (name, unit) = GATEWAY.iter().find(|(name, _)| behind.starts_with(name))?;
        total = total + Nanos(whole(number)?.saturating_mul(*unit));
        rest = behind.strip_prefix(name)?;
        if rest.is_empty() {
            return Some(total);
        }
    }
    None
}

/// `1m 30s`, `1m30s`, `500ms`, `30`.
fn nginx(text: &str) -> Option<Nanos> {
    if let Some(seconds) = whole(text) {
        return Some(Nanos::from_secs(seconds));
    }
    let mut total = Nanos::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, behind) = rest.split_at_checked(digits)?;
        let (name, unit) = WHOLE.iter().find(|(name, _)| behind.starts_with(name))?;
        total = total + Nanos(whole(number)?.saturating_mul(*unit));
        rest = behind.strip_prefix(name)?.trim_start();
    }
    (!text.is_empty()).then_some(total)
}

/// The days of .NET's largest time span.
const MAX_DAYS: u64 = 10_675_199;

/// What a time span without a colon means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    Days,
    Refused,
}

/// `d`, `hh:mm`, `[d.]hh:mm:ss[.fffffff]`, `d:hh:mm:ss[.fffffff]`. A part that is too large for its place is refused: .NET
/// reads `24:00:00` as 24 days, which nobody means.
fn timespan(text: &str, bare: Bare) -> Option<Nanos> {
    if !text.contains(':') {
        let days = whole(text).filter(|days| bare == Bare::Days && *days <= MAX_DAYS)?;
        return Some(Nanos(days.saturating_mul(DAY)));
    }
    let (days, clock) = match text.split_once('.') {
        Some((days, clock)) if clock.contains(':') => (Some(days), clock),
        _ => (None, text),
    };
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let (days, hours, minutes, seconds) = match (days, parts.as_slice()) {
        (days, [h, m, s]) => (days, *h, *m, Some(*s)),
        (None, [d, h, m, s]) => (Some(*d), *h, *m, Some(*s)),
        (days, [h, m]) if bare == Bare::Days && fraction.is_none() => (days, *h, *m, None),
        _ => return None,
    };
    let part = |text: &str, below: u64| whole(text).filter(|n| *n < below && text.len() <= 8);
    let days = days.map_or(Some(0), |days| whole(days).filter(|days| *days <= MAX_DAYS))?;
    let mut total = Nanos(days.saturating_mul(DAY));
    total = total + Nanos(part(hours, 24)? * HOUR) + Nanos(part(minutes, 60)? * MINUTE);
    total = total + Nanos(seconds.map_or(Some(0), |s| part(s, 60))? * SECOND);
    if let Some(fraction) = fraction {
        if !(1..=7).contains(&fraction.len()) {
            return None;
        }
        total = total + Nanos(whole(fraction)? * 10_u64.pow(9 - fraction.len() as u32));
    }
    Some(total)
}

fn iso8601(text: &str) -> Option<Nanos> {
    let rest = text.strip_prefix(['P', 'p'])?;
    let (date, time) = match rest.split_once(['T', 't']) {
        Some((date, time)) if !time.is_empty() => (date, time),
        Some(_) => return None,
        None if rest.is_empty() => return None,
        None => (rest, ""),
    };
    let mut total = Nanos::ZERO;
    for (part, designators) in
        [(date, &[('W', 7 * DAY), ('D', DAY)][..]), (time, &[('H', HOUR), ('M', MINUTE), ('S', SECOND)][..])]
    {
        let mut rest = part;
        // Each designator once, in this order.
        let mut left = designators;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')?;
            let (number, behind) = rest.split_at_checked(digits)?;
            let name = behind.chars().next()?.to_ascii_uppercase();
            let at = left.iter().position(|(designator, _)| *designator == name)?;
            let (_, unit) = left.get(at)?;
            total = total + decimal(&number.replace(',', "."), *unit, false)?;
            left = left.get(at + 1..)?;
            rest = behind.get(1..)?;
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests;
