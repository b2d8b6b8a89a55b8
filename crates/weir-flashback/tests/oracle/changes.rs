//! `--diff` and `log` beside the difference of what the server held.

use std::collections::{BTreeMap, HashMap, HashSet};

use weir_flashback::{
    ColumnChange, Diff, DiffLine, FlashbackError, FlashbackPlan, HistoryLine, LoggedValue, line,
    read_key,
};

use crate::checks::Outcome;
use crate::kinds::Class;
use crate::truth::{Cell, Column, Truth};

/// Keys of a table whose history is read.
const KEYS_MAX: usize = 2;

/// A value as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Side {
    NoRow,
    /// The log has it only in part, and so may any value be it.
    NotLogged,
    Is(String),
}

/// Columns with what they held and hold.
type Columns = BTreeMap<String, (Side, Side)>;

/// What became of a row, by Weir's word for it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Net {
    word: &'static str,
    columns: Columns,
}

/// A table then and now.
struct Pair<'a> {
    then: &'a Truth,
    now: &'a Truth,
    /// Numbers of the key's columns.
    key: &'a [usize],
    /// By column: texts as people read them, by their bytes.
    shown: Vec<HashMap<String, String>>,
}

pub(crate) fn check(
    prepared: &FlashbackPlan,
    then: Option<&Truth>,
    now: &Truth,
    outcome: &mut Outcome,
) {
    let mut diff = Diff::default();
    let done = prepared.changes(&mut |change| diff.take(&prepared.tables[0], change));
    if let Err(error) = done {
        return outcome.refused("diff", &error);
    }
    outcome.answered("diff");
    // A table with columns that came since is told by its columns now; what the server held then has others.
    let Some(then) = then.filter(|then| then.columns == now.columns) else {
        return;
    };
    let pair = Pair::new(then, now, &prepared.tables[0].key);
    let expected = pair.expected();
    let lines = diff.lines(&prepared.tables);
    let net = |found: &DiffLine| Net {
        word: found.change,
        columns: pair.columns(found.change, &found.columns),
    };
    let nets: Vec<Net> = lines.iter().map(net).collect();
    let mut owners = vec![None; expected.len()];
    let mut added = Vec::new();
    for (at, found) in lines.iter().enumerate() {
        if !take(at, &nets, &expected, &mut owners, &mut HashSet::new()) {
            added.push(format!("{found}"));
        }
    }
    let mut lacking = Vec::new();
    for (expected, owner) in expected.iter().zip(owners) {
        match owner {
            Some(at) => outcome.untold += nets[at].untold(expected),
            None => lacking.push(expected),
        }
    }
    // A document of which the log has the difference only may be the one that it was.
    added.retain(|line| !line.contains("(not logged)"));
    if !lacking.is_empty() || !added.is_empty() {
        outcome.finds("diff", format!("not said: {lacking:?}; said: {added:?}"));
    }
    history(prepared, &pair, outcome);
}

/// Gives a line an expected change that it fits; another line gets another one for it. A line in which values are not
/// logged may fit several.
fn take(
    line: usize,
    nets: &[Net],
    expected: &[Net],
    owners: &mut [Option<usize>],
    tried: &mut HashSet<usize>,
) -> bool {
    (0..expected.len()).any(|at| {
        let is_new = nets[line].fits(&expected[at]) && tried.insert(at);
        let is_free =
            is_new && owners[at].is_none_or(|other| take(other, nets, expected, owners, tried));
        if is_free {
            owners[at] = Some(line);
        }
        is_free
    })
}

impl Side {
    /// What the server held of a column.
    fn held(column: &Column, at: usize, row: Option<&Vec<Cell>>) -> Self {
        row.map_or(Self::NoRow, |row| Self::Is(expected(column, &row[at])))
    }

    /// Whether two values may be the same.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Is(one), Self::Is(other)) => one == other,
            (one, other) => (*one == Self::NoRow) == (*other == Self::NoRow),
        }
    }
}

impl Net {
    fn fits(&self, expected: &Self) -> bool {
        let mut expected_columns = expected.columns.iter();
        self.word == expected.word
            && expected_columns.all(|(name, (before, after))| {
                let found = self.columns.get(name);
                found.is_some_and(|(b, a)| b.fits(before) && a.fits(after))
            })
            && self.columns.iter().all(|(name, (before, after))| {
                expected.columns.contains_key(name) || [before, after].contains(&&Side::NotLogged)
            })
    }

    /// Values that the log does not have.
    fn untold(&self, expected: &Self) -> usize {
        let sides = expected.columns.keys().map(|name| &self.columns[name]);
        let sides = sides.flat_map(|(before, after)| [before, after]);
        sides.filter(|side| **side == Side::NotLogged).count()
    }
}

impl<'a> Pair<'a> {
    fn new(then: &'a Truth, now: &'a Truth, key: &'a [usize]) -> Self {
        let mut shown = vec![HashMap::new(); then.columns.len()];
        for row in then.rows.iter().chain(&now.rows) {
            for (cell, known) in row.iter().zip(&mut shown) {
                if let (Some(exact), Some(text)) = (&cell.exact, &cell.shown) {
                    known.insert(exact.clone(), text.clone());
                }
            }
        }
        Self {
            then,
            now,
            key,
            shown,
        }
    }

    fn by_key(&self, truth: &'a Truth) -> BTreeMap<Vec<&'a Cell>, &'a Vec<Cell>> {
        let key = |row: &'a Vec<Cell>| self.key.iter().map(|at| &row[*at]).collect();
        truth.rows.iter().map(|row| (key(row), row)).collect()
    }

    /// Keys whose rows differ, with the rows.
    #[allow(clippy::type_complexity, reason = "two rows of a key")]
    fn changed(&self) -> Vec<(Vec<&'a Cell>, Option<&'a Vec<Cell>>, Option<&'a Vec<Cell>>)> {
        let (then, now) = (self.by_key(self.then), self.by_key(self.now));
        let mut keys: Vec<_> = then.keys().chain(now.keys()).cloned().collect();
        keys.sort();
        keys.dedup();
        let rows = keys.into_iter().map(|key| {
            let (before, after) = (then.get(&key).copied(), now.get(&key).copied());
            (key, before, after)
        });
        rows.filter(|(_, before, after)| before != after).collect()
    }

    fn expected(&self) -> Vec<Net> {
        let mut nets = Vec::new();
        for (_, before, after) in self.changed() {
            let word = match (before, after) {
                (None, _) => "inserted since",
                (_, None) => "deleted since",
                _ => "changed",
            };
            let mut columns = Columns::new();
            for (at, column) in self.then.columns.iter().enumerate() {
                let is_changed = before.map(|row| &row[at]) != after.map(|row| &row[at]);
                let side = |row| Side::held(column, at, row);
                let (before, after) = (side(before), side(after));
                // Two members of an ENUM may have one text.
                if !column.is_virtual && is_changed {
                    columns.insert(column.name.clone(), (before, after));
                }
            }
            if !columns.is_empty() {
                nets.push(Net { word, columns });
            }
        }
        nets
    }

    /// What Weir says of columns, in the same form.
    fn columns(&self, word: &str, found: &[ColumnChange]) -> Columns {
        let (has_before, has_after) = (!word.starts_with("insert"), !word.starts_with("delete"));
        let mut columns = Columns::new();
        for change in found {
            let at = self
                .then
                .columns
                .iter()
                .position(|known| known.name == change.column);
            let at = at.unwrap();
            if self.then.columns[at].is_virtual {
                continue;
            }
            let side = |is_there: bool, logged: Option<&LoggedValue>| match (is_there, logged) {
                (false, _) => Side::NoRow,
                (true, None) => Side::NotLogged,
                (true, Some(logged)) => Side::Is(self.said(at, logged)),
            };
            let before = side(has_before, change.before());
            let after = side(has_after, change.after());
            columns.insert(change.column.clone(), (before, after));
        }
        columns
    }

    /// A value that Weir says. Bytes that are no text to it are hexadecimal.
    fn said(&self, at: usize, logged: &LoggedValue) -> String {
        let LoggedValue::Text(text) = logged else {
            return "NULL".to_owned();
        };
        let by_bytes = text
            .strip_prefix("0x")
            .and_then(|hex| self.shown[at].get(hex));
        plain(&self.then.columns[at], by_bytes.unwrap_or(text))
    }
}

fn expected(column: &Column, cell: &Cell) -> String {
    match (&cell.shown, column.class()) {
        (None, _) => "NULL".to_owned(),
        // The number without its bits, which are told by its digits.
        (Some(text), Class::Binary) => plain(column, text.split(' ').next().unwrap_or_default()),
        (Some(text), _) => plain(column, text),
    }
}

/// One form for texts of one value.
fn plain(column: &Column, text: &str) -> String {
    match (column.class(), column.data_type.as_str()) {
        (Class::Json, _) => match serde_json::from_str::<serde_json::Value>(text) {
            Ok(document) => document.to_string(),
            Err(error) => format!("{text}: {error}"),
        },
        (Class::Binary, "float") => format!("{:08x}", text.parse::<f32>().unwrap().to_bits()),
        (Class::Binary, _) => format!("{:016x}", text.parse::<f64>().unwrap().to_bits()),
        (Class::Exact, "mediumint") if column.definition.contains("zerofill") => {
            text.parse::<u64>().unwrap().to_string()
        }
        (Class::Bytes, _) if column.charset.is_empty() => text.trim_start_matches("0x").to_owned(),
        _ => text.to_owned(),
    }
}

/// The history of some keys that changed: from the row then it leads to the row now.
fn history(prepared: &FlashbackPlan, pair: &Pair<'_>, outcome: &mut Outcome) {
    let table = &prepared.tables[0];
    for (key, before, after) in pair.changed().into_iter().take(KEYS_MAX) {
        let columns = pair.key.iter().map(|at| &pair.then.columns[*at]);
        let texts = key.iter().zip(columns);
        let texts: Option<Vec<_>> = texts.map(|(cell, column)| key_text(column, cell)).collect();
        let Some(texts) = texts else {
            continue;
        };
        let (mut lines, wanted) = (Vec::new(), read_key(table, &texts).unwrap());
        let read = prepared.known_changes(&mut |change| {
            lines.extend(line(table, &wanted, change)?);
            Ok::<(), FlashbackError>(())
        });
        if let Err(error) = read {
            return outcome.refused("log", &error);
        }
        outcome.answered("log");
        if lines.is_empty() {
            outcome.finds(
                "log",
                format!("{texts:?}: no line; then {before:?}, now {after:?}"),
            );
        }
        for at in 0..pair.then.columns.len() {
            let side = |row| Side::held(&pair.then.columns[at], at, row);
            if let Err(text) = pair.follow(at, side(before), &lines, &side(after)) {
                outcome.finds("log", format!("{texts:?}: {text}"));
            }
        }
    }
}

impl Pair<'_> {
    /// Follows a column through the lines of a row.
    fn follow(
        &self,
        at: usize,
        before: Side,
        lines: &[HistoryLine],
        after: &Side,
    ) -> Result<(), String> {
        let column = &self.then.columns[at];
        let mut value = before;
        for found in lines {
            let columns = self.columns(found.kind, &found.columns);
            let is_key = |at: &usize| columns.contains_key(&self.then.columns[*at].name);
            // A row that comes from another key or goes to one has columns that no line has.
            if column.is_virtual || found.kind == "update" && self.key.iter().any(is_key) {
                return Ok(());
            }
            let Some((was, is)) = columns.get(&column.name) else {
                continue;
            };
            if !was.fits(&value) {
                return Err(format!("{}: {value:?} before {found:?}", column.name));
            }
            value.clone_from(is);
        }
        if value.fits(after) {
            return Ok(());
        }
        Err(format!(
            "{}: {value:?} after {lines:?}, and is {after:?}",
            column.name
        ))
    }
}

/// A key as a user writes it: as Weir prints it.
fn key_text(column: &Column, cell: &Cell) -> Option<String> {
    let (exact, shown) = (cell.exact.as_deref()?, cell.shown.as_deref()?);
    let is_readable = match column.charset.as_str() {
        "utf8mb4" | "latin1" | "ascii" => true,
        "utf16" | "ucs2" | "sjis" | "" => false,
        _ => shown.is_ascii(),
    };
    match column.class() {
        Class::Binary => None,
        // An ENUM has this text for no member, too.
        Class::Number if shown.is_empty() => None,
        Class::Exact => Some(plain(column, shown)),
        Class::Bytes if !is_readable => Some(format!("0x{exact}")),
        _ => Some(shown.to_owned()),
    }
}
