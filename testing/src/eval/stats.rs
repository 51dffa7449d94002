//! Confidence intervals of 95 %: Wilson's for rates, Student's t for means.

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A rate with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Number of hits.
    pub count: usize,
    /// Number of trials, at least 1.
    pub of: usize,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Rate {
    /// Returns the rate of some trials by Wilson's score interval; `None` without a trial.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts of runs")]
    pub fn new(count: usize, of: usize) -> Option<Rate> {
        if of == 0 {
            return None;
        }
        let (n, p) = (of as f64, count as f64 / of as f64);
        let (square, whole) = (Z * Z, 1.0 + Z * Z / n);
        let middle = (p + square / (2.0 * n)) / whole;
        let half = Z * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt() / whole;
        // Rounding must not move the bounds beyond what is possible.
        let low = if count == 0 { 0.0 } else { (middle - half).max(0.0) };
        let high = if count == of { 1.0 } else { (middle + half).min(1.0) };
        Some(Rate { count, of, low, high })
    }

    /// Returns the share of the hits.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts of runs")]
    pub fn share(&self) -> f64 {
        self.count as f64 / self.of as f64
    }
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The bounds; `None` for a single value, which says nothing about its spread.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Returns the mean of some values by Student's t distribution; `None` without a value.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts of runs")]
    pub fn new(values: &[f64]) -> Option<Estimate> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Estimate { mean, interval: None });
        }
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        let half = t_quantile(n - 1) * (variance / n as f64).sqrt();
        Some(Estimate { mean, interval: Some((mean - half, mean + half)) })
    }
}

/// The quantiles of Student's t distribution for 95 %, by degrees of freedom from 1.
const T: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
    2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
    2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// Returns the quantile for a number of degrees of freedom; beyond the table by the expansion of Cornish and Fisher.
#[allow(clippy::cast_precision_loss, reason = "counts of runs")]
fn t_quantile(freedom: usize) -> f64 {
    match T.get(freedom.saturating_sub(1)) {
        Some(known) => *known,
        None => {
            let n = freedom as f64;
            Z + (Z.powi(3) + Z) / (4.0 * n) + (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn rates_have_the_intervals_of_wilson() {
        // Values of `statsmodels.stats.proportion.proportion_confint(…, method="wilson")`.
        for (count, of, low, high) in [
            (0, 10, 0.0, 0.2775),
            (10, 10, 0.7225, 1.0),
            (7, 10, 0.3968, 0.8922),
            (1, 1, 0.2065, 1.0),
            (50, 100, 0.4038, 0.5962),
        ] {
            let rate = Rate::new(count, of).unwrap();
            assert!(is_near(rate.low, low) && is_near(rate.high, high), "{rate:?}");
        }
        assert_eq!(Rate::new(0, 0), None);
    }

    #[test]
    fn means_have_the_intervals_of_student() {
        let five = Estimate::new(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let (low, high) = five.interval.unwrap();
        assert!(is_near(five.mean, 3.0) && is_near(low, 1.0368) && is_near(high, 4.9632), "{five:?}");
        assert_eq!(Estimate::new(&[7.0]).unwrap(), Estimate { mean: 7.0, interval: None });
        assert_eq!(Estimate::new(&[2.0, 2.0]).unwrap().interval, Some((2.0, 2.0)));
        assert_eq!(Estimate::new(&[]), None);
        for (freedom, quantile) in [(31, 2.0395), (40, 2.0211), (120, 1.9799)] {
            assert!(is_near(t_quantile(freedom), quantile), "{freedom}: {}", t_quantile(freedom));
        }
    }
}
