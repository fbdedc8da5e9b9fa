//! Writes the table of required fields of every message, since prost decodes a message without them silently.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto};
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
    let mut enums = BTreeMap::new();
    for file in protox::compile(&files, [directory]).expect("the .proto files are valid").file {
        let package = file.package().to_owned();
        collect_enums(&package, &file.enum_type, &mut enums);
        for message in &file.message_type {
            collect(&package, "", message, &mut messages, &mut enums);
        }
    }
    let is_required = |field: &FieldDescriptorProto| field.label() == Label::Required;
    let is_text = |field: &FieldDescriptorProto| field.r#type() == Type::String;
    let mut out = write_table("MESSAGES", &messages, &enums, is_required);
    out.push_str(&write_table("TEXTS", &messages, &enums, is_text));
    let path = std::path::Path::new(&std::env::var_os("OUT_DIR").expect("set by cargo")).join("required.rs");
    std::fs::write(path, out).expect("the table can be written");
}

/// The messages with a field that `wanted` picks, at any depth, and those fields.
fn write_table(
    table_name: &str,
    messages: &BTreeMap<String, Message>,
    enums: &BTreeMap<String, Vec<i32>>,
    wanted: impl Fn(&FieldDescriptorProto) -> bool,
) -> String {
    let checked = worth_checking(messages, &wanted);
    let mut table = format!("static {table_name}: &[Descriptor] = &[\n");
    let index: BTreeMap<&str, usize> = checked.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    for full_name in &checked {
        let Message { package, name, fields } = &messages[full_name];
        writeln!(table, "    Descriptor {{ package: {package:?}, name: {name:?}, fields: &[").unwrap();
        for field in fields {
            let message = child(field).and_then(|child| index.get(child)).map(|&i| i as u16);
            let required = field.label() == Label::Required;
            let values = enums.get(field.type_name().trim_start_matches('.')).filter(|_| required);
            if wanted(field) || message.is_some() {
                writeln!(
                    table,
                    "        Field {{ number: {}, name: {:?}, required: {required}, repeated: {}, message: {message:?}, values: &{:?} }},",
                    field.number(),
                    field.name(),
                    field.label() == Label::Repeated,
                    values.map_or(&[][..], Vec::as_slice),
                )
                .unwrap();
            }
        }
        table.push_str("    ] },\n");
    }
    table.push_str("];\n");
    table
}

fn collect_enums(scope: &str, list: &[EnumDescriptorProto], all: &mut BTreeMap<String, Vec<i32>>) {
    for one in list {
        all.insert(format!("{scope}.{}", one.name()), one.value.iter().map(|value| value.number()).collect());
    }
}

fn collect(
    package: &str,
    outer: &str,
    message: &DescriptorProto,
    all: &mut BTreeMap<String, Message>,
    enums: &mut BTreeMap<String, Vec<i32>>,
) {
    let name = if outer.is_empty() { message.name().to_owned() } else { format!("{outer}.{}", message.name()) };
    collect_enums(&format!("{package}.{name}"), &message.enum_type, enums);
    for nested in &message.nested_type {
        collect(package, &name, nested, all, enums);
    }
    let mut fields = message.field.clone();
    fields.sort_by_key(FieldDescriptorProto::number);
    all.insert(format!("{package}.{name}"), Message { package: package.to_owned(), name, fields });
}

/// Full name of the message type of a field.
fn child(field: &FieldDescriptorProto) -> Option<&str> {
    (field.r#type() == Type::Message).then(|| field.type_name().trim_start_matches('.'))
}

/// Messages with a wanted field at any depth.
fn worth_checking(
    messages: &BTreeMap<String, Message>,
    wanted: &impl Fn(&FieldDescriptorProto) -> bool,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (name, message) in messages {
            let deep = |f: &FieldDescriptorProto| wanted(f) || child(f).is_some_and(|c| found.contains(c));
            if message.fields.iter().any(deep) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
