//! The texts of the statements, transaction by transaction.

use super::Query;
use crate::order_entry::LINES_MAX;

/// The text of a statement, with so many lines.
pub(super) fn text(query: Query, lines: usize) -> String {
    match query {
        Query::Items => {
            let places = vec!["?"; LINES_MAX].join(", ");
            format!("SELECT i_id, i_price, i_name, i_data FROM item WHERE i_id IN ({places})")
        }
        Query::Stocks => {
            let places = vec!["(s_w_id = ? AND s_i_id = ?)"; LINES_MAX].join(" OR ");
            format!(
                "SELECT s_w_id, s_i_id, s_quantity, s_data, ELT(?, s_dist_01, s_dist_02, \
                 s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, \
                 s_dist_10) FROM stock WHERE {places} FOR UPDATE"
            )
        }
        Query::InsertLines => {
            let rows = vec!["(?, ?, ?, ?, ?, ?, ?, ?, ?)"; lines].join(", ");
            format!(
                "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, \
                 ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES {rows}"
            )
        }
        query => new_order(query).to_owned(),
    }
}

/// Those of a new order, and of all others.
fn new_order(query: Query) -> &'static str {
    match query {
        Query::LockDistrict => {
            "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE"
        }
        Query::AdvanceDistrict => {
            "UPDATE district SET d_next_o_id = ? WHERE d_w_id = ? AND d_id = ?"
        }
        Query::Buyer => {
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
             WHERE w_id = c_w_id AND c_w_id = ? AND c_d_id = ? AND c_id = ?"
        }
        Query::InsertOrder => {
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
             VALUES (?, ?, ?, ?, NOW(), ?, ?)"
        }
        Query::InsertNewOrder => {
            "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)"
        }
        Query::UpdateStock => {
            "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?"
        }
        query => payment(query),
    }
}

/// Those of a payment, and of what follows.
fn payment(query: Query) -> &'static str {
    match query {
        Query::PayWarehouse => "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
        Query::Warehouse => {
            "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse \
             WHERE w_id = ?"
        }
        Query::PayDistrict => "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?",
        Query::District => {
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
             WHERE d_w_id = ? AND d_id = ?"
        }
        Query::PayersByName => {
            "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? \
             ORDER BY c_first"
        }
        Query::Payer => {
            "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, \
             c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance, \
             IF(c_credit = 'BC', LEFT(c_data, 200), '') FROM customer \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? FOR UPDATE"
        }
        Query::PayCustomer => {
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        }
        Query::PayBadCredit => {
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1, c_data = LEFT(CONCAT(?, c_data), 500) \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        }
        Query::InsertHistory => {
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
             VALUES (?, ?, ?, ?, ?, NOW(), ?, ?)"
        }
        query => order_status(query),
    }
}

/// Those of a question for an order, and of what follows.
fn order_status(query: Query) -> &'static str {
    match query {
        Query::CustomersByName => {
            "SELECT c_id, c_balance, c_first, c_middle FROM customer \
             WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"
        }
        Query::Customer => {
            "SELECT c_balance, c_first, c_middle, c_last FROM customer \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        }
        Query::LastOrder => {
            "SELECT o_id, o_entry_d, o_carrier_id FROM orders \
             WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1"
        }
        Query::OrderLines => {
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
        }
        query => delivery(query),
    }
}

/// Those of a delivery, and of what follows.
fn delivery(query: Query) -> &'static str {
    match query {
        Query::OldestNewOrder => {
            "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? \
             ORDER BY no_o_id LIMIT 1 FOR UPDATE"
        }
        Query::DeleteNewOrder => {
            "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?"
        }
        Query::SetCarrier => {
            "UPDATE orders SET o_carrier_id = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?"
        }
        Query::OrderCustomer => {
            "SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?"
        }
        Query::DeliverLines => {
            "UPDATE order_line SET ol_delivery_d = NOW() \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
        }
        Query::OrderAmount => {
            "SELECT SUM(ol_amount) FROM order_line \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
        }
        Query::ChargeCustomer => {
            "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        }
        query => stock_level(query),
    }
}

/// Those of a question for stocks, and what begins and ends a transaction.
fn stock_level(query: Query) -> &'static str {
    match query {
        Query::NextOrder => "SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?",
        Query::LowStock => {
            "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
             WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? \
             AND s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?"
        }
        Query::Begin => "BEGIN",
        Query::Commit => "COMMIT",
        _ => "ROLLBACK",
    }
}
