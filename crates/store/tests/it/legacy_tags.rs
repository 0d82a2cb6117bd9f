//! Tags that exist without a device, and tags that lose their numbers.

use model::ids::{AppId, Offset, TermId};
use model::tag::Tag;
use model::term::Term;
use store::{Error, legacy_tags, terms};

use crate::sample::{make_app, term};
use crate::{on_both, with_apps};

fn tag(text: &str) -> Tag {
    Tag::new(text).unwrap()
}

#[tokio::test]
async fn tags_are_there_from_insertion_to_deletion() {
    with_apps(async |store, _| {
        let (app, other) = (AppId(1), AppId(2));
        for (text, is_new) in [("b", true), ("a", true), ("é", true), ("Z", true), ("a", false)] {
            let inserted = store.write(app, move |tx| legacy_tags::insert(tx, app, &tag(text))).await.unwrap();
            assert_eq!(inserted, is_new, "{text}");
        }
        let first = store.read(move |tx| legacy_tags::first(tx, app, 3)).await.unwrap();
        assert_eq!(first, [tag("Z"), tag("a"), tag("b")]);
        assert_eq!(store.read(move |tx| legacy_tags::first(tx, other, 3)).await.unwrap(), []);
        assert!(store.read(move |tx| legacy_tags::exists(tx, app, &tag("a"))).await.unwrap());
        assert!(!store.read(move |tx| legacy_tags::exists(tx, app, &tag("A"))).await.unwrap());
        assert!(!store.read(move |tx| legacy_tags::exists(tx, other, &tag("a"))).await.unwrap());
        assert!(!store.write(other, move |tx| legacy_tags::delete(tx, other, &tag("a"))).await.unwrap());
        assert!(store.write(app, move |tx| legacy_tags::delete(tx, app, &tag("a"))).await.unwrap());
        assert!(!store.write(app, move |tx| legacy_tags::delete(tx, app, &tag("a"))).await.unwrap());
        assert!(!store.read(move |tx| legacy_tags::exists(tx, app, &tag("a"))).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_retired_number_keeps_its_place_and_frees_its_name() {
    on_both(async |store, _| {
        let (app, other) = (make_app(store, 1).await, make_app(store, 2).await);
        assert_eq!(store.read(move |tx| terms::retired_at(tx, app)).await.unwrap(), Offset(0));
        let retire = store.write(app, move |tx| {
            let news = term("device", "news");
            let number = terms::insert(tx, app, &news)?;
            terms::insert(tx, other, &news)?;
            terms::retire(tx, app, number, &Term::Retired { number, tag: tag("news") })?;
            terms::set_retired_at(tx, app, Offset(7))?;
            assert_eq!(terms::find(tx, app, &news)?, None);
            Ok::<_, Error>((number, terms::insert(tx, app, &news)?))
        });
        assert_eq!(retire.await.unwrap(), (TermId(0), TermId(1)));
        let names = store.read(move |tx| Ok::<_, Error>([0, 1].map(|n| terms::name(tx, app, TermId(n)))));
        let [old, new] = names.await.unwrap();
        assert_eq!(old.unwrap(), Term::Retired { number: TermId(0), tag: tag("news") });
        assert_eq!(new.unwrap(), term("device", "news"));
        assert_eq!(store.read(move |tx| terms::retired_at(tx, app)).await.unwrap(), Offset(7));
        // The tag of another app is another tag.
        assert_eq!(store.read(move |tx| terms::retired_at(tx, other)).await.unwrap(), Offset(0));
        let found = store.read(move |tx| terms::find(tx, other, &term("device", "news"))).await.unwrap();
        assert_eq!(found, Some(TermId(0)));
    })
    .await;
}
