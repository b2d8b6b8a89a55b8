//! The statements of the five transactions.
//!
//! Rows that are changed by what was read are locked when they are read. The specification leaves open how
//! many statements a transaction has: items and stocks of an order are read by one statement each, and its
//! lines are inserted by one.

mod texts;

use crate::ValueKind::{self, Decimal, Integer, Text};
use crate::{Parameter, Statement, StatementProtocol};

use super::LINES_MAX;

/// Lines of an order, at least: one of five may be of an item that there is not.
const LINES_MIN: usize = 4;

/// A statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    /// Begins the server's transaction.
    Begin,
    /// Ends it.
    Commit,
    /// Undoes it.
    Rollback,
    /// New order: the district's next order and tax.
    LockDistrict,
    /// New order: the district's next order is one more.
    AdvanceDistrict,
    /// New order: discount, name and credit of the customer, tax of the warehouse.
    Buyer,
    /// New order: the order.
    InsertOrder,
    /// New order: that it is not delivered.
    InsertNewOrder,
    /// New order: prices, names and data of all items.
    Items,
    /// New order: stocks of all items.
    Stocks,
    /// New order: the stock of one item.
    UpdateStock,
    /// Payment: what the warehouse was paid.
    PayWarehouse,
    /// Payment: its name and address.
    Warehouse,
    /// Payment: what the district was paid.
    PayDistrict,
    /// Payment: its name and address.
    District,
    /// Payment: the customers of a last name.
    PayersByName,
    /// Payment: the customer.
    Payer,
    /// Payment: the customer's balance.
    PayCustomer,
    /// Payment: the same, and the data of a customer with bad credit.
    PayBadCredit,
    /// Payment: the history.
    InsertHistory,
    /// Order status: the customers of a last name.
    CustomersByName,
    /// Order status: the customer.
    Customer,
    /// Order status: the customer's last order.
    LastOrder,
    /// Order status: its lines.
    OrderLines,
    /// Delivery: a district's oldest order that is not delivered.
    OldestNewOrder,
    /// Delivery: it is not among them any more.
    DeleteNewOrder,
    /// Delivery: who carries it.
    SetCarrier,
    /// Delivery: whose it is.
    OrderCustomer,
    /// Delivery: when its lines came.
    DeliverLines,
    /// Delivery: what it cost.
    OrderAmount,
    /// Delivery: the customer's balance.
    ChargeCustomer,
    /// Stock level: the district's next order.
    NextOrder,
    /// Stock level: items of its last orders whose stock is low.
    LowStock,
    /// New order: the lines of the order. There is a statement for each number of them.
    InsertLines,
}

impl Query {
    /// All of them; that of several statements is the last.
    pub const ALL: [Self; 34] = [
        Self::Begin,
        Self::Commit,
        Self::Rollback,
        Self::LockDistrict,
        Self::AdvanceDistrict,
        Self::Buyer,
        Self::InsertOrder,
        Self::InsertNewOrder,
        Self::Items,
        Self::Stocks,
        Self::UpdateStock,
        Self::PayWarehouse,
        Self::Warehouse,
        Self::PayDistrict,
        Self::District,
        Self::PayersByName,
        Self::Payer,
        Self::PayCustomer,
        Self::PayBadCredit,
        Self::InsertHistory,
        Self::CustomersByName,
        Self::Customer,
        Self::LastOrder,
        Self::OrderLines,
        Self::OldestNewOrder,
        Self::DeleteNewOrder,
        Self::SetCarrier,
        Self::OrderCustomer,
        Self::DeliverLines,
        Self::OrderAmount,
        Self::ChargeCustomer,
        Self::NextOrder,
        Self::LowStock,
        Self::InsertLines,
    ];

    /// Returns the kind of the statement, by its position among the names.
    pub fn kind(self) -> usize {
        self as usize
    }

    /// Returns the position in the script of its statement for so many lines.
    pub fn statement(self, lines: usize) -> usize {
        match self {
            Self::InsertLines => self as usize + lines.clamp(LINES_MIN, LINES_MAX) - LINES_MIN,
            _ => self as usize,
        }
    }

    /// Returns true if it is answered with rows.
    pub fn has_rows(self) -> bool {
        matches!(
            self,
            Self::LockDistrict
                | Self::Buyer
                | Self::Items
                | Self::Stocks
                | Self::Warehouse
                | Self::District
                | Self::PayersByName
                | Self::Payer
                | Self::CustomersByName
                | Self::Customer
                | Self::LastOrder
                | Self::OrderLines
                | Self::OldestNewOrder
                | Self::OrderCustomer
                | Self::OrderAmount
                | Self::NextOrder
                | Self::LowStock
        )
    }

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Commit => "commit",
            Self::Rollback => "rollback",
            Self::LockDistrict => "new_order: read district",
            Self::AdvanceDistrict => "new_order: update district",
            Self::Buyer => "new_order: read customer",
            Self::InsertOrder => "new_order: insert order",
            Self::InsertNewOrder => "new_order: insert new order",
            Self::Items => "new_order: read items",
            Self::Stocks => "new_order: read stock",
            Self::UpdateStock => "new_order: update stock",
            Self::InsertLines => "new_order: insert order lines",
            Self::PayWarehouse => "payment: update warehouse",
            Self::Warehouse => "payment: read warehouse",
            Self::PayDistrict => "payment: update district",
            Self::District => "payment: read district",
            Self::PayersByName => "payment: read customers by name",
            Self::Payer => "payment: read customer",
            Self::PayCustomer => "payment: update customer",
            Self::PayBadCredit => "payment: update customer with bad credit",
            Self::InsertHistory => "payment: insert history",
            Self::CustomersByName => "order_status: read customers by name",
            Self::Customer => "order_status: read customer",
            Self::LastOrder => "order_status: read order",
            Self::OrderLines => "order_status: read order lines",
            Self::OldestNewOrder => "delivery: read new order",
            Self::DeleteNewOrder => "delivery: delete new order",
            Self::SetCarrier => "delivery: update order",
            Self::OrderCustomer => "delivery: read order",
            Self::DeliverLines => "delivery: update order lines",
            Self::OrderAmount => "delivery: read amount",
            Self::ChargeCustomer => "delivery: update customer",
            Self::NextOrder => "stock_level: read district",
            Self::LowStock => "stock_level: read stock",
        }
    }

    /// The kinds of its parameters, with so many lines.
    pub fn parameters(self, lines: usize) -> Vec<ValueKind> {
        match self {
            Self::Begin | Self::Commit | Self::Rollback => vec![],
            Self::Warehouse => vec![Integer],
            Self::LockDistrict | Self::District | Self::NextOrder | Self::OldestNewOrder => {
                vec![Integer; 2]
            }
            Self::AdvanceDistrict
            | Self::Buyer
            | Self::InsertNewOrder
            | Self::Payer
            | Self::Customer
            | Self::LastOrder
            | Self::OrderLines
            | Self::DeleteNewOrder
            | Self::OrderCustomer
            | Self::DeliverLines
            | Self::OrderAmount => vec![Integer; 3],
            Self::SetCarrier => vec![Integer; 4],
            Self::UpdateStock => vec![Integer; 5],
            Self::InsertOrder | Self::LowStock => vec![Integer; 6],
            Self::Items => vec![Integer; LINES_MAX],
            Self::Stocks => vec![Integer; 1 + 2 * LINES_MAX],
            Self::PayWarehouse => vec![Decimal, Integer],
            Self::PayDistrict => vec![Decimal, Integer, Integer],
            Self::PayersByName | Self::CustomersByName => vec![Integer, Integer, Text],
            Self::ChargeCustomer => vec![Decimal, Integer, Integer, Integer],
            Self::PayCustomer => vec![Decimal, Decimal, Integer, Integer, Integer],
            Self::PayBadCredit => vec![Decimal, Decimal, Text, Integer, Integer, Integer],
            Self::InsertHistory => {
                let mut kinds = vec![Integer; 5];
                kinds.extend([Decimal, Text]);
                kinds
            }
            Self::InsertLines => {
                let mut line = vec![Integer; 7];
                line.extend([Decimal, Text]);
                line.repeat(lines)
            }
        }
    }

    fn to_statement(self, lines: usize) -> Statement {
        let kinds = self.parameters(lines).into_iter();
        let parameters = kinds.map(|kind| Parameter::Slot(0, kind)).collect();
        let mut statement =
            Statement::on_tables(self.name(), texts::text(self, lines), 1, parameters);
        if matches!(self, Self::Begin | Self::Commit | Self::Rollback) {
            // The server has a number of prepared statements, and these gain nothing.
            statement.sending = StatementProtocol::Text;
        }
        statement
    }
}

/// The statements of all transactions, in the order of [`Query::statement`].
pub(super) fn statements() -> Vec<Statement> {
    let all = Query::ALL.into_iter();
    let single = all.filter(|query| *query != Query::InsertLines);
    let single = single.map(|query| query.to_statement(0));
    let lines = (LINES_MIN..=LINES_MAX).map(|lines| Query::InsertLines.to_statement(lines));
    single.chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_stand_where_they_are_looked_for_and_have_their_parameters() {
        let statements = statements();
        for query in Query::ALL {
            for lines in LINES_MIN..=LINES_MAX {
                let statement = &statements[query.statement(lines)];
                assert_eq!(statement.name, query.name());
                let places = statement.sql(0).matches('?').count();
                assert_eq!(places, query.parameters(lines).len(), "{statement:?}");
                assert_eq!(places, statement.parameters.len(), "{statement:?}");
                assert_eq!(
                    statement.sql(0).starts_with("SELECT"),
                    query.has_rows(),
                    "{statement:?}"
                );
            }
            assert_eq!(Query::ALL[query.kind()], query);
        }
        assert_eq!(statements.len(), Query::ALL.len() + LINES_MAX - LINES_MIN);
    }
}
