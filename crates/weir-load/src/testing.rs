//! What tests of several modules need.

use weir_model::{Address, Endpoint, Secret, Tls};

/// Where no server is.
pub(crate) fn nowhere() -> Endpoint {
    Endpoint {
        address: Address::Socket("/nowhere".into()),
        user: "weir".to_owned(),
        password: Secret::new(""),
        database: "sbtest".to_owned(),
        tls: Tls::default(),
    }
}
