//! Tables that read well in a terminal and in a page.

const TITLE: usize = 34;
const COLUMN: usize = 18;

/// The line of names and the line below it.
pub(crate) fn head(title: &str, names: &[String]) {
    line(title, names);
    println!("|{}|{}", "-".repeat(TITLE + 2), format!("{}:|", "-".repeat(COLUMN + 1)).repeat(names.len()));
}

/// A line.
pub(crate) fn line(title: &str, cells: &[String]) {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>COLUMN$} |")).collect();
    println!("| {title:<TITLE$} |{cells}");
}

/// harn's figure, then those of the others with the ratio to it.
pub(crate) fn with_ratios(figures: &[Option<f64>]) -> Vec<String> {
    let harn = figures.first().copied().flatten();
    let cell = |(i, figure): (usize, &Option<f64>)| match (figure, harn) {
        (None, _) => "–".to_owned(),
        (Some(figure), Some(harn)) if i > 0 => format!("{figure:.1} ({:.2})", harn / figure),
        (Some(figure), _) => format!("{figure:.1}"),
    };
    figures.iter().enumerate().map(cell).collect()
}

/// The geometric mean of harn's ratio to each language, over the rows that both have.
pub(crate) fn geometric_means(rows: &[Vec<Option<f64>>], peers: usize) -> Vec<String> {
    let mean = |peer: usize| {
        let logs: Vec<f64> = rows.iter().filter_map(|row| Some((row[0]? / row[peer]?).ln())).collect();
        if logs.is_empty() {
            "–".to_owned()
        } else {
            format!("({:.2})", (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        }
    };
    (0..peers).map(|peer| if peer == 0 { String::new() } else { mean(peer) }).collect()
}
