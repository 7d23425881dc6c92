//! The where grammar: what matches, what is refused, where and with which code.

use fw_query::{Map, Value, Where};
use proptest::prelude::*;

fn item() -> Map<'static> {
    let Value::Map(map) = Value::map([
        (
            "mars",
            Value::map([("param", Value::from("2t")), ("step", Value::from(12)), ("date", Value::from("2024-05-01"))]),
        ),
        ("big", Value::Integer((1 << 53) + 1)),
        ("ratio", Value::from(0.5)),
        ("nan", Value::from(f64::NAN)),
        ("flag", Value::from(true)),
        ("null", Value::Null),
        ("empty", Value::from("")),
        ("path", Value::from("a/b*c")),
        ("units", Value::from("kg m-2")),
        ("textstep", Value::from("6")),
        ("padded", Value::from("0006")),
        ("dots", Value::from("x..y")),
        ("pair", Value::from("a=1")),
        ("comma", Value::from("1,2")),
        ("shape", Value::from(vec![Value::from(721), Value::from(1440)])),
        ("names", Value::from(vec![Value::from("a"), Value::from("b")])),
        ("a b", Value::from(1)),
    ]) else {
        unreachable!()
    };
    map
}

#[test]
fn clauses_match_as_documented() {
    let rows: &[(&str, bool)] = &[
        // The reference's grammar: equality with any alternative, on the text of the value.
        ("mars.param=2t", true),
        ("mars.param=10u/2t", true),
        ("mars.param=2", false),
        ("mars.param!=2t/10u", false),
        ("mars.param!=10u", true),
        ("absent=1", false),
        ("absent!=1", true),
        ("absent<1", false),
        ("mars.step=12", true),
        ("flag=true", true),
        ("null=null", true),
        ("empty=", true),
        ("empty=x/", true),
        ("mars.param=", false),
        ("pair=a=1", true),
        ("comma=1,2", true),
        ("units=kg m-2", true),
        (" units = kg m-2 ", true),
        // Numbers by value.
        ("mars.step=12.0", true),
        ("mars.step=1.2e1", true),
        ("ratio=.5", true),
        ("big=9007199254740993", true),
        ("big=9007199254740992", false),
        ("big=9007199254740992.0", false),
        ("big>9007199254740992", true),
        ("big>9007199254740992.0", true),
        ("nan=NaN", true),
        ("nan=0", false),
        ("nan!=0", true),
        ("nan<0", false),
        ("nan>=0", false),
        // Order.
        ("mars.step<12", false),
        ("mars.step<=12", true),
        ("mars.step>11.5", true),
        ("mars.step >= 13", false),
        ("mars.param<3", false),
        ("flag<2", false),
        ("textstep<10", true),
        ("textstep>10", false),
        ("mars.date>=2024-01-01", true),
        ("mars.date<2024-01-01", false),
        ("mars.date>\"2\"", true),
        ("mars.step>\"2\"", false),
        // Text equals the same text only.
        ("textstep=6", true),
        ("textstep=6.0", false),
        ("padded=6", false),
        ("padded=0006", true),
        ("padded<=6", true),
        // Ranges hold both ends.
        ("mars.step=0..12", true),
        ("mars.step=12..12", true),
        ("mars.step=0..11.9", false),
        ("mars.step=..12", true),
        ("mars.step=12..", true),
        ("mars.step=13..", false),
        ("mars.step!=0..12", false),
        ("mars.step=0..6/12..18", true),
        ("mars.step=-5..-1", false),
        ("mars.date=2024-01-01..2024-12-31", true),
        ("mars.date=\"2024-01-01\"..\"2024-04-30\"", false),
        ("textstep=0..6", true),
        ("dots=x..y", true),
        ("dots=\"x..y\"", true),
        ("dots=\"x..z\"", false),
        // Patterns.
        ("mars.param=2?", true),
        ("mars.param=*", true),
        ("absent=*", false),
        ("absent!=*", true),
        ("mars.step=1*", true),
        ("mars.param=[0-9]t", true),
        ("mars.param=[!0-9]t", false),
        ("path=a*", true),
        // Quotes keep everything literal, also beside patterns.
        ("path=\"a/b*c\"", true),
        ("path=\"a/b\"*", true),
        ("path=\"a/*\"", false),
        ("mars.param=\"2?\"", false),
        ("mars.step=\"12\"", true),
        ("mars.step=\"12.0\"", false),
        ("mars.param=\"2\\u{74}\"", true),
        ("empty=\"\"", true),
        ("mars.param=\"\"", false),
        ("mars.param=\"\"2t", true),
        // Arrays by their JSON text, with or without blanks, and element by element.
        ("shape=[721,1440]", true),
        ("shape=[721, 1440]", true),
        ("shape=[721,1441]", false),
        ("shape=\"[721,1440]\"", true),
        ("names=[\"a\",\"b\"]", true),
        ("shape[0]=721", true),
        ("shape[-1]>1000", true),
        ("shape[2]=*", false),
        ("\"a b\"=1", true),
    ];
    for (text, expected) in rows {
        let filter = Where::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.render()));
        assert_eq!(filter.matches(&item()), *expected, "{text}");
    }
}

#[test]
fn lines_hold_several_clauses() {
    let rows: &[(&str, usize, bool)] = &[
        ("", 0, true),
        ("   ", 0, true),
        ("mars.param=2t mars.step<=12", 2, true),
        ("mars.param=2t  mars.step > 12 ", 2, false),
        ("units=\"kg m-2\" flag=true", 2, true),
        ("shape=[721, 1440] flag=true", 2, true),
        ("mars.step=0..12\tmars.param=10u/2?", 2, true),
        ("empty=\"\" mars.param!=x", 2, true),
    ];
    for (text, count, expected) in rows {
        let filter = Where::parse_line(text).unwrap_or_else(|error| panic!("{text}: {}", error.render()));
        assert_eq!((filter.clauses().len(), filter.matches(&item())), (*count, *expected), "{text}");
        // A clause of a line means the same on its own, as in a command line that does the same.
        let again = Where::parse_all(filter.clauses().iter().map(|clause| clause.text())).unwrap();
        assert_eq!(again.matches(&item()), *expected, "{text}");
    }
}

#[test]
fn faults_of_clauses_have_code_and_place() {
    for (text, code, span) in [
        ("", "empty_key", 0..0),
        ("bad", "missing_operator", 0..3),
        ("bad key=1", "missing_operator", 0..3),
        ("=1", "empty_key", 0..0),
        ("a==1", "unknown_operator", 1..3),
        ("a =< 1", "unknown_operator", 2..4),
        ("a=>1", "unknown_operator", 1..3),
        ("a<>1", "unknown_operator", 1..3),
        ("a!1", "missing_operator", 0..3),
        ("a=1,b=2", "joined_clauses", 3..4),
        ("a=1, b.c >= 2", "joined_clauses", 3..4),
        ("a=1 b=2", "joined_clauses", 3..4),
        ("a=x  b<2", "joined_clauses", 4..5),
        ("a<", "missing_value", 2..2),
        ("a>=  ", "missing_value", 5..5),
        ("a<1/2", "not_comparable", 2..5),
        ("a<1*", "not_comparable", 2..4),
        ("a<0..12", "not_comparable", 2..7),
        ("a=..", "empty_range", 2..4),
        ("a=12..0", "empty_range", 2..7),
        ("a=1/z..b", "empty_range", 4..8),
        ("a=5..x", "mixed_range", 2..6),
        ("a=[b", "unclosed_class", 2..4),
        ("a=\"b", "unclosed_quote", 2..4),
        ("a=\"\\x\"", "unknown_escape", 3..5),
        ("a[x]=1", "bad_index", 1..4),
    ] {
        let error = Where::parse(text).map(|_| text).expect_err(text);
        assert_eq!((error.code(), error.span()), (code, span), "{text}");
        assert_eq!(error.text(), text);
        assert!(error.hint().is_some(), "{text}");
    }
}

#[test]
fn faults_of_lines_have_code_and_place() {
    for (text, code, span) in [
        ("a=1,b=2", "joined_clauses", 3..4),
        ("a=1 b", "missing_operator", 4..5),
        ("a= b=2", "unquoted_operator", 4..5),
        ("a=1 b=", "missing_value", 6..6),
        ("a=x=y", "unquoted_operator", 3..4),
        ("ü=1 b==2", "unknown_operator", 6..8),
    ] {
        let error = Where::parse_line(text).map(|_| text).expect_err(text);
        assert_eq!((error.code(), error.span()), (code, span), "{text}");
    }
}

#[test]
fn markers_stand_under_the_fault() {
    let error = Where::parse_line("ü=1 b==2").unwrap_err();
    let rendered = error.render();
    let lines: Vec<&str> = rendered.lines().collect();
    assert_eq!(lines[1..3], ["  ü=1 b==2", "       ^^"]);
    let hostile = Where::parse("a\u{1b}]0;x").unwrap_err().render();
    assert!(!hostile.contains('\u{1b}'), "{hostile:?}");
}

#[test]
fn long_text_takes_linear_time_or_is_refused() {
    assert_eq!(Where::parse(&"x".repeat(1 << 20)).unwrap_err().code(), "query_too_long");
    for unit in [" ", ",", "/", "[a]", "\"\"", ".", "*", "a,", " a"] {
        let text = format!("a={}", unit.repeat(60_000 / unit.len()));
        let _ = Where::parse(&text);
        let _ = Where::parse_line(&text);
    }
}

proptest! {
    #[test]
    fn any_text_parses_or_is_refused_inside_itself(text in "[a-c.=!<>\\[\\]\"\\\\/*?,: 0-9ü-]{0,24}|\\PC{0,24}") {
        for result in [Where::parse(&text), Where::parse_line(&text)] {
            match result {
                Ok(filter) => {
                    filter.matches(&item());
                }
                Err(error) => {
                    prop_assert!(error.text().get(error.span()).is_some(), "{:?}", error);
                    error.render();
                }
            }
        }
    }

    #[test]
    fn unquoted_text_selects_the_same_text(value in "[a-z0-9_.:%+-]{1,12}") {
        // What the reference does for every value: exact equality of texts.
        let Ok(filter) = Where::parse(&format!("k={value}")) else { return Ok(()) };
        prop_assert!(filter.matches(&Map::Owned(vec![("k".into(), Value::from(value.as_str()))])));
    }

    #[test]
    fn order_of_integers_is_exact(a in any::<i64>(), b in any::<i64>()) {
        let item = Map::Owned(vec![("k".into(), Value::from(a))]);
        let holds = |operator: &str| Where::parse(&format!("k{operator}{b}")).unwrap().matches(&item);
        prop_assert_eq!(
            [holds("="), holds("!="), holds("<"), holds("<="), holds(">"), holds(">=")],
            [a == b, a != b, a < b, a <= b, a > b, a >= b]
        );
    }
}
