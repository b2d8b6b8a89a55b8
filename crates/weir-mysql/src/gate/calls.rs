//! Which functions a statement calls: one that is stored in the server may write.

use super::tokens::Token;

/// Functions of the servers that change more than the connection, by how their names begin: the state of
/// a group, of replication, of an audit, of keys and of sequences; programs on the server's host.
const CHANGING: [&str; 15] = [
    "group_replication_",
    "asynchronous_connection_failover_",
    "audit_",
    "keyring_key_",
    "version_tokens_",
    "set_firewall_",
    "mysql_firewall_",
    "gen_dictionary_",
    "gen_blocklist",
    "masking_dictionar",
    "mask_inner_dictionar",
    "service_",
    "sys_",
    "setval",
    "http_",
];

/// Words that stand before a parenthesis without being a function, and functions that change nothing. One
/// that is missing here counts as one of the schema's own, which only a command that writes may call.
const HARMLESS: &str = "
    abs acos adddate addtime aes_decrypt aes_encrypt all and any any_value as asin atan atan2 avg
    benchmark between bigint bin bin_to_uuid binary bit bit_and bit_count bit_length bit_or bit_xor by
    case cast ceil ceiling char char_length character character_length charset check coalesce coercibility
    collation column_json columns compress concat concat_ws connection_id conv convert convert_tz cos cot
    count crc32 cume_dist curdate current_date current_time current_timestamp current_user curtime database
    date date_add date_format date_sub datediff datetime day dayname dayofmonth dayofweek dayofyear
    decimal decode default degrees dense_rank distinct div double elt else encode except exists exp
    export_set extract extractvalue field find_in_set first_value float floor for force format
    found_rows from from_base64 from_days from_unixtime geometry get_format get_lock greatest group
    group_concat grouping having hex hour identified if ifnull ignore in index inet6_aton inet6_ntoa
    inet_aton inet_ntoa insert instr int integer intersect interval into is is_free_lock is_ipv4 is_ipv6
    is_used_lock is_uuid isnull join json_array json_array_append json_array_insert json_arrayagg json_contains
    json_contains_path json_depth json_detailed json_exists json_extract json_insert json_keys json_length
    json_merge json_merge_patch json_merge_preserve json_object json_objectagg json_overlaps json_pretty
    json_query json_quote json_remove json_replace json_schema_valid json_search json_set json_table json_type
    json_unquote json_valid json_value key lag last_day last_insert_id last_value lateral lcase lead least
    left length like limit ln localtime localtimestamp locate log log10 log2 lower lpad ltrim make_set makedate
    maketime match max md5 microsecond mid min minute mod month monthname name_const not now nth_value ntile
    nullif numeric nvl nvl2 oct octet_length offset old_password on or ord order over overlay partition
    percent_rank period_add period_diff pi position pow power quarter quote radians rand rank recursive
    regexp regexp_instr regexp_like regexp_replace regexp_substr release_all_locks release_lock repeat replace
    reverse right rlike round row row_count row_number rows rpad rtrim schema sec_to_time second select
    separator session_user set sha sha1 sha2 sign signed sin sleep some soundex space sqrt st_astext
    st_contains st_distance st_distance_sphere st_geomfromtext st_within st_x st_y std stddev stddev_pop
    stddev_samp str_to_date straight_join strcmp subdate substr substring substring_index subtime sum
    system_user sysdate table tan then time time_format time_to_sec timediff timestamp timestampadd
    timestampdiff to to_base64 to_char to_days to_seconds trim truncate ucase unhex uncompress union unix_timestamp
    unsigned update upper use user using utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin value
    values var_pop var_samp varbinary varchar variance version wait_for_executed_gtid_set master_gtid_wait
    master_pos_wait source_pos_wait week weekday weekofyear weight_string when where window with xor year
    yearweek
";

/// What a statement calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Calls {
    /// One that changes more than the connection.
    pub(super) changing: Option<String>,
    /// Whether one of them may be stored in the server.
    pub(super) stored: bool,
    /// Schemas whose functions are called.
    pub(super) schemas: Vec<String>,
}

/// What the tokens of a statement call.
pub(super) fn calls(tokens: &[Token<'_>]) -> Calls {
    let mut calls = Calls::default();
    for (at, token) in tokens.iter().enumerate() {
        if tokens.get(at + 1) != Some(&Token::Sign('(')) {
            continue;
        }
        let qualifier = match at.checked_sub(2).map(|start| &tokens[start..at]) {
            Some([schema, Token::Sign('.')]) => schema.name(),
            _ => None,
        };
        match (token, qualifier) {
            (Token::Word(_) | Token::Quoted(_) | Token::Double(_), Some(schema)) => {
                calls.stored = true;
                calls.schemas.push(schema.to_owned());
            }
            (Token::Word(name), None) => calls.add(name, is_harmless(name)),
            (Token::Quoted(name), None) => calls.add(name, false),
            _ => {}
        }
    }
    calls
}

impl Calls {
    fn add(&mut self, name: &str, is_harmless: bool) {
        let lower = name.to_ascii_lowercase();
        if CHANGING.iter().any(|begin| lower.starts_with(begin)) {
            self.changing = Some(lower);
        }
        self.stored |= !is_harmless;
    }
}

fn is_harmless(name: &str) -> bool {
    HARMLESS
        .split_ascii_whitespace()
        .any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn what_the_servers_bring_along_is_known() {
        for sql in [
            "SELECT COUNT(*), CAST(COALESCE(SUM(a), 0) AS UNSIGNED) FROM t WHERE b IN (1, 2)",
            "SELECT GROUP_CONCAT(DISTINCT a ORDER BY a) FROM t FORCE INDEX (`k`)",
            "SELECT WAIT_FOR_EXECUTED_GTID_SET('x', 1)",
            "WITH RECURSIVE x AS (SELECT 1) SELECT ROW_NUMBER() OVER (PARTITION BY a) FROM x",
        ] {
            assert_eq!(calls(&tokens(sql)), Calls::default(), "{sql}");
        }
    }

    #[test]
    fn what_may_be_stored_is_told_and_what_changes_more_is_named() {
        for sql in [
            "SELECT pay(1)",
            "SELECT `pay` (1)",
            "DO pay(1)",
            "SELECT a FROM t WHERE pay(a)",
        ] {
            assert!(calls(&tokens(sql)).stored, "{sql}");
        }
        let of_schema = calls(&tokens("SELECT hr . pay(1)"));
        assert_eq!(of_schema.schemas, ["hr"]);
        for sql in [
            "SELECT group_replication_set_as_primary('x')",
            "SELECT SETVAL(s, 100)",
            "SELECT sys_exec('reboot')",
        ] {
            assert!(calls(&tokens(sql)).changing.is_some(), "{sql}");
        }
    }
}
