//! Names of functions by their addresses in a living process.
//!
//! A stripped program has the names that it exports, which are most of a server's. Other functions have the name of
//! their file in brackets; several that call each other are one frame.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use blazesym::symbolize::source::{Kernel, Process, Source};
use blazesym::symbolize::{Input, Symbolizer};

use super::ring::Chain;

/// Mark of the kernel's functions, as flame graph tools know it.
const KERNEL_MARK: &str = "_[k]";
/// Functions that begin a thread.
const BEGINNINGS: [&str; 7] = [
    "start_thread",
    "clone3",
    "clone",
    "__clone3",
    "__clone",
    "_start",
    "__libc_start_main",
];

/// Names of a process's functions.
pub(crate) struct Symbols {
    user: HashMap<u64, String>,
    kernel: HashMap<u64, String>,
}

impl Symbols {
    /// Names the addresses of `chains`; `None` if the process has ended.
    pub(crate) fn read<'a>(pid: u32, chains: impl Iterator<Item = &'a Chain>) -> Option<Self> {
        let (mut user, mut kernel) = (BTreeSet::new(), BTreeSet::new());
        for chain in chains {
            user.extend(call_sites(&chain.user));
            kernel.extend(call_sites(&chain.kernel));
        }
        let files = Files::read(pid)?;
        let mut process = Process::new(pid.into());
        // Links of this folder need privileges that Weir does without.
        process.map_files = false;
        process.debug_syms = false;
        process.perf_map = false;
        let symbolizer = Symbolizer::builder().enable_code_info(false).build();
        let user = named(&symbolizer, &Source::Process(process), user, &|address| {
            format!("[{}]", files.name(address))
        });
        let source = Source::Kernel(Kernel::default());
        let kernel = named(&symbolizer, &source, kernel, &|_| "[kernel]".to_owned());
        Some(Self { user, kernel })
    }

    /// Functions of `chain` from the outermost inwards, and true if its beginning is missing.
    pub(crate) fn stack(&self, chain: &Chain) -> (Vec<String>, bool) {
        let name = |names: &HashMap<u64, String>, address: u64| {
            let name = names.get(&address).cloned();
            name.unwrap_or_else(|| "[unknown]".to_owned())
        };
        let user = call_sites(&chain.user).map(|address| name(&self.user, address));
        let mut stack: Vec<_> = user.collect();
        stack.reverse();
        let is_cut = !begins_thread(&stack);
        stack.dedup_by(|next, last| next == last && next.starts_with('['));
        let kernel =
            call_sites(&chain.kernel).map(|address| name(&self.kernel, address) + KERNEL_MARK);
        let kernel: Vec<_> = kernel.collect();
        stack.extend(kernel.into_iter().rev());
        (stack, is_cut)
    }
}

/// True if the program's part of a stack is whole: its outermost function is one that begins a thread. Distributions
/// strip their C library of that function's name.
fn begins_thread(stack: &[String]) -> bool {
    match stack {
        [] => true,
        [first, rest @ ..] => {
            let is_unnamed = first.starts_with("[libc") || first.starts_with("[libpthread");
            BEGINNINGS.contains(&first.as_str()) || is_unnamed && !rest.is_empty()
        }
    }
}

/// Addresses within the functions of a chain. All but the innermost are those to return to, which may stand behind the
/// end of the function that calls.
fn call_sites(chain: &[u64]) -> impl Iterator<Item = u64> {
    let first = chain.first().copied();
    let callers = chain
        .iter()
        .skip(1)
        .map(|address| address.saturating_sub(1));
    first.into_iter().chain(callers)
}

/// Names by address; `other` names what has no symbol.
fn named(
    symbolizer: &Symbolizer,
    source: &Source<'_>,
    addresses: BTreeSet<u64>,
    other: &dyn Fn(u64) -> String,
) -> HashMap<u64, String> {
    let addresses: Vec<_> = addresses.into_iter().collect();
    let found = symbolizer.symbolize(source, Input::AbsAddr(&addresses));
    let found = found.unwrap_or_default();
    let names = addresses.iter().enumerate().map(|(index, address)| {
        let symbol = found.get(index).and_then(|symbol| symbol.as_sym());
        let name = symbol.map(|symbol| short(&symbol.name));
        (*address, name.unwrap_or_else(|| other(*address)))
    });
    names.collect()
}

/// A function's name without its parameters: `JOIN::exec()` is `JOIN::exec`. Overloads share a frame.
fn short(name: &str) -> String {
    let name = name
        .replace(';', ":")
        .replace("(anonymous namespace)", "{anonymous}");
    let end = match name.find("operator()") {
        Some(start) => start + "operator()".len(),
        None => 0,
    };
    let parameters = name[end..].find('(').map(|at| at + end);
    name[..parameters.unwrap_or(name.len())]
        .trim_end()
        .to_owned()
}

/// Files that the process has mapped, by address.
struct Files {
    /// First address, the one after the last, and the file's name.
    ranges: Vec<(u64, u64, String)>,
}

impl Files {
    /// Reads `/proc/PID/maps` (proc(5)); `None` if the process has ended.
    fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let ranges = text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let (from, to) = words.next()?.split_once('-')?;
            let path = words.nth(4)?;
            let name = path.rsplit('/').next().unwrap_or(path);
            let number = |hex| u64::from_str_radix(hex, 16).ok();
            let name = name.trim_matches(['[', ']']);
            Some((number(from)?, number(to)?, name.to_owned()))
        });
        let ranges: Vec<_> = ranges.collect();
        // A process that has ended and is not yet waited for has an empty one.
        (!ranges.is_empty()).then_some(Self { ranges })
    }

    fn name(&self, address: u64) -> &str {
        let mut ranges = self.ranges.iter();
        let range = ranges.find(|(from, to, _)| (*from..*to).contains(&address));
        range.map_or("unknown", |(_, _, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_parameters() {
        for (name, expected) in [
            ("JOIN::exec()", "JOIN::exec"),
            ("f(std::vector<int, std::allocator<int> >, char*)", "f"),
            ("(anonymous namespace)::g(int)", "{anonymous}::g"),
            ("A::operator()(int) const", "A::operator()"),
            ("memcpy", "memcpy"),
        ] {
            assert_eq!(short(name), expected);
        }
    }
}
