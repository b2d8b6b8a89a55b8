//! A scaled plan, back at the size of its study.

use std::collections::BTreeMap;

use weir_model::{Bytes, DataSource, LRU_SCAN_DEPTH, Plan, RunSpec, Scale, WorkloadSpec};
use weir_workload::Workload;

use crate::target::{LRU_SCAN_DEPTH_MIN, SCALED_VARIABLES};

/// The plan with all rows, with the sizes that belong to the data, and with whole drives: not to be run here,
/// but to be predicted.
#[must_use]
pub fn full_size(plan: &Plan) -> Plan {
    let mut full = plan.clone();
    for cell in &mut full.cells {
        enlarge(cell.spec_mut());
    }
    full
}

fn enlarge(spec: &mut RunSpec) {
    let scale = spec.data.data_scale;
    if let DataSource::Sysbench { rows, .. } = &mut spec.data.source {
        *rows = scale.undo(*rows);
    }
    if let WorkloadSpec::OrderEntry(workload) = &mut spec.workload {
        workload.warehouses = scale.undo(workload.warehouses.into()) as u32;
        let sizes = Workload::from(*workload).table_sizes();
        spec.data.source = DataSource::OrderEntry { sizes };
    }
    spec.data.data_scale = Scale::FULL;
    spec.data.drive_scale = Scale::FULL;
    for node in spec.topology.nodes_mut() {
        enlarge_variables(&mut node.variables, scale);
    }
}

fn enlarge_variables(variables: &mut BTreeMap<String, String>, scale: Scale) {
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
