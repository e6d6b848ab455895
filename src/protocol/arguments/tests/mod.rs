//! Tests of words and schemas together.

mod accepted;
mod exact;
mod refused;

use super::*;

/// A schema with a parameter of every type.
pub(super) const TYPES: &str = r##"{
  "type": "object",
  "properties": {
    "symbol": {"type": "string"}, "note": {"type": "string"},
    "count": {"type": "integer"}, "price": {"type": "number"}, "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "sizes": {"type": "array", "items": {"type": "integer"}},
    "rows": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    "opts": {"type": "object"},
    "opt": {"type": ["string", "null"]}, "limit": {"type": ["integer", "null"]},
    "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "ref": {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]},
    "mode": {"enum": ["fast", "slow", 1, true, null]},
    "size": {"type": "string", "enum": ["S", "M"]},
    "any": {}, "yes": true,
    "place": {"$ref": "#/$defs/Place"},
    "people": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
    "node": {"$ref": "#/$defs/Node"},
    "pageSize": {"type": "integer"}, "no_cache": {"type": "boolean"}, "a.b": {"type": "integer"}
  },
  "$defs": {
    "Level": {"type": "integer", "enum": [1, 2, 3]},
    "Place": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}, "required": ["city"]},
    "Person": {"allOf": [{"$ref": "#/$defs/Named"}, {"properties": {"age": {"type": "integer"}}}]},
    "Named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "Node": {"type": "object", "properties": {"value": {"type": "number"}, "next": {"$ref": "#/$defs/Node"}}}
  }
}"##;

/// What comes of words, without inputs. A line of the tables separates words by two blanks.
fn run(line: &str, schema: Option<&str>, check: bool) -> Result<String, ArgError> {
    run_with(line, &[], schema, check)
}

fn run_with(
    line: &str,
    contents: &[&[u8]],
    schema: Option<&str>,
    check: bool,
) -> Result<String, ArgError> {
    let words: Vec<String> =
        line.split("  ").filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let mut halves = words.splitn(2, |word| word == "--");
    let (words, tail) = (halves.next().unwrap_or(&[]), halves.next().unwrap_or(&[]));
    let words = parse(words, tail)?;
    let contents: Vec<_> = contents.iter().map(|bytes| bytes.to_vec()).collect();
    let schema = schema.map(InputSchema::read);
    build(&words, &contents, schema.as_ref(), Options { check })
}
