"""The running service for check.py: its devices, a client of it, and what to expect of answers."""

import uuid
from datetime import datetime, timezone

import requests
import urbanairship as ua
from urbanairship.urls import Urls

from program import eventually

KEY, APP_SECRET, MASTER_SECRET = "official-client-app-ke", "official-client-app-se", "official-client-master"
OPERATOR_TOKEN = "official-operator-token"
NOW = datetime.now(timezone.utc).replace(tzinfo=None, microsecond=0)
LATER = datetime(NOW.year + 2, 3, 4, 9, 30)
PLATFORM = "kiosk"
# The library writes ids into paths as they are, so a slash would not do.
USER = "kim & co"
TOKEN = "FE66489F304DC75B8D6E8200DFF8A456E8DAEACEC428B427E9518741C92C6660"
# From RFC 8291: the key of a browser has to be a real one.
SUBSCRIPTION = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
DEVICES = {
    "ios": {"push_address": TOKEN, "background": True, "timezone": "Europe/Paris", "locale_language": "fr"},
    "android": {"push_address": "an-android", "background": True, "identity_hints": {"apid": str(uuid.uuid4())}},
    "amazon": {"push_address": "a-kindle", "background": True},
    "web": {"push_address": "https://push.example.com/a-browser", "web": {"subscription": SUBSCRIPTION}},
    "wns": {"push_address": "https://db5.notify.windows.com/?token=a-pc"},
}
EVERYWHERE = ["ios", "android", "amazon", "web", "wns", f"open::{PLATFORM}"]


class Service:
    """The running service, a client of it, and the ids of its devices by their type."""

    def __init__(self, url):
        self.url = url
        self.airship = self.client(MASTER_SECRET)
        self.devices = {kind: self.register(kind, **fields) for kind, fields in DEVICES.items()}
        self.devices["open"] = self.open_channel("lobby-1").channel_id

    def client(self, secret):
        client = ua.client.BasicAuthClient(KEY, secret)
        client.urls = Urls(base_url=f"{self.url}/api/")
        return client

    def register(self, kind, identity_hints=None, **fields):
        """Registers as a device does, which is no business of this library."""
        body = {"channel": {"device_type": kind, "opt_in": True, **fields}, "identity_hints": identity_hints or {}}
        return done(requests.post(f"{self.url}/api/channels", json=body, auth=(KEY, APP_SECRET)), 201)["channel_id"]

    def open_channel(self, address, **fields):
        channel = filled(ua.OpenChannel(self.airship), address=address, open_platform=PLATFORM, opt_in=True, **fields)
        done(channel.create(), 200)
        return channel

    def get(self, path, **params):
        return self.airship.request("GET", None, f"{self.url}/api/{path}", params=params).json()

    def push(self, audience=ua.all_, device_types=("ios",), alert=None, **parts):
        push = filled(ua.Push(self.airship), audience=audience, device_types=list(device_types), **parts)
        return push if alert is None else filled(push, notification=ua.notification(alert=alert))

    def delivered(self, push_id):
        """What a push sent to devices, by their type, once it is over. Without a type are those that it made itself."""
        eventually(lambda: self.get(f"push/{push_id}")["push"]["state"] == "done")
        kinds = {channel: kind for kind, channel in self.devices.items()}
        found = self.get("sandbox", push_id=push_id)["deliveries"]
        return {kinds.get(delivery["channel_id"]): str(delivery["request"]) for delivery in found}

    def reached(self, audience):
        """The types of the devices that a push to an audience reaches."""
        return set(self.delivered(sent(self.push(audience, EVERYWHERE, "Hello"))))


def filled(thing, **fields):
    """Most of what the library has is filled in by setting attributes."""
    for name, value in fields.items():
        setattr(thing, name, value)
    return thing


def done(answer, status):
    assert answer.status_code == status, (answer.status_code, answer.text)
    return answer.json() if answer.content else None


def sent(push):
    """The id of a push that was validated and sent."""
    assert push.validate().ok is True
    answer = push.send()
    assert answer.ok is True and uuid.UUID(answer.operation_id), str(answer)
    [push_id] = answer.push_ids
    return push_id


def refused(action, status, path=None):
    """What the library raises for a request that is refused."""
    try:
        action()
    except ua.AirshipFailure as failure:
        assert failure.response.status_code == status, failure.args
        assert failure.error and isinstance(failure.error_code, int), failure.args
        assert path is None or failure.details["path"] == path, failure.details
        return failure
    raise AssertionError(f"not refused with {status}")


def unauthorized(action):
    try:
        action()
    except ua.Unauthorized:
        return
    raise AssertionError("not refused")
