//! The part of the page that one `.proto` file describes.

use std::{collections::HashMap, fmt::Write as _};

use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    MessageOptions, MethodDescriptorProto, ServiceDescriptorProto,
    field_descriptor_proto::{Label, Type},
    method_options::IdempotencyLevel,
};

use super::text::{anchor, comment, heading, row, table};
use crate::access::{self, Clients, Row};

// The numbers of fields in `google/protobuf/descriptor.proto`, of which the path to a comment consists.
const PACKAGE: i32 = 2;
const MESSAGE: i32 = 4;
const ENUM: i32 = 5;
const SERVICE: i32 = 6;
const OF_PARENT: i32 = 2;
const NESTED: i32 = 3;
const NESTED_ENUM: i32 = 4;

/// A `.proto` file and its comments.
pub(super) struct File<'a> {
    descriptor: &'a FileDescriptorProto,
    /// By the path to what they describe.
    comments: HashMap<&'a [i32], String>,
}

impl<'a> File<'a> {
    pub(super) fn new(descriptor: &'a FileDescriptorProto) -> Self {
        let source = descriptor.source_code_info.iter();
        let comments = source
            .flat_map(|source| &source.location)
            .filter_map(|location| {
                let text = comment(location.leading_comments.as_deref()?);
                Some((location.path.as_slice(), text))
            });
        Self {
            descriptor,
            comments: comments.collect(),
        }
    }

    pub(super) fn name(&self) -> &'a str {
        self.descriptor.name()
    }

    pub(super) fn package(&self) -> &'a str {
        self.descriptor.package()
    }

    /// Returns the comment of the package, where this file has it.
    pub(super) fn about(&self) -> Option<&str> {
        self.comments.get(&[PACKAGE][..]).map(String::as_str)
    }

    pub(super) fn services(&self) -> impl Iterator<Item = &'a str> {
        self.descriptor
            .service
            .iter()
            .map(ServiceDescriptorProto::name)
    }

    /// Writes services, messages and enums in the order of the file.
    pub(super) fn render(&self, page: &mut String) {
        for (index, service) in (0..).zip(&self.descriptor.service) {
            self.service(page, service, index);
        }
        for (index, message) in (0..).zip(&self.descriptor.message_type) {
            self.message(page, message, message.name(), &[MESSAGE, index]);
        }
        for (index, values) in (0..).zip(&self.descriptor.enum_type) {
            self.enumeration(page, values, values.name(), &[ENUM, index]);
        }
    }

    fn service(&self, page: &mut String, service: &ServiceDescriptorProto, index: i32) {
        self.title(page, "###", service.name(), &[SERVICE, index]);
        page.push('\n');
        table(page, &["RPC", "Takes, returns", "Callers", "Audit log", ""]);
        for (rpc, method) in (0..).zip(&service.method) {
            let about = self.comment(&[SERVICE, index, OF_PARENT, rpc]);
            let options = method.options.as_ref();
            let reads = options.is_some_and(|options| {
                options.idempotency_level() == IdempotencyLevel::NoSideEffects
            });
            let name = format!("{}.{}/{}", self.package(), service.name(), method.name());
            let access = access::find(&name);
            let action = access.and_then(|row| row.action);
            row(
                page,
                &[
                    &format!("`{}`{}", method.name(), if reads { " (reads)" } else { "" }),
                    &types(method),
                    &access.map(callers).unwrap_or_default(),
                    &action
                        .map(|action| format!("`{action}`"))
                        .unwrap_or_default(),
                    about,
                ],
            );
        }
    }

    fn message(&self, page: &mut String, message: &DescriptorProto, name: &str, path: &[i32]) {
        self.title(page, "####", name, path);
        if !message.field.is_empty() {
            page.push('\n');
            table(page, &["Field", "Type", "No.", ""]);
        }
        for (index, field) in (0..).zip(&message.field) {
            let about = self.comment(&[path, &[OF_PARENT, index]].concat());
            let number = field.number().to_string();
            let kind = kind(field, message);
            row(
                page,
                &[&format!("`{}`", field.name()), &kind, &number, about],
            );
        }
        for (index, nested) in (0..).zip(&message.nested_type) {
            let of_map = nested
                .options
                .as_ref()
                .is_some_and(MessageOptions::map_entry);
            if !of_map {
                let name = format!("{name}.{}", nested.name());
                let path = [path, &[NESTED, index]].concat();
                self.message(page, nested, &name, &path);
            }
        }
        for (index, nested) in (0..).zip(&message.enum_type) {
            let name = format!("{name}.{}", nested.name());
            let path = [path, &[NESTED_ENUM, index]].concat();
            self.enumeration(page, nested, &name, &path);
        }
    }

    fn enumeration(
        &self,
        page: &mut String,
        described: &EnumDescriptorProto,
        name: &str,
        path: &[i32],
    ) {
        self.title(page, "####", name, path);
        page.push('\n');
        table(page, &["Value", "No.", ""]);
        for (index, value) in (0..).zip(&described.value) {
            let about = self.comment(&[path, &[OF_PARENT, index]].concat());
            let number = value.number().to_string();
            row(page, &[&format!("`{}`", value.name()), &number, about]);
        }
    }

    /// Writes a heading, and the comment below it.
    fn title(&self, page: &mut String, level: &str, name: &str, path: &[i32]) {
        _ = writeln!(page, "\n{level} {}", heading(self.package(), name));
        let about = self.comment(path);
        if !about.is_empty() {
            _ = writeln!(page, "\n{about}");
        }
    }

    fn comment(&self, path: &[i32]) -> &str {
        self.comments.get(path).map_or("", String::as_str)
    }
}

/// Describes who may call an RPC.
fn callers(row: &Row) -> String {
    let clients = match row.clients {
        Clients::Anyone => "anyone, without a token".to_owned(),
        Clients::All => "every client".to_owned(),
        Clients::Owners(of) => format!("admins; users: {}", comment(of)),
        Clients::Admins => "admins".to_owned(),
        Clients::Nobody => String::new(),
    };
    let services = row.services.join(", ");
    let parts = [clients, services];
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// Links the request and the response of an RPC.
fn types(method: &MethodDescriptorProto) -> String {
    let stream = |streams| if streams { "stream of " } else { "" };
    format!(
        "{}{}, {}{}",
        stream(method.client_streaming()),
        link(method.input_type()),
        stream(method.server_streaming()),
        link(method.output_type()),
    )
}

/// Links a message or an enum of ours, by its name with a dot before it.
fn link(name: &str) -> String {
    let name = name.trim_start_matches('.');
    // A package ends with its version; a nested message has the name of the outer one.
    match name.split_once(".v1.") {
        Some((package, name)) if package.starts_with("guerdon.") => {
            format!("[{name}]({})", anchor(&format!("{package}.v1"), name))
        }
        _ => format!("`{name}`"),
    }
}

/// Describes the type of a field.
fn kind(field: &FieldDescriptorProto, message: &DescriptorProto) -> String {
    let kind = match field.r#type() {
        Type::Message | Type::Enum => link(field.type_name()),
        scalar => {
            let name = scalar.as_str_name().to_lowercase();
            format!("`{}`", name.trim_start_matches("type_"))
        }
    };
    let of_oneof = field.oneof_index.and_then(|index| {
        let oneof = message.oneof_decl.get(usize::try_from(index).ok()?)?;
        (!field.proto3_optional()).then(|| oneof.name())
    });
    match (field.label(), of_oneof) {
        (Label::Repeated, _) => format!("list of {kind}"),
        (_, Some(oneof)) => format!("{kind}, one of `{oneof}`"),
        _ if field.proto3_optional() => format!("{kind}, optional"),
        _ => kind,
    }
}
