//! A workload's values as parameters of prepared statements.

use weir_mysql::ParameterKind;
use weir_workload::ValueKind;

/// The protocol's types of these values.
pub(crate) fn parameter_kinds(kinds: &[ValueKind]) -> Vec<ParameterKind> {
    let kind = |kind: &ValueKind| match kind {
        ValueKind::Integer => ParameterKind::Integer,
        ValueKind::BigInteger => ParameterKind::BigInteger,
        ValueKind::Decimal => ParameterKind::Decimal,
        ValueKind::Text => ParameterKind::Text,
    };
    kinds.iter().map(kind).collect()
}
