//! The description of one route, and of the area of the API that it belongs to, built step by step.

use std::borrow::Cow;

use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::query::{self, Parameter};
use crate::answer::{Done, DoneExcept};

pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// A part of the API that the reference shows under one heading.
pub(crate) struct Area {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) operations: Vec<Operation>,
}

pub(crate) struct Operation {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) text: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<RequestBody>,
    pub(super) answers: Vec<SuccessfulAnswer>,
    /// Refusals that follow neither from the access of the route nor from what it reads, or that need other words.
    pub(super) refusals: Vec<(u16, &'static str)>,
    pub(super) is_stream: bool,
}

pub(super) struct RequestBody {
    pub(super) media_type: &'static str,
    pub(super) schema: MakeSchema,
    pub(super) is_required: bool,
    pub(super) example: Option<Value>,
}

pub(super) struct SuccessfulAnswer {
    pub(super) status: u16,
    pub(super) text: Cow<'static, str>,
    pub(super) content: Option<Content>,
    pub(super) headers: Vec<(&'static str, &'static str)>,
}

#[derive(Clone, Copy)]
pub(super) enum Content {
    Json {
        schema: MakeSchema,
        envelope: Envelope,
    },
    Text {
        media_type: &'static str,
    },
    /// Of any type: content of customers.
    Any,
}

/// The keys that an answer has beside those of its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Envelope {
    Bare,
    Ok,
    Changed,
}

impl Area {
    pub(crate) fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, operations: Vec::new() }
    }

    pub(crate) fn get(&mut self, path: &'static str, summary: &'static str, text: &'static str) -> &mut Operation {
        self.add(Method::GET, path, summary, text)
    }

    pub(crate) fn post(&mut self, path: &'static str, summary: &'static str, text: &'static str) -> &mut Operation {
        self.add(Method::POST, path, summary, text)
    }

    pub(crate) fn put(&mut self, path: &'static str, summary: &'static str, text: &'static str) -> &mut Operation {
        self.add(Method::PUT, path, summary, text)
    }

    pub(crate) fn patch(&mut self, path: &'static str, summary: &'static str, text: &'static str) -> &mut Operation {
        self.add(Method::PATCH, path, summary, text)
    }

    pub(crate) fn delete(&mut self, path: &'static str, summary: &'static str, text: &'static str) -> &mut Operation {
        self.add(Method::DELETE, path, summary, text)
    }

    fn add(&mut self, method: Method, path: &'static str, summary: &'static str, text: &'static str) -> &mut Operation {
        self.operations.push(Operation {
            method,
            path,
            summary,
            text,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            refusals: Vec::new(),
            is_stream: false,
        });
        self.operations.last_mut().expect("an operation was just added")
    }
}

impl Operation {
    /// A segment of the path that means something else than under other paths.
    pub(crate) fn variable(&mut self, name: &'static str, schema: Value, text: &'static str) -> &mut Self {
        self.takes(query::path(name, text, schema))
    }

    pub(crate) fn takes(&mut self, parameter: Parameter) -> &mut Self {
        self.parameters.push(parameter);
        self
    }

    /// A JSON body, with one that a reader can send.
    pub(crate) fn body(&mut self, schema: MakeSchema, example: Value) -> &mut Self {
        let example = Some(example);
        self.body = Some(RequestBody { media_type: "application/json", schema, is_required: true, example });
        self
    }

    pub(crate) fn optional_body(&mut self, schema: MakeSchema, example: Value) -> &mut Self {
        self.body(schema, example);
        self.body.as_mut().expect("the body was just set").is_required = false;
        self
    }

    pub(crate) fn text_body(&mut self, media_type: &'static str, example: &str) -> &mut Self {
        let schema: MakeSchema = |_| schemars::json_schema!({"type": "string"});
        self.body = Some(RequestBody { media_type, schema, is_required: true, example: Some(json!(example)) });
        self
    }

    /// 200 with `"ok": true` and the keys of `T`.
    pub(crate) fn ok<T: JsonSchema>(&mut self, text: &'static str) -> &mut Self {
        self.json(T::json_schema, Envelope::Ok, text)
    }

    /// As [`Operation::ok`], with the id of the operation.
    pub(crate) fn changed<T: JsonSchema>(&mut self, text: &'static str) -> &mut Self {
        self.json(T::json_schema, Envelope::Changed, text)
    }

    pub(crate) fn done(&mut self) -> &mut Self {
        self.changed::<Done>("Done.")
    }

    /// As [`Operation::done`], of a request for many, some of whom may be passed over.
    pub(crate) fn done_except(&mut self) -> &mut Self {
        self.changed::<DoneExcept>("Done for all but those that `warnings` name.")
    }

    pub(crate) fn bare<T: JsonSchema>(&mut self, text: &'static str) -> &mut Self {
        self.json(T::json_schema, Envelope::Bare, text)
    }

    /// 200 with `"ok": true` and the keys of an object whose schema is made here.
    pub(crate) fn ok_with(&mut self, schema: MakeSchema, text: &'static str) -> &mut Self {
        self.json(schema, Envelope::Ok, text)
    }

    pub(crate) fn bare_with(&mut self, schema: MakeSchema, text: &'static str) -> &mut Self {
        self.json(schema, Envelope::Bare, text)
    }

    pub(crate) fn nothing(&mut self, text: &'static str) -> &mut Self {
        self.answer(204, text, None)
    }

    pub(crate) fn not_modified(&mut self) -> &mut Self {
        self.answer(304, "Nothing is newer than the date in `If-Modified-Since`.", None)
    }

    pub(crate) fn not_modified_by_tag(&mut self) -> &mut Self {
        self.answer(304, "It is still what `If-None-Match` names.", None)
    }

    pub(crate) fn text(&mut self, media_type: &'static str, text: &'static str) -> &mut Self {
        self.answer(200, text, Some(Content::Text { media_type }))
    }

    /// Content of a type that customers or callers choose.
    pub(crate) fn any_content(&mut self, text: &'static str) -> &mut Self {
        self.answer(200, text, Some(Content::Any))
    }

    /// The answer does not end by itself.
    pub(crate) fn stream(&mut self, text: &'static str) -> &mut Self {
        self.is_stream = true;
        self.any_content(text)
    }

    /// The status of the last answer, instead of 200.
    pub(crate) fn status(&mut self, status: u16) -> &mut Self {
        self.answers.last_mut().expect("an answer was described").status = status;
        self
    }

    pub(crate) fn header(&mut self, name: &'static str, text: &'static str) -> &mut Self {
        self.answers.last_mut().expect("an answer was described").headers.push((name, text));
        self
    }

    pub(crate) fn location(&mut self) -> &mut Self {
        self.header("Location", "The address of what was made or changed.")
    }

    /// A listing whose next page is linked.
    pub(crate) fn paged(&mut self) -> &mut Self {
        self.header("Link", "`<…>; rel=next`, if there is another page.")
    }

    pub(crate) fn counted(&mut self) -> &mut Self {
        self.header("Count", "How many there are on this page.").header("Total-Count", "How many there are in all.")
    }

    pub(crate) fn refuses(&mut self, status: u16, when: &'static str) -> &mut Self {
        self.refusals.push((status, when));
        self
    }

    fn json(&mut self, schema: MakeSchema, envelope: Envelope, text: &'static str) -> &mut Self {
        self.answer(200, text, Some(Content::Json { schema, envelope }))
    }

    fn answer(&mut self, status: u16, text: &'static str, content: Option<Content>) -> &mut Self {
        self.answers.push(SuccessfulAnswer { status, text: text.into(), content, headers: Vec::new() });
        self
    }
}
