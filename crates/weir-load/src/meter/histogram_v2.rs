//! Histograms as bytes: `HdrHistogram`'s own format, version 2.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize as _, Deserializer as SerdeDeserializer, Serializer, de, ser};

/// Writes a histogram as bytes.
pub(super) fn serialize<S: Serializer>(
    histogram: &Histogram<u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&bytes(histogram).map_err(ser::Error::custom)?)
}

/// Reads a histogram from bytes.
pub(super) fn deserialize<'de, D: SerdeDeserializer<'de>>(
    deserializer: D,
) -> Result<Histogram<u64>, D::Error> {
    let bytes = Vec::<u8>::deserialize(deserializer)?;
    of_bytes(&bytes).map_err(de::Error::custom)
}

/// The bytes of a histogram.
pub(super) fn bytes(histogram: &Histogram<u64>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The histogram of these bytes.
pub(super) fn of_bytes(mut bytes: &[u8]) -> Result<Histogram<u64>, String> {
    Deserializer::new()
        .deserialize(&mut bytes)
        .map_err(|error| error.to_string())
}
