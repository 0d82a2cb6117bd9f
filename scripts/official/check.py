"""Airship's own library for servers, urbanairship, works with the service: every call that is served, and what it makes of answers.

usage: check.py PROGRAM      starts PROGRAM in a temporary folder, with a development app, which delivers to the sandbox
"""

import logging
import sys
import uuid
import warnings
from datetime import datetime, timedelta, timezone

import urbanairship as ua
from urbanairship.core import Airship
from urbanairship.enums import LiveUpdateEvent

import audiences
import lists
from program import running
from service import (
    APP_SECRET, EVERYWHERE, KEY, LATER, MASTER_SECRET, NOW, OPERATOR_TOKEN, PLATFORM, USER, Service, done,
    eventually, filled, refused, sent, unauthorized,
)


def check_clients(service):
    push = service.push(alert="Hello")
    for secret in [MASTER_SECRET[::-1], APP_SECRET]:
        unauthorized(filled(push, _airship=service.client(secret)).send)
    bearer = filled(ua.client.BearerTokenClient(KEY, "no-token"), urls=service.airship.urls)
    unauthorized(lambda: ua.ChannelInfo(bearer).lookup(service.devices["ios"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        push._airship = Airship(KEY, MASTER_SECRET, base_url=f"{service.url}/api/", retries=2)
    assert set(service.delivered(sent(push))) == {"ios"}
    push.notification["colour"] = "red"
    refused(push.send, 400, "notification.colour")
    refused(lambda: ua.ChannelInfo(service.airship).lookup(str(uuid.uuid4())), 404)


def check_pushes(service):
    extra, long = {"story": "7"}, ua.style("big_text", "Long", "Title", "Summary")
    buttons = ua.interactive("ua_yes_no_foreground", {"yes": ua.actions(add_tag=["yes"]), "no": ua.actions(share="no")})
    words, icon = {"title": "Title", "summary": "Summary"}, {"icon": "icon", "icon_color": "#00ff00"}
    looks = {"interactive": buttons, "sound": "beep", **words, **icon}
    place = {"notification_tag": "tag", "notification_channel": "channel", "extra": extra}
    crop = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5}
    media = ua.media_attachment("https://example.com/a.gif", {"title": "A", "body": "B"}, {"time": 10, "crop": crop})
    wearable = ua.wearable("https://example.com/w.png", [{"title": "Page", "alert": "Two"}], buttons)
    opened = ua.open_platform("On a kiosk", "Title", extra, "Summary", "https://example.com/a.jpeg", buttons)
    notification = ua.notification(
        alert="Hello",
        ios=ua.ios(
            {"title": "T", "body": "On iOS"}, "+1", {"name": "cat.caf", "critical": True, "volume": 0.5}, True, extra, 3600,
            interactive=buttons, category="news", title="Watch", mutable_content=True, subtitle="Sub", media_attachment=media,
            priority=10, collapse_id="one", thread_id="thread", interruption_level="time-sensitive", relevance_score=0.5,
            target_content_id="window",
        ),
        android=ua.android(
            "On Android", "one", 3600, True, local_only=True, wearable=wearable, delivery_priority="high", style=long, priority=1,
            category="promo", visibility=-1, public_notification=ua.public_notification("Title", "Public", "Summary"),
            **looks, **place,
            live_update=ua.live_update("ride", LiveUpdateEvent.START, {"minutes": 3}, "taxi", 1900000000, 1800000000),
        ),
        amazon=ua.amazon("On Amazon", "one", 3600, style=long, **looks, **place),
        web=ua.web("On the web", extra, {"url": "https://example.com/i.png"}, "Title", buttons, 3600, True),
        wns=ua.wns_payload(alert="On Windows"),
        open_platform={PLATFORM: opened},
        actions=ua.actions("a", ["b", "c"], {"type": "url", "content": "https://example.com"}, "Share", {"mine": {"x": 1}}),
        interactive=buttons,
    )
    options = ua.options(7200, True, True, True, True, False)
    push = service.push(ua.all_, ua.device_types(*EVERYWHERE), notification=notification, options=options)
    push.campaigns = ua.campaigns(["spring", "sale"])
    found = service.delivered(sent(push))
    texts = {"ios": "iOS", "android": "Android", "amazon": "Amazon", "web": "the web", "wns": "Windows", "open": "a kiosk"}
    assert {kind for kind, text in texts.items() if f"On {text}" in found[kind]} == set(service.devices), found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        everybody = service.push(ua.all_, ua.device_types("all"), "Hello")
    assert set(service.delivered(sent(everybody))) == set(service.devices)
    # The library says that there is no alert.
    titled = ua.notification(alert="Hello", open_platform={PLATFORM: ua.open_platform(title="Only a title")})
    assert "Only a title" in service.delivered(sent(service.push(ua.all_, EVERYWHERE, notification=titled)))["open"]
    silent = ua.notification(ios=ua.ios(content_available=True, badge="auto", expiry="2035-01-01T00:00:00"))
    assert set(service.delivered(sent(service.push(notification=silent, options=ua.options(redact_payload=True))))) == {"ios"}


def check_messages(service):
    icons, orders = {"list_icon": "ua:icon"}, ua.campaigns("orders")
    message = ua.message("Order", "<h1>On its way</h1>", "text/html", "utf-8", {"a": "b"}, 3600, icons, {}, orders)
    push_id = sent(service.push(ua.all_, ["ios", "android"], message=message))
    assert set(service.delivered(push_id)) == {"ios", "android"}
    done(ua.Push.message_center_delete(service.airship, push_id), 202)
    refused(service.push(ua.all_, ["wns"], message=message).send, 400)

    display = {"position": "top", "duration": 30}
    banner = ua.in_app("In the app", "banner", "2035-01-01T00:00:00", display, ua.actions(add_tag="seen"))
    # Older programs put it into the notification.
    for parts in [{"in_app": banner}, {"notification": ua.notification(alert="Hello", in_app=banner)}]:
        found = service.delivered(sent(service.push(ua.all_, ["ios", "android"], **parts)))
        assert all("In the app" in found[kind] for kind in ["ios", "android"]), found

    french = ua.localization("fr", notification=ua.notification(alert="Bonjour"), message=ua.message("Titre", "Corps"))
    push = service.push(ua.all_, ["ios", "android"], "Hello", message=message, localizations=[french])
    answer = push.send()
    [_] = answer.localized_ids
    found = service.delivered(answer.push_ids[0])
    assert "Bonjour" in found["ios"] and "Hello" in found["android"], found


def check_templates(service):
    airship = service.airship
    name = {"key": "NAME", "name": "Name", "description": "First name", "default_value": "you"}
    welcome = ua.Template(airship, "Welcome", "For all", [name], {"notification": {"alert": "Hi {{NAME}}"}})
    done(welcome.create(), 201)
    # Without variables the library sends null.
    for n in range(4):
        done(ua.Template(airship, f"Plain {n}", push={"notification": {"alert": "Hi"}}).create(), 201)
    done(ua.Template(airship, description="For everybody").update(welcome.template_id), 200)
    found = ua.Template(airship).lookup(welcome.template_id)
    assert (found.template_id, found.name, found.description) == (welcome.template_id, "Welcome", "For everybody"), vars(found)
    assert isinstance(found.created_at, datetime) and found.last_used == "UNKNOWN" and found.variables == [name], vars(found)

    data = ua.merge_data(welcome.template_id, {"NAME": "Kim"})
    push = filled(ua.TemplatePush(airship), audience=ua.all_, device_types=ua.device_types("ios"), merge_data=data)
    [push_id] = push.send().push_ids
    assert "Hi Kim" in service.delivered(push_id)["ios"]
    assert isinstance(ua.Template(airship).lookup(welcome.template_id).last_used, datetime)
    later = filled(ua.ScheduledPush(airship), push=push, schedule=ua.scheduled_time(LATER), name="Later")
    assert later.send().schedule_url == [later.url]
    assert ua.ScheduledPush.from_url(airship, later.url).push.notification == {"alert": "Hi Kim"}
    push.merge_data = ua.merge_data(welcome.template_id, {"NAME": "Lou"})
    assert later.update().schedule_url == [later.url]
    assert ua.ScheduledPush.from_url(airship, later.url).push.notification == {"alert": "Hi Lou"}
    done(later.cancel(), 204)

    listed = list(ua.TemplateList(airship, limit=2))
    assert len({template.template_id for template in listed}) == 5
    for template in listed:
        done(template.delete(), 200)
    assert not list(ua.TemplateList(airship))


def check_schedules(service):
    airship = service.airship

    def scheduled(when, recurring=None, **parts):
        push = service.push(**(parts or {"alert": "Later"}))
        schedule = filled(ua.ScheduledPush(airship), push=push, schedule=when, recurring=recurring, name="Later")
        answer = schedule.send()
        assert answer.ok is True and answer.schedule_url == [schedule.url], str(answer)
        return schedule, answer

    soon = ua.scheduled_time(datetime.now(timezone.utc) + timedelta(seconds=2))
    _, answer = scheduled(soon)
    [push_id] = answer.payload["schedules"][0]["push_ids"]
    options, message = ua.options(expiry=3600), ua.message("Title", "Body")
    for when in [ua.scheduled_time(LATER), ua.local_scheduled_time(LATER), ua.best_time(LATER)]:
        schedule, _ = scheduled(when, alert="Later", options=options, message=message)
        found = ua.ScheduledPush.from_url(airship, schedule.url)
        assert found.payload == schedule.payload, (found.payload, schedule.payload)
        assert filled(found, name="Changed").update().schedule_url == [schedule.url]
        assert ua.ScheduledPush.from_url(airship, schedule.url).name == "Changed"

    hours = ua.schedule_exclusion(1, 5, LATER, LATER + timedelta(days=2), ["sunday"])
    for kind, days in {"hourly": None, "daily": None, "weekly": ["monday", "friday"], "monthly": None, "yearly": None}.items():
        recurring = ua.recurring_schedule(2, kind, LATER + timedelta(days=1500), days, [hours])
        schedule, _ = scheduled(ua.scheduled_time(LATER), recurring)
        done(schedule.pause(), 204)
        paused = ua.ScheduledPush.from_url(airship, schedule.url)
        assert paused.schedule["recurring"] == {**recurring["recurring"], "paused": True}, paused.schedule
        done(schedule.resume(), 204)
        assert schedule.update().ok is True
    # Without days the library sends null.
    scheduled(ua.scheduled_time(LATER), ua.recurring_schedule(1, "weekly", paused=True))

    eventually(lambda: push_id in {push.push_uuid for push in pushes_of_today(airship)})
    assert set(service.delivered(push_id)) == {"ios"}
    listed = list(ua.ScheduledList(airship, limit=4))
    assert len({schedule.url for schedule in listed}) == 9
    for schedule in listed:
        done(schedule.cancel(), 204)
    assert not list(ua.ScheduledList(airship))
    refused(lambda: scheduled(ua.scheduled_time(datetime(2020, 1, 1))), 400, "schedule.scheduled_time")


def check_create_and_send(service):
    airship = service.airship
    known = filled(ua.OpenChannel(airship), address="lobby-1", template_fields={"name": "Kim"})
    new = filled(ua.OpenChannel(airship), address="lobby-3", template_fields={"name": "Lou"})
    override = ua.open_platform(template_alert="Hi {{name}}", title="Title")
    push = filled(
        ua.CreateAndSendPush(airship, [known, new]), device_types=ua.device_types(f"open::{PLATFORM}"),
        notification=ua.notification(open_platform={PLATFORM: override}), campaigns=ua.campaigns("spring"),
    )
    [push_id] = push.send().push_ids
    found = service.delivered(push_id)
    assert "Hi Kim" in found["open"] and "Hi Lou" in found[None], found
    later = filled(ua.ScheduledPush(airship), push=push, schedule=ua.scheduled_time(LATER), name="Later")
    assert later.send().schedule_url == [later.url]
    assert ua.ScheduledPush.from_url(airship, later.url).push.audience == push.audience
    assert later.update().ok is True
    done(later.cancel(), 204)


def check_experiments(service):
    tests, report, later = ua.ABTest(service.airship), ua.ExperimentReport(service.airship), ua.scheduled_time(LATER)

    def variant(alert, **fields):
        return ua.Variant(service.push(alert=alert, options=ua.options(expiry=3600)), **fields)

    variants = [variant("A", name="Short", description="One letter", schedule=later, weight=2), variant("B", schedule=later)]
    experiment = ua.Experiment(ua.all_, ["ios"], variants, "Which?", "Two", campaigns=ua.campaigns("spring"), control=0.25)
    done(tests.validate(experiment), 200)
    made = done(tests.create(experiment), 201)["experiment_id"]
    assert done(tests.lookup(made), 200)["experiment"]["variants"][0]["name"] == "Short"
    assert done(tests.list_experiments(), 200)["count"] == done(tests.list_scheduled_experiment(), 200)["count"] == 1
    shares = [variant["audience_pct"] for variant in report.get_overview(made)["variants"]]
    assert shares == [50.0, 25.0] and report.get_variant(made, "0")["variant_name"] == "Short"
    done(tests.delete(made), 200)
    refused(lambda: tests.lookup(made), 404)

    started = done(tests.create(ua.Experiment(ua.all_, ["ios"], [variant("A"), variant("B")])), 201)["experiment_id"]
    eventually(lambda: report.get_overview(started)["sends"] == 1)
    refused(lambda: tests.delete(started), 405)


def check_automation(service):
    automation, push = ua.Automation(service.airship), service.push("triggered", alert="Welcome").payload
    allowed = [{"preferred": "21:30:00"}, {"start": "09:00:00", "end": "17:00:00"}]
    dayparts = [{"days_of_week": ["thursday"], "allowed_times": allowed}]
    cart = ua.Pipeline(
        enabled=False, name="Cart", outcome=push, immediate_trigger={"tag_added": {"tag": "cart", "group": "shop"}},
        cancellation_trigger={"tag_added": "bought"}, condition={"or": [{"tag": {"tag_name": "quiet", "negated": True}}]},
        constraint=[{"rate": {"pushes": 3, "days": 7}}, {"rate": {"pushes": 10, "lifetimes": 1}}],
        timing={"delay": {"seconds": 3600}, "schedule": {"type": "local", "miss_behavior": "wait", "dayparts": dayparts}},
    )
    away = ua.Pipeline(enabled=False, outcome=push, historical_trigger={"event": "open", "equals": 0, "days": 30})
    welcome = ua.Pipeline(enabled=True, name="Welcome", outcome=push, immediate_trigger=["first_open", {"tag_added": "new"}])
    done(automation.validate(cart.payload), 200)
    ids = done(automation.create([cart.payload, away.payload]), 201)["pipeline_ids"]
    ids += done(automation.create(welcome.payload), 201)["pipeline_ids"]
    for pipeline, pipeline_id in zip([cart, away, welcome], ids, strict=True):
        found = ua.Pipeline()
        found.from_dict(done(automation.lookup(pipeline_id), 200)["pipeline"])
        assert found.payload == pipeline.payload, (found.payload, pipeline.payload)
        done(automation.update(pipeline_id, found.payload), 200)
    assert [pipeline["uid"] for pipeline in done(automation.list_automations(), 200)["pipelines"]] == ids[2:]
    assert done(automation.list_automations(limit=1, enabled=False), 200)["total_count"] == 2

    device = service.register("ios", push_address="AB" * 32)
    eventually(lambda: "Welcome" in str(service.get("sandbox", channel_id=device)["deliveries"]))
    done(ua.ChannelUninstall(service.airship).uninstall([{"channel_id": device, "device_type": "ios"}]), 202)
    for pipeline_id in ids:
        done(automation.delete(pipeline_id), 204)
    yesterday = (NOW - timedelta(days=1)).isoformat()
    assert len(done(automation.list_deleted_automations(), 200)["pipelines"]) == 3
    assert not done(automation.list_deleted_automations(yesterday), 200)["pipelines"]


def check_events(service):
    airship = service.airship
    where = {"interaction_type": "url", "interaction_id": "example.com/shoes", "session_id": str(uuid.uuid4())}
    bought = ua.CustomEvent(
        airship, "bought", ua.named_user(USER), properties={"sizes": [38, {"wide": True}]}, transaction="o-1", value=49.5,
        occurred=NOW - timedelta(minutes=1), **where,
    )
    for event in [bought, ua.CustomEvent(airship, "seen", ua.ios_channel(service.devices["ios"]))]:
        assert event.send()["ok"] is True
    refused(ua.CustomEvent(airship, "Capital", ua.channel(service.devices["web"])).send, 400, "body.name")
    rows = ua.CustomEventsList(airship, NOW - timedelta(days=1), NOW + timedelta(days=1), "DAILY")
    assert [(row.name, row.count, row.value) for row in rows] == [("bought", 1, 49.5), ("seen", 1, 0)]


def pushes_of_today(airship, **page):
    return ua.ResponseList(airship, NOW - timedelta(days=1), NOW + timedelta(days=1), **page)


def check_reports(service):
    airship, times = service.airship, (NOW - timedelta(days=1), NOW + timedelta(days=1))
    for report in [ua.PushList, ua.AppOpensList, ua.TimeInAppList, ua.OptInList, ua.OptOutList, ua.ResponseReportList]:
        for precision in ["HOURLY", "DAILY", "MONTHLY"]:
            rows = list(report(airship, *times, precision))
            assert rows and all(isinstance(row.date, datetime) for row in rows)
            zero = {"direct": 0, "influenced": 0} if report is ua.ResponseReportList else 0
            assert report is ua.PushList or all(row.ios == row.android == zero for row in rows)
    # More than two pages.
    hours = list(ua.PushList(airship, NOW - timedelta(days=100), NOW + timedelta(days=1), "HOURLY"))
    assert {after.date - row.date for row, after in zip(hours, hours[1:])} == {timedelta(hours=1)} and len(hours) > 2400
    assert all(sum(getattr(row, kind, 0) for row in hours) > 0 for kind in service.devices)
    assert all(row.counts == {"clicks": 0, "sessions": 0} for row in ua.WebResponseReport(airship, *times, "HOURLY"))
    browsers = ua.DevicesReport(airship).get(NOW)["counts"]["web"]
    assert browsers == {"unique_devices": 1, "opted_in": 1, "opted_out": 0, "uninstalled": 0}

    push_id = sent(service.push(alert="Counted"))
    service.delivered(push_id)
    one = ua.IndividualResponseStats(airship).get(push_id)
    assert (one.push_type, one.sends, one.direct_responses) == ("BROADCAST_PUSH", 1, 0), str(one)
    assert isinstance(one.push_time, datetime)
    pushes = [push.push_uuid for push in pushes_of_today(airship, limit=10)]
    assert pushes[0] == push_id and len(pushes) == len(set(pushes)) > 20
    assert [push.push_uuid for push in pushes_of_today(airship, start_id=pushes[15])] == pushes[15:]


def check_what_is_not_there(service):
    """Not every call of the library is served."""
    email, text = ua.Email(service.airship, "kim@example.com"), ua.Sms(service.airship, "12345", "15035550100")
    lookup = lambda: ua.Email.lookup(service.airship, "kim@example.com")
    for call in [email.register, email.uninstall, lookup, text.register, text.opt_out, text.uninstall, text.lookup]:
        assert "open platform" in refused(call, 404).error
    refused(service.push(ua.all_, ["sms"], "Hello").send, 400, "device_types")


def check_connections(service):
    """A connection, which the library keeps, goes on after requests that are answered without a look at their body."""
    stranger, email = service.client(MASTER_SECRET[::-1]), ua.Email(service.airship, "kim@example.com")
    push = filled(service.push(alert="Hello"), _airship=stranger)
    for _ in range(50):
        refused(email.register, 404)
        ua.ChannelInfo(service.airship).lookup(service.devices["ios"])
        unauthorized(push.send)


CHECKS = [
    check_clients,
    check_pushes,
    check_messages,
    *audiences.CHECKS,
    check_templates,
    check_schedules,
    check_create_and_send,
    check_experiments,
    check_automation,
    check_events,
    check_reports,
    *lists.CHECKS,
    check_what_is_not_there,
    check_connections,
]


def main(program):
    with running(program, KEY, APP_SECRET, MASTER_SECRET, OPERATOR_TOKEN) as url:
        service = Service(url)
        for check in CHECKS:
            check(service)
    print(f"official: {len(CHECKS)} parts of urbanairship {ua.__about__.__version__} work")


if __name__ == "__main__":
    # What is refused here is meant to be.
    logging.getLogger("urbanairship").setLevel(logging.ERROR)
    [program] = sys.argv[1:]
    main(program)
