//! The order-entry workload: a wholesale supplier's warehouses, derived from the public specification of
//! TPC-C. Its results are not comparable with audited ones.

use serde::{Deserialize, Serialize};

use crate::nearest;

/// Customers of a district in the specification; there are as many orders when it is loaded.
const CUSTOMERS: u32 = 3_000;
/// Items of the specification.
const ITEMS: u32 = 100_000;
/// Beyond what keys and drives hold.
const WAREHOUSES_MAX: u32 = 100_000;
/// An order has up to 15 lines, and deliveries need orders.
const LEAST: u32 = 20;

/// The order-entry workload with its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderEntryWorkload {
    /// Warehouses, each of ten districts.
    pub warehouses: u32,
    /// Items, of which each warehouse has a stock.
    pub items: u32,
    /// Customers of a district when it is loaded, and orders.
    pub customers: u32,
    /// True if the tables have foreign keys.
    pub foreign_keys: bool,
    /// True if each transaction follows the keying and think times of the specification.
    pub keying_and_think_time: bool,
    /// True if each connection stays at one warehouse; otherwise each transaction draws its own.
    pub fixed_warehouses: bool,
}

impl OrderEntryWorkload {
    /// Name of the workload.
    pub const NAME: &str = "order_entry";

    /// Names of its options.
    pub const NAMES: [&str; 6] = [
        "warehouses",
        "items",
        "customers",
        "foreign_keys",
        "keying_and_think_time",
        "fixed_warehouses",
    ];

    /// Returns true if the option `name` concerns the load alone: its tables are the same with
    /// every value.
    pub fn is_of_the_load(name: &str) -> bool {
        matches!(name, "keying_and_think_time" | "fixed_warehouses")
    }

    /// Sets the option `name`.
    ///
    /// # Errors
    ///
    /// What the value must be, or which name was meant.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "warehouses" => self.warehouses = whole(value, 1, WAREHOUSES_MAX)?,
            "items" => self.items = whole(value, LEAST, ITEMS)?,
            "customers" => self.customers = whole(value, LEAST, CUSTOMERS)?,
            "foreign_keys" => self.foreign_keys = switch(value)?,
            "keying_and_think_time" => self.keying_and_think_time = switch(value)?,
            "fixed_warehouses" => self.fixed_warehouses = switch(value)?,
            _ => {
                return Err(match nearest(name, Self::NAMES) {
                    Some(known) => format!("no option `{name}`; did you mean `{known}`?"),
                    None => format!("no option `{name}`; there are {}", Self::NAMES.join(", ")),
                });
            }
        }
        Ok(())
    }

    /// The value of each option as it is written, by its name.
    pub fn options(&self) -> [(&'static str, String); 6] {
        let Self {
            warehouses,
            items,
            customers,
            foreign_keys,
            keying_and_think_time,
            fixed_warehouses,
        } = self;
        let written = |is_on: &bool| if *is_on { "on" } else { "off" }.to_owned();
        [
            ("warehouses", warehouses.to_string()),
            ("items", items.to_string()),
            ("customers", customers.to_string()),
            ("foreign_keys", written(foreign_keys)),
            ("keying_and_think_time", written(keying_and_think_time)),
            ("fixed_warehouses", written(fixed_warehouses)),
        ]
    }

    /// Those of its options that are not as usual.
    pub fn unusual(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default().options();
        let own = self.options().into_iter().zip(usual);
        own.filter(|(own, usual)| own != usual)
            .map(|(own, _)| own)
            .collect()
    }
}

impl Default for OrderEntryWorkload {
    /// One warehouse of the specification's size, as fast as the server goes.
    fn default() -> Self {
        Self {
            warehouses: 1,
            items: ITEMS,
            customers: CUSTOMERS,
            foreign_keys: false,
            keying_and_think_time: false,
            fixed_warehouses: false,
        }
    }
}

fn whole(text: &str, min: u32, max: u32) -> Result<u32, String> {
    let number = text.replace('_', "").parse().ok();
    number
        .filter(|number| (min..=max).contains(number))
        .ok_or_else(|| format!("`{text}` must be a whole number from {min} to {max}"))
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` must be on or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_can_be_set_and_is_told() {
        for name in OrderEntryWorkload::NAMES {
            let mut changed = OrderEntryWorkload::default();
            let set = ["on", "20"].into_iter().any(|value| {
                changed.set(name, value).is_ok() && changed != OrderEntryWorkload::default()
            });
            assert!(set, "{name}");
            let told: Vec<_> = changed
                .unusual()
                .into_iter()
                .map(|(name, _)| name)
                .collect();
            assert_eq!(told, [name]);
            let wrong = changed.set(name, "some").unwrap_err();
            assert!(wrong.contains("`some`"), "{wrong}");
        }
        let mut options = OrderEntryWorkload::default();
        assert_eq!(
            options.set("warehous", "1").unwrap_err(),
            "no option `warehous`; did you mean `warehouses`?"
        );
        assert!(options.set("customers", "3001").is_err());
    }
}
