//! The conditions, each with the statement that finds a place where it does not hold.

/// A condition.
#[derive(Debug)]
pub(super) struct Condition {
    /// Text of the condition.
    pub(super) says: &'static str,
    /// Asks for one place where it does not hold; no row: it holds.
    pub(super) query: &'static str,
}

/// All of them, in the specification's order.
pub(super) const ALL: [Condition; 12] = [
    Condition {
        says: "a warehouse was paid what its districts were (W_YTD = sum of D_YTD)",
        query: "SELECT CONCAT('warehouse ', w_id, ': ', w_ytd, ' and ', COALESCE(paid, 'nothing')) \
                FROM warehouse LEFT JOIN \
                (SELECT d_w_id, SUM(d_ytd) AS paid FROM district GROUP BY d_w_id) AS districts \
                ON d_w_id = w_id WHERE NOT (w_ytd <=> paid) LIMIT 1",
    },
    Condition {
        says: "a district's next order follows its last (D_NEXT_O_ID - 1 = max O_ID = max NO_O_ID)",
        query: "SELECT CONCAT('warehouse ', d_w_id, ', district ', d_id, ': next ', d_next_o_id, \
                ', last order ', COALESCE(last_order, 'none'), ', last new order ', \
                COALESCE(last_new, 'none')) FROM district LEFT JOIN \
                (SELECT o_w_id, o_d_id, MAX(o_id) AS last_order FROM orders GROUP BY o_w_id, o_d_id) \
                AS ordered ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
                (SELECT no_w_id, no_d_id, MAX(no_o_id) AS last_new FROM new_order \
                GROUP BY no_w_id, no_d_id) AS new_ones ON no_w_id = d_w_id AND no_d_id = d_id \
                WHERE NOT (last_order <=> d_next_o_id - 1) OR last_new <> d_next_o_id - 1 LIMIT 1",
    },
    Condition {
        says: "new orders have no gaps (max NO_O_ID - min NO_O_ID + 1 = their number)",
        query: "SELECT CONCAT('warehouse ', no_w_id, ', district ', no_d_id, ': ', MIN(no_o_id), ' to ', \
                MAX(no_o_id), ', ', COUNT(*), ' rows') FROM new_order GROUP BY no_w_id, no_d_id \
                HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*) LIMIT 1",
    },
    Condition {
        says: "a district has the order lines that its orders say (sum of O_OL_CNT = their number)",
        query: "SELECT CONCAT('warehouse ', d_w_id, ', district ', d_id, ': ', COALESCE(said, 0), ' and ', \
                COALESCE(there, 0)) FROM district LEFT JOIN \
                (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS said FROM orders GROUP BY o_w_id, o_d_id) \
                AS ordered ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
                (SELECT ol_w_id, ol_d_id, COUNT(*) AS there FROM order_line GROUP BY ol_w_id, ol_d_id) \
                AS order_lines ON ol_w_id = d_w_id AND ol_d_id = d_id \
                WHERE COALESCE(said, 0) <> COALESCE(there, 0) LIMIT 1",
    },
    Condition {
        says: "an order has no carrier as long as it is a new order (O_CARRIER_ID)",
        query: "(SELECT CONCAT('warehouse ', o_w_id, ', district ', o_d_id, ', order ', o_id, ': ', \
                IF(no_o_id IS NULL, 'no new order and no carrier', 'a new order with a carrier')) \
                FROM orders LEFT JOIN new_order \
                ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
                WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL) LIMIT 1) UNION ALL \
                (SELECT CONCAT('warehouse ', no_w_id, ', district ', no_d_id, ', order ', no_o_id, \
                ': a new order that is no order') FROM new_order LEFT JOIN orders \
                ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id \
                WHERE o_id IS NULL LIMIT 1) LIMIT 1",
    },
    Condition {
        says: "an order has the lines that it says (O_OL_CNT = their number)",
        query: "SELECT CONCAT('warehouse ', o_w_id, ', district ', o_d_id, ', order ', o_id, ': ', o_ol_cnt, \
                ' lines said') FROM orders WHERE o_ol_cnt <> (SELECT COUNT(*) FROM order_line \
                WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id) LIMIT 1",
    },
    Condition {
        says: "a line has no time of delivery as long as its order has no carrier (OL_DELIVERY_D)",
        query: "SELECT CONCAT('warehouse ', ol_w_id, ', district ', ol_d_id, ', order ', ol_o_id, ', line ', \
                ol_number) FROM order_line LEFT JOIN orders \
                ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
                WHERE o_id IS NULL OR (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL) LIMIT 1",
    },
    Condition {
        says: "a warehouse was paid what the history says (W_YTD = sum of H_AMOUNT)",
        query: "SELECT CONCAT('warehouse ', w_id, ': ', w_ytd, ' and ', COALESCE(paid, 'nothing')) \
                FROM warehouse LEFT JOIN \
                (SELECT h_w_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) AS payments \
                ON h_w_id = w_id WHERE NOT (w_ytd <=> paid) LIMIT 1",
    },
    Condition {
        says: "a district was paid what the history says (D_YTD = sum of H_AMOUNT)",
        query: "SELECT CONCAT('warehouse ', d_w_id, ', district ', d_id, ': ', d_ytd, ' and ', \
                COALESCE(paid, 'nothing')) FROM district LEFT JOIN \
                (SELECT h_w_id, h_d_id, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) \
                AS payments ON h_w_id = d_w_id AND h_d_id = d_id WHERE NOT (d_ytd <=> paid) LIMIT 1",
    },
    Condition {
        says: "a customer owes what was delivered less what was paid \
               (C_BALANCE = sum of OL_AMOUNT - sum of H_AMOUNT)",
        query: "SELECT CONCAT('warehouse ', c_w_id, ', district ', c_d_id, ', customer ', c_id, ': ', \
                c_balance, ' and ', COALESCE(delivered, 0), ' - ', COALESCE(paid, 0)) \
                FROM customer LEFT JOIN \
                (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders JOIN order_line \
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
                WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS deliveries \
                ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id LEFT JOIN \
                (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS paid FROM history \
                GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS payments \
                ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
                WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0) LIMIT 1",
    },
    Condition {
        // When tables are loaded, as many orders are delivered as are 7 tenths of the customers; the
        // specification's 2,100 of 3,000. Each delivery after that is one of a customer.
        says: "a district's orders are new, or were delivered (orders - new orders = 2,100 when loaded)",
        query: "SELECT CONCAT('warehouse ', d_w_id, ', district ', d_id, ': ', COALESCE(ordered, 0), \
                ' orders, ', COALESCE(undelivered, 0), ' new, ', COALESCE(delivered, 0), ' delivered') \
                FROM district LEFT JOIN \
                (SELECT o_w_id, o_d_id, COUNT(*) AS ordered FROM orders GROUP BY o_w_id, o_d_id) \
                AS orders_of ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN \
                (SELECT no_w_id, no_d_id, COUNT(*) AS undelivered FROM new_order \
                GROUP BY no_w_id, no_d_id) AS new_of ON no_w_id = d_w_id AND no_d_id = d_id LEFT JOIN \
                (SELECT c_w_id, c_d_id, COUNT(*) * 7 DIV 10 + SUM(c_delivery_cnt) AS delivered \
                FROM customer GROUP BY c_w_id, c_d_id) AS customers_of \
                ON c_w_id = d_w_id AND c_d_id = d_id \
                WHERE COALESCE(ordered, 0) - COALESCE(undelivered, 0) <> COALESCE(delivered, 0) LIMIT 1",
    },
    Condition {
        says: "what a customer owes and has paid is what was delivered \
               (C_BALANCE + C_YTD_PAYMENT = sum of OL_AMOUNT)",
        query: "SELECT CONCAT('warehouse ', c_w_id, ', district ', c_d_id, ', customer ', c_id, ': ', \
                c_balance, ' + ', c_ytd_payment, ' and ', COALESCE(delivered, 0)) \
                FROM customer LEFT JOIN \
                (SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS delivered FROM orders JOIN order_line \
                ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
                WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS deliveries \
                ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
                WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0) LIMIT 1",
    },
];
