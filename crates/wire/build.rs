//! Writes the table of required fields of every message, since prost decodes a message without them silently.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A message that has required fields, or fields whose messages have.
struct Message {
    package: String,
    name: String,
    fields: Vec<FieldDescriptorProto>,
}

fn main() {
    let directory = "../proto/proto";
    println!("cargo:rerun-if-changed={directory}");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the .proto files of crate proto are there")
        .map(|entry| entry.expect("readable directory").path())
        .filter(|path| path.extension().is_some_and(|e| e == "proto"))
        .collect();
    files.sort();
    let mut messages = BTreeMap::new();
    for file in protox::compile(&files, [directory]).expect("the .proto files are valid").file {
        let package = file.package().to_owned();
        for message in &file.message_type {
            collect(&package, "", message, &mut messages);
        }
    }
    let checked = worth_checking(&messages);
    let mut table = String::from("static MESSAGES: &[Descriptor] = &[\n");
    let index: BTreeMap<&str, usize> = checked.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    for full_name in &checked {
        let Message { package, name, fields } = &messages[full_name];
        writeln!(table, "    Descriptor {{ package: {package:?}, name: {name:?}, fields: &[").unwrap();
        for field in fields {
            let message = child(field).and_then(|child| index.get(child)).map(|&i| i as u16);
            let required = field.label() == Label::Required;
            if required || message.is_some() {
                writeln!(
                    table,
                    "        Field {{ number: {}, name: {:?}, required: {required}, repeated: {}, message: {message:?} }},",
                    field.number(),
                    field.name(),
                    field.label() == Label::Repeated,
                )
                .unwrap();
            }
        }
        table.push_str("    ] },\n");
    }
    table.push_str("];\n");
    let out = std::path::Path::new(&std::env::var_os("OUT_DIR").expect("set by cargo")).join("required.rs");
    std::fs::write(out, table).expect("the table can be written");
}

fn collect(package: &str, outer: &str, message: &DescriptorProto, all: &mut BTreeMap<String, Message>) {
    let name = if outer.is_empty() { message.name().to_owned() } else { format!("{outer}.{}", message.name()) };
    for nested in &message.nested_type {
        collect(package, &name, nested, all);
    }
    let mut fields = message.field.clone();
    fields.sort_by_key(FieldDescriptorProto::number);
    all.insert(format!("{package}.{name}"), Message { package: package.to_owned(), name, fields });
}

/// Full name of the message type of a field.
fn child(field: &FieldDescriptorProto) -> Option<&str> {
    (field.r#type() == Type::Message).then(|| field.type_name().trim_start_matches('.'))
}

/// Messages in which a required field can be missing at any depth.
fn worth_checking(messages: &BTreeMap<String, Message>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (name, message) in messages {
            let deep =
                |f: &FieldDescriptorProto| f.label() == Label::Required || child(f).is_some_and(|c| found.contains(c));
            if message.fields.iter().any(deep) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
