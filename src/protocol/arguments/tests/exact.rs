//! Arguments that come as JSON leave as the same bytes.

use super::*;
use crate::json::validate;

#[test]
fn a_whole_object_is_handed_on_byte_for_byte() {
    let check = |text: &str| {
        for schema in [None, Some("{}"), Some(TYPES)] {
            let words = parse(&[text.to_owned()], &[]).unwrap();
            let schema = schema.map(InputSchema::read);
            let found = build(&words, &[], schema.as_ref(), Options { check: true });
            assert_eq!(found.as_deref(), Ok(text));
        }
    };
    check(r#"{"id":9007199254740993,"u":18446744073709551615}"#);
    check(r#"{"price":1.0,"note":"q\"é\n🎉","opts":{"e":1.5,"n":null},"tags":[]}"#);
    check(
        r#"{"one":1.0,"huge":123456789012345678901234567890,"over":1e400,"tiny":-0.0,"exp":1E+2}"#,
    );
    check(r#"{"z":1,"a":2,"z":3}"#);
    check("{ \"a\" :\t1 ,\r\n\"b\":[ ] }");
    check(r#"{"s":"\ud83d","\ud83d":"\u0041\/"}"#);
    check("{}");
    check(&format!("{{\"deep\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000)));
}

#[test]
fn a_whole_object_from_standard_input_too() {
    let words = parse(&["-".into()], &[]).unwrap();
    let contents = [b"\n{\"symbol\":\"2003886907\",\"count\":7}\n".to_vec()];
    let schema = InputSchema::read(TYPES);
    let found = build(&words, &contents, Some(&schema), Options::default());
    assert_eq!(found.as_deref(), Ok(r#"{"symbol":"2003886907","count":7}"#));
}

/// Pseudo-random numbers (xorshift64), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn blank(&mut self) -> &'static str {
        self.pick(&["", "", "", " ", "\t", "\n", "\r\n  "])
    }

    fn string(&mut self) -> String {
        let pieces = [
            "a", "é", "🎉", "{", "]", ",", ":", " ", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d",
            "\\/",
        ];
        let length = self.below(6);
        let body: String = (0..length).map(|_| self.pick(&pieces)).collect();
        format!("\"{body}\"")
    }

    fn number(&mut self) -> String {
        let sign = self.pick(&["", "-"]);
        let integer =
            self.pick(&["0", "7", "42", "9007199254740993", "123456789012345678901234567890"]);
        let fraction = self.pick(&["", "", ".0", ".50", ".10000000000000000555"]);
        let exponent = self.pick(&["", "", "e400", "E+2", "e-0"]);
        format!("{sign}{integer}{fraction}{exponent}")
    }

    fn value(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 => self.string(),
            1 | 2 => self.number(),
            3 => self.pick(&["true", "false", "null"]).to_owned(),
            4 | 5 => self.object(depth - 1),
            _ => {
                let length = self.below(4);
                let items: Vec<_> = (0..length).map(|_| self.padded(depth - 1)).collect();
                format!("[{}]", items.join(","))
            }
        }
    }

    fn padded(&mut self, depth: usize) -> String {
        let (before, value, after) = (self.blank(), self.value(depth), self.blank());
        format!("{before}{value}{after}")
    }

    fn object(&mut self, depth: usize) -> String {
        let length = self.below(5);
        let members: Vec<_> = (0..length)
            .map(|_| {
                let (before, key, after) = (self.blank(), self.string(), self.blank());
                format!("{before}{key}{after}:{}", self.padded(depth))
            })
            .collect();
        let blank = self.blank();
        format!("{{{}{blank}}}", members.join(","))
    }
}

#[test]
fn random_objects_are_handed_on_byte_for_byte() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let schema = InputSchema::read(
        r#"{"additionalProperties":{"type":["array","object","number","string","boolean","null"]}}"#,
    );
    for _ in 0..3_000 {
        let text = random.object(4);
        assert!(validate(&text).is_ok(), "{text}");
        let inline = parse(std::slice::from_ref(&text), &[]).unwrap();
        let found = build(&inline, &[], Some(&schema), Options::default());
        assert_eq!(found.as_deref(), Ok(&*text));
        // As the value of one member, and as one member of an object that another one changes.
        let value = parse(&[format!("k:={text}")], &[]).unwrap();
        let found = build(&value, &[], Some(&schema), Options::default());
        assert_eq!(found, Ok(format!("{{\"k\":{text}}}")));
        let base = format!("{{\"k\":{text},\"x\":0}}");
        let changed = parse(&[base, "x:=1".into()], &[]).unwrap();
        let found = build(&changed, &[], Some(&schema), Options::default());
        assert_eq!(found, Ok(format!("{{\"k\":{text},\"x\":1}}")));
    }
}
