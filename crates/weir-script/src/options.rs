//! `sysbench.opt`: the program's options and the script's, with their values.

use crate::lua::{OptionKind, OptionValue, ScriptError, ScriptOption, State};

use crate::given_options::is_same;
use crate::world::World;

/// sysbench's own options, as it declares them: name, default, kind.
const OWN: &[(&str, &str, OptionKind)] = &[
    ("db-debug", "off", OptionKind::Bool),
    ("db-driver", "mysql", OptionKind::Text),
    ("db-ps-mode", "auto", OptionKind::Text),
    ("debug", "off", OptionKind::Bool),
    ("events", "0", OptionKind::Double),
    ("forced-shutdown", "off", OptionKind::Text),
    ("help", "off", OptionKind::Bool),
    ("histogram", "off", OptionKind::Bool),
    ("max-requests", "0", OptionKind::Integer),
    ("max-time", "0", OptionKind::Integer),
    ("mysql-compression", "off", OptionKind::Bool),
    ("mysql-db", "sbtest", OptionKind::Text),
    ("mysql-debug", "off", OptionKind::Bool),
    ("mysql-dry-run", "off", OptionKind::Bool),
    ("mysql-host", "localhost", OptionKind::List),
    ("mysql-ignore-errors", "1213,1020,1205", OptionKind::List),
    ("mysql-password", "", OptionKind::Text),
    ("mysql-port", "3306", OptionKind::List),
    ("mysql-socket", "", OptionKind::List),
    ("mysql-ssl", "off", OptionKind::Text),
    ("mysql-ssl-cipher", "", OptionKind::Text),
    ("mysql-user", "sbtest", OptionKind::Text),
    ("num-threads", "1", OptionKind::Integer),
    ("percentile", "95", OptionKind::Double),
    ("pgsql-db", "sbtest", OptionKind::Text),
    ("pgsql-host", "localhost", OptionKind::Text),
    ("pgsql-password", "", OptionKind::Text),
    ("pgsql-port", "5432", OptionKind::Double),
    ("pgsql-user", "sbtest", OptionKind::Text),
    ("rand-pareto-h", "0.2", OptionKind::Double),
    ("rand-seed", "0", OptionKind::Double),
    ("rand-spec-iter", "12", OptionKind::Double),
    ("rand-spec-pct", "1", OptionKind::Double),
    ("rand-spec-res", "75", OptionKind::Double),
    ("rand-type", "special", OptionKind::Text),
    ("rand-zipfian-exp", "0.8", OptionKind::Double),
    ("rate", "0", OptionKind::Double),
    ("report-checkpoints", "", OptionKind::List),
    ("report-interval", "0", OptionKind::Double),
    ("thread-init-timeout", "30", OptionKind::Double),
    ("thread-stack-size", "64K", OptionKind::Size),
    ("threads", "1", OptionKind::Double),
    ("time", "10", OptionKind::Double),
    ("tx-rate", "0", OptionKind::Integer),
    ("validate", "off", OptionKind::Bool),
    ("verbosity", "3", OptionKind::Double),
    ("version", "off", OptionKind::Bool),
    ("warmup-time", "0", OptionKind::Double),
];

/// Those of 1.1 only.
const OF_DEVELOPMENT: [&str; 3] = ["rand-zipfian-exp", "thread-init-timeout", "warmup-time"];

/// All options with their values, the script's last: one that the script declares with a name of
/// sysbench's own has the script's default there.
fn values(
    world: &World,
    declared: &[ScriptOption],
) -> Result<Vec<(String, OptionValue)>, ScriptError> {
    let given = world.given();
    let is_release = is_release(world);
    let mut all = Vec::new();
    for (name, default, kind) in OWN {
        if is_release && OF_DEVELOPMENT.contains(name) {
            continue;
        }
        let kind = match (*name, is_release) {
            ("mysql-ssl", true) => OptionKind::Bool,
            _ => *kind,
        };
        let option = ScriptOption {
            name: (*name).to_owned(),
            description: String::new(),
            default: Some((*default).to_owned()),
            kind,
        };
        // A value of an own option that is not its kind's was accepted by the program all the same.
        let value = match given.get(name) {
            Some((_, text)) => option
                .value(text.as_deref())
                .or_else(|_| option.default_value())?,
            None => known(world, name).map_or_else(|| option.default_value(), Ok)?,
        };
        all.push(((*name).to_owned(), value));
    }
    for option in declared {
        let is_own = OWN.iter().any(|(name, ..)| is_same(name, &option.name));
        let value = match given.get(&option.name).filter(|_| !is_own) {
            Some((_, text)) => option.value(text.as_deref())?,
            None => option.default_value()?,
        };
        all.push((option.name.clone(), value));
    }
    Ok(all)
}

/// Returns the value that the program knows better than its defaults: files have it, too.
fn known(world: &World, name: &str) -> Option<OptionValue> {
    let load = &world.plan.load;
    Some(match name {
        "mysql-db" => OptionValue::Text(load.endpoint.database.clone()),
        "mysql-user" => OptionValue::Text(load.endpoint.user.clone()),
        "threads" | "num-threads" => OptionValue::Number(f64::from(load.load.connections)),
        _ => return None,
    })
}

/// The first option that neither the program nor the script knows, as typed.
pub(crate) fn unknown(
    unknown: &[(String, Option<String>)],
    declared: &[ScriptOption],
) -> Option<String> {
    let is_declared = |name: &str| declared.iter().any(|option| is_same(&option.name, name));
    let (name, value) = unknown.iter().find(|(name, _)| !is_declared(name))?;
    Some(match value {
        Some(value) => format!("--{name}={value}"),
        None => format!("--{name}"),
    })
}

/// Fills `sysbench.opt` of a state, from what its script declares.
pub(crate) fn fill(world: &World, state: &State) -> Result<(), ScriptError> {
    let declared = state.options()?;
    let mut options = values(world, &declared)?;
    if takes_all(world, &declared) {
        options.extend(as_text(&world.unknown));
        state.set_options(options)?;
        return state.set_option_globals();
    }
    state.set_options(options)
}

/// Returns true if a script takes every option: one for 0.5 that declares none.
pub(crate) fn takes_all(world: &World, declared: &[ScriptOption]) -> bool {
    declared.is_empty() && is_release(world)
}

fn is_release(world: &World) -> bool {
    world.plan.version == "1.0.20"
}

/// Options of a script that declares none, all of them text.
fn as_text(given: &[(String, Option<String>)]) -> impl Iterator<Item = (String, OptionValue)> + '_ {
    given.iter().map(|(name, value)| {
        let text = value.clone().unwrap_or_default();
        (name.clone(), OptionValue::Text(text))
    })
}
