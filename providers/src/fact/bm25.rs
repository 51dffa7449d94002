//! BM25 with k1 = 1.2 and b = 0.75: for each word of the query that a text has, how rare the word is among all texts, times
//! how often the text has it, less so the longer the text. The weight of a word that `n` of `N` texts have is
//! `ln(1 + (N - n + 0.5) / (n + 0.5))`, which is never negative.

use super::terms::Terms;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The score of each text; 0 where it has no word of the query. A word that the query repeats counts once.
pub(super) fn scores(query: &Terms, texts: &[&Terms]) -> Vec<f64> {
    let mut scores = vec![0.0; texts.len()];
    let total: f64 = texts.iter().map(|text| f64::from(text.length)).sum();
    let average = total / number(texts.len()).max(1.0);
    for word in query.words() {
        let having = number(texts.iter().filter(|text| text.count(word) > 0).count());
        let weight = (1.0 + (number(texts.len()) - having + 0.5) / (having + 0.5)).ln();
        for (score, text) in scores.iter_mut().zip(texts) {
            let count = f64::from(text.count(word));
            if count > 0.0 {
                let length = 1.0 - B + B * f64::from(text.length) / average;
                *score += weight * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
    }
    scores
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_worked_out_by_hand() {
        // Lengths 3, 5 and 4, so the average is 4. `cat` is in two of three texts: ln(1 + 1.5 / 2.5) = ln 1.6 = 0.470004.
        // `mat` is in one: ln(1 + 2.5 / 1.5) = ln(8/3) = 0.980829.
        // Text 0, cat once: 2.2 / (1 + 1.2 × (0.25 + 0.75 × 3/4)) = 2.2 / 1.975 = 1.113924; × 0.470004 = 0.523548.
        // Text 1, cat twice: 4.4 / (2 + 1.2 × (0.25 + 0.75 × 5/4)) = 4.4 / 3.425 = 1.284672; × 0.470004 = 0.603800;
        //   mat once: 2.2 / (1 + 1.425) = 0.907216; × 0.980829 = 0.889824; together 1.493624.
        let texts = ["the cat sat", "cat on mat and cat", "a dog ran off"].map(Terms::of);
        let texts: Vec<&Terms> = texts.iter().collect();
        let found = scores(&Terms::of("cat mat cat unknown"), &texts);
        for (found, expected) in found.iter().zip([0.523_548, 1.493_624, 0.0]) {
            assert!((found - expected).abs() < 2e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn nothing_to_compare_is_no_division_by_nothing() {
        assert!(scores(&Terms::of("a"), &[]).is_empty());
        let empty = Terms::of("");
        assert_eq!(scores(&Terms::of("a"), &[&empty]), [0.0]);
        assert_eq!(scores(&Terms::of(""), &[&Terms::of("a")]), [0.0]);
    }
}
