"""Who devices and people are to the official client library, and how audiences find them; for check.py."""

import io
import uuid
from datetime import datetime, timedelta

import urbanairship as ua

from service import DEVICES, NOW, PLATFORM, TOKEN, USER, done, eventually, filled, refused


def check_audiences(service):
    ids, apid = service.devices, DEVICES["android"]["identity_hints"]["apid"]
    assert service.reached(ua.ios_channel(ids["ios"].upper())) == {"ios"}
    assert service.reached(ua.or_(ua.android_channel(ids["android"]), ua.amazon_channel(ids["amazon"]))) == {"android", "amazon"}
    assert service.reached(ua.or_(ua.channel(ids["web"]), ua.open_channel(ids["open"]))) == {"web", "open"}
    assert service.reached(ua.or_(ua.device_token(TOKEN.lower()), ua.apid(apid))) == {"ios", "android"}
    # For the library Windows devices have ids only, no addresses.
    assert service.reached(ua.wns(ids["wns"])) == {"wns"}
    assert service.reached(ua.not_(ua.channel(ids["ios"]))) == set(ids) - {"ios"}
    assert service.reached(ua.and_(ua.tag_group("ua_locale_language", "fr"), ua.tag_group("timezone", "Europe/Paris"))) == {"ios"}
    for nobody in [ua.tag("nobody"), ua.alias("nobody"), ua.named_user("nobody"), ua.segment(str(uuid.uuid4()))]:
        assert service.reached(nobody) == set()


def check_channels(service):
    airship, ids = service.airship, service.devices
    for kind, channel_id in ids.items():
        info = ua.ChannelInfo(airship).lookup(channel_id)
        assert (info.channel_id, info.device_type, info.opt_in, info.installed) == (channel_id, kind, True, True), vars(info)
        assert (info.push_address or info.address) == DEVICES.get(kind, {}).get("push_address", "lobby-1"), vars(info)
        assert isinstance(info.created, datetime) and isinstance(info.last_registration, datetime), vars(info)
    listed = [channel.channel_id for channel in ua.ChannelList(airship, limit=2)]
    assert sorted(listed) == sorted(ids.values())
    assert [channel.channel_id for channel in ua.ChannelList(airship, start_channel=listed[3])] == listed[3:]

    lost = service.register("ios", push_address=TOKEN[::-1])
    done(ua.ChannelUninstall(airship).uninstall([{"channel_id": lost, "device_type": "ios"}]), 202)
    assert ua.ChannelInfo(airship).lookup(lost).installed is False

    lobby = service.open_channel("lobby-2", tags=["new"], identifiers={"floor": "2"})
    channel_id = lobby.channel_id
    done(filled(lobby, opt_in=False, tags=["old"]).update(), 200)
    done(filled(ua.OpenChannel(airship), channel_id=channel_id, open_platform=PLATFORM, opt_in=False).update(), 200)
    tags = ua.OpenChannelTags(airship)
    tags.set_audience("lobby-2", PLATFORM)
    tags.add("size", ["large", "tall"])
    tags.remove("size", ["small"])
    assert tags.send()["ok"] is True
    found = ua.OpenChannel(airship).lookup(channel_id)
    assert (found.channel_id, found.address, found.open_platform) == (channel_id, "lobby-2", PLATFORM), vars(found)
    assert (found.opt_in, found.tags, found.identifiers) == (False, ["old"], {"floor": "2"}), vars(found)
    assert found.tag_groups["size"] == ["large", "tall"] and isinstance(found.created, datetime), vars(found)
    tags = ua.OpenChannelTags(airship)
    tags.set_audience("lobby-2", PLATFORM)
    tags.set("size", ["small"])
    assert tags.send()["ok"] is True
    assert ua.OpenChannel(airship).lookup(channel_id).tag_groups["size"] == ["small"]
    done(lobby.uninstall(), 202)
    gone = ua.OpenChannel(airship).lookup(channel_id)
    assert gone.installed is False and isinstance(gone.last_registration, datetime), vars(gone)


def check_tags(service):
    def change(audience, **groups):
        tags = ua.ChannelTags(service.airship)
        tags.set_audience(**audience)
        for action, (group, names) in groups.items():
            getattr(tags, action)(group, names)
        assert tags.send()["ok"] is True

    four = {kind: service.devices[kind] for kind in ["ios", "android", "amazon", "web"]}
    change(four, add=("team", ["red"]), remove=("team", ["blue"]))
    assert service.reached(ua.tag_group("team", "red")) == set(four)
    change({"ios": four["ios"]}, set=("team", ["green"]))
    assert service.reached(ua.and_(ua.tag_group("team", "green"), ua.not_(ua.tag_group("team", "red")))) == {"ios"}
    change({"ios": four["ios"]}, add=("device", ["flat"]))
    assert service.reached(ua.tag("flat")) == {"ios"} and ua.ChannelInfo(service.airship).lookup(four["ios"]).tags == ["flat"]


def check_named_users(service):
    airship, ids = service.airship, service.devices
    kim, lou = ua.NamedUser(airship, USER), ua.NamedUser(airship, "lou")
    for kind in ["ios", "android"]:
        done(kim.associate(ids[kind], kind), 200)
    done(ua.NamedUser(airship, USER).associate(ids["web"]), 200)
    done(kim.disassociate(ids["android"], "android"), 200)
    assert {channel["channel_id"] for channel in kim.lookup()["named_user"]["channels"]} == {ids["ios"], ids["web"]}
    assert service.reached(ua.named_user(USER)) == {"ios", "web"}

    assert kim.tag("crm", add=["a", "b"])["ok"] and kim.tag("crm", add=["c"], remove=["a"])["ok"]
    assert kim.lookup()["named_user"]["tags"] == {"crm": ["b", "c"]}
    assert kim.tag("crm", set=["d"])["ok"]
    tags = ua.NamedUserTags(airship)
    tags.set_audience([USER, "lou"])
    tags.add("crm", ["both"])
    assert tags.send()["ok"] is True
    assert service.reached(ua.tag_group("crm", "both")) == {"ios", "web"}

    android = [{"channel_id": ids["android"], "device_type": "android"}]
    city = {"action": "set", "key": "city", "value": "Oslo"}
    done(lou.update(associate=android, tags={"add": {"crm": ["late"]}}, attributes=[city]), 200)
    done(lou.update(disassociate=android), 200)
    # The library writes this list into the path as well.
    done(lou.attributes([{"action": "set", "key": "it's", "value": "a \"b\" 'c'"}, {"action": "remove", "key": "city"}]), 200)
    found = lou.lookup()["named_user"]
    assert (found["channels"], found["attributes"]) == ([], {"it's": "a \"b\" 'c'"}), found

    many = [f"user-{n:03}" for n in range(101)]
    for name in many:
        ua.NamedUser(airship, name).tag("crm", add=["many"])
    assert [user.named_user_id for user in ua.NamedUserList(airship)] == [USER, "lou", *many]
    done(ua.NamedUser.uninstall(airship, ["lou", *many[:99]]), 200)
    refused(lou.lookup, 404)
    for change in [kim.email_associate, kim.email_disassociate]:
        refused(lambda: change("kim@example.com"), 400, "email_address")


def check_attributes(service):
    airship, android = service.airship, service.devices["android"]
    values = {"plan": "gold", "age": 30, "zero": 0, "since": "2020-01-02T03:04:05"}
    changes = [ua.Attribute("set", key, value, NOW - timedelta(days=1)) for key, value in values.items()]
    answer = ua.ModifyAttributes(airship, [*changes, ua.Attribute("remove", "none")], channel=android).send()
    assert answer.ok is True and answer.warning is None, str(answer)
    assert ua.ModifyAttributes(airship, [ua.Attribute("set", "plan", "silver")], named_user=USER).send().ok is True
    assert ua.ChannelInfo(airship).lookup(android).attributes == values
    assert service.reached(ua.text_attribute("plan", "contains", "il")) == {"ios", "web"}
    for audience in [
        ua.text_attribute("plan", "equals", "gold"),
        ua.number_attribute("age", "greater", 29),
        ua.number_attribute("zero", "equals", 0),
        ua.date_attribute("since", "before", "days", "2021-01-01 00:00:00"),
        ua.date_attribute("since", "equals", "year_month", "2020-01"),
        ua.date_attribute("since", "range", value="2019-01-01 00:00:00/2021-01-01 00:00:00"),
        ua.not_(ua.date_attribute("since", "is_empty")),
        # The library insists on a value.
        ua.not_(ua.text_attribute("since", "is_empty", "")),
        ua.not_(ua.number_attribute("age", "is_empty", 0)),
    ]:
        assert service.reached(audience) == {"android"}, audience


def check_subscriptions(service):
    weekly, ids = ua.SubscriptionList(service.airship, "weekly"), service.devices
    done(weekly.subscribe(ua.ios_channel(ids["ios"])), 202)
    done(weekly.subscribe(ua.channel(ids["open"])), 202)
    assert service.reached(ua.subscription_list("weekly")) == {"ios", "open"}
    done(weekly.unsubscribe(ua.channel(ids["ios"])), 202)
    assert service.reached(ua.subscription_list("weekly")) == {"open"}


def check_lists(service):
    def vip(**fields):
        return filled(ua.StaticList(service.airship, "vip"), **fields)

    assert vip(description="Gold", extra={"a": "b"}).create()["ok"] is True
    rows = [f"named_user,{USER}", f"android_channel,{service.devices['android']}"]
    assert vip().upload(io.BytesIO("\r\n".join(["identifier_type,identifier", *rows]).encode()))["ok"] is True
    found = eventually(lambda: (found := vip().lookup()).status == "ready" and found)
    assert (found.name, found.description, found.extra, found.channel_count) == ("vip", "Gold", {"a": "b"}, 3), vars(found)
    assert isinstance(found.created, datetime) and isinstance(found.last_updated, datetime), vars(found)
    assert service.reached(ua.static_list("vip")) == {"ios", "web", "android"}
    assert vip(description="Platinum").update()["ok"] is True
    [listed] = ua.StaticLists(service.airship)
    assert (listed.name, listed.description) == ("vip", "Platinum"), str(listed)
    assert ua.StaticList.download(service.airship, "vip").text.splitlines() == sorted(rows)
    refused(lambda: vip().upload(io.BytesIO(f"{rows[1]}\nnonsense,1\n".encode())), 400, "line 2")
    done(vip().delete(), 204)
    refused(vip().lookup, 404)


def check_segments(service):
    airship = service.airship
    # The library keeps what it has looked up in the class, for all segments.
    for n in range(5):
        done(filled(ua.Segment(), display_name=f"Team {n}", criteria=ua.tag_group("team", "red")).create(airship), 201)
    segments = [(segment.id, segment.display_name) for segment in ua.SegmentList(airship, limit=2)]
    assert [name for _, name in segments] == [f"Team {n}" for n in range(5)]
    one = filled(ua.Segment(), id=segments[0][0], display_name="Green", criteria=ua.or_(ua.tag_group("team", "green")))
    done(one.update(airship), 200)
    assert done(ua.Segment.from_id(airship, one.id), 200) == {"display_name": "Green", "criteria": one.criteria}
    assert service.reached(ua.segment(one.id)) == {"ios"}
    for segment_id, _ in segments:
        done(filled(ua.Segment(), id=segment_id).delete(airship), 204)
    assert not list(ua.SegmentList(airship))


# In this order: later ones use the tags and users of those before.
CHECKS = [
    check_audiences,
    check_channels,
    check_tags,
    check_named_users,
    check_attributes,
    check_subscriptions,
    check_lists,
    check_segments,
]
