//! Tests of all rows.

mod examples;
#[cfg(feature = "hub")]
mod pages;
mod rights;

use std::collections::BTreeSet;

#[test]
fn every_signature_parses_and_every_name_is_there_once() {
    let mut seen = BTreeSet::new();
    for row in crate::table::registry().all() {
        assert!(lang::check::signature(row.sig).is_some(), "{}: {}", row.full_name(), row.sig);
        assert!(seen.insert((row.module, row.name)), "{} stands twice", row.full_name());
        assert!(!row.doc.trim().is_empty(), "{} has no documentation", row.full_name());
    }
}

/// The names that the language promises, by namespace.
const PROMISED: [(&str, &str); 7] = [
    (
        "",
        "print println eprintln log len type_of to_string str to_int to_float keys values entries range iter pair set \
         join split trim abs min max floor ceil round sqrt pow json_parse json_stringify json_stringify_pretty \
         regex_match regex_replace regex_captures sha256 base64_encode base64_decode uuid uuid_v7 now_ms \
         monotonic_ms sleep timestamp env read_file write_file file_exists list_dir exec assert assert_eq assert_ne \
         unwrap unwrap_or unwrap_err is_ok is_err unreachable Ok Err exit await cancel channel send receive \
         try_receive close_channel transcript",
    ),
    (
        "<string>",
        "count empty contains replace split trim trim_start trim_end starts_with ends_with lowercase lower uppercase \
         upper substring lines chars char_at index_of last_index_of repeat reverse pad_left pad_right",
    ),
    (
        "<list>",
        "count empty first last map filter reduce find find_index any all every none flat_map sort sort_by min max \
         min_by max_by sum join reverse push pop contains index_of slice take skip zip enumerate unique flatten chunk \
         window partition group_by tally compact iter to_list",
    ),
    ("<dict>", "keys values entries count has get merge map map_values filter remove empty"),
    ("<set>", "add remove contains union intersect difference is_subset count empty to_list map filter iter"),
    ("<range>", "count empty first last map filter reduce contains slice take skip reverse to_list iter"),
    (
        "<iter>",
        "map filter flat_map take skip take_while skip_while zip enumerate chain chunks windows to_list to_set to_dict \
         count sum min max reduce first last any all find for_each",
    ),
];

#[test]
fn every_builtin_that_the_language_promises_is_there() {
    for (module, names) in PROMISED {
        for name in names.split_whitespace() {
            assert!(crate::table::registry().find(module, name).is_some(), "{module} {name}");
        }
    }
}

#[test]
fn the_rows_of_a_table_share_their_namespace() {
    for table in super::GROUPS.iter().flat_map(|g| g.iter()) {
        assert!(table.windows(2).all(|w| w[0].module == w[1].module));
    }
}
