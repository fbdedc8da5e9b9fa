//! `/jmx`: beans as text, in the pretty-printed form of Hadoop's servlet, with `qry=` and `get=`.
//! Source: `JMXJsonServlet.java`, Hadoop 3.5.0; the texts of the tests are from a real NameNode.

use std::fmt::Write as _;

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    Null,
    /// A map, as `HeapMemoryUsage` is.
    Map(Vec<(&'static str, Value)>),
    /// A list of maps, as `DistinctVersions` is.
    Maps(Vec<Vec<(&'static str, Value)>>),
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }
}
impl From<usize> for Value {
    fn from(n: usize) -> Self {
        Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }
}
impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Value::Int(n)
    }
}
impl From<f64> for Value {
    fn from(n: f64) -> Self {
        Value::Float(n)
    }
}
impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::Bool(b)
    }
}
impl From<String> for Value {
    fn from(s: String) -> Self {
        Value::Text(s)
    }
}
impl From<&str> for Value {
    fn from(s: &str) -> Self {
        Value::Text(s.to_owned())
    }
}

/// One management bean.
#[derive(Clone, PartialEq, Debug)]
pub struct Bean {
    /// `Hadoop:service=NameNode,name=FSNamesystem`.
    pub name: String,
    pub modeler_type: String,
    pub attributes: Vec<(&'static str, Value)>,
}

/// The answer to `/jmx`; `query` and `get` are decoded parameter values.
pub fn render(beans: &[Bean], query: Option<&str>, get: Option<&str>) -> String {
    let mut out = String::new();
    if let Some(get) = get {
        let Some((name, attribute)) = get.split_once("::") else {
            return "{\n  \"result\" : \"ERROR\",\n  \"message\" : \"query format is not as expected.\"\n}".to_owned();
        };
        let chosen: Vec<Bean> = beans.iter().filter(|b| matches(name, &b.name)).map(|b| only(b, attribute)).collect();
        write_beans(&mut out, &chosen.iter().collect::<Vec<_>>());
        return out;
    }
    let query = query.filter(|q| !q.is_empty()).unwrap_or("*:*");
    if !query.contains(':') {
        return "{ }".to_owned();
    }
    let chosen: Vec<&Bean> = beans.iter().filter(|b| matches(query, &b.name)).collect();
    write_beans(&mut out, &chosen);
    out
}

/// The bean with one attribute, or with the servlet's complaint about it.
fn only(bean: &Bean, attribute: &str) -> Bean {
    let attributes = match bean.attributes.iter().find(|(name, _)| *name == attribute) {
        Some(found) => vec![found.clone()],
        None => vec![
            ("result", "ERROR".into()),
            ("message", format!("No attribute with name {attribute} was found.").into()),
        ],
    };
    Bean { attributes, ..bean.clone() }
}

/// Whether an ObjectName pattern matches a name: `*` in the domain and in values, `,*` for more keys, keys in any order.
fn matches(pattern: &str, name: &str) -> bool {
    let (Some((domain, keys)), Some((name_domain, name_keys))) = (pattern.split_once(':'), name.split_once(':')) else {
        return false;
    };
    let more = keys.split(',').any(|k| k == "*");
    let wanted: Vec<(&str, &str)> = keys.split(',').filter_map(|k| k.split_once('=')).collect();
    let given: Vec<(&str, &str)> = name_keys.split(',').filter_map(|k| k.split_once('=')).collect();
    glob(domain, name_domain)
        && (more || wanted.len() == given.len())
        && wanted.iter().all(|(key, value)| given.iter().any(|(k, v)| k == key && glob(value, v)))
}

fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text
            .strip_prefix(head)
            .is_some_and(|rest| tail.is_empty() || rest.char_indices().any(|(i, _)| glob(tail, &rest[i..]))),
    }
}

fn write_beans(out: &mut String, beans: &[&Bean]) {
    if beans.is_empty() {
        out.push_str("{\n  \"beans\" : [ ]\n}");
        return;
    }
    out.push_str("{\n  \"beans\" : [ ");
    for (i, bean) in beans.iter().enumerate() {
        out.push_str(if i == 0 { "{\n" } else { ", {\n" });
        let _ = write!(out, "    \"name\" : \"{}\",\n    \"modelerType\" : \"{}\"", bean.name, bean.modeler_type);
        for (name, value) in &bean.attributes {
            let _ = write!(out, ",\n    \"{name}\" : ");
            write_value(out, value, 4);
        }
        out.push_str("\n  }");
    }
    out.push_str(" ]\n}");
}

fn write_value(out: &mut String, value: &Value, indent: usize) {
    let _ = match value {
        Value::Int(n) => write!(out, "{n}"),
        Value::Float(n) if n.is_finite() => write!(out, "{n:?}"),
        // Jackson writes these as strings, since JSON has no such numbers.
        Value::Float(n) => write!(out, "\"{n:?}\""),
        Value::Bool(b) => write!(out, "{b}"),
        Value::Null => write!(out, "null"),
        Value::Text(text) => {
            write_json_string(out, text);
            Ok(())
        }
        Value::Map(entries) => {
            write_map(out, entries, indent);
            Ok(())
        }
        Value::Maps(maps) if maps.is_empty() => write!(out, "[ ]"),
        Value::Maps(maps) => {
            out.push_str("[ ");
            for (i, map) in maps.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_map(out, map, indent);
            }
            out.push_str(" ]");
            Ok(())
        }
    };
}

fn write_map(out: &mut String, entries: &[(&'static str, Value)], indent: usize) {
    out.push('{');
    for (i, (name, value)) in entries.iter().enumerate() {
        let _ = write!(out, "{}\n{:2$}", if i == 0 { "" } else { "," }, "", indent + 2);
        let _ = write!(out, "\"{name}\" : ");
        write_value(out, value, indent + 2);
    }
    let _ = write!(out, "\n{:1$}}}", "", indent);
}

/// `text` as a JSON string with its quotes.
pub fn write_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' => write!(out, "\\\""),
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            c if (c as u32) < 0x20 => write!(out, "\\u{:04X}", c as u32),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beans() -> Vec<Bean> {
        vec![
            Bean {
                name: "Hadoop:service=NameNode,name=FSNamesystemState".to_owned(),
                modeler_type: "org.apache.hadoop.hdfs.server.namenode.FSNamesystem".to_owned(),
                attributes: vec![("FSState", "Operational".into()), ("NumLiveDataNodes", 1u64.into())],
            },
            Bean {
                name: "java.lang:type=Memory".to_owned(),
                modeler_type: "sun.management.MemoryImpl".to_owned(),
                attributes: vec![("HeapMemoryUsage", Value::Map(vec![("used", 7u64.into()), ("max", Value::Int(-1))]))],
            },
        ]
    }

    #[test]
    fn one_attribute() {
        let text = render(&beans(), None, Some("Hadoop:service=NameNode,name=FSNamesystemState::FSState"));
        assert_eq!(
            text,
            r#"{
  "beans" : [ {
    "name" : "Hadoop:service=NameNode,name=FSNamesystemState",
    "modelerType" : "org.apache.hadoop.hdfs.server.namenode.FSNamesystem",
    "FSState" : "Operational"
  } ]
}"#
        );
        assert!(
            render(&beans(), None, Some("*:name=FSNamesystemState,*::Nope"))
                .contains("No attribute with name Nope was found.")
        );
    }

    #[test]
    fn queries() {
        let names = |q: &str| {
            let text = render(&beans(), Some(q), None);
            text.matches("\"name\"").count()
        };
        assert_eq!(names("*:*"), 2);
        assert_eq!(names("Hadoop:*"), 1);
        assert_eq!(names("Hadoop:name=FSNamesystemState,service=NameNode"), 1);
        assert_eq!(names("Hadoop:service=NameNode,name=FSN*"), 1);
        assert_eq!(names("Hadoop:service=NameNode"), 0);
        assert_eq!(render(&beans(), Some("nope"), None), "{ }");
        assert_eq!(render(&beans(), Some("a:b=c"), None), "{\n  \"beans\" : [ ]\n}");
    }

    #[test]
    fn maps_are_indented() {
        let text = render(&beans(), Some("java.lang:type=Memory"), None);
        assert!(
            text.contains("    \"HeapMemoryUsage\" : {\n      \"used\" : 7,\n      \"max\" : -1\n    }\n  } ]"),
            "{text}"
        );
    }
}
