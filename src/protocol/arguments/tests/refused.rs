//! Words that make no arguments, and what is said about them.

use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    check_by(TYPES, line, expected);
}

#[track_caller]
fn check_by(schema: &str, line: &str, expected: &str) {
    let error = run(line, Some(schema), true).unwrap_err().to_string();
    assert_eq!(error, expected, "{line}");
}

#[test]
fn a_word_of_no_known_form() {
    check("foo", r#""foo" is not an argument: write key=value, key:=JSON, '{…}', @file or -"#);
    check("-x", r#""-x" is not an argument: write key=value, key:=JSON, '{…}', @file or -"#);
    check("5", r#""5" is not an argument: write key=value, key:=JSON, '{…}', @file or -"#);
    check("null", r#""null" is not an argument: write key=value, key:=JSON, '{…}', @file or -"#);
    check("[1,2]", "arguments: expected a JSON object, found array");
    check(r#""text""#, "arguments: expected a JSON object, found string");
    check(r#"["a=b"]"#, "arguments: expected a JSON object, found array");
    check("[]=1", "arguments: expected a JSON object, found array");
    check("=x", r#""=x" has a wrong key: a name in the key is empty"#);
    check(".a=1", r#"".a=1" has a wrong key: a name in the key is empty"#);
    check("a..b=1", r#""a..b=1" has a wrong key: a name in the key is empty"#);
    check("a.=1", r#""a.=1" has a wrong key: a name in the key is empty"#);
    check(
        "a[x]=1",
        r#""a[x]=1" has a wrong key: brackets hold a number or nothing (\[ is a literal bracket)"#,
    );
    check(
        "a[=1",
        r#""a[=1" has a wrong key: brackets hold a number or nothing (\[ is a literal bracket)"#,
    );
    check("a[1]b=1", r#""a[1]b=1" has a wrong key: after ] comes . or [ or ="#);
    check("a[10000]:=1", r#""a[10000]:=1" has a wrong key: the index is over 9999"#);
}

#[test]
fn a_word_without_a_source_or_with_a_second_one() {
    check("@", r#""@" names no file after the @; to send a text that starts with @: @@"#);
    check("a=@", r#""a=@" names no file after the @; to send a text that starts with @: @@"#);
    check("a:=@", r#""a:=@" names no file after the @; to send a text that starts with @: @@"#);
    check(
        "a=@b64:",
        r#""a=@b64:" names no file after the @; to send a text that starts with @: @@"#,
    );
    check("-  @-", r#""@-" is a second whole object"#);
    check("a=@-  b=@-", r#""b=@-" wants standard input, which is already taken"#);
    check("{}  {}", r#""{}" is a second whole object"#);
    check("{}  @f", r#""@f" is a second whole object"#);
    check("--count=5", r#""--count=5" looks like an option of the tool: put -- first"#);
    check("--count", r#""--count" looks like an option of the tool: put -- first"#);
}

#[test]
fn text_that_is_no_json() {
    check("{", "arguments: not JSON: EOF while parsing an object at line 1 column 1");
    check(r#"{"a":}"#, "arguments: not JSON: expected value at line 1 column 6");
    check(r#"{"a":1} x"#, "arguments: not JSON: trailing characters at line 1 column 9");
    check("{'a':1}", "arguments: not JSON: key must be a string at line 1 column 2");
    check(r#"{"a":01}"#, "arguments: not JSON: invalid number at line 1 column 7");
    check(r#"{"a":NaN}"#, "arguments: not JSON: expected value at line 1 column 6");
    check("count:=", "count: not JSON: EOF while parsing a value at line 1 column 0");
    check("count:=abc", "count: not JSON: expected value at line 1 column 1");
    check("count:=1 2", "count: not JSON: trailing characters at line 1 column 3");
    check("opts:={", "opts: not JSON: EOF while parsing an object at line 1 column 1");
    check("opts={a}", "opts: not JSON: key must be a string at line 1 column 2");
    check(
        "tags=[a]",
        "tags: not JSON: expected value at line 1 column 2; to send it as one element: tags[]=…",
    );
}

#[test]
fn a_text_that_is_no_number() {
    check("count=", r#"count: expected integer, found "": it is empty"#);
    check(
        "count=007",
        r#"count: expected integer, found "007": a JSON number has no leading zeros"#,
    );
    check(
        "count=-01",
        r#"count: expected integer, found "-01": a JSON number has no leading zeros"#,
    );
    check(
        "count=1_000",
        r#"count: expected integer, found "1_000": a JSON number has no separators"#,
    );
    check(
        "count=1,000",
        r#"count: expected integer, found "1,000": a JSON number has no separators"#,
    );
    check(
        "count=1 000",
        r#"count: expected integer, found "1 000": a JSON number has no separators"#,
    );
    check("count=0x1F", r#"count: expected integer, found "0x1F": a JSON number is decimal"#);
    check("count=+5", r#"count: expected integer, found "+5": a JSON number has no plus sign"#);
    check(
        "count=1.",
        r#"count: expected integer, found "1.": a JSON number has digits on both sides of the point"#,
    );
    check(
        "price=.5",
        r#"price: expected number, found ".5": a JSON number has digits on both sides of the point"#,
    );
    check("count=1.5", r#"count: expected integer, found "1.5": it has a fraction"#);
    check("count=15e-1", r#"count: expected integer, found "15e-1": it has a fraction"#);
    check("count= 5", r#"count: expected integer, found " 5": there are blanks around it"#);
    check("count=abc", r#"count: expected integer, found "abc": it is not a number"#);
    check("count=5 apples", r#"count: expected integer, found "5 apples": it is not a number"#);
    check("price=NaN", r#"price: expected number, found "NaN": a JSON number is finite"#);
    check(
        "price=-Infinity",
        r#"price: expected number, found "-Infinity": a JSON number is finite"#,
    );
    check("limit=x", r#"limit: expected integer or null, found "x": it is not a number"#);
    check("sizes=x", r#"sizes[]: expected integer, found "x": it is not a number"#);
    check("sizes=1  sizes=1.5", r#"sizes[]: expected integer, found "1.5": it has a fraction"#);
}

#[test]
fn a_value_of_the_wrong_type() {
    check("flag=", r#"flag: expected boolean (true or false), found """#);
    check("flag=yes", r#"flag: expected boolean (true or false), found "yes""#);
    check("flag=True", r#"flag: expected boolean (true or false), found "True""#);
    check("flag=1", r#"flag: expected boolean (true or false), found "1""#);
    check("flag=null", r#"flag: expected boolean (true or false), found "null""#);
    check("flag:=null", "flag: expected boolean (true or false), found null");
    check("opts=", r#"opts: expected object, found """#);
    check("opts=abc", r#"opts: expected object, found "abc""#);
    check("opts=[1]", r#"opts: expected object, found "[1]""#);
    check("opts:=[]", "opts: expected object, found []");
    check(r#"count:="5""#, r#"count: expected integer, found "5""#);
    check("count:=1.5", "count: expected integer, found 1.5");
    check(r#"tags:="a""#, r#"tags: expected array, found "a""#);
    check(r#"sizes=[1,"x"]"#, r#"sizes[1]: expected integer, found "x""#);
    check("rows=[1]", "rows[0]: expected array, found 1");
    check("place=x", r#"place: expected object, found "x""#);
    check("symbol.x=1", r#"symbol: expected string, found {"x":"1"}"#);
    check("tags.x=1", r#"tags: expected array, found {"x":"1"}"#);
    check(r#"{"count":"5"}"#, r#"count: expected integer, found "5""#);
}

#[test]
fn a_value_that_is_not_allowed() {
    check("mode=medium", r#"mode: expected one of "fast", "slow", 1, true, null, found "medium""#);
    check("size=XL", r#"size: expected one of "S", "M", found "XL""#);
    check(r#"size:="XL""#, r#"size: expected one of "S", "M", found "XL""#);
    check("ref=9", "ref: expected one of 1, 2, 3, found 9");
    check("ref=x", r#"ref: expected one of 1, 2, 3, found "x""#);
    check(r#"ref:="x""#, r#"ref: expected integer or null, found "x""#);
}

#[test]
fn a_key_that_the_tool_does_not_have() {
    check("cuont=1", "cuont: no such parameter; did you mean count?");
    check("page_size=1", "page_size: no such parameter; did you mean pageSize?");
    check("PAGESIZE=1", "PAGESIZE: no such parameter; did you mean pageSize?");
    check("a.b=1", r#"a: no such parameter; did you mean a\.b?"#);
    check("place.town=x", "place.town: no such parameter; the tool has place.city, place.zip");
    check("place.citty=x", "place.citty: no such parameter; did you mean place.city?");
    check("people[0].nmae=x", "people[0].nmae: no such parameter; did you mean people[0].name?");
    check(
        "--  --zzz.x=1",
        "zzz: no such parameter; the tool has symbol, note, count, price, flag, tags, sizes, rows, opts, opt, limit, either and 11 more",
    );
    check(
        "--  --place.town=x",
        "place.town: no such parameter; the tool has place.city, place.zip",
    );
    check(
        "--  --no-plaec",
        "no-plaec: no such parameter; the tool has symbol, note, count, price, flag, tags, sizes, rows, opts, opt, limit, either and 11 more",
    );
}

#[test]
fn a_key_that_leads_into_a_scalar() {
    check("symbol=x  symbol.y=z", "symbol: holds no values inside, it is string");
    check("tags=a  tags.x=b", "tags: holds no values inside, it is array");
    check(r#"{"count":1}  count.x:=1"#, "count: holds no values inside, it is integer");
}

#[test]
fn keys_that_are_missing() {
    check("place.zip=1", "missing: place.city");
    check("people[].age=1", "missing: people[0].name");
    check(r#"{"people":[{"name":"A"},{}]}"#, "missing: people[1].name");
}

#[test]
fn options_that_do_not_pair_up() {
    check(
        "--  symbol",
        r#""symbol" is not an option: after --, write --key value (options of the command come before)"#,
    );
    check(
        "--  --",
        r#""--" is not an option: after --, write --key value (options of the command come before)"#,
    );
    check(
        "--  --=x",
        r#""--=x" is not an option: after --, write --key value (options of the command come before)"#,
    );
    check("--  --symbol", r#""--symbol" has no value: expected string"#);
    check("--  --tags", r#""--tags" has no value: expected array"#);
    check(
        "--  --symbol  a  b",
        r#""b" is not an option: after --, write --key value (options of the command come before)"#,
    );
    check(
        "--  -s  x",
        r#""-s" is not an option: after --, write --key value (options of the command come before)"#,
    );
    check("--  --count  --flag", r#"count: expected integer, found "--flag": it is not a number"#);
    check("--  --no-symbol", r#""--no-symbol" negates symbol: only booleans, without a value"#);
    check("--  --no-flag=true", r#""--no-flag=true" negates flag: only booleans, without a value"#);
    check(
        "--  --flag  maybe",
        r#""maybe" is not an option: after --, write --key value (options of the command come before)"#,
    );
    check("--  --flag=maybe", r#"flag: expected boolean (true or false), found "maybe""#);
    check("--  --page-size=x", r#"pageSize: expected integer, found "x": it is not a number"#);
    check(
        "--  --people[x].name=y",
        r#""--people[x].name=y" has a wrong key: brackets hold a number or nothing (\[ is a literal bracket)"#,
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    check(
        "count=x  flag=y  size=z",
        "count: expected integer, found \"x\": it is not a number\nflag: expected boolean (true or false), found \"y\"\nsize: expected one of \"S\", \"M\", found \"z\"",
    );
    check(
        r#"{"count":"5","flag":1}"#,
        "count: expected integer, found \"5\"\nflag: expected boolean (true or false), found 1",
    );
}

#[test]
fn contents_that_do_not_fit_name_their_file() {
    let check = |line: &str, contents: &[&[u8]], expected: &str| {
        let error = run_with(line, contents, Some(TYPES), true).unwrap_err().to_string();
        assert_eq!(error, expected, "{line}");
    };
    check(
        "note=@f",
        &[b"\xFF"],
        "note (from f): not UTF-8 text; to send any bytes in Base64: @b64:file",
    );
    check(
        "opts:=@f.json",
        &[b"{"],
        "opts (from f.json): not JSON: EOF while parsing an object at line 1 column 1",
    );
    check(
        "opts:=@-",
        &[b""],
        "opts (from standard input): not JSON: EOF while parsing a value at line 1 column 0",
    );
    check(
        "opts:=@f",
        &[b"\xFF"],
        "opts (from f): not UTF-8 text; to send any bytes in Base64: @b64:file",
    );
    check("@f", &[b"[]"], "arguments (from f): expected a JSON object, found array");
    check("-", &[b"7\n"], "arguments (from standard input): expected a JSON object, found integer");
    check("count=@f", &[b"many\n"], "count: expected integer, found \"many\": it is not a number");
    check("count=@b64:f", &[b"1"], "count: expected integer, found \"MQ==\"");
}

#[test]
fn a_schema_that_shuts_keys_out_counts_for_json_too() {
    let closed =
        r#"{"properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}"#;
    check_by(closed, "", "missing: a");
    check_by(closed, "{}", "missing: a");
    check_by(closed, r#"{"a":1,"b":2}"#, "b: no such parameter; the tool has a");
    check_by(closed, "a:=1  other:=2", "other: no such parameter; the tool has a");
    check_by(closed, "other:=2", "missing: a\nother: no such parameter; the tool has a");
    let none = r#"{"type":"object","additionalProperties":false}"#;
    check_by(none, "a=1", "a: no such parameter; the tool has none");
    check_by(none, "--  --a", "a: no such parameter; the tool has none");
    check_by(r#"{"properties":{"a":false}}"#, "a=1", "a: no value is allowed here");
    let typed = r#"{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}"#;
    check_by(typed, "b=x", "b: expected integer, found \"x\": it is not a number");
    check_by(typed, "b:=\"x\"", "b: expected integer, found \"x\"");
    let three = r#"{"required":["a","b","c"]}"#;
    check_by(three, "b:=1", "missing: a, c");
    let alike = r#"{"properties":{"page_size":{},"pageSize":{}}}"#;
    check_by(
        alike,
        "--  --page-size=1",
        "\"--page-size=1\" may stand for any of page_size, pageSize",
    );
}

#[test]
fn of_a_union_the_likeliest_branch_explains() {
    let shapes = r#"{"properties":{"s":{"oneOf":[
        {"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
        {"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"},"h":{"type":"number"}},"required":["kind","w","h"]},
        {"type":"integer"}]}}}"#;
    check_by(shapes, r#"s:={"kind":"circle"}"#, "missing: s.r");
    check_by(shapes, r#"s:={"kind":"box","w":1,"h":"x"}"#, "s.h: expected number, found \"x\"");
    check_by(shapes, "s:=true", "s: expected integer or object, found true");
    check_by(shapes, "s=true", "s: expected integer or object, found \"true\"");
    let numbers = r#"{"properties":{"n":{"enum":[1.0,20]},"o":{"const":{"a":[1,"x"]}}}}"#;
    assert!(run(r#"n:=1  o:={"a":[1.0,"\u0078"]}"#, Some(numbers), true).is_ok());
    check_by(numbers, "n:=2e0", "n: expected one of 1.0, 20, found 2e0");
    check_by(numbers, r#"o:={"a":[1]}"#, r#"o: expected {"a":[1,"x"]}, found {"a":[1]}"#);
}

#[test]
fn texts_in_errors_are_short_and_plain() {
    let long = "x".repeat(100_000);
    check(
        &long,
        &format!(
            "\"{}…\" is not an argument: write key=value, key:=JSON, '{{…}}', @file or -",
            &long[..60]
        ),
    );
    check(
        "count=\u{1b}[31m\n",
        "count: expected integer, found \"\\u{1b}[31m\": it is not a number",
    );
    check(
        "a\u{7}b",
        "\"a\\u{7}b\" is not an argument: write key=value, key:=JSON, '{…}', @file or -",
    );
}

#[test]
fn a_hostile_schema_ends_and_says_nothing() {
    let cycle = r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#"}]}}}"##;
    let doubling: Vec<_> = (0..60)
        .map(|n| {
            format!(
                r##""d{n}":{{"anyOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                n + 1
            )
        })
        .collect();
    let doubling = format!(
        r##"{{"properties":{{"a":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{},"d60":{{"type":"integer"}}}}}}"##,
        doubling.join(",")
    );
    let deep = format!("{}1{}", r#"{"properties":{"a":"#.repeat(10_000), "}}".repeat(10_000));
    let wide: Vec<_> = (0..5_000).map(|n| format!(r#"{{"properties":{{"k{n}":{{}}}}}}"#)).collect();
    let wide = format!(r#"{{"anyOf":[{}]}}"#, wide.join(","));
    for schema in [cycle, &doubling, &deep, &wide] {
        let words = "a:=\"x\"  b:={\"a\":{\"a\":[1]}}";
        assert!(run(words, Some(schema), true).is_ok(), "{schema}");
        let _ = run("a=x  b.c[2]=1  --  --x=1", Some(schema), true);
    }
}

#[test]
fn a_fault_is_reported_once_and_not_without_end() {
    check_by(
        r#"{"required":["a"],"allOf":[{"required":["a"]},{"required":["a"]}]}"#,
        "",
        "missing: a",
    );
    let many = format!("sizes:=[{}]", vec!["true"; 1_000].join(","));
    let error = run(&many, Some(TYPES), true).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 20);
}
