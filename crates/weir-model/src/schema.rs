//! JSON Schema of the types that are written as something else than their fields.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Bytes, CpuList, Duration, Scale};

/// A type that is written as text.
macro_rules! text {
    ($type:ty, $description:literal) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $description, "type": "string" })
            }
        }
    };
}

text!(CpuList, "Processors as in `taskset -c`: `0-3,6`.");
text!(Duration, "A length of time: `300s`, `250ms`.");
text!(Scale, "A scale: `1`, `1/500`.");

impl JsonSchema for Bytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "Bytes.", "type": "integer", "minimum": 0 })
    }
}
