//! Words that make arguments.

use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(run(line, Some(TYPES), true).as_deref(), Ok(expected), "{line}");
}

#[track_caller]
fn check_by(schema: &str, line: &str, expected: &str) {
    assert_eq!(run(line, Some(schema), true).as_deref(), Ok(expected), "{line} by {schema}");
}

#[test]
fn a_value_is_what_its_type_says() {
    check("", "{}");
    check("symbol=326030", r#"{"symbol":"326030"}"#);
    check("symbol=000123", r#"{"symbol":"000123"}"#);
    check("symbol=null  note=true", r#"{"symbol":"null","note":"true"}"#);
    check("symbol=", r#"{"symbol":""}"#);
    check("symbol=a=b==c", r#"{"symbol":"a=b==c"}"#);
    check("symbol=https://x.test/?q=1&r=2#f", r#"{"symbol":"https://x.test/?q=1&r=2#f"}"#);
    check("symbol=two words\t", r#"{"symbol":"two words\t"}"#);
    check("symbol=é\n\"\\🎉", r#"{"symbol":"é\n\"\\🎉"}"#);
    check("symbol=@@home", r#"{"symbol":"@home"}"#);
    check("symbol=@@@", r#"{"symbol":"@@"}"#);
    check("symbol={\"a\":1}", r#"{"symbol":"{\"a\":1}"}"#);
    check("count=42", r#"{"count":42}"#);
    check("count=-7  price=1.50", r#"{"count":-7,"price":1.50}"#);
    check("count=1.0", r#"{"count":1.0}"#);
    check("count=1e3", r#"{"count":1e3}"#);
    check("count=9007199254740993", r#"{"count":9007199254740993}"#);
    check("price=123456789012345678901234567890", r#"{"price":123456789012345678901234567890}"#);
    check("price=1e400  price=-0.0", r#"{"price":-0.0}"#);
    check("flag=true", r#"{"flag":true}"#);
    check("flag=false", r#"{"flag":false}"#);
    check("opts={\"k\":{\"n\":1.5}}", r#"{"opts":{"k":{"n":1.5}}}"#);
    check("opts= { \"k\" : 1.0 } ", r#"{"opts":{ "k" : 1.0 }}"#);
    check("any=5  yes=null", r#"{"any":"5","yes":"null"}"#);
}

#[test]
fn of_several_types_a_string_comes_first() {
    check("opt=null", r#"{"opt":null}"#);
    check("opt=nul", r#"{"opt":"nul"}"#);
    check("opt=", r#"{"opt":""}"#);
    check("limit=null", r#"{"limit":null}"#);
    check("limit=3", r#"{"limit":3}"#);
    check("either=5", r#"{"either":"5"}"#);
    check("ref=2", r#"{"ref":2}"#);
    check("ref=null", r#"{"ref":null}"#);
    check("mode=fast", r#"{"mode":"fast"}"#);
    check("mode=1", r#"{"mode":1}"#);
    check("mode=true", r#"{"mode":true}"#);
    check("mode=null", r#"{"mode":null}"#);
    let by = |types: &str| format!(r#"{{"properties":{{"v":{{"type":{types}}}}}}}"#);
    check_by(&by(r#"["boolean","integer"]"#), "v=true", r#"{"v":true}"#);
    check_by(&by(r#"["boolean","integer"]"#), "v=1", r#"{"v":1}"#);
    check_by(&by(r#"["array","integer"]"#), "v=1", r#"{"v":1}"#);
    check_by(&by(r#"["array","object"]"#), "v={}", r#"{"v":{}}"#);
    check_by(&by(r#"["array","object"]"#), "v=[{}]", r#"{"v":[{}]}"#);
    check_by(&by(r#"["array","null"]"#), "v=null", r#"{"v":null}"#);
    check_by(&by(r#"["number","no-such-type"]"#), "v=1.5", r#"{"v":1.5}"#);
    let strings = r#"{"properties":{"v":{"enum":["1",1]},"w":{"const":"x"},"n":{"type":"integer","nullable":true}}}"#;
    check_by(strings, "v=1  w=x  n=null", r#"{"v":"1","w":"x","n":null}"#);
    let loose = r#"{"properties":{"v":{"anyOf":[{"type":"integer"},{}]}}}"#;
    check_by(loose, "v=abc", r#"{"v":"abc"}"#);
    check_by(loose, "v=5", r#"{"v":5}"#);
}

/// What people have reported of other clients: digits that became numbers, words cut at the second
/// equals sign, big integers rounded.
#[test]
fn reported_cases_come_out_right() {
    let types = r#"{"type":"object","properties":{"symbol":{"type":"string"},"pin":{"type":"string"},
        "phone":{"type":"string"},"note":{"type":"string"},"expr":{"type":"string"},
        "url":{"type":"string"},"empty":{"type":"string"},"count":{"type":"integer"},
        "price":{"type":"number"},"flag":{"type":"boolean"},
        "tags":{"type":"array","items":{"type":"string"}},"opts":{"type":"object"},
        "opt":{"type":["string","null"]},"either":{"anyOf":[{"type":"integer"},{"type":"string"}]}}}"#;
    let check = |words: &[&str], expected: &str| {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let schema = InputSchema::read(types);
        let words = parse(&words, &[]).unwrap();
        let found = build(&words, &[], Some(&schema), Options::default());
        assert_eq!(found.as_deref(), Ok(expected));
    };
    check(
        &["symbol=326030", "pin=000123", "phone=5551234567", "count=42"],
        r#"{"symbol":"326030","pin":"000123","phone":"5551234567","count":42}"#,
    );
    check(
        &["expr=a=b==c", "url=https://x.test/?q=1&r=2#f", "note=  two words ", "empty="],
        r#"{"expr":"a=b==c","url":"https://x.test/?q=1&r=2#f","note":"  two words ","empty":""}"#,
    );
    check(
        &[r#"tags=["a","b, c"]"#, r#"opts={"k":{"n":1.5}}"#],
        r#"{"tags":["a","b, c"],"opts":{"k":{"n":1.5}}}"#,
    );
    check(
        &["flag=true", "note=true", "opt=null", "symbol=null"],
        r#"{"flag":true,"note":"true","opt":null,"symbol":"null"}"#,
    );
    let exact = r#"{"price":1.0,"note":"q\"é\n🎉","opts":{"e":1.5,"n":null},"tags":[]}"#;
    check(&[exact], exact);
    let big = r#"{"id":9007199254740993,"u":18446744073709551615}"#;
    check(&[big], big);
    check(&["id:=9007199254740993", "u:=18446744073709551615"], big);
    check(&[], "{}");
}

#[test]
fn a_repeated_word_adds_to_an_array() {
    check("tags=a", r#"{"tags":["a"]}"#);
    check("tags=a  tags=b", r#"{"tags":["a","b"]}"#);
    check(r#"tags=["a", "b, c"]"#, r#"{"tags":["a", "b, c"]}"#);
    check(r#"tags=["a", "b"]  tags=c"#, r#"{"tags":["a","b","c"]}"#);
    check(r#"tags=a  tags=["b","c"]"#, r#"{"tags":["a","b","c"]}"#);
    check("tags=", r#"{"tags":[""]}"#);
    check("tags=[]", r#"{"tags":[]}"#);
    check("tags[]=[draft]", r#"{"tags":["[draft]"]}"#);
    check("tags[]=a  tags=b", r#"{"tags":["a","b"]}"#);
    check("sizes=1  sizes=3  sizes[0]:=2", r#"{"sizes":[2,3]}"#);
}

#[test]
fn a_path_leads_inside() {
    check("opts.k=1  opts.deep.er=x", r#"{"opts":{"k":"1","deep":{"er":"x"}}}"#);
    check("place.city=Oslo  place.zip=0150", r#"{"place":{"city":"Oslo","zip":"0150"}}"#);
    check("people[].name=A  people[].name=B", r#"{"people":[{"name":"A"},{"name":"B"}]}"#);
    check("people[0].name=A  people[0].age=7", r#"{"people":[{"name":"A","age":7}]}"#);
    check("sizes[]=1  sizes[]=2", r#"{"sizes":[1,2]}"#);
    check("sizes[1]=5  sizes[0]=4", r#"{"sizes":[4,5]}"#);
    check("node.next.next.value=1.0", r#"{"node":{"next":{"next":{"value":1.0}}}}"#);
    check(r"a\.b=3", r#"{"a.b":3}"#);
    check("rows=[[1.0],[2]]", r#"{"rows":[[1.0],[2]]}"#);
    check("rows[]=[1,2]  rows[]=[3]", r#"{"rows":[[1,2],[3]]}"#);
}

#[test]
fn json_is_taken_as_it_is() {
    check(
        "count:=42  tags:=[\"x\"]  opts:={\"a\" : 1.0}",
        r#"{"count":42,"tags":["x"],"opts":{"a" : 1.0}}"#,
    );
    check("opt:=\"null\"", r#"{"opt":"null"}"#);
    check("any:= 1E400 ", r#"{"any":1E400}"#);
    check("new:={\"not\":\"in the schema\"}", r#"{"new":{"not":"in the schema"}}"#);
}

#[test]
fn other_words_change_the_whole_object() {
    check(r#"{"count":1.0, "note":"x"}"#, r#"{"count":1.0, "note":"x"}"#);
    check(r#"{"count":1.0, "note":"x"}  count=2"#, r#"{"count":2,"note":"x"}"#);
    check(r#"count=2  {"count":1,"note":"x"}"#, r#"{"count":2,"note":"x"}"#);
    check(r#"{"tags":["a"]}  tags=b  tags=c"#, r#"{"tags":["b","c"]}"#);
    check(r#"{"tags":["a"]}  tags[]=b"#, r#"{"tags":["a","b"]}"#);
    check(r#"{"place":{"city":"x","n":1.50}}  place.city=y"#, r#"{"place":{"city":"y","n":1.50}}"#);
    check("\n {} \n  flag=true", r#"{"flag":true}"#);
}

#[test]
fn files_and_standard_input_are_read_by_their_form() {
    let check = |line: &str, contents: &[&[u8]], expected: &str| {
        let found = run_with(line, contents, Some(TYPES), true);
        assert_eq!(found.as_deref(), Ok(expected), "{line}");
    };
    check("note=@f", &[b"two\nlines\n"], r#"{"note":"two\nlines\n"}"#);
    check("count=@f", &[b"42\n"], r#"{"count":42}"#);
    check("limit=@f", &[b"null\r\n"], r#"{"limit":null}"#);
    check("size=@f", &[b"M\n"], r#"{"size":"M"}"#);
    check("tags=@f", &[b"[\"a\"]\n"], r#"{"tags":["a"]}"#);
    check("tags:=@f", &[b"\xEF\xBB\xBF [\"a\"]\n"], r#"{"tags":["a"]}"#);
    check("note=@b64:f", &[b"\0\xFF"], r#"{"note":"AP8="}"#);
    check("note=@b64:f", &[b""], r#"{"note":""}"#);
    check("@f", &[b"{\"count\": 1.0}\n"], r#"{"count": 1.0}"#);
    check("-  note=@f", &[b"{\"count\":7}", b"x"], r#"{"count":7,"note":"x"}"#);
    check("note=@f  symbol=@f", &[b"1", b"2"], r#"{"note":"1","symbol":"2"}"#);
}

#[test]
fn the_inputs_are_told_in_order() {
    let words: Vec<String> = ["-", "a=@x", "b:=@./@y", "c=@b64:z", "d=@@w"].map(Into::into).into();
    let found = parse(&words, &[]).unwrap();
    let input = |source, kind| Input { source, kind };
    let file = |path: &str| Source::File(path.to_owned());
    assert_eq!(
        found.inputs(),
        [
            input(Source::Stdin, InputKind::Json),
            input(file("x"), InputKind::Text),
            input(file("./@y"), InputKind::Json),
            input(file("z"), InputKind::Bytes),
        ]
    );
}

#[test]
fn the_schema_is_needed_only_where_a_type_is_open() {
    let check = |words: &[&str], tail: &[&str], expected| {
        let owned =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let words = parse(&owned(words), &owned(tail)).unwrap();
        assert_eq!(words.needs_schema(), expected);
    };
    check(&[], &[], false);
    check(&["{}"], &[], false);
    check(&["-"], &[], false);
    check(&["a:=1", "b:=@f"], &[], false);
    check(&["a=1"], &[], true);
    check(&["a=@f"], &[], true);
    check(&["a=@b64:f"], &[], true);
    check(&["{}"], &["--a"], true);
}

#[test]
fn options_are_paired_by_the_schema() {
    check("--  --symbol  x  --count  3", r#"{"symbol":"x","count":3}"#);
    check("--  --symbol=x=y  --count=3", r#"{"symbol":"x=y","count":3}"#);
    check("--  --symbol  --count", r#"{"symbol":"--count"}"#);
    check("--  --count  -5", r#"{"count":-5}"#);
    check("--  --symbol=", r#"{"symbol":""}"#);
    check("--  --symbol  @home", r#"{"symbol":"@home"}"#);
    check("--  --flag  --count  1", r#"{"flag":true,"count":1}"#);
    check("--  --flag", r#"{"flag":true}"#);
    check("--  --flag  false", r#"{"flag":false}"#);
    check("--  --flag=false", r#"{"flag":false}"#);
    check("--  --no-flag", r#"{"flag":false}"#);
    check("--  --no-cache", r#"{"no_cache":true}"#);
    check("--  --no-no-cache", r#"{"no_cache":false}"#);
    check("--  --page-size  9", r#"{"pageSize":9}"#);
    check("--  --page_size=9", r#"{"pageSize":9}"#);
    check("--  --PageSize=9", r#"{"pageSize":9}"#);
    check("--  --tags  a  --tags=b", r#"{"tags":["a","b"]}"#);
    check("--  --opt=null", r#"{"opt":null}"#);
    check(
        "--  --place.city=Rome  --place.zip  00100",
        r#"{"place":{"city":"Rome","zip":"00100"}}"#,
    );
    check("--  --people[].name=A", r#"{"people":[{"name":"A"}]}"#);
    check("--  --a.b=3", r#"{"a.b":3}"#);
    check("count=1  --  --count=2", r#"{"count":2}"#);
    check(r#"{"count":1,"note":"x"}  --  --count=2"#, r#"{"count":2,"note":"x"}"#);
    check("--", "{}");
    let mixed = r#"{"properties":{"color":{"type":["boolean","string"]},"n":{"type":"integer"}}}"#;
    check_by(mixed, "--  --color  --n  1", r#"{"color":true,"n":1}"#);
    check_by(mixed, "--  --color  red", r#"{"color":"red"}"#);
    let unsure = r#"{"properties":{"ok":{"type":["boolean","null"]}}}"#;
    check_by(unsure, "--  --ok  null", r#"{"ok":null}"#);
    check_by(unsure, "--  --ok", r#"{"ok":true}"#);
    check_by(r#"{"type":"object"}"#, "--  --any-thing  1", r#"{"any-thing":"1"}"#);
    let open = r#"{"properties":{"flag":{"type":"boolean"},"s":{}},"additionalProperties":true}"#;
    check_by(open, "--  --no-flag", r#"{"flag":false}"#);
    check_by(open, "--  --no-s  x", r#"{"no-s":"x"}"#);
    check_by(open, "--  --FLAG", r#"{"flag":true}"#);
    check_by(open, "--  --new.flag=1", r#"{"new":{"flag":"1"}}"#);
}

#[test]
fn keys_of_unions_and_of_open_objects_are_known() {
    let one_of = r#"{"type":"object","oneOf":[
        {"properties":{"app":{"type":"string"}},"required":["app"]},
        {"properties":{"window_id":{"type":"integer"}},"required":["window_id"]}]}"#;
    check_by(one_of, "app=msedge", r#"{"app":"msedge"}"#);
    check_by(one_of, "window_id=7", r#"{"window_id":7}"#);
    check_by(one_of, r#"{"app":"msedge"}"#, r#"{"app":"msedge"}"#);
    check_by(r#"{"properties":{"a":{}},"additionalProperties":true}"#, "b=1", r#"{"b":"1"}"#);
    check_by(
        r#"{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}"#,
        "b=1",
        r#"{"b":1}"#,
    );
    check_by(r#"{"properties":{"a":{}},"patternProperties":{"^x":{}}}"#, "x1=1", r#"{"x1":"1"}"#);
    check_by(r#"{"if":{},"then":{"properties":{"n":{"type":"number"}}}}"#, "n=1", r#"{"n":1}"#);
    let pairs = r#"{"properties":{"at":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}}}"#;
    check_by(pairs, "at[0]=1  at[1]=1", r#"{"at":["1",1]}"#);
    let old =
        r#"{"properties":{"at":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}"#;
    check_by(old, "at[0]=1  at[1]=1", r#"{"at":["1",1]}"#);
    let defs = r##"{"definitions":{"a/b~c d":{"type":"integer"}},"properties":{"v":{"$ref":"#/definitions/a~1b~0c%20d"}}}"##;
    check_by(defs, "v=1", r#"{"v":1}"#);
}

#[test]
fn what_is_no_schema_allows_everything() {
    for schema in [
        "null",
        "[]",
        "true",
        "{}",
        "",
        "{",
        "\"object\"",
        r#"{"type":"string"}"#,
        r#"{"type":"object","properties":[],"required":[]}"#,
        r#"{"type":"object","properties":null,"required":null}"#,
        r#"{"properties":{"a":"array"}}"#,
        r##"{"$ref":"#"}"##,
        r##"{"$ref":"https://example.com/schema"}"##,
        r##"{"$ref":"#/nowhere"}"##,
        r#"{"anyOf":[{"type":"object"},{"type":"object"}]}"#,
    ] {
        check_by(schema, "a=1", r#"{"a":"1"}"#);
    }
}

#[test]
fn without_a_schema_or_without_checks_a_string_is_what_remains() {
    let check = |line: &str, schema, expected: &str| {
        assert_eq!(run(line, schema, false).as_deref(), Ok(expected), "{line}");
    };
    check("a=1  b=null  c=[]", None, r#"{"a":"1","b":"null","c":"[]"}"#);
    check("a=1  a=2", None, r#"{"a":"2"}"#);
    check("--  --page-size  1  --x=true", None, r#"{"page-size":"1","x":"true"}"#);
    check("--  --a.b=1  --a.c[]=2", None, r#"{"a":{"b":"1","c":["2"]}}"#);
    check("count=abc", Some(TYPES), r#"{"count":"abc"}"#);
    check("count=5", Some(TYPES), r#"{"count":5}"#);
    check("size=XL", Some(TYPES), r#"{"size":"XL"}"#);
    check("sizes=x  sizes=1", Some(TYPES), r#"{"sizes":["x",1]}"#);
    check("unknown=1", Some(TYPES), r#"{"unknown":"1"}"#);
    check("--  --unknown  1", Some(TYPES), r#"{"unknown":"1"}"#);
    check("place.zip=1", Some(TYPES), r#"{"place":{"zip":"1"}}"#);
    check("", Some(r#"{"required":["a"]}"#), "{}");
}
