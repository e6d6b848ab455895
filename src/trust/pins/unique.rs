//! Maps in files that people edit and merge: a name that stands there twice is refused, since readers
//! disagree about which one counts.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Reads a map in which no name is repeated.
pub(super) fn map<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    deserializer.deserialize_map(Members(PhantomData))
}

/// The same where the map may be `null`.
pub(super) fn optional<'de, D, V>(deserializer: D) -> Result<Option<BTreeMap<String, V>>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    let map = Option::<Unique<V>>::deserialize(deserializer)?;
    Ok(map.map(|Unique(map)| map))
}

struct Unique<V>(BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique<V>, D::Error> {
        map(deserializer).map(Unique)
    }
}

struct Members<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((name, value)) = members.next_entry::<String, V>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} is there twice")));
            }
            map.insert(name, value);
        }
        Ok(map)
    }
}
