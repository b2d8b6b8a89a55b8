//! Histograms as bytes: `HdrHistogram`'s own format, version 2.

use std::fmt;

use super::new_histogram;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserializer as SerdeDeserializer, Serializer, de, ser};

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
    let bytes = deserializer.deserialize_byte_buf(Bytes)?;
    of_bytes(&bytes).map_err(de::Error::custom)
}

/// Bytes, also of formats that have none and write a list of numbers.
struct Bytes;

impl<'de> de::Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the bytes of a histogram")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
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
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes)
        .map_err(|error| error.to_string())?;
    // Others could not be added to those of the run.
    let expected = new_histogram();
    if (histogram.high(), histogram.sigfig()) != (expected.high(), expected.sigfig()) {
        return Err("its bounds are not those of this version".to_owned());
    }
    Ok(histogram)
}
