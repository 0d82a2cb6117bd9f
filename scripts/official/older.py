"""Earlier versions of Airship's library for servers work with the service: the calls that most programs make, and what the library
makes of answers. It knows only its own addresses, so its connections are led to the service.

usage: older.py PROGRAM      in an environment with the version that is meant
"""

import collections.abc
import io
import logging
import sys
import uuid
import warnings
from datetime import datetime, timedelta, timezone

import requests

# Of the Pythons that these versions were made for; it has moved since.
collections.Sequence = collections.abc.Sequence

import urbanairship as ua  # noqa: E402
from urbanairship import __about__  # noqa: E402

from program import eventually, running  # noqa: E402

KEY, APP_SECRET, MASTER_SECRET = "official-client-app-ke", "official-client-app-se", "official-client-master"
ADDRESS = "https://go.urbanairship.com"
NOW = datetime.now(timezone.utc).replace(tzinfo=None, microsecond=0)
LATER = datetime(NOW.year + 2, 3, 4, 9, 30)
TOKEN = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660"
VERSION = tuple(int(part) for part in __about__.__version__.split("."))


class Detour(requests.adapters.HTTPAdapter):
    """Takes requests for Airship to the service, and its links back."""

    def __init__(self, url):
        super().__init__()
        self.url = url

    def send(self, request, **options):
        request.url = request.url.replace(ADDRESS, self.url)
        answer = super().send(request, **options)
        if "location" in answer.headers:
            answer.headers["location"] = answer.headers["location"].replace(self.url, ADDRESS)
        if "json" in answer.headers.get("content-type", ""):
            answer._content = answer.content.replace(self.url.encode(), ADDRESS.encode())
        return answer


class Service:
    def __init__(self, url):
        self.url = url
        self.airship = ua.Airship(KEY, MASTER_SECRET)
        self.airship.session.mount(ADDRESS, Detour(url))
        self.apid = str(uuid.uuid4())
        self.ios = self.register("ios", {"push_address": TOKEN})
        self.android = self.register("android", {"push_address": "an-android"}, apid=self.apid)

    def register(self, kind, fields, **hints):
        body = {"channel": {"device_type": kind, "opt_in": True, "background": True, **fields}, "identity_hints": hints}
        answer = requests.post(f"{self.url}/api/channels", json=body, auth=(KEY, APP_SECRET))
        assert answer.status_code == 201, answer.text
        return answer.json()["channel_id"]

    def push(self, audience, alert="Hello"):
        push = self.airship.create_push()
        push.audience, push.device_types, push.notification = audience, ua.all_, ua.notification(alert=alert)
        return push

    def reached(self, audience):
        """The types of the devices that a push to an audience reaches."""
        [push_id] = self.push(audience).send().push_ids
        get = lambda path: requests.get(f"{self.url}/api/{path}", auth=(KEY, MASTER_SECRET)).json()
        eventually(lambda: get(f"push/{push_id}")["push"]["state"] == "done")
        names = {self.ios: "ios", self.android: "android"}
        return {names.get(delivery["channel_id"]) for delivery in get(f"sandbox?push_id={push_id}")["deliveries"]}


def filled(thing, **fields):
    for name, value in fields.items():
        setattr(thing, name, value)
    return thing


def check_pushes(service):
    assert service.reached(ua.or_(ua.ios_channel(service.ios), ua.android_channel(service.android))) == {"ios", "android"}
    assert service.reached(ua.device_token(TOKEN)) == {"ios"}
    assert service.reached(ua.apid(service.apid)) == {"android"}
    push = service.push(ua.all_)
    push.notification = ua.notification(
        alert="Hello",
        ios=ua.ios(alert="On iOS", badge="+1", sound="cat.caf", extra={"a": "b"}, expiry=3600, category="c", title="T"),
        android=ua.android(alert="On Android", extra={"a": "b"}, collapse_key="k", time_to_live=3600, title="T"),
        actions=ua.actions(add_tag="seen", open_={"type": "url", "content": "https://example.com"}),
        interactive=ua.interactive("ua_yes_no_foreground", {"yes": ua.actions(add_tag="yes")}),
    )
    push.message = ua.message("Title", "<p>Body</p>", "text/html", "utf-8", extra={"c": "d"})
    push.options = ua.options(expiry=3600)
    assert push.send().ok is True
    for mistaken, path in [({"notification": {"alert": 1}}, "notification.alert"), ({"audience": {"tag": 1}}, "audience.tag")]:
        try:
            filled(service.push(ua.all_), **mistaken).send()
        except ua.AirshipFailure as failure:
            assert failure.response.status_code == 400 and failure.details["path"] == path, failure.args
        else:
            raise AssertionError(f"{mistaken} was taken")
    try:
        stranger = ua.Airship(KEY, MASTER_SECRET[::-1])
        stranger.session.mount(ADDRESS, Detour(service.url))
        filled(service.push(ua.all_), _airship=stranger).send()
    except ua.Unauthorized:
        return
    raise AssertionError("a stranger sent")


def check_schedules(service):
    schedule = service.airship.create_scheduled_push()
    schedule.push, schedule.name = service.push(ua.all_, "Later"), "later"
    for when in [ua.scheduled_time(LATER), ua.local_scheduled_time(LATER)]:
        schedule.schedule = when
        answer = schedule.send()
        assert answer.ok is True and schedule.url.startswith(f"{ADDRESS}/api/schedules/"), vars(answer)
        kept = ua.ScheduledPush.from_url(service.airship, schedule.url)
        assert (kept.name, kept.push.notification["alert"]) == ("later", "Later"), vars(kept)
        kept.push.notification = ua.notification(alert="Changed")
        assert kept.update().ok is True
        kept.cancel()


def check_devices(service):
    airship = service.airship
    found = ua.ChannelInfo(airship).lookup(service.ios)
    assert (found.channel_id, found.device_type, found.push_address) == (service.ios, "ios", TOKEN), vars(found)
    assert isinstance(found.created, datetime), vars(found)
    assert {channel.channel_id for channel in ua.ChannelList(airship, limit=1)} >= {service.ios, service.android}
    assert [device.id for device in ua.DeviceTokenList(airship)] == [TOKEN]
    assert [device.id for device in ua.APIDList(airship)] == [service.android]
    tags = ua.ChannelTags(airship)
    tags.set_audience(ios=service.ios)
    tags.add("team", ["red"])
    assert tags.send()["ok"] is True
    assert ua.ChannelInfo(airship).lookup(service.ios).tag_groups["team"] == ["red"]
    lobby = filled(ua.OpenChannel(airship), address="lobby", open_platform="kiosk", opt_in=True, tags=["new"])
    lobby.create(set_tags=True) if VERSION < (4,) else lobby.create()
    assert ua.OpenChannel(airship).lookup(lobby.channel_id).address == "lobby"
    lobby.uninstall()
    lost = service.register("ios", {"push_address": TOKEN[::-1]})
    ua.ChannelUninstall(airship).uninstall([{"channel_id": lost, "device_type": "ios"}])
    assert ua.ChannelInfo(airship).lookup(lost).installed is False


def check_named_users(service):
    airship, kim = service.airship, ua.NamedUser(service.airship, "kim")
    kim.associate(service.ios, "ios")
    assert kim.tag("crm", add=["a", "b"])["ok"] is True and kim.tag("crm", remove=["a"])["ok"] is True
    found = kim.lookup()["named_user"]
    assert (found["tags"], found["channels"][0]["channel_id"]) == ({"crm": ["b"]}, service.ios), found
    assert [user.named_user_id for user in ua.NamedUserList(airship)] == ["kim"]
    assert service.reached(ua.named_user("kim")) == {"ios"}
    kim.disassociate(service.ios, "ios")
    assert kim.lookup()["named_user"]["channels"] == []


def check_lists_and_segments(service):
    airship = service.airship
    vip = filled(ua.StaticList(airship, "vip"), description="Gold", extra={"a": "b"})
    assert vip.create()["ok"] is True
    rows = f"identifier_type,identifier\r\nandroid_channel,{service.android}\r\n"
    assert vip.upload(io.BytesIO(rows.encode()))["ok"] is True
    found = eventually(lambda: (found := vip.lookup()).status == "ready" and found)
    assert (found.channel_count, found.description) == (1, "Gold"), vars(found)
    assert [each.name for each in ua.StaticLists(airship)] == ["vip"]
    assert service.reached({"static_list": "vip"}) == {"android"}
    vip.delete()
    red = filled(ua.Segment(), display_name="Red", criteria={"tag": "red", "group": "team"})
    red.create(airship)
    segments = [(each.id, each.display_name) for each in ua.SegmentList(airship)]
    assert [name for _, name in segments] == ["Red"], segments
    assert service.reached(ua.segment(segments[0][0])) == {"ios"}
    filled(ua.Segment(), id=segments[0][0]).delete(airship)


def check_templates(service):
    template = ua.Template(service.airship)
    template.name, template.description = "T", "One"
    template.variables = [{"key": "NAME", "default_value": "you"}]
    template.push = {"notification": {"alert": "Hi {{NAME}}"}}
    answer = template.create()
    assert answer.ok is True, str(answer)
    assert ua.Template(service.airship).lookup(template.template_id).name == "T"
    push = service.airship.create_template_push()
    push.audience, push.device_types = ua.ios_channel(service.ios), ["ios"]
    push.merge_data = ua.merge_data(template_id=template.template_id, substitutions={"NAME": "Kim"})
    assert push.send().ok is True
    template.delete()


def check_reports(service):
    airship, start, end = service.airship, NOW - timedelta(days=1), NOW + timedelta(days=1)
    [push_id] = service.push(ua.all_).send().push_ids
    one = ua.IndividualResponseStats(airship).get(push_id)
    assert one.push_type == "BROADCAST_PUSH", str(one)
    assert push_id in {each.push_uuid for each in ua.ResponseList(airship, start, end, limit=5)}
    for report in [ua.OptInList, ua.OptOutList, ua.PushList, ua.ResponseReportList, ua.AppOpensList, ua.TimeInAppList]:
        assert all(isinstance(row.date, datetime) for row in report(airship, start, end, "DAILY")), report
    assert ua.DevicesReport(airship).get(NOW)["total_unique_devices"] >= 2


def check_what_is_newer(service):
    """What version 3 does not have."""
    airship = service.airship
    assert service.push(ua.all_).validate().ok is True
    assert ua.ModifyAttributes(airship, [ua.Attribute("set", "plan", "gold")], channel=service.android).send().ok is True
    assert service.reached(ua.text_attribute("plan", "equals", "gold")) == {"android"}
    ua.SubscriptionList(airship, "weekly").subscribe(ua.ios_channel(service.ios))
    assert service.reached(ua.subscription_list("weekly")) == {"ios"}
    pipeline = ua.Pipeline(name="Welcome", enabled=True)
    pipeline.outcome = {"push": {"audience": "triggered", "device_types": "all", "notification": {"alert": "Hi"}}}
    pipeline.immediate_trigger = ["first_open"]
    automation = ua.Automation(airship)
    assert automation.validate(pipeline.payload).status_code == 200
    made = automation.create(pipeline.payload).json()
    pipeline_id = made["pipeline_urls"][0].rsplit("/", 1)[1]
    assert automation.lookup(pipeline_id).json()["pipeline"]["name"] == "Welcome"
    assert len(automation.list_automations(enabled=True).json()["pipelines"]) == 1
    automation.delete(pipeline_id)
    assert automation.list_deleted_automations().json()["pipelines"][0]["pipeline_id"] == pipeline_id
    assert [each.name for each in ua.ScheduledList(airship)] == []


CHECKS = [
    check_pushes,
    check_schedules,
    check_devices,
    check_named_users,
    check_lists_and_segments,
    check_templates,
    check_reports,
]


def main(program):
    checks = CHECKS if VERSION < (5,) else [*CHECKS, check_what_is_newer]
    with running(program, KEY, APP_SECRET, MASTER_SECRET) as url:
        service = Service(url)
        for check in checks:
            check(service)
    print(f"official: {len(checks)} parts of urbanairship {__about__.__version__} work")


if __name__ == "__main__":
    logging.getLogger("urbanairship").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", DeprecationWarning)
    [program] = sys.argv[1:]
    main(program)
