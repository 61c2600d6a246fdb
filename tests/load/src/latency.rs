//! Latencies in histograms: microseconds in, milliseconds out.

use std::time::Duration;

use hdrhistogram::Histogram;

const MICROS_PER_MILLI: f64 = 1_000.0;

/// Returns an empty histogram: up to a minute, three digits.
pub fn histogram() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, 60_000_000, 3)?)
}

/// Records a latency; one of more than a minute as a minute.
pub fn record(latencies: &mut Histogram<u64>, latency: Duration) {
    record_n(latencies, latency, 1);
}

/// Records the same latency so many times.
pub fn record_n(latencies: &mut Histogram<u64>, latency: Duration, times: u32) {
    let micros = latency.as_micros().try_into().unwrap_or(u64::MAX);
    latencies.saturating_record_n(micros, times.into());
}

/// Returns a quantile in milliseconds.
pub fn millis(latencies: &Histogram<u64>, quantile: f64) -> f64 {
    count(latencies.value_at_quantile(quantile)) / MICROS_PER_MILLI
}

/// Converts a number of requests or microseconds, which are far fewer than 2^32.
pub fn count(number: u64) -> f64 {
    u32::try_from(number).map_or(f64::from(u32::MAX), f64::from)
}
