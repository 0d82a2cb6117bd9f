//! Making and changing a template: what it says, its variables with their usual values, and what that looks like.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use maud::{Markup, html};
use model::template::VariableKey;
use serde_json::{Map, Value, json};

use super::undeclared::{self, Undeclared};
use super::{One, Template, filled};
use crate::answer::Answer;
use crate::assets::build_script;
use crate::error::{Error, Result};
use crate::form::{Fields, encode, encoded};
use crate::pages::compose::content::Content;
use crate::pages::compose::reach::Reach;
use crate::pages::compose::{fields, more, preview, recovered};
use crate::pages::login::kept;
use crate::parts::conditions::Conditions;
use crate::parts::fields::{Field, problems};
use crate::parts::once::once;
use crate::parts::seen::{Seen, said};
use crate::visit::Visit;

/// Keys of answers that are not part of what was sent.
const READ_ONLY: [&str; 5] = ["id", "template_id", "created_at", "modified_at", "last_used"];
/// More than this come from programs.
const MOST_VARIABLES: usize = 100;

/// What is on the page.
struct Form {
    /// None of one that is made.
    id: Option<String>,
    typed: Fields,
    content: Content,
    variables: Vec<Variable>,
    seen: Seen,
}

#[derive(Clone, Default)]
struct Variable {
    key: String,
    usual: String,
}

impl Form {
    fn new(id: Option<String>, typed: Fields) -> Self {
        let variable = |n: usize| {
            let text = |name: &str| typed.exact(&format!("{name}{n}")).map(str::to_owned);
            Some(Variable { key: text("variable")?, usual: text("usual").unwrap_or_default() })
        };
        let variables = (0..MOST_VARIABLES).map_while(variable).collect();
        Self { id, content: Content::read(&typed), variables, seen: Seen::in_form(&typed), typed }
    }

    fn change(&mut self, action: &str) {
        let removed = action.strip_prefix("remove-variable-").and_then(|n| n.parse::<usize>().ok());
        if action == "add-variable" && self.variables.len() < MOST_VARIABLES {
            self.variables.push(Variable::default());
        } else if let Some(n) = removed.filter(|n| *n < self.variables.len()) {
            self.variables.remove(n);
        } else if let Some(key) = action.strip_prefix("add-variable-").and_then(VariableKey::new) {
            self.declare(key.as_str());
        }
        self.content.change(action);
    }

    /// Adds a variable that a text names, in the first row that is empty.
    fn declare(&mut self, key: &str) {
        if self.keys().contains(key) {
            return;
        }
        let is_full = self.variables.len() >= MOST_VARIABLES;
        match self.variables.iter_mut().find(|variable| variable.key.trim().is_empty()) {
            Some(empty) => key.clone_into(&mut empty.key),
            None if is_full => {}
            None => self.variables.push(Variable { key: key.to_owned(), usual: String::new() }),
        }
    }

    fn keys(&self) -> BTreeSet<&str> {
        self.variables.iter().map(|variable| variable.key.trim()).collect()
    }

    /// What its texts name and it does not have; none as long as it cannot be read.
    fn undeclared(&self) -> Vec<Undeclared> {
        self.push().map(|push| Undeclared::of(&push, &self.keys())).unwrap_or_default()
    }

    fn push(&self) -> Result<Map<String, Value>> {
        let mut push = self.content.parts();
        more::lay_over(&mut push, more::read(self.typed.exact("more").unwrap_or_default())?);
        Ok(push)
    }

    /// The variables as the API takes them. What the form has no fields for is taken from those that were there.
    fn variables(&self, former: &[Map<String, Value>]) -> Vec<Map<String, Value>> {
        let named = self.variables.iter().filter(|variable| !variable.key.trim().is_empty());
        let variable = |Variable { key, usual }: &Variable| {
            let key = json!(key.trim());
            let mut variable =
                former.iter().find(|variable| variable.get("key") == Some(&key)).cloned().unwrap_or_default();
            variable.insert("key".to_owned(), key);
            variable.insert("default_value".to_owned(), if usual.is_empty() { Value::Null } else { json!(usual) });
            variable
        };
        named.map(variable).collect()
    }
}

pub(crate) async fn new(visit: Arc<Visit>) -> Result<Answer> {
    draw(&visit, &Form::new(None, visit.query.clone()), None).await
}

pub(crate) async fn edit(visit: Arc<Visit>) -> Result<Answer> {
    let One { template: saved } = visit.get(&format!("/api/templates/{}", encode(visit.var("template")))).await?;
    let template = Template::read(&saved)?;
    let typed = fields_of(&template);
    let form = Form { seen: Seen::of(&said(&saved, &READ_ONLY)), ..Form::new(Some(template.id), typed) };
    draw(&visit, &form, None).await
}

fn fields_of(template: &Template) -> Fields {
    let mut pairs = vec![("name".to_owned(), template.name.clone())];
    pairs.extend(template.description.clone().map(|text| ("description".to_owned(), text)));
    for (n, variable) in template.variables.iter().enumerate() {
        let text = |key: &str| variable.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        pairs.push((format!("variable{n}"), text("key")));
        pairs.push((format!("usual{n}"), text("default_value")));
    }
    let said = recovered::fields_of(&template.push);
    let form = encoded(said.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let base = Content::read(&Fields::parse(&form)).parts();
    pairs.extend(said);
    let rest = more::difference(&template.push, &base).unwrap_or_else(|| template.push.clone());
    if !rest.is_empty() {
        pairs.push(("more".to_owned(), serde_json::to_string_pretty(&rest).unwrap_or_default()));
    }
    Fields::parse(&encoded(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))))
}

pub(crate) async fn create(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, None).await
}

pub(crate) async fn change(visit: Arc<Visit>) -> Result<Answer> {
    take(&visit, Some(visit.var("template").to_owned())).await
}

async fn take(visit: &Visit, id: Option<String>) -> Result<Answer> {
    let mut form = Form::new(id, visit.form.clone());
    let action = visit.form.text("do").unwrap_or_default();
    if action != "save" {
        form.change(action);
        return draw(visit, &form, None).await;
    }
    match save(visit, &mut form).await {
        Ok(()) => Answer::to(visit.to("/templates")),
        Err(error) => Ok(draw(visit, &form, Some(&error)).await?.refused(&error)),
    }
}

async fn save(visit: &Visit, form: &mut Form) -> Result<()> {
    let text = |name: &str| form.typed.text(name).unwrap_or_default();
    let mut body = json!({"name": text("name"), "description": text("description"), "push": form.push()?});
    let undeclared = form.undeclared();
    if !undeclared.is_empty() {
        return Err(Undeclared::refusal(&undeclared));
    }
    let Some(id) = &form.id else {
        body["variables"] = json!(form.variables(&[]));
        return visit.post_form::<Value>("/api/templates", body).await.map(drop);
    };
    let path = format!("/api/templates/{}", encode(id));
    let One { template: saved } = visit.get(&path).await?;
    body["variables"] = json!(form.variables(&Template::read(&saved)?.variables));
    if form.seen.lets_save("template", &said(&saved, &READ_ONLY), &body, model::template::Template::parse)? {
        visit.change(Method::POST, &path, Some(body)).await?;
    }
    Ok(())
}

async fn draw(visit: &Visit, form: &Form, error: Option<&Error>) -> Result<Answer> {
    let value = |name: &str| form.typed.exact(name).unwrap_or_default().to_owned();
    let action = match &form.id {
        Some(id) => visit.to(&format!("/templates/{}", encode(id))),
        None => visit.to("/templates/new"),
    };
    let body = html! {
        p.line { a href=(visit.to("/templates")) { "All templates" } }
        div.compose {
            (build_script())
            form #template data-build method="post" action=(action) {
                (kept()) (once(visit))
                button.hidden name="do" value="check" formnovalidate tabindex="-1" { "Show it" }
                (problems(error, &["name"]))
                (form.seen.show(&action))
                (Field::text("name", "Name").value(&value("name")).show(error))
                (Field::text("description", "What it is for").value(&value("description")).optional().show(None))
                fieldset { legend { "What it says" } (fields::content(&form.content, &form.typed)) }
                (variables(&form.variables))
                div.actions {
                    button.main name="do" value="save" { @if form.id.is_some() { "Save" } @else { "Make it" } }
                    a.button href=(visit.to("/templates")) { "Leave it" }
                }
            }
            aside #beside tabindex="0" aria-label="Preview" {
                (undeclared::show(&form.undeclared(), "template"))
                (shown(visit, form).await)
            }
        }
        @if let Some(id) = &form.id {
            details.ask {
                summary { "Delete…" }
                form method="post" action=(visit.to(&format!("/templates/{}/delete", encode(id)))) {
                    p { "Servers that send it are refused. What was sent with it stays." }
                    button.danger { "Delete " (value("name")) }
                }
            }
        }
    };
    Answer::page(if form.id.is_some() { "Change a template" } else { "Make a template" }, body)
}

fn variables(variables: &[Variable]) -> Markup {
    html! {
        fieldset {
            legend { "Variables" }
            p.hint { "A text names them in double braces, as in {{name}}. One without a usual value has to be given whenever it is sent." }
            @for (n, variable) in variables.iter().enumerate() {
                div.condition role="group" aria-label={ "Variable " (n + 1) } {
                    input name={ "variable" (n) } value=(variable.key) aria-label="Variable" placeholder="name";
                    input name={ "usual" (n) } value=(variable.usual) aria-label="Usual value" placeholder="usual value";
                    button.small name="do" value={ "remove-variable-" (n) } formnovalidate aria-label={ "Remove variable " (n + 1) } { "×" }
                }
            }
            button.small name="do" value="add-variable" formnovalidate { "Add a variable" }
        }
    }
}

async fn shown(visit: &Visit, form: &Form) -> Markup {
    let push = form.push().map(|push| filled::push(&push, &form.variables(&[])));
    let mut push = match push {
        Ok(push) if !push.is_empty() => push,
        Ok(_) => return html! { section { h2 { "Preview" } p.quiet { "Write a text to see what people will see." } } },
        Err(error) => {
            return html! { section { h2 { "Preview" } @for sentence in error.sentences() { p.warning { (sentence) } } } };
        }
    };
    push.insert("audience".to_owned(), json!("all"));
    push.insert("device_types".to_owned(), json!("all"));
    let everybody = Conditions::of(&json!("all"));
    let reach = Reach::of_conditions(visit, &everybody).await;
    preview::of_push(visit, "Preview", &push.into(), &reach).await
}
