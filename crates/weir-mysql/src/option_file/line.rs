//! One line of an option file.

/// Meaning of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Empty, or a comment.
    Nothing,
    /// `[group]`, in lower case: the programs do not look at the case.
    Group(String),
    /// Text after `!`.
    Directive(&'a str),
    /// `name = value` or `name`
    Setting {
        /// In lower case with dashes.
        name: String,
        /// Without quotes, escapes resolved.
        value: Option<String>,
    },
}

impl<'a> Line<'a> {
    /// Understands a line; what is wrong with it.
    pub(super) fn parse(line: &'a str) -> Result<Self, &'static str> {
        // The servers' programs are written in C: a line ends there, too.
        let line = line.split('\0').next().unwrap_or_default();
        let line = line.trim_start_matches(is_space);
        if line.is_empty() || line.starts_with(['#', ';']) {
            return Ok(Self::Nothing);
        }
        if let Some(directive) = line.strip_prefix('!') {
            return Ok(Self::Directive(directive.trim_matches(is_space)));
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (group, _) = rest
                .split_once(']')
                .ok_or("a group needs a closing bracket")?;
            // A space before the name is part of it.
            let group = group.trim_end_matches(is_space);
            return Ok(Self::Group(group.to_ascii_lowercase()));
        }
        let line = without_comment(line);
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(unescape(unquote(value.trim_matches(is_space))))),
            None => (line, None),
        };
        let name = name.trim_end_matches(is_space);
        Ok(Self::Setting {
            name: name.to_ascii_lowercase().replace('_', "-"),
            value,
        })
    }
}

/// isspace(3) in the "C" locale.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Returns the text before a comment; a `#` between quotes begins none. Backslashes count only between quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            '\'' | '"' if !is_escaped => match quote {
                None => quote = Some(c),
                Some(open) if open == c => quote = None,
                Some(_) => {}
            },
            '#' if quote.is_none() => return &line[..at],
            _ => {}
        }
        is_escaped = quote.is_some() && c == '\\' && !is_escaped;
    }
    line
}

/// A value without the quotes around all of it.
fn unquote(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// `\b`, `\t`, `\n`, `\r`, `\\`, `\'`, `\"` and `\s`, which is a space; other backslashes stay.
fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match characters.next() {
            Some('b') => out.push('\u{8}'),
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('s') => out.push(' '),
            Some(c @ ('\\' | '"' | '\'')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}
