//! Every code is reported for its fault, at its place, and nothing else is said; several faults are reported together.

use fw_schema::{Code, Memory, Options, check_text, check_with};
use std::collections::BTreeSet;
use std::path::Path;

/// A schema fault marked by `«…»`: the code is reported exactly there.
const CASES: &[(&str, &str)] = &[
    ("unexpected_character", "package p; message M { uint8 a = 1; «@» }"),
    ("unterminated_comment", "package p; message M { uint8 a = 1; } «/*» end"),
    ("unterminated_string", "syntax = «'abc;»\npackage p;"),
    ("malformed_number", "package p; message M { uint8 a = «1x»; }"),
    ("unexpected_token", "package p; message M { uint8 a «;» }"),
    ("missing_semicolon", "package p; message M { uint8 a = 1«» uint8 b = 2; }"),
    ("unclosed_brace", "package p; message M { uint8 a = 1;«»"),
    ("enum_base_type", "package p; enum E «:» uint8 { A = 0; }"),
    ("repeated_member", "package p; message M { oneof o { «repeated» uint8 a = 1; } }"),
    ("nested_message", "package p; message M { uint8 a = 1; «message» N { uint8 b = 1; } N n = 2; }"),
    ("unsupported_construct", "package p; message M { uint8 a = 1; «map»<uint8, uint8> b = 2; }"),
    ("unsupported_construct", "package p; «extend» M { uint8 a = 1; }"),
    ("unsupported_construct", "package p; message M { repeated «group» G = 1 { uint8 a = 1; } }"),
    ("dotted_package", "package «p.q»; message M { uint8 a = 1; }"),
    ("package_missing", "«enum E { A = 0; }» package p;"),
    ("package_missing", "«»import 'other.sf';"),
    ("package_duplicate", "package p; package «q»;"),
    ("import_not_found", "package p; import «\"gone.sf\"»;"),
    ("duplicate_field_name", "package p; message M { uint8 a = 1; uint8 «a» = 2; }"),
    ("duplicate_field_name", "package p; message M { uint8 a = 1; oneof «a» { uint8 b = 1; } }"),
    ("duplicate_member_name", "package p; message M { oneof o { uint8 a = 1; uint8 «a» = 2; } }"),
    ("duplicate_enum_value_name", "package p; enum E { A = 0; «A» = 1; }"),
    ("duplicate_type_name", "package p; enum E { A = 0; } message «E» { uint8 a = 1; }"),
    ("duplicate_type_name", "package p; message M { enum E { A = 0; } enum «E» { B = 0; } uint8 a = 1; }"),
    ("flatten_collision", "package p; message N { uint8 x = 1; } message M { N «n» = 1 [flatten=true]; uint8 x = 2; }"),
    (
        "flatten_collision",
        "package p; message N { uint8 x = 1; } message M { N a = 1 [flatten=true]; N «b» = 2 [flatten=true]; }",
    ),
    (
        "duplicate_message_id",
        "package p; message M { option msgid = 1; uint8 a = 1; } message N { option msgid = «1»; uint8 a = 1; }",
    ),
    ("repeated_message_id", "package p; message M { option msgid = 1; option «msgid» = 2; uint8 a = 1; }"),
    ("conflicting_package_id", "package p; option pkgid = 1; option pkgid = «2»;"),
    ("message_id_range", "package p; message M { option msgid = «65536»; uint8 a = 1; }"),
    ("message_id_range", "package p; option pkgid = 1; message M { option msgid = «256»; uint8 a = 1; }"),
    ("message_id_range", "package p; message M { option msgid = «-1»; uint8 a = 1; }"),
    ("package_id_range", "package p; option pkgid = «256»;"),
    ("field_number", "package p; message M { uint8 a = 1; uint8 b = «3»; }"),
    ("member_number", "package p; message M { oneof o { uint8 a = «2»; } }"),
    ("size_missing", "package p; message M { string «s» = 1; }"),
    ("size_missing", "package p; message M { oneof o { bytes «s» = 1; } }"),
    ("element_size_missing", "package p; message M { repeated string «s» = 1 [size=2]; }"),
    ("size_range", "package p; message M { string s = 1 [size=«0»]; }"),
    ("size_range", "package p; message M { string s = 1 [size=«\"many\"»]; }"),
    ("size_range", "package p; message M { oneof o { option max_size = «0»; uint8 a = 1; } }"),
    ("message_too_large", "package p; message «M» { repeated uint64 a = 1 [size=65535]; }"),
    ("size_misuse", "package p; message M { uint8 a = 1 [«size»=2]; }"),
    ("size_misuse", "package p; message M { oneof o { uint8 a = 1 [«max_size»=2]; } }"),
    ("discriminator_unknown", "package p; message M { oneof o { option discriminator = «sometimes»; uint8 a = 1; } }"),
    ("discriminator_unknown", "package p; message M { option discriminator = «1»; oneof o { uint8 a = 1; } }"),
    ("option_not_integer", "package p; message M { option msgid = «'x'»; uint8 a = 1; }"),
    ("option_not_integer", "package p; message M { uint8 a = 1; option extensions_start = «two»; uint8 b = 2; }"),
    ("unresolved_type", "package p; message M { «Nope» a = 1; }"),
    ("unresolved_type", "package p; message M { «.p.E» a = 1; } enum E { A = 0; }"),
    ("unresolved_type", "package p; message M { enum E { A = 0; } E a = 1; } message N { «M.E» a = 1; }"),
    ("unresolved_type", "package p; message M { «sint32» a = 1; }"),
    ("recursion", "package p; message M { «M» a = 1; }"),
    ("recursion", "package p; message M { N a = 1; } message N { oneof o { «M» m = 1; } }"),
    (
        "empty_message_field",
        "package p; message N { oneof o { } } message M { «N» a = 1; uint8 b = 2; } // one warning more",
    ),
    ("default_range", "package p; message M { int8 a = 1 [default=«-129»]; }"),
    ("default_range", "package p; message M { uint64 a = 1 [default=«18446744073709551616»]; }"),
    ("default_range", "package p; message M { float a = 1 [default=«1e39»]; }"),
    ("default_type", "package p; message M { bool a = 1 [default=«1»]; }"),
    ("default_type", "package p; message M { uint8 a = 1 [default=«1.5»]; }"),
    ("default_type", "package p; message M { double a = 1 [default=«nan»]; }"),
    ("default_type", "package p; message M { string a = 1 [size=2, default=«ab»]; }"),
    ("default_unknown_value", "package p; enum E { A = 0; } message M { E a = 1 [default=«B»]; }"),
    ("default_too_long", "package p; message M { bytes a = 1 [max_size=1, default=«\"é\"»]; }"),
    ("default_misplaced", "package p; message M { repeated uint8 a = 1 [size=2, «default»=1]; }"),
    ("default_misplaced", "package p; message N { uint8 a = 1; } message M { N a = 1 [«default»=1]; }"),
    ("default_misplaced", "package p; message M { oneof o { uint8 a = 1 [«default»=1]; } }"),
    (
        "oneof_member_without_id",
        "package p; message N { uint8 a = 1; } message M { oneof o { option discriminator = msgid; «N» a = 1; } }",
    ),
    (
        "oneof_member_id_zero",
        "package p; message N { option msgid = 0; uint8 a = 1; } message M { oneof o { «N» a = 1; } }",
    ),
    (
        "oneof_duplicate_tag",
        "package p; message N { option msgid = 1; uint8 a = 1; } message M { oneof o { N a = 1; «N» b = 2; } }",
    ),
    ("oneof_not_variable", "package p; message M { oneof o { option «variable» = true; uint8 a = 1; } }"),
    ("oneof_max_size", "package p; message M { oneof o { option max_size = «1»; uint16 a = 1; } }"),
    (
        "oneof_min_size",
        "package p; message M { option variable = true; oneof o { option variable = true; option min_size = «3»; uint16 a = 1; } }",
    ),
    (
        "oneof_prefix_without_tag",
        "package p; message M { option variable = true; oneof o { option «variable» = true; option discriminator = none; uint16 a = 1; } }",
    ),
    ("envelope_oneof", "package p; message M { option «is_envelope» = true; uint8 a = 1; }"),
    ("envelope_member", "package p; message M { option envelope = true; oneof o { «uint8» a = 1; } }"),
    ("extension_start", "package p; message M { option extensions_start = «1»; uint8 a = 1; }"),
    ("extension_start", "package p; message M { option extensions_start = «3»; uint8 a = 1; uint8 b = 2; }"),
    ("extension_start", "package p; message M { oneof o { uint8 a = 1; option extensions_start = «2»; } }"),
    ("extension_start", "package p; message M { oneof o { «/* Extension:: */» uint8 a = 1; } }"),
    (
        "extension_with_oneof",
        "package p; message M { option extensions_start = «2»; uint8 a = 1; uint8 b = 2; oneof o { } }",
    ),
    (
        "extension_not_last",
        "package p; message M { oneof «o» { uint8 a = 1; option extensions_start = 2; uint8 b = 2; } oneof q { uint8 a = 1; } }",
    ),
    ("magic_bytes", "package p; message M { option magic_bytes = «\"0, 5\"»; uint8 a = 1; }"),
    ("magic_bytes", "package p; message M { option magic_bytes = «5»; uint8 a = 1; }"),
    ("enum_value_range", "package p; enum E { A = «256»; }"),
    ("enum_value_range", "package p; enum E { A = «-1»; }"),
    ("enum_value_repeated", "package p; enum E { A = 1; B = «1»; }"),
    ("enum_empty", "package p; enum «E» { }"),
    ("empty_message", "package p; message «M» { option msgid = 1; }"),
    ("id_over_byte", "package p; message «M» { option msgid = 256; uint8 a = 1; }"),
    ("unknown_option", "package p; message M { option «(sf.msgid)» = 1; uint8 a = 1; }"),
    ("unknown_option", "package p; message M { uint8 a = 1 [«deprecated»=true]; }"),
    ("unknown_option", "package p; option «java_package» = 'x';"),
    ("repeated_option", "package p; message M { option variable = false; option «variable» = true; uint8 a = 1; }"),
    ("ignored_option", "package p; message M { string a = 1 [size=3, «max_size»=4]; }"),
    ("ignored_option", "package p; message M { uint8 a = 1 [«flatten»=true]; }"),
    ("ignored_option", "package p; message M { repeated uint8 a = 1 [size=3, «element_size»=4]; }"),
    ("not_truthy", "package p; message M { option variable = «yes»; uint8 a = 1; }"),
    ("ignored_construct", "package p; message M { «reserved» 5, 6; uint8 a = 1; }"),
    ("ignored_construct", "package p; «service» S { rpc Go (A) returns (B) { option x = 1; } }"),
    ("ignored_construct", "package p; enum E { «reserved» 5; A = 0; }"),
    ("scalar_shadowed", "package p; message «uint8» { uint8 a = 1; }"),
    ("dangling_extension_comment", "package p; message M { oneof o { uint8 a = 1; «// Extension:: none yet»\n } }"),
];

#[test]
fn every_fault_has_its_code_and_place() {
    let mut failed = String::new();
    for (code, marked) in CASES {
        let start = marked.find('«').unwrap();
        let end = marked.find('»').unwrap() - '«'.len_utf8();
        let text = marked.replace(['«', '»'], "");
        let loader = Memory::new().with("main.sf", text.clone()).with("other.sf", "package p;");
        let compiled = check_with(&loader, Path::new("main.sf"), &Options::default());
        // The one case in which a warning stands beside the error.
        let warned = text.ends_with("one warning more");
        let list = || compiled.diagnostics.list().iter().skip(usize::from(warned));
        let found: Vec<_> = list().map(|fault| fault.code.name()).collect();
        let span = list().next().map(|fault| (fault.span.start as usize, fault.span.end as usize));
        if found != [*code] || span != Some((start, end)) {
            failed += &format!("expected {code} at {start}..{end} in {text}\n{}\n", compiled.diagnostics);
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// The codes above, and those tested with several files or by size below, are all there are.
#[test]
fn every_code_has_a_case() {
    let elsewhere = [
        "not_utf8",
        "package_id_missing",
        "import_cycle",
        "import_outside",
        "not_a_schema",
        "duplicate_package_id",
        "nesting_too_deep",
        "oneof_too_many_members",
        "id_collision",
    ];
    let tested: BTreeSet<_> = CASES.iter().map(|(code, _)| *code).chain(elsewhere).collect();
    let all: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(tested, all);
}

fn codes(files: &[(&str, &str)]) -> Vec<String> {
    let loader = files.iter().fold(Memory::new(), |memory, (path, text)| memory.with(path, *text));
    let compiled = check_with(&loader, Path::new(files[0].0), &Options::default());
    compiled
        .diagnostics
        .list()
        .iter()
        .map(|fault| format!("{} {}", compiled.diagnostics.sources().describe(fault.span), fault.code.name()))
        .collect()
}

/// SF-2.12, SF-2.13, SF-2.14
#[test]
fn several_files() {
    let lib = "package b; message N { option msgid = 1; uint8 a = 1; }";
    let root = "package a;\nimport 'b.sf';\nmessage M { option msgid = 1; b.N n = 1; }";
    assert_eq!(codes(&[("a.sf", root), ("b.sf", lib)]), ["a.sf:1:9 package_id_missing", "b.sf:1:9 package_id_missing"]);
    let with_id = root.replace(";\nimport", "; option pkgid = 1;\nimport");
    assert_eq!(codes(&[("a.sf", &with_id), ("b.sf", lib)]), ["b.sf:1:20 id_collision"]);
    let same_id = lib.replace("b;", "b; option pkgid = 1;");
    assert!(codes(&[("a.sf", &with_id), ("b.sf", &same_id)]).contains(&"b.sf:1:27 duplicate_package_id".to_owned()));
    let back = "package b; option pkgid = 2; import 'a.sf'; message N { uint8 a = 1; }";
    assert_eq!(codes(&[("a.sf", &with_id), ("b.sf", back)]), ["b.sf:1:37 import_cycle"]);

    // Importing twice, itself, or mutually within a package is harmless.
    let mutual = "package a; import 'a.sf'; import 'c.sf'; import 'c.sf'; message M { option msgid = 1; N n = 1; }";
    let other = "package a; import 'a.sf'; message N { uint8 a = 1; }";
    assert!(codes(&[("a.sf", mutual), ("c.sf", other)]).is_empty());

    // Paths start at the root's directory, then at the importer's.
    let files = [
        ("d/a.sf", "package a; import 'e/b.sf'; message M { option msgid = 1; N n = 1; P p = 2; }"),
        ("d/e/b.sf", "package a; import 'e/c.sf'; import 'x.sf'; message N { uint8 a = 1; }"),
        ("d/e/c.sf", "package a; message P { uint8 a = 1; }"),
        ("d/e/x.sf", "package a;"),
    ];
    assert!(codes(&files).is_empty(), "{:?}", codes(&files));
}

/// SF-2.12: what a schema imports is not chosen by the person who compiles it.
#[test]
fn imports_stay_below_the_root_and_the_include_directories() {
    let root = "package a; import '../lib/b.sf'; message M { option msgid = 1; N n = 1; }";
    let files = Memory::new().with("d/a.sf", root).with("lib/b.sf", "package a; message N { uint8 a = 1; }");
    let names = |options: &Options| {
        let compiled = check_with(&files, Path::new("d/a.sf"), options);
        compiled.diagnostics.list().iter().map(|fault| fault.code.name()).collect::<Vec<_>>()
    };
    assert_eq!(names(&Options::default()), ["import_outside"]);
    assert!(names(&Options::default().with_include(["lib"])).is_empty());
    assert!(names(&Options::default().with_include(["."])).is_empty());
    assert_eq!(names(&Options::default().with_include(["li"])), ["import_outside"]);
    // Above the directory in which the program runs.
    assert_eq!(
        codes(&[("a.sf", "package a; import '../b.sf';"), ("../b.sf", "package a;")]),
        ["a.sf:1:19 import_outside"]
    );
    // An include directory is looked in last.
    let found = Memory::new().with("d/a.sf", "package a; import 'b.sf';").with("lib/b.sf", "package a;");
    assert!(check_with(&found, Path::new("d/a.sf"), &Options::default().with_include(["lib"])).diagnostics.is_ok());
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_imports_out_of_their_directory() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("own")).unwrap();
    std::fs::write(at("secret.sf"), "package a; message N { uint8 a = 1; }").unwrap();
    std::fs::write(at("own/a.sf"), "package a; import 'link.sf'; message M { option msgid = 1; N n = 1; }").unwrap();
    std::os::unix::fs::symlink(at("secret.sf"), at("own/link.sf")).unwrap();
    let names = |root: &Path, options: &Options| {
        let compiled = check_with(&fw_schema::Disk, root, options);
        compiled.diagnostics.list().iter().map(|fault| fault.code.name()).collect::<Vec<_>>()
    };
    assert_eq!(names(&at("own/a.sf"), &Options::default()), ["import_outside"]);
    assert!(names(&at("own/a.sf"), &Options::default().with_include([folder.path()])).is_empty());
    // A root that is a link itself: what is beside the link and beside the file may be imported.
    std::os::unix::fs::symlink(at("own/a.sf"), at("root.sf")).unwrap();
    std::fs::rename(at("own/link.sf"), at("link.sf")).unwrap();
    assert!(names(&at("root.sf"), &Options::default()).is_empty());
}

#[test]
fn what_is_not_a_schema_is_not_quoted() {
    let secret = "root:$6$salt$hash:19000:0:99999:7:::";
    let loader = Memory::new().with("a.sf", "package a; import 'shadow';").with("shadow", secret);
    for root in ["a.sf", "shadow"] {
        let compiled = check_with(&loader, Path::new(root), &Options::default());
        let shown = compiled.diagnostics.to_string();
        assert_eq!(compiled.diagnostics.list()[0].code, Code::NotASchema, "{shown}");
        let json = serde_json::to_string(&compiled.diagnostics).unwrap();
        assert!(!shown.contains("hash") && !json.contains("hash"), "{shown}");
    }
}

#[test]
fn not_utf8() {
    let loader = Memory::new().with("a.sf", b"package p; // \xff".to_vec());
    let compiled = check_with(&loader, Path::new("a.sf"), &Options::default());
    let fault = compiled.diagnostics.list().first().unwrap();
    assert_eq!((fault.code, fault.span.start), (Code::NotUtf8, 14));
}

#[test]
fn limits() {
    let mut deep = "package p; message M0 { uint8 a = 1; }".to_owned();
    for level in 1..=65 {
        deep += &format!(" message M{level} {{ M{} a = 1; }}", level - 1);
    }
    let found: Vec<_> = check_text("a.sf", &deep).diagnostics.list().iter().map(|fault| fault.code).collect();
    assert_eq!(found, [Code::NestingTooDeep]);
    let members: String = (1..=256).map(|number| format!("uint8 m{number} = {number};")).collect();
    let wide = format!("package p; message M {{ oneof o {{ {members} }} }}");
    let found: Vec<_> = check_text("a.sf", &wide).diagnostics.list().iter().map(|fault| fault.code).collect();
    assert_eq!(found, [Code::OneofTooManyMembers]);
}

/// A file that is no schema gives many faults, of which a thousand are kept.
#[test]
fn floods_are_cut() {
    let compiled = check_text("a.sf", &format!("package p; {}", "@ ".repeat(5000)));
    assert_eq!((compiled.diagnostics.list().len(), compiled.diagnostics.left_out()), (1000, 4000));
    assert!(compiled.diagnostics.to_string().ends_with("… and 4000 more\n"));
    let warnings: String = (0..1500).map(|at| format!("option x{at} = 1;")).collect();
    let compiled = check_text("a.sf", &format!("package p; {warnings} message M {{ uint8 a = 2; }}"));
    assert!(!compiled.diagnostics.is_ok());
}

/// SF-4.1: one run shows every fault, also behind syntax errors, and nothing that only follows from another fault.
#[test]
fn all_at_once() {
    let text = "package p\n\
                enum E { A = 0 B = 300; }\n\
                message M {\n  option msgid = 70000;\n  uint8 a = 1 uint16 b = 3;\n  Nope c = ;\n  string s = 4;\n}\n\
                message N { M m = 1; E e = 2 [default=C]; uint7 x = 3; }\n";
    let compiled = check_text("a.sf", text);
    let shown: Vec<_> = compiled
        .diagnostics
        .list()
        .iter()
        .map(|fault| format!("{} {}", compiled.diagnostics.sources().describe(fault.span), fault.code.name()))
        .collect();
    assert_eq!(
        shown,
        [
            "a.sf:1:10 missing_semicolon",
            "a.sf:2:15 missing_semicolon",
            "a.sf:2:20 enum_value_range",
            "a.sf:4:18 message_id_range",
            "a.sf:5:14 missing_semicolon",
            "a.sf:6:12 unexpected_token",
            "a.sf:7:10 size_missing",
            "a.sf:9:39 default_unknown_value",
            "a.sf:9:43 unresolved_type",
        ]
    );
}

#[test]
fn what_a_person_sees() {
    let text =
        "package demo;\nmessage Ping {\n  option msgid = 7;\n  uint61 seq = 1;\n  string name = 2 [maxsize=8];\n}\n";
    let shown = check_text("demo.sf", text).diagnostics.to_string();
    let expected = "\
error[unresolved_type]: no type named `uint61`
 --> demo.sf:4:3
  |
4 |   uint61 seq = 1;
  |   ^^^^^^
  = hint: did you mean `uint16`?
  = rule: SF-2.11

error[size_missing]: field `name` has no size
 --> demo.sf:5:10
  |
5 |   string name = 2 [maxsize=8];
  |          ^^^^
  = hint: add `[size=N]` for a fixed or `[max_size=N]` for a bounded length
  = rule: SF-4.5

warning[unknown_option]: `maxsize` is not an option of a field and has no effect
 --> demo.sf:5:20
  |
5 |   string name = 2 [maxsize=8];
  |                    ^^^^^^^
  = hint: did you mean `max_size`?
  = rule: SF-3.1
";
    assert_eq!(shown, expected);
    let json = serde_json::to_value(&check_text("demo.sf", text).diagnostics).unwrap();
    assert_eq!(json[0]["start"], serde_json::json!({"line": 4, "column": 3}));
    assert_eq!(json[0]["class"], "unresolved_type");
    assert!(!check_text("demo.sf", text).diagnostics.to_report().is_ok());
}
