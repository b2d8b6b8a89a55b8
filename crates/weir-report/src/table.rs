//! Tables for a terminal: columns as wide as their widest cell, numbers to the right.

/// `rows` below `header`, a line each; a column is aligned right where every cell starts with a
/// digit. Every row has as many cells as the header.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let columns = 0..header.len();
    let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let widths: Vec<_> = columns
        .clone()
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells
                .chain([header[column].chars().count()])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let right: Vec<_> = columns
        .clone()
        .map(|column| rows.iter().all(|row| is_number(&row[column])))
        .collect();
    let line = |cells: &[&str]| {
        let padded = columns.clone().map(|column| {
            let (cell, width) = (cells[column], widths[column]);
            if right[column] {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let text = padded.collect::<Vec<_>>().join("  ");
        format!("{}\n", text.trim_end())
    };
    let body = rows
        .iter()
        .map(|row| line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    std::iter::once(line(header)).chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let rows = [
            vec!["a".into(), "1,000".into()],
            vec!["long".into(), "7".into()],
        ];
        assert_eq!(
            table(&["name", "qps"], &rows),
            "name    qps\na     1,000\nlong      7\n"
        );
    }
}
