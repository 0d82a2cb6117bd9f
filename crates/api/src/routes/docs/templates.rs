//! Templates.

use model::content_template::ContentTemplate;
use model::json::OneOrMany;
use model::template::{Template, TemplateChange, TemplateSchedule, TemplateUse};
use serde_json::json;

use crate::answer::Done;
use crate::openapi::{Area, body, query, shape::Free, shape::SentTemplates};
use crate::page_size::PageSize;
use crate::routes::content_templates;
use crate::routes::schedules;
use crate::routes::templates::{Created, One, Page};

pub(super) fn area() -> Area {
    let mut area =
        Area::new("Templates", "Pushes with variables, which are filled in when they are sent or scheduled.");
    let template = json!({
        "name": "Welcome", "description": "For new members",
        "variables": [{"key": "NAME", "name": "First name", "default_value": "you"}],
        "push": {"notification": {"alert": "Hello {{NAME}}"}},
    });
    area.post("/api/templates", "Create a template", "Variables are written as `{{KEY}}` in any text of the push.")
        .body(body::of::<Template>, template.clone())
        .changed::<Created>("The id of the template.")
        .status(201)
        .location()
        .refuses(
            409,
            "The app has as many templates as it may, or the idempotency key was used for another request (40900).",
        );
    area.get("/api/templates", "List templates", "Page by page.")
        .takes(query::number("page", 1..=u32::MAX, "Which page, counted from 1.").default(json!(1)))
        .takes(query::page_size("page_size", PageSize::TEMPLATES, "How many to list at once."))
        .takes(query::number("limit", PageSize::TEMPLATES.range(), "Another name of `page_size`."))
        .takes(
            query::choice("sort", &["created_at", "modified_at", "last_used"], "By which time.")
                .default(json!("created_at")),
        )
        .takes(query::choice("order", &["asc", "desc"], "The oldest first, or the newest.").default(json!("asc")))
        .ok::<Page>("A page of templates.")
        .paged()
        .counted();
    let merge = json!({"template_id": "0190b1c5-5c7e-7000-8000-000000000000", "substitutions": {"NAME": "Kim"}});
    let used = json!({"audience": {"tag": "new"}, "device_types": ["ios", "android"], "merge_data": merge});
    area.post(
        "/api/templates/push",
        "Send a template",
        "Takes one use of a template or an array of up to 100: all or none.",
    )
    .body(body::of::<OneOrMany<TemplateUse>>, used.clone())
    .ok::<SentTemplates>("Accepted.");
    area.post("/api/templates/push/validate", "Validate the use of a template", "Checks everything and sends nothing.")
        .body(body::of::<OneOrMany<TemplateUse>>, used.clone())
        .ok::<Done>("The pushes would be accepted.");
    let schedule = json!({"scheduled_time": "2035-01-01T00:00:00"});
    let scheduled = json!({
        "schedule": schedule, "audience": {"tag": "new"}, "device_types": ["ios", "android"], "merge_data": merge,
    });
    area.post("/api/templates/schedules", "Schedule a template", "The template is filled in now, and sent later.")
        .body(body::of::<OneOrMany<TemplateSchedule>>, scheduled)
        .ok::<schedules::Created<Free>>("The schedules.")
        .status(201);
    area.get("/api/templates/{template_id}", "Look up a template", "As it was sent, with its times.")
        .ok::<One>("The template.");
    area.post("/api/templates/{template_id}", "Change a template", "Replaces what is given, and keeps the rest.")
        .body(body::of::<TemplateChange>, json!({"name": "Welcome back"}))
        .done();
    area.delete("/api/templates/{template_id}", "Delete a template", "Schedules that were made with it stay.").done();
    area
}

pub(super) fn content_area() -> Area {
    let mut area =
        Area::new("Content templates", "Texts for one kind of channel, under an id of the service or of your own.");
    let sale = json!({"type": "app", "name": "Sale", "external_id": "sale-1", "content": {"alert": "Hello {{name}}"}});
    area.post(
        "/api/content/templates",
        "Create a content template",
        "For apps, browsers, open platforms or the Message Center.",
    )
    .body(body::of::<ContentTemplate>, sale.clone())
    .changed::<content_templates::Created>("Its id.")
    .status(201)
    .location()
    .refuses(
        409,
        "The app has as many content templates as it may, or the idempotency key was used for another request (40900).",
    );
    area.get("/api/content/templates", "List content templates", "A page of them.")
        .takes(query::number("page", 1..=u32::MAX, "The page, counted from 1.").default(json!(1)))
        .takes(query::page_size("page_size", PageSize::TEMPLATES, "How many to list at once."))
        .takes(
            query::choice("sort", &["created_at", "modified_at"], "What they are sorted by.")
                .default(json!("created_at")),
        )
        .takes(query::choice("order", &["asc", "desc"], "In which direction.").default(json!("asc")))
        .ok::<content_templates::Page>("A page of content templates.")
        .paged()
        .counted();
    for path in ["/api/content/templates/{template_id}", "/api/content/templates/external/{type}/{external_id}"] {
        let is_own = path.contains("external");
        let [look_up, replace, delete] = match is_own {
            false => ["Look up a content template", "Replace a content template", "Delete a content template"],
            true => [
                "Look up a content template by your own id",
                "Replace a content template by your own id",
                "Delete a content template by your own id",
            ],
        };
        area.get(path, look_up, "As it was sent, with its times.")
            .ok::<content_templates::One>("The content template.");
        area.put(path, replace, "What is left out is gone. It keeps its type.")
            .body(body::of::<ContentTemplate>, sale.clone())
            .done();
        area.delete(path, delete, "At once.").done();
    }
    area
}
