//! Whether what is written to a table goes further than its schema: through a view, a trigger or a foreign
//! key. The gate sees a statement's text, in which none of them is named.

use std::collections::BTreeSet;

use weir_mysql::{ClientError, Connection, Connector, Gate, NameCase, text_literal};

use crate::LoadError;

/// A table, and what reaches further from it.
type Reach = (String, String);

/// Refuses to change `tables` of the endpoint's schema where that changes another one.
///
/// # Errors
///
/// A view of another schema's tables, a trigger that names one, a foreign key there that cascades.
pub(crate) fn check(
    tables: &BTreeSet<String>,
    server: &Connector,
    control: &mut Connection,
) -> Result<(), LoadError> {
    if server.gate().is_own() || tables.is_empty() {
        return Ok(());
    }
    let schema = server.database();
    let literal = text_literal(schema);
    let case = NameCase::read(control)?;
    for find in [views, triggers, keys] {
        let found = find(control, server.gate(), &literal)?;
        let is_changed = |(name, _): &&Reach| tables.iter().any(|table| case.is_same(table, name));
        if let Some((table, why)) = found.iter().find(is_changed) {
            return Err(LoadError::Reach {
                table: format!("{schema}.{table}"),
                why: why.clone(),
            });
        }
    }
    Ok(())
}

fn views(control: &mut Connection, gate: &Gate, schema: &str) -> Result<Vec<Reach>, ClientError> {
    let rows: Vec<(String, Option<String>)> = control.rows(format!(
        "SELECT table_name, view_definition FROM information_schema.views \
         WHERE table_schema = {schema}"
    ))?;
    let why = |query: &str| match gate.outside_of(query) {
        _ if query.is_empty() => {
            Some("is a view whose query the account may not see (GRANT SHOW VIEW)".to_owned())
        }
        other => other.map(|other| format!("is a view of the schema `{other}`")),
    };
    let reach = |(view, query): (String, Option<String>)| {
        why(query.as_deref().unwrap_or_default()).map(|why| (view, why))
    };
    Ok(rows.into_iter().filter_map(reach).collect())
}

/// As far as the account may see them (`TRIGGER`).
fn triggers(
    control: &mut Connection,
    gate: &Gate,
    schema: &str,
) -> Result<Vec<Reach>, ClientError> {
    let rows: Vec<(String, String, String)> = control.rows(format!(
        "SELECT event_object_table, trigger_name, action_statement FROM information_schema.triggers \
         WHERE event_object_schema = {schema}"
    ))?;
    let reach = |(table, trigger, code): (String, String, String)| {
        let other = gate.outside_of(&code)?;
        let why = format!("has the trigger `{trigger}` that names the schema `{other}`");
        Some((table, why))
    };
    Ok(rows.into_iter().filter_map(reach).collect())
}

fn keys(control: &mut Connection, _: &Gate, schema: &str) -> Result<Vec<Reach>, ClientError> {
    let cascades = "IN ('CASCADE', 'SET NULL', 'SET DEFAULT')";
    let rows: Vec<(String, String, String)> = control.rows(format!(
        "SELECT referenced_table_name, constraint_schema, table_name \
         FROM information_schema.referential_constraints \
         WHERE unique_constraint_schema = {schema} AND constraint_schema <> {schema} \
         AND (update_rule {cascades} OR delete_rule {cascades})"
    ))?;
    let reach = |(table, other, child): (String, String, String)| {
        let why = format!("has a foreign key of `{other}`.`{child}` that cascades");
        (table, why)
    };
    Ok(rows.into_iter().map(reach).collect())
}
