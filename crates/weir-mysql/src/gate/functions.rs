//! The functions that a server has of its own, and words that stand before a parenthesis without being one.
//!
//! The lists are the servers' own answers: a function of the same name was stored in `MySQL` 9.7 and
//! `MariaDB` 10.11, and no call of a listed name reached it. `tests/gate` asks again.

/// Dialect of a server: its own functions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// No connection has told yet: those that both flavours have.
    #[default]
    Unknown,
    /// `MySQL`; from 9.6 on, `MD5` and `SHA1` are no longer its own.
    Mysql { has_old_digests: bool },
    /// `MariaDB`.
    Mariadb,
}

impl Dialect {
    /// By the version that a server greets with.
    pub(crate) fn by_version(version: &str) -> Self {
        if version.contains("MariaDB") {
            return Self::Mariadb;
        }
        Self::Mysql {
            has_old_digests: version.starts_with("5.") || version.starts_with("8."),
        }
    }
}

/// Functions that change more than the connection, or lock, by how their names begin: the state of a group, of
/// replication, of an audit, of keys and of sequences; names that other connections wait for; programs on the host.
const CHANGING: [&str; 18] = [
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
    "sys_exec",
    "sys_eval",
    "sys_set",
    "setval",
    "http_",
    "get_lock",
];

/// Of both flavours.
const COMMON: &str = "
    abs acos adddate addtime aes_decrypt aes_encrypt all and any as ascii asin atan atan2 avg benchmark between
    bigint bin binary bit bit_and bit_count bit_length bit_or bit_xor blob both by byte case cast ceil ceiling
    char char_length character character_length charset check coalesce coercibility collate collation compress
    concat concat_ws connection_id conv convert convert_tz cos cot count crc32 cume_dist curdate current_date
    current_role current_time current_timestamp current_user curtime database date date_add date_format date_sub
    datediff datetime day dayname dayofmonth dayofweek dayofyear dec decimal default degrees dense_rank distinct
    distinctrow div double else elseif elt enum except exists exp export_set extract extractvalue false field
    find_in_set first_value fixed float floor for force format found_rows from from_base64 from_days
    from_unixtime fulltext get_format greatest group group_concat having hex high_priority hour if ifnull ignore
    in index inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr int int1 int2 int3 int4 int8 integer
    intersect interval into is is_free_lock is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_used_lock isnull
    join json json_array json_array_append json_array_insert json_arrayagg json_contains json_contains_path
    json_depth json_extract json_insert json_keys json_length json_merge json_merge_patch json_merge_preserve
    json_object json_objectagg json_overlaps json_pretty json_quote json_remove json_replace json_search
    json_set json_type json_unquote json_valid json_value key keys lag last_day last_insert_id last_value lcase
    lead leading least left length like limit ln localtime localtimestamp locate log log10 log2 lower lpad ltrim
    make_set makedate maketime master_pos_wait match max maxvalue mbrcontains mbrdisjoint mbrequals
    mbrintersects mbroverlaps mbrtouches mbrwithin mediumint microsecond mid middleint min minute mod month
    monthname name_const national nchar not now nth_value ntile null nullif number numeric nvarchar oct
    octet_length offset on or ord order over partition percent_rank period_add period_diff pi position pow power
    primary quarter quote radians rand random_bytes rank real recursive references regexp regexp_instr
    regexp_replace regexp_substr release_all_locks release_lock repeat replace returning reverse right rlike
    round row row_count row_number rows rpad rtrim schema sec_to_time second select separator session_user set
    sha2 sign signed sin sleep smallint some soundex space sql_big_result sql_calc_found_rows sql_small_result
    sqrt st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_centroid st_contains
    st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint
    st_envelope st_equals st_exteriorring st_geomcollfromtext st_geomcollfromwkb st_geometrycollectionfromtext
    st_geometrycollectionfromwkb st_geometryfromtext st_geometryfromwkb st_geometryn st_geometrytype
    st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects st_isclosed
    st_isempty st_issimple st_length st_linefromtext st_linefromwkb st_linestringfromtext st_linestringfromwkb
    st_mlinefromtext st_mlinefromwkb st_mpointfromtext st_mpointfromwkb st_mpolyfromtext st_mpolyfromwkb
    st_multilinestringfromtext st_multilinestringfromwkb st_multipointfromtext st_multipointfromwkb
    st_multipolygonfromtext st_multipolygonfromwkb st_numgeometries st_numinteriorrings st_numpoints st_overlaps
    st_pointfromtext st_pointfromwkb st_pointn st_polyfromtext st_polyfromwkb st_polygonfromtext
    st_polygonfromwkb st_srid st_startpoint st_symdifference st_touches st_union st_within st_x st_y std stddev
    stddev_pop stddev_samp str_to_date straight_join strcmp subdate substr substring substring_index subtime sum
    sysdate system_user table tan text then time time_format time_to_sec timediff timestamp timestampadd
    timestampdiff tinyint to to_base64 to_days to_seconds trailing trim true truncate ucase uncompress
    uncompressed_length unhex union unix_timestamp unsigned update updatexml upper use user using utc_date
    utc_time utc_timestamp uuid uuid_short value values var_pop var_samp varbinary varchar varcharacter variance
    varying version week weekday weekofyear weight_string when where window with xor year yearweek
";
/// Of `MySQL` alone.
const OF_MYSQL: &str = "
    any_value array bin_to_uuid columns cube escape etag format_bytes format_pico_time from_vector
    geomcollection geometry geometrycollection grouping gtid_subset gtid_subtract icu_version is_uuid
    json_duality_object json_schema_valid json_schema_validation_report json_storage_free json_storage_size
    json_table lateral linestring mbrcoveredby mbrcovers member multilinestring multipoint multipolygon of point
    polygon ps_current_thread_id ps_thread_id qualify regexp_like rollup source_pos_wait sql_buffer_result
    sql_no_cache st_buffer_strategy st_collect st_frechetdistance st_geohash st_geomcollfromtxt
    st_hausdorffdistance st_isvalid st_latfromgeohash st_latitude st_lineinterpolatepoint
    st_lineinterpolatepoints st_longfromgeohash st_longitude st_makeenvelope st_numinteriorring
    st_pointatdistance st_pointfromgeohash st_simplify st_swapxy st_transform st_validate statement_digest
    statement_digest_text string_to_vector tablesample to_vector uuid_to_bin validate_password_strength
    vector_dim vector_to_string wait_for_executed_gtid_set
";
/// Of `MariaDB` alone.
const OF_MARIADB: &str = "
    add_months area asbinary astext aswkb aswkt binlog_gtid_pos boundary buffer centroid chr column_add
    column_check column_create column_delete column_exists column_get column_json column_list contains
    convexhull crc32c crosses decode decode_histogram des_decrypt des_encrypt dimension disjoint encode encrypt
    endpoint envelope equals exteriorring geomcollfromtext geomcollfromwkb geometrycollection
    geometrycollectionfromtext geometrycollectionfromwkb geometryfromtext geometryfromwkb geometryn geometrytype
    geomfromtext geomfromwkb glength interiorringn intersects isclosed isempty isring issimple json_compact
    json_detailed json_equals json_exists json_loose json_normalize json_query lastval lengthb linefromtext
    linefromwkb linestring linestringfromtext linestringfromwkb master_gtid_wait mbrequal md5 median
    mlinefromtext mlinefromwkb mpointfromtext mpointfromwkb mpolyfromtext mpolyfromwkb multilinestring
    multilinestringfromtext multilinestringfromwkb multipoint multipointfromtext multipointfromwkb multipolygon
    multipolygonfromtext multipolygonfromwkb natural_sort_key numgeometries numinteriorrings numpoints nvl nvl2
    old_password overlaps percentile_cont percentile_disc point pointfromtext pointfromwkb pointn pointonsurface
    polyfromtext polyfromwkb polygon polygonfromtext polygonfromwkb rownum sformat sha sha1 srid st_boundary
    st_isring st_pointonsurface st_relate startpoint sys_guid to_char touches within
";
/// Digests of `MySQL` before 9.6.
const OLD_DIGESTS: &str = "md5 sha sha1";
/// Names that a server takes for a function of its own only where no blank stands before the parenthesis, unless
/// `sql_mode` has `IGNORE_SPACE` (`MySQL` manual, "Function Name Parsing and Resolution").
const ONLY_WITHOUT_BLANK: &str = "
    adddate bit_and bit_or bit_xor cast count cume_dist curdate curtime date_add date_sub dense_rank extract
    first_value group_concat json_arrayagg json_duality_object json_objectagg lag last_value lead max median mid
    min now nth_value ntile percent_rank percentile_cont percentile_disc position rank row_number session_user
    st_collect std stddev stddev_pop stddev_samp subdate substr substring sum sysdate system_user trim var_pop
    var_samp variance
";
/// Constructors that `MariaDB` takes for its own only with arguments.
const OF_SHAPES: &str =
    "point linestring polygon multipoint multilinestring multipolygon geometrycollection";

/// A function as it is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct FunctionCall<'a> {
    pub(super) name: &'a str,
    /// A blank or a comment stands before the parenthesis.
    pub(super) is_apart: bool,
    pub(super) arguments: usize,
}

impl FunctionCall<'_> {
    /// No stored function can be called by it.
    pub(super) fn is_native(self, dialect: Dialect) -> bool {
        if self.is_apart && has(ONLY_WITHOUT_BLANK, self.name) {
            return false;
        }
        has(COMMON, self.name)
            || match dialect {
                Dialect::Unknown => false,
                Dialect::Mysql { has_old_digests } => {
                    has(OF_MYSQL, self.name) || has_old_digests && has(OLD_DIGESTS, self.name)
                }
                Dialect::Mariadb => has(OF_MARIADB, self.name) && !self.is_other_shape(),
            }
    }

    fn is_other_shape(self) -> bool {
        match self.arguments {
            0 => has(OF_SHAPES, self.name),
            2 => false,
            _ => self.name.eq_ignore_ascii_case("point"),
        }
    }

    /// It is known to change more than the connection.
    pub(super) fn is_changing(self) -> bool {
        let lower = self.name.to_ascii_lowercase();
        CHANGING.iter().any(|begin| lower.starts_with(begin))
    }
}

fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace()
        .any(|known| known.eq_ignore_ascii_case(name))
}
