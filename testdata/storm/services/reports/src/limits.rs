//! What this service may take of others.

/// Further tries for the exchange rates.
pub const RATES: usize = 2;
