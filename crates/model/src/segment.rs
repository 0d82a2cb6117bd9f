//! Segments: audiences that are stored under a name. A push that selects a segment means its criteria at that moment.

use crate::channel::name_text;
use crate::json::OneOrMany;
use crate::json::body::Body;
use crate::limits;
use crate::selector::{Atomic, Selector, Spelling};
use crate::tag::{Tag, TagGroup};

/// An audience that is stored under a name.
// Printed as it was sent.
#[derive(Clone, Debug, PartialEq, Body)]
#[body(name = "Segment", ignored = ["id", "creation_date", "modification_date"])]
pub struct SegmentBody {
    #[body(length = 1..=limits::SEGMENT_NAME_CHARS, read = |at| name_text(at, limits::SEGMENT_NAME_CHARS))]
    pub display_name: String,
    pub criteria: Selector,
}

/// Models of iOS devices that people consider the same.
const COMMON_MODELS: [(&str, &[&str]); 12] = [
    ("iPad 2", &["iPad2,1", "iPad2,2", "iPad2,3", "iPad2,4"]),
    ("iPad Mini", &["iPad2,5", "iPad2,6", "iPad2,7"]),
    ("iPad 3", &["iPad3,1", "iPad3,2", "iPad3,3"]),
    ("iPad 4", &["iPad3,4", "iPad3,5", "iPad3,6"]),
    ("iPad Air", &["iPad4,1", "iPad4,2", "iPad4,3"]),
    ("iPad Mini 2", &["iPad4,4", "iPad4,5", "iPad4,6"]),
    ("iPad Mini 3", &["iPad4,7", "iPad4,8", "iPad4,9"]),
    ("iPad Air 2", &["iPad5,3", "iPad5,4"]),
    ("iPhone 4", &["iPhone3,1", "iPhone3,3"]),
    ("iPhone 5", &["iPhone5,1", "iPhone5,2"]),
    ("iPhone 5c", &["iPhone5,3", "iPhone5,4"]),
    ("iPhone 5s", &["iPhone6,1", "iPhone6,2"]),
];

/// A segment for each of the groups of models that belong together. No app has them unless somebody creates them.
pub fn common_model_segments() -> Vec<SegmentBody> {
    let segment = |&(name, models): &(&str, &'static [&'static str])| SegmentBody {
        display_name: format!("{name} - UA Generated"),
        criteria: Selector::Or {
            spelling: Spelling::of("OR"),
            members: models.iter().map(|model| model_selector(model)).collect(),
        },
    };
    COMMON_MODELS.iter().map(segment).collect()
}

fn model_selector(model: &'static str) -> Selector {
    Selector::Atomic(Atomic::Tag {
        tags: OneOrMany::One(Tag::fixed(model)),
        group: Some(TagGroup::fixed("ua_ios_model")),
        tag_class: None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::json;
    use crate::property::ios_model_name;

    fn paths(body: &str) -> Vec<String> {
        let problems = json::parse(body.as_bytes(), SegmentBody::parse).expect_err(body);
        problems.iter().map(|problem| problem.path.clone()).collect()
    }

    #[test]
    fn segments_print_back_as_they_came() {
        for body in [
            r#"{"display_name":"News","criteria":{"tag":"news"}}"#,
            r#"{"display_name":"é","criteria":{"and":[{"tag":"a"},{"OR":[{"tag":["b"]},{"not":{"static_list":"c"}}]}]}}"#,
            r#"{"display_name":"Near","criteria":{"location":{"id":"4oFkxX7RcUdirjtaenEQIV","date":{"recent":{"months":3}}}}}"#,
        ] {
            let segment = json::parse(body.as_bytes(), SegmentBody::parse).unwrap();
            assert_eq!(serde_json::to_string(&segment).unwrap(), body);
        }
    }

    #[test]
    fn what_the_service_says_about_a_segment_may_be_sent_back() {
        let body = r#"{"id":"x","creation_date":1714550400000,"modification_date":1714550400000,
                       "display_name":"News","criteria":{"tag":"news"}}"#;
        let segment = json::parse(body.as_bytes(), SegmentBody::parse).unwrap();
        assert_eq!(serde_json::to_string(&segment).unwrap(), r#"{"display_name":"News","criteria":{"tag":"news"}}"#);
    }

    #[test]
    fn bad_segments() {
        for (body, wanted) in [
            ("[]", &[""][..]),
            ("{}", &["display_name", "criteria"]),
            (r#"{"display_name":"","criteria":{}}"#, &["display_name", "criteria"]),
            (r#"{"display_name":"a\u0000","criteria":{"tag":"x"}}"#, &["display_name"]),
            (r#"{"display_name":7,"criteria":"all","name":"x"}"#, &["display_name", "criteria", "name"]),
            (
                r#"{"display_name":"x","criteria":{"and":[{"tag":""},{"nor":1}]}}"#,
                &["criteria.and[0].tag", "criteria.and[1].nor"],
            ),
        ] {
            assert_eq!(paths(body), wanted, "{body}");
        }
        let named = |n| format!(r#"{{"display_name":"{}","criteria":{{"tag":"x"}}}}"#, "é".repeat(n));
        assert!(json::parse(named(255).as_bytes(), SegmentBody::parse).is_ok());
        assert_eq!(paths(&named(256)), ["display_name"]);
    }

    #[test]
    fn common_models_are_models_we_know_and_are_accepted_as_sent() {
        let segments = common_model_segments();
        let mut names = BTreeSet::new();
        let mut models = BTreeSet::new();
        for segment in &segments {
            let printed = serde_json::to_vec(segment).unwrap();
            assert_eq!(json::parse(&printed, SegmentBody::parse).as_ref(), Ok(segment));
            let name = segment.display_name.strip_suffix(" - UA Generated").unwrap();
            assert!(names.insert(name));
            for atom in segment.criteria.atoms() {
                let Atomic::Tag { tags, group, .. } = atom else { panic!("{atom:?}") };
                assert_eq!(group.as_ref().map(TagGroup::as_str), Some("ua_ios_model"));
                let [tag] = tags.as_slice() else { panic!("{atom:?}") };
                assert!(ios_model_name(tag.as_str()).is_some_and(|model| model.starts_with(name)), "{name}: {tag}");
                assert!(models.insert(tag.clone()), "{tag} is in two segments");
            }
        }
        assert_eq!((names.len(), models.len()), (12, 32));
        assert_eq!(
            serde_json::to_string(&segments[7]).unwrap(),
            r#"{"display_name":"iPad Air 2 - UA Generated","criteria":{"OR":[{"tag":"iPad5,3","group":"ua_ios_model"},{"tag":"iPad5,4","group":"ua_ios_model"}]}}"#
        );
    }
}
