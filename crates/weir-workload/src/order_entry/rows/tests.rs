use std::collections::{BTreeMap, BTreeSet};

use weir_model::OrderEntryWorkload;

use crate::order_entry::tables;
use crate::{RowWriter, Table, Value};

const WORKLOAD: OrderEntryWorkload = OrderEntryWorkload {
    warehouses: 2,
    items: 150,
    customers: 40,
    foreign_keys: false,
    keying_and_think_time: false,
    fixed_warehouses: false,
};
const SEED: u64 = 3;

fn table(name: &str) -> Table {
    let mut tables = tables(&WORKLOAD).into_iter();
    tables.find(|table| table.name == name).unwrap()
}

/// All rows of a table; values as text.
fn rows(table: &Table) -> Vec<BTreeMap<String, Option<String>>> {
    let mut writer = RowWriter::new(table, SEED);
    (1..=table.rows)
        .map(|row| values(&mut writer, table, row))
        .collect()
}

fn values(writer: &mut RowWriter<'_>, table: &Table, row: u64) -> BTreeMap<String, Option<String>> {
    let mut values = BTreeMap::new();
    writer.values(row, |position, value| {
        let text = value.map(|value| match value {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        });
        values.insert(table.columns[position].clone(), text);
    });
    assert_eq!(values.len(), table.columns.len(), "{}", table.name);
    values
}

fn number(row: &BTreeMap<String, Option<String>>, column: &str) -> u32 {
    row[column].as_ref().unwrap().parse().unwrap()
}

#[test]
fn tables_have_their_numbers_of_rows() {
    let sizes: Vec<_> = tables(&OrderEntryWorkload::default())
        .into_iter()
        .map(|table| (table.name, table.rows))
        .collect();
    let lines = sizes[8].1;
    // 300,000 with a standard deviation of 550.
    assert!((297_000..303_000).contains(&lines), "{lines}");
    let expected = [
        ("warehouse", 1),
        ("district", 10),
        ("item", 100_000),
        ("customer", 30_000),
        ("history", 30_000),
        ("stock", 100_000),
        ("orders", 30_000),
        ("new_order", 9_000),
        ("order_line", lines),
    ];
    let expected = expected.map(|(name, rows)| (name.to_owned(), rows));
    assert_eq!(sizes, expected);
}

#[test]
fn slices_are_all_rows_in_their_order() {
    for table in tables(&WORKLOAD) {
        let mut next = 1;
        for slice in &table.slices {
            assert_eq!(slice.first, next, "{}", table.name);
            next += slice.rows;
        }
        assert!(
            table.slices.is_empty() || next == table.rows + 1,
            "{}",
            table.name
        );
        let mut writer = RowWriter::new(&table, SEED);
        for (slice, warehouse) in table.slices.iter().zip(1..) {
            let (column, value) = slice.condition.split_once(" = ").unwrap();
            assert_eq!(value, warehouse.to_string());
            for row in [slice.first, slice.first + slice.rows - 1] {
                assert_eq!(number(&values(&mut writer, &table, row), column), warehouse);
            }
        }
    }
}

#[test]
fn orders_have_the_lines_that_they_say() {
    let orders = rows(&table("orders"));
    let mut lines: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for line in rows(&table("order_line")) {
        let key = ["ol_w_id", "ol_d_id", "ol_o_id"].map(|column| number(&line, column));
        lines
            .entry(key)
            .or_default()
            .push(number(&line, "ol_number"));
        let is_delivered = key[2] <= 28;
        assert_eq!(line["ol_delivery_d"].is_some(), is_delivered);
        assert_eq!(line["ol_amount"].as_deref() == Some("0.00"), is_delivered);
    }
    assert_eq!(orders.len(), 2 * 10 * 40);
    assert_eq!(lines.len(), orders.len());
    let mut buyers: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for order in &orders {
        let key = ["o_w_id", "o_d_id", "o_id"].map(|column| number(order, column));
        let expected: Vec<_> = (1..=number(order, "o_ol_cnt")).collect();
        assert_eq!(lines[&key], expected);
        assert_eq!(order["o_carrier_id"].is_some(), key[2] <= 28);
        buyers
            .entry([key[0], key[1]])
            .or_default()
            .insert(number(order, "o_c_id"));
    }
    // Each customer has ordered once.
    assert!(buyers.values().all(|customers| customers.len() == 40));
    let new: BTreeSet<_> = rows(&table("new_order"))
        .iter()
        .map(|order| number(order, "no_o_id"))
        .collect();
    assert_eq!(new, (29..=40).collect());
}

#[test]
fn a_row_is_the_same_whatever_was_made_before_it() {
    for table in tables(&WORKLOAD) {
        let all = rows(&table);
        let mut writer = RowWriter::new(&table, SEED);
        for row in [table.rows, 1, table.rows / 2 + 1, table.rows / 3 + 1] {
            let again = values(&mut writer, &table, row);
            assert_eq!(again, all[row as usize - 1], "{} {row}", table.name);
        }
    }
}

#[test]
fn customers_and_items_are_as_specified() {
    let customers = rows(&table("customer"));
    let bad = customers
        .iter()
        .filter(|row| row["c_credit"].as_deref() == Some("BC"))
        .count();
    // 80 of 800 with a standard deviation of 8.5.
    assert!((38..123).contains(&bad), "{bad}");
    assert_eq!(customers[0]["c_last"].as_deref(), Some("BARBARBAR"));
    assert_eq!(customers[39]["c_last"].as_deref(), Some("BARPRIEING"));
    assert_eq!(customers[7]["c_balance"].as_deref(), Some("-10.00"));
    let items = rows(&table("item"));
    assert!(
        items
            .iter()
            .all(|row| (26..=50).contains(&row["i_data"].as_ref().unwrap().len()))
    );
    let stocks = rows(&table("stock"));
    let is_original = |row: &&BTreeMap<String, Option<String>>| {
        row["s_data"].as_ref().unwrap().contains("ORIGINAL")
    };
    let original = stocks.iter().filter(is_original).count();
    // 30 of 300 with a standard deviation of 5.2.
    assert!((4..56).contains(&original), "{original}");
    let warehouses = rows(&table("warehouse"));
    assert_eq!(warehouses[1]["w_ytd"].as_deref(), Some("4000.00"));
}
