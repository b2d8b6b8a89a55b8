//! Parentheses of a statement, and the order of rows within each.

use crate::sql_scan::SqlToken;

/// Aggregates and window functions whose value follows the order of rows, where none is named.
const AGGREGATES: [&str; 2] = ["GROUP_CONCAT", "JSON_ARRAYAGG"];
const WINDOW_FUNCTIONS: [&str; 7] = [
    "ROW_NUMBER",
    "NTILE",
    "LAG",
    "LEAD",
    "FIRST_VALUE",
    "LAST_VALUE",
    "NTH_VALUE",
];

/// Words behind which, or between which, rows are.
const OF_ROWS: [&str; 6] = ["FROM", "UPDATE", "DELETE", "UNION", "EXCEPT", "INTERSECT"];

/// A part of a statement and what is taken from its rows.
type Choice = (&'static str, &'static str);

const LIMIT: Choice = ("limit without order by", "takes any of the rows");
const AGGREGATE: Choice = ("an aggregate without order by", "joins rows in any order");
const WINDOW: Choice = ("a window without order by", "has rows in any order");

/// The parentheses that are open.
#[derive(Default)]
pub(super) struct Frames {
    /// The statement outside of parentheses.
    outer: Frame,
    /// The parentheses, the innermost last.
    open: Vec<Frame>,
    /// A window function has been named, and its window follows.
    awaits_window: bool,
}

#[derive(Default)]
struct Frame {
    kind: FrameKind,
    has_order: bool,
    /// It reads or changes rows of a table.
    has_rows: bool,
}

#[derive(Default, PartialEq, Eq)]
enum FrameKind {
    #[default]
    Other,
    /// Of `EXISTS`: it asks for no row.
    Exists,
    Aggregate,
    Window,
}

impl Frames {
    /// Follows a token; a choice among rows that nothing orders.
    pub(super) fn take(&mut self, tokens: &[SqlToken], at: usize, sql: &[u8]) -> Option<Choice> {
        let token = tokens.get(at)?;
        if token.is_sign(sql, b'(') {
            let kind = self.kind(tokens, at, sql);
            // A query in parentheses, or another one beside it, gives rows to what is around it.
            self.open.push(Frame {
                kind,
                ..Frame::default()
            });
            return None;
        }
        if token.is_sign(sql, b')') {
            let closed = self.open.pop()?;
            return closed.choice();
        }
        if WINDOW_FUNCTIONS.iter().any(|name| token.is(sql, name)) {
            self.awaits_window = true;
        }
        let is_by_null = tokens
            .get(at + 2)
            .is_some_and(|third| third.is(sql, "NULL"));
        let is_by = tokens.get(at + 1).is_some_and(|next| next.is(sql, "BY"));
        let frame = self.open.last_mut().unwrap_or(&mut self.outer);
        if token.is(sql, "ORDER") && is_by {
            frame.has_order = !is_by_null;
        } else if OF_ROWS.iter().any(|word| token.is(sql, word)) {
            frame.has_rows = true;
        } else if token.is(sql, "LIMIT") {
            let takes_any = frame.has_rows && !frame.has_order && frame.kind != FrameKind::Exists;
            return takes_any.then_some(LIMIT);
        }
        None
    }

    /// Returns true if the statement's own rows come in no order.
    pub(super) fn lacks_order(&self) -> bool {
        self.outer.has_rows && !self.outer.has_order
    }

    fn kind(&mut self, tokens: &[SqlToken], at: usize, sql: &[u8]) -> FrameKind {
        let Some(before) = at.checked_sub(1).and_then(|before| tokens.get(before)) else {
            return FrameKind::Other;
        };
        if before.is(sql, "EXISTS") {
            return FrameKind::Exists;
        }
        if AGGREGATES.iter().any(|name| before.is(sql, name)) {
            return FrameKind::Aggregate;
        }
        if before.is(sql, "OVER") && std::mem::take(&mut self.awaits_window) {
            return FrameKind::Window;
        }
        FrameKind::Other
    }
}

impl Frame {
    fn choice(&self) -> Option<Choice> {
        match self.kind {
            FrameKind::Aggregate if !self.has_order => Some(AGGREGATE),
            FrameKind::Window if !self.has_order => Some(WINDOW),
            _ => None,
        }
    }
}
