//! The nine tables (clause 1.3 of the specification).

use weir_model::OrderEntryWorkload;

use super::Sizes;
use super::rows::{Maker, Relation};
use crate::Table;
use crate::table::{RowSource, Slice};

/// A table as it is made.
struct Definition {
    relation: Relation,
    name: &'static str,
    /// Columns, each with the text after its name.
    columns: &'static [(&'static str, &'static str)],
    primary_key: Option<&'static str>,
    index: Option<&'static str>,
    /// Column of the warehouse, if it is loaded warehouse by warehouse.
    warehouse: Option<&'static str>,
    /// Foreign keys: columns, and the columns that they refer to.
    references: &'static [(&'static str, &'static str)],
}

const ID: &str = "INT NOT NULL";
const SMALL: &str = "TINYINT NOT NULL";
const TIME: &str = "DATETIME NOT NULL";
const STREET: &str = "VARCHAR(20) NOT NULL";
const STATE: &str = "CHAR(2) NOT NULL";
const CODE: &str = "CHAR(9) NOT NULL";
const RATE: &str = "DECIMAL(4,4) NOT NULL";
const MONEY: &str = "DECIMAL(12,2) NOT NULL";
const AMOUNT: &str = "DECIMAL(6,2) NOT NULL";
const PLACE: &str = "CHAR(24) NOT NULL";

/// Those that others refer to before them.
const DEFINITIONS: [Definition; 9] = [
    Definition {
        relation: Relation::Warehouse,
        name: "warehouse",
        columns: &[
            ("w_id", ID),
            ("w_name", "VARCHAR(10) NOT NULL"),
            ("w_street_1", STREET),
            ("w_street_2", STREET),
            ("w_city", STREET),
            ("w_state", STATE),
            ("w_zip", CODE),
            ("w_tax", RATE),
            ("w_ytd", MONEY),
        ],
        primary_key: Some("w_id"),
        index: None,
        warehouse: None,
        references: &[],
    },
    Definition {
        relation: Relation::District,
        name: "district",
        columns: &[
            ("d_id", SMALL),
            ("d_w_id", ID),
            ("d_name", "VARCHAR(10) NOT NULL"),
            ("d_street_1", STREET),
            ("d_street_2", STREET),
            ("d_city", STREET),
            ("d_state", STATE),
            ("d_zip", CODE),
            ("d_tax", RATE),
            ("d_ytd", MONEY),
            ("d_next_o_id", ID),
        ],
        primary_key: Some("d_w_id, d_id"),
        index: None,
        warehouse: None,
        references: &[("d_w_id", "warehouse (w_id)")],
    },
    Definition {
        relation: Relation::Item,
        name: "item",
        columns: &[
            ("i_id", ID),
            ("i_im_id", ID),
            ("i_name", "VARCHAR(24) NOT NULL"),
            ("i_price", "DECIMAL(5,2) NOT NULL"),
            ("i_data", "VARCHAR(50) NOT NULL"),
        ],
        primary_key: Some("i_id"),
        index: None,
        warehouse: None,
        references: &[],
    },
    Definition {
        relation: Relation::Customer,
        name: "customer",
        columns: &[
            ("c_id", ID),
            ("c_d_id", SMALL),
            ("c_w_id", ID),
            ("c_first", "VARCHAR(16) NOT NULL"),
            ("c_middle", STATE),
            ("c_last", "VARCHAR(16) NOT NULL"),
            ("c_street_1", STREET),
            ("c_street_2", STREET),
            ("c_city", STREET),
            ("c_state", STATE),
            ("c_zip", CODE),
            ("c_phone", "CHAR(16) NOT NULL"),
            ("c_since", TIME),
            ("c_credit", STATE),
            ("c_credit_lim", MONEY),
            ("c_discount", RATE),
            ("c_balance", MONEY),
            ("c_ytd_payment", MONEY),
            ("c_payment_cnt", ID),
            ("c_delivery_cnt", ID),
            ("c_data", "VARCHAR(500) NOT NULL"),
        ],
        primary_key: Some("c_w_id, c_d_id, c_id"),
        index: Some("INDEX customer_name (c_w_id, c_d_id, c_last, c_first)"),
        warehouse: Some("c_w_id"),
        references: &[("c_w_id, c_d_id", "district (d_w_id, d_id)")],
    },
    Definition {
        relation: Relation::History,
        name: "history",
        columns: &[
            ("h_c_id", ID),
            ("h_c_d_id", SMALL),
            ("h_c_w_id", ID),
            ("h_d_id", SMALL),
            ("h_w_id", ID),
            ("h_date", TIME),
            ("h_amount", AMOUNT),
            ("h_data", "VARCHAR(24) NOT NULL"),
        ],
        primary_key: None,
        index: None,
        warehouse: None,
        references: &[
            (
                "h_c_w_id, h_c_d_id, h_c_id",
                "customer (c_w_id, c_d_id, c_id)",
            ),
            ("h_w_id, h_d_id", "district (d_w_id, d_id)"),
        ],
    },
    Definition {
        relation: Relation::Stock,
        name: "stock",
        columns: &[
            ("s_i_id", ID),
            ("s_w_id", ID),
            ("s_quantity", "SMALLINT NOT NULL"),
            ("s_dist_01", PLACE),
            ("s_dist_02", PLACE),
            ("s_dist_03", PLACE),
            ("s_dist_04", PLACE),
            ("s_dist_05", PLACE),
            ("s_dist_06", PLACE),
            ("s_dist_07", PLACE),
            ("s_dist_08", PLACE),
            ("s_dist_09", PLACE),
            ("s_dist_10", PLACE),
            ("s_ytd", ID),
            ("s_order_cnt", ID),
            ("s_remote_cnt", ID),
            ("s_data", "VARCHAR(50) NOT NULL"),
        ],
        primary_key: Some("s_w_id, s_i_id"),
        index: None,
        warehouse: Some("s_w_id"),
        references: &[("s_w_id", "warehouse (w_id)"), ("s_i_id", "item (i_id)")],
    },
    Definition {
        relation: Relation::Orders,
        name: "orders",
        columns: &[
            ("o_id", ID),
            ("o_d_id", SMALL),
            ("o_w_id", ID),
            ("o_c_id", ID),
            ("o_entry_d", TIME),
            ("o_carrier_id", "TINYINT"),
            ("o_ol_cnt", SMALL),
            ("o_all_local", SMALL),
        ],
        primary_key: Some("o_w_id, o_d_id, o_id"),
        index: Some("INDEX orders_customer (o_w_id, o_d_id, o_c_id, o_id)"),
        warehouse: Some("o_w_id"),
        references: &[("o_w_id, o_d_id, o_c_id", "customer (c_w_id, c_d_id, c_id)")],
    },
    Definition {
        relation: Relation::NewOrder,
        name: "new_order",
        columns: &[("no_o_id", ID), ("no_d_id", SMALL), ("no_w_id", ID)],
        primary_key: Some("no_w_id, no_d_id, no_o_id"),
        index: None,
        warehouse: Some("no_w_id"),
        references: &[("no_w_id, no_d_id, no_o_id", "orders (o_w_id, o_d_id, o_id)")],
    },
    Definition {
        relation: Relation::OrderLine,
        name: "order_line",
        columns: &[
            ("ol_o_id", ID),
            ("ol_d_id", SMALL),
            ("ol_w_id", ID),
            ("ol_number", SMALL),
            ("ol_i_id", ID),
            ("ol_supply_w_id", ID),
            ("ol_delivery_d", "DATETIME"),
            ("ol_quantity", SMALL),
            ("ol_amount", AMOUNT),
            ("ol_dist_info", PLACE),
        ],
        primary_key: Some("ol_w_id, ol_d_id, ol_o_id, ol_number"),
        index: None,
        warehouse: Some("ol_w_id"),
        references: &[
            ("ol_w_id, ol_d_id, ol_o_id", "orders (o_w_id, o_d_id, o_id)"),
            ("ol_supply_w_id, ol_i_id", "stock (s_w_id, s_i_id)"),
        ],
    },
];

/// The tables of a workload.
pub(super) fn tables(workload: &OrderEntryWorkload) -> Vec<Table> {
    let numbered = (1..).zip(&DEFINITIONS);
    numbered
        .map(|(number, definition)| definition.table(number, workload))
        .collect()
}

impl Definition {
    fn table(&self, number: u32, workload: &OrderEntryWorkload) -> Table {
        let maker = Maker::new(self.relation, Sizes::new(workload));
        let mut indexes: Vec<_> = self.index.iter().map(|&index| index.to_owned()).collect();
        if workload.foreign_keys {
            for (count, (columns, referred)) in (1..).zip(self.references) {
                let name = self.name;
                indexes.push(format!(
                    "CONSTRAINT {name}_{count} FOREIGN KEY ({columns}) REFERENCES {referred}"
                ));
            }
        }
        Table {
            name: self.name.to_owned(),
            number,
            create: self.create(),
            columns: self
                .columns
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            rows: maker.rows_before(workload.warehouses),
            indexes,
            slices: self.slices(workload.warehouses, &maker),
            filling: RowSource::OrderEntry(maker),
        }
    }

    fn create(&self) -> String {
        let mut parts: Vec<_> = self
            .columns
            .iter()
            .map(|(name, kind)| format!("{name} {kind}"))
            .collect();
        parts.extend(self.primary_key.map(|key| format!("PRIMARY KEY ({key})")));
        // The specification's texts are letters and digits; one byte each is what the rows of other
        // implementations have, too.
        format!(
            "CREATE TABLE {} ({}) ENGINE = InnoDB DEFAULT CHARSET = latin1",
            self.name,
            parts.join(", ")
        )
    }

    fn slices(&self, warehouses: u32, maker: &Maker) -> Vec<Slice> {
        let Some(column) = self.warehouse else {
            return Vec::new();
        };
        let slice = |warehouse| {
            let before = maker.rows_before(warehouse);
            Slice {
                first: before + 1,
                rows: maker.rows_before(warehouse + 1) - before,
                condition: format!("{column} = {}", warehouse + 1),
            }
        };
        (0..warehouses).map(slice).collect()
    }
}
