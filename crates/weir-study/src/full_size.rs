//! A scaled plan, back at the size of its study.

use std::collections::BTreeMap;

use weir_model::{Bytes, DataPlan, LRU_SCAN_DEPTH, Plan, Scale};

use crate::target::{LRU_SCAN_DEPTH_MIN, SCALED_VARIABLES};

/// The plan with all rows, with the sizes that belong to the data, and with whole drives: not to be run here,
/// but to be predicted.
#[must_use]
pub fn full_size(plan: &Plan) -> Plan {
    let mut full = plan.clone();
    let scale = plan.data.data_scale;
    enlarge_data(&mut full.data);
    enlarge(&mut full.server.variables, scale);
    for cell in &mut full.cells {
        enlarge(&mut cell.variables, scale);
        if let Some(data) = &mut cell.data {
            enlarge_data(data);
        }
    }
    full
}

fn enlarge_data(data: &mut DataPlan) {
    data.rows = data.data_scale.undo(data.rows);
    data.data_scale = Scale::FULL;
    data.drive_scale = Scale::FULL;
}

fn enlarge(variables: &mut BTreeMap<String, String>, scale: Scale) {
    for name in SCALED_VARIABLES {
        let Some(value) = variables.get_mut(name) else {
            continue;
        };
        if let Ok(size) = value.parse::<Bytes>() {
            *value = scale.undo(size.0).to_string();
        }
    }
    if let Some(pages) = variables.get(LRU_SCAN_DEPTH) {
        match pages.parse() {
            Ok(pages) if pages > LRU_SCAN_DEPTH_MIN => {
                let pages = scale.undo(pages).to_string();
                variables.insert(LRU_SCAN_DEPTH.to_owned(), pages);
            }
            // The least may stand for anything; the default is likeliest.
            _ => drop(variables.remove(LRU_SCAN_DEPTH)),
        }
    }
}
