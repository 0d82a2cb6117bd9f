"""An independent client of live connections, websockets: it connects, gets messages, acknowledges, and comes back for what it missed.

usage: live_peer.py PROGRAM
"""

import asyncio
import json
import sys

import requests
import websockets
from websockets.exceptions import InvalidStatus

from program import eventually, running

KEY, APP_SECRET, MASTER_SECRET = "live-peer-app-key-0001", "live-peer-app-secret-1", "live-peer-master-00001"
PROTOCOL = "aerogram.live.1"


class Device:
    """A live channel, which has no other way to be reached."""

    def __init__(self, url):
        self.url = url
        channel = {"channel": {"device_type": "web", "opt_in": True, "live": True}}
        self.id = self.call("POST", "/api/channels", APP_SECRET, 201, json=channel)["channel_id"]
        headers = {"X-UA-Channel-ID": self.id}
        self.token = self.call("GET", "/api/auth/device", APP_SECRET, 200, headers=headers)["token"]

    def call(self, method, path, secret, status, **more):
        answer = requests.request(method, self.url + path, auth=(KEY, secret), **more)
        assert answer.status_code == status, answer.text
        return answer.json()

    def push(self, alert):
        push = {"audience": {"channel": self.id}, "device_types": ["web"], "notification": {"alert": alert}}
        return self.call("POST", "/api/push", MASTER_SECRET, 200, json=push)["push_ids"][0]

    def received(self, push_id):
        """How many devices have acknowledged a push."""
        return self.call("GET", f"/api/push/{push_id}", MASTER_SECRET, 200)["push"].get("received")

    def connect(self, token=None, **query):
        query = "&".join(f"{name}={value}" for name, value in query.items())
        url = f"{self.url.replace('http', 'ws', 1)}/live?{query}"
        return websockets.connect(url, subprotocols=[PROTOCOL, f"token.{token or self.token}"], proxy=None)


async def heard(socket, kind):
    message = json.loads(await asyncio.wait_for(socket.recv(), 60))
    assert message["type"] == kind, message
    return message


async def check(device):
    async with device.connect() as socket:
        assert socket.subprotocol == PROTOCOL
        hello = await heard(socket, "hello")
        assert (hello["channel"], hello["complete"]) == (device.id, True), hello
        first = device.push("First")
        message = await heard(socket, "push")
        assert (message["push"]["push_id"], message["push"]["alert"]) == (first, "First"), message
        await socket.send(json.dumps({"ack": message["at"]}))
        await asyncio.to_thread(eventually, lambda: device.received(first) == 1)
        # The library checks that the answer to a ping is its own.
        await asyncio.wait_for(await socket.ping(), 60)
    missed = [device.push(alert) for alert in ("Second", "Third ✓")]
    async with device.connect(after=message["at"]) as socket:
        assert (await heard(socket, "hello"))["complete"]
        told = [(await heard(socket, "push"))["push"] for _ in missed]
        assert [push["push_id"] for push in told] == missed, told
        assert told[1]["alert"] == "Third ✓"
        await socket.send(b"binary data is not part of the protocol")
        await asyncio.wait_for(socket.wait_closed(), 60)
        assert socket.close_code == 1003, socket.close_code
    try:
        await device.connect(token="wrong")
    except InvalidStatus as refused:
        assert refused.response.status_code == 401, refused
    else:
        raise AssertionError("a wrong token is taken")


def main(program):
    with running(program, KEY, APP_SECRET, MASTER_SECRET) as url:
        asyncio.run(check(Device(url)))
    print(f"live: websockets {websockets.__version__} connects, acknowledges and resumes")


if __name__ == "__main__":
    [program] = sys.argv[1:]
    main(program)
