//! The host, in words for the result: who reads a number wants to know on what it was measured.

use std::collections::BTreeMap;

use weir_model::DATA_PLACE;

/// Processor, cores, memory, kernel, and where the data lie.
pub(crate) fn describe(data_place: Option<String>) -> BTreeMap<String, String> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let system = rustix::system::uname();
    let memory = weir_probe::memory().map_or_else(|_| String::new(), |m| m.total.to_string());
    let facts = [
        ("processor", weir_probe::processor().unwrap_or_default()),
        ("cores", cores.to_string()),
        ("memory", memory),
        ("kernel", system.release().to_string_lossy().into_owned()),
    ];
    let place = data_place.map(|place| (DATA_PLACE, place));
    let facts = facts.into_iter().chain(place);
    facts
        .map(|(label, text)| (label.to_owned(), text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_memory_and_a_kernel() {
        let host = describe(Some("on disk: /tmp (ext4)".to_owned()));
        assert!(
            !host["kernel"].is_empty()
                && !host["memory"].is_empty()
                && host.contains_key(DATA_PLACE),
            "{host:?}"
        );
    }
}
