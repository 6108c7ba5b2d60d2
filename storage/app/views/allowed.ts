// The parts of SQL that the query of a view may have. Everything else is refused: PostgreSQL's rights keep a view from the tables
// of others, but not from functions and catalogues that are for everybody.

/** The words of a text. */
function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** The functions, aggregates and window functions of `pg_catalog` that a query may call by name. */
export const allowedFunctions: ReadonlySet<string> = new Set([
  // Aggregates.
  ...words(`
    count sum avg min max bool_and bool_or every string_agg array_agg json_agg jsonb_agg json_object_agg
    jsonb_object_agg stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp
    percentile_cont percentile_disc mode any_value`),
  // Windows.
  ...words(`
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value`),
  // Texts. None makes a long text of a short one by a number.
  ...words(`
    lower upper initcap length char_length character_length octet_length btrim ltrim rtrim substr substring
    left right position strpos replace translate reverse split_part concat concat_ws starts_with md5 ascii
    overlay normalize to_char to_number string_to_array like_escape`),
  // Numbers.
  ...words(`
    abs ceil ceiling floor round trunc sign sqrt cbrt exp ln log log10 power pow mod div gcd lcm degrees
    radians pi sin cos tan asin acos atan atan2 width_bucket int4 int8 float8 numeric`),
  // Times.
  ...words(`
    now transaction_timestamp statement_timestamp date_trunc date_part extract date_bin age to_timestamp
    to_date timezone make_date make_timestamptz make_timestamp make_interval justify_days justify_hours
    justify_interval isfinite date timestamptz timestamp interval overlaps`),
  // JSON and arrays.
  ...words(`
    to_json to_jsonb json_build_object jsonb_build_object json_build_array jsonb_build_array
    json_array_length jsonb_array_length json_typeof jsonb_typeof jsonb_array_elements
    jsonb_array_elements_text jsonb_object_keys jsonb_extract_path jsonb_extract_path_text
    jsonb_strip_nulls jsonb_path_query_first jsonb_path_exists jsonb_set unnest cardinality array_length
    array_position array_to_string array_append array_remove array_cat`),
]);

/** The kinds of node that the tree of a query may have. */
export const allowedNodes: ReadonlySet<string> = new Set([
  ...words(`
    QUERY TARGETENTRY RANGETBLENTRY RTEPERMISSIONINFO FROMEXPR JOINEXPR RANGETBLREF ALIAS RANGETBLFUNCTION
    COMMONTABLEEXPR SETOPERATIONSTMT SORTGROUPCLAUSE GROUPINGSET GROUPINGFUNC WINDOWCLAUSE VAR CONST
    FUNCEXPR OPEXPR DISTINCTEXPR NULLIFEXPR SCALARARRAYOPEXPR BOOLEXPR SUBLINK PARAM CASEEXPR CASE CASEWHEN
    WHEN CASETESTEXPR COALESCEEXPR COALESCE MINMAXEXPR MINMAX NULLTEST BOOLEANTEST AGGREF WINDOWFUNC
    RELABELTYPE COERCEVIAIO ARRAYCOERCEEXPR ARRAYEXPR ARRAY SUBSCRIPTINGREF COLLATEEXPR COLLATE
    SQLVALUEFUNCTION`),
]);

/** The types that an expression may have, by their ids, which PostgreSQL never changes; none shows names of the catalogue. */
export const allowedTypes: ReadonlySet<number> = new Set([
  // bool, char, name, int8, int2, int4, text, json, float4, float8, unknown
  16,
  18,
  19,
  20,
  21,
  23,
  25,
  114,
  700,
  701,
  705,
  // bpchar, varchar, date, time, timestamp, timestamptz, interval, timetz, numeric, uuid, jsonb, jsonpath
  1042,
  1043,
  1082,
  1083,
  1114,
  1184,
  1186,
  1266,
  1700,
  2950,
  3802,
  4072,
  // Arrays of these.
  1000,
  1002,
  1003,
  1016,
  1005,
  1007,
  1009,
  199,
  1021,
  1022,
  1014,
  1015,
  1182,
  1183,
  1115,
  1185,
  1187,
  1270,
  1231,
  2951,
  3807,
]);

/** The last of the operations of `SQLValueFunction` that is about time; those after it are about roles and schemas. */
export const lastTimeFunction = 8;
