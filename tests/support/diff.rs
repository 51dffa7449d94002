//! Differences of two texts, line by line.

/// `-` lines are missing, `+` lines are too many; equal stretches are shortened. Nothing when the texts are equal.
pub(crate) fn diff(expected: &str, found: &str) -> Option<String> {
    if expected == found {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.split('\n').collect(), found.split('\n').collect());
    let lines = edits(&a, &b);
    let near_change =
        |i: usize| lines[i.saturating_sub(2)..lines.len().min(i + 3)].iter().any(|(sign, _)| *sign != ' ');
    let mut text = String::new();
    let mut skipping = false;
    for (i, (sign, line)) in lines.iter().enumerate() {
        if near_change(i) {
            text.push_str(&format!("    {sign} {line}\n"));
        } else if !skipping {
            text.push_str("      …\n");
        }
        skipping = !near_change(i);
    }
    Some(text)
}

/// The shortest way from one to the other: a longest common subsequence, between the equal beginning and the equal end.
fn edits<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<(char, &'a str)> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (&a[head..], &b[head..]);
    let tail = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a_mid, b_mid) = (&a_rest[..a_rest.len() - tail], &b_rest[..b_rest.len() - tail]);
    // length[i][j]: of the longest common subsequence of a_mid[i..] and b_mid[j..].
    let mut length = vec![vec![0_u32; b_mid.len() + 1]; a_mid.len() + 1];
    for i in (0..a_mid.len()).rev() {
        for j in (0..b_mid.len()).rev() {
            length[i][j] =
                if a_mid[i] == b_mid[j] { length[i + 1][j + 1] + 1 } else { length[i + 1][j].max(length[i][j + 1]) };
        }
    }
    let mut out: Vec<(char, &str)> = a[..head].iter().map(|line| (' ', *line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < a_mid.len() || j < b_mid.len() {
        if i < a_mid.len() && j < b_mid.len() && a_mid[i] == b_mid[j] {
            out.push((' ', a_mid[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b_mid.len() || (i < a_mid.len() && length[i + 1][j] >= length[i][j + 1]) {
            out.push(('-', a_mid[i]));
            i += 1;
        } else {
            out.push(('+', b_mid[j]));
            j += 1;
        }
    }
    out.extend(a_rest[a_rest.len() - tail..].iter().map(|line| (' ', *line)));
    out
}

#[test]
fn equal_texts_do_not_differ_and_others_show_where() {
    assert_eq!(diff("a\nb\n", "a\nb\n"), None);
    assert_eq!(diff("a\nb\nc", "a\nx\nc").unwrap(), "      a\n    - b\n    + x\n      c\n");
    assert_eq!(diff("1\n2\n3\n4\nb", "1\n2\n3\n4\n").unwrap(), "      …\n      3\n      4\n    - b\n    + \n");
}
