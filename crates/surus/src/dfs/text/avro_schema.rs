//! The schema of an Avro data file: what its bytes mean. Logical types, defaults and docs do not change how a value is written.
//! Source: the Avro specification 1.11, `Schema.java`.

use super::invalid;
use serde_json::Value;
use std::collections::HashMap;
use std::io;

/// Place of a type in `Schema::types`.
pub type TypeId = usize;

/// A type; those inside of it by place, so that a record may hold itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Record(Vec<(String, TypeId)>),
    Enum(Vec<String>),
    Array(TypeId),
    Map(TypeId),
    /// Each with the name that stands before its values.
    Union(Vec<(String, TypeId)>),
    Fixed(u64),
}

/// All types of a schema; the last one read is that of the file's objects.
#[derive(Debug, Default)]
pub struct Schema {
    pub types: Vec<Type>,
    names: HashMap<String, TypeId>,
}

/// How deep types may lie in one another.
const DEPTH_MAX: usize = 200;

impl Schema {
    /// The schema and the type of the file's objects.
    ///
    /// # Errors
    /// A text that is no schema.
    pub fn parse(text: &str) -> io::Result<(Schema, TypeId)> {
        let value: Value = serde_json::from_str(text).map_err(|error| invalid(format!("avro.schema: {error}")))?;
        let mut schema = Schema::default();
        let (_, top) = schema.read(&value, "", 0)?;
        Ok((schema, top))
    }

    fn add(&mut self, kind: Type) -> TypeId {
        self.types.push(kind);
        self.types.len() - 1
    }

    /// The name of a type in a union, and its place.
    fn read(&mut self, value: &Value, namespace: &str, depth: usize) -> io::Result<(String, TypeId)> {
        if depth > DEPTH_MAX {
            return Err(invalid("avro.schema: types lie too deep in one another"));
        }
        match value {
            Value::String(name) => self.named(name, namespace),
            Value::Array(branches) => {
                let branches =
                    branches.iter().map(|b| self.read(b, namespace, depth + 1)).collect::<io::Result<Vec<_>>>()?;
                Ok(("union".into(), self.add(Type::Union(branches))))
            }
            Value::Object(_) => self.object(value, namespace, depth),
            other => Err(invalid(format!("avro.schema: {other} is no type"))),
        }
    }

    fn named(&mut self, name: &str, namespace: &str) -> io::Result<(String, TypeId)> {
        let primitive = match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::Text,
            _ => {
                let full = full_name(name, namespace);
                let (name, id) = match self.names.get(&full) {
                    Some(id) => (full, *id),
                    None => {
                        let id = self.names.get(name);
                        (
                            name.to_string(),
                            *id.ok_or_else(|| invalid(format!("avro.schema: undefined name: \"{name}\"")))?,
                        )
                    }
                };
                return Ok((name, id));
            }
        };
        Ok((name.to_string(), self.add(primitive)))
    }

    fn object(&mut self, value: &Value, namespace: &str, depth: usize) -> io::Result<(String, TypeId)> {
        let missing = |what: &str| invalid(format!("avro.schema: no {what} in {value}"));
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let kind = value.get("type").ok_or_else(|| missing("type"))?;
        let Some(kind_name) = kind.as_str() else { return self.read(kind, namespace, depth + 1) };
        match kind_name {
            "array" => {
                let items = value.get("items").ok_or_else(|| missing("items"))?;
                let (_, items) = self.read(items, namespace, depth + 1)?;
                Ok(("array".into(), self.add(Type::Array(items))))
            }
            "map" => {
                let values = value.get("values").ok_or_else(|| missing("values"))?;
                let (_, values) = self.read(values, namespace, depth + 1)?;
                Ok(("map".into(), self.add(Type::Map(values))))
            }
            "record" | "error" | "enum" | "fixed" => {
                let name = text("name").ok_or_else(|| missing("name"))?;
                let full = full_name(name, text("namespace").unwrap_or(namespace));
                let inner = full.rsplit_once('.').map_or("", |(namespace, _)| namespace);
                let id = self.add(Type::Null);
                self.names.insert(full.clone(), id);
                self.types[id] = match kind_name {
                    "enum" => Type::Enum(symbols(value).ok_or_else(|| missing("symbols"))?),
                    "fixed" => Type::Fixed(value.get("size").and_then(Value::as_u64).ok_or_else(|| missing("size"))?),
                    _ => self.fields(value, inner, depth)?,
                };
                Ok((full, id))
            }
            name => self.named(name, namespace),
        }
    }

    fn fields(&mut self, record: &Value, namespace: &str, depth: usize) -> io::Result<Type> {
        let missing = |what: &str| invalid(format!("avro.schema: no {what} in {record}"));
        let fields = record.get("fields").and_then(Value::as_array).ok_or_else(|| missing("fields"))?;
        let mut out = Vec::new();
        for field in fields {
            let name = field.get("name").and_then(Value::as_str).ok_or_else(|| missing("name"))?;
            let kind = field.get("type").ok_or_else(|| missing("type"))?;
            out.push((name.to_string(), self.read(kind, namespace, depth + 1)?.1));
        }
        Ok(Type::Record(out))
    }
}

fn symbols(value: &Value) -> Option<Vec<String>> {
    value.get("symbols")?.as_array()?.iter().map(|symbol| symbol.as_str().map(str::to_string)).collect()
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_live_in_namespaces_and_records_hold_themselves() {
        let text = r#"{"type": "record", "name": "Node", "namespace": "a.b", "fields": [
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["X", "Y"]}},
            {"name": "again", "type": "Kind"}, {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "next", "type": ["null", "Node", {"type": "fixed", "name": "c.F", "size": 2}, {"type": "array", "items": "string"}]}]}"#;
        let (schema, top) = Schema::parse(text).unwrap();
        let Type::Record(fields) = &schema.types[top] else { panic!() };
        assert_eq!(fields[0].1, fields[1].1);
        assert_eq!(schema.types[fields[2].1], Type::Long);
        let Type::Union(branches) = &schema.types[fields[3].1] else { panic!() };
        let names: Vec<&str> = branches.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["null", "a.b.Node", "c.F", "array"]);
        assert_eq!(branches[1].1, top);
    }

    #[test]
    fn what_is_no_schema() {
        let refused = |text: &str| Schema::parse(text).unwrap_err().to_string();
        assert_eq!(refused("\"Nobody\""), "avro.schema: undefined name: \"Nobody\"");
        assert_eq!(refused("7"), "avro.schema: 7 is no type");
        assert!(refused(r#"{"type": "array"}"#).starts_with("avro.schema: no items in "));
        assert!(refused("{").starts_with("avro.schema: EOF"));
        assert!(Schema::parse(&format!("{}\"int\"{}", "[".repeat(100_000), "]".repeat(100_000))).is_err());
    }
}
