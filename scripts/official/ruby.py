"""Starts the program for requests.rb, with two devices, an OAuth client, and a bearer token, without which the Ruby library sends
no custom events.

usage: ruby.py PROGRAM
"""

import subprocess
import sys
from pathlib import Path

import requests

from program import running

KEY, APP_SECRET, MASTER_SECRET = "official-client-app-ke", "official-client-app-se", "official-client-master"
OPERATOR_TOKEN = "official-operator-token"


def made(answer, key):
    assert answer.status_code == 201, answer.text
    return answer.json()[key]


def main(program):
    with running(program, KEY, APP_SECRET, MASTER_SECRET, OPERATOR_TOKEN) as url:
        def registered(kind, address):
            channel = {"channel": {"device_type": kind, "opt_in": True, "push_address": address}}
            return made(requests.post(f"{url}/api/channels", json=channel, auth=(KEY, APP_SECRET)), "channel_id")

        device_token = "AB" * 32
        channel, android = registered("ios", device_token), registered("android", "an-android")
        operator = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
        token = {"name": "ruby", "role": "sender"}
        token = made(requests.post(f"{url}/operator/apps/{KEY}/tokens", json=token, headers=operator), "token")
        client = {"name": "ruby", "role": "sender", "scopes": ["chn", "psh"]}
        client = requests.post(f"{url}/operator/apps/{KEY}/oauth-clients", json=client, headers=operator)
        script = Path(__file__).with_name("requests.rb")
        named = [url, KEY, MASTER_SECRET, token, channel, device_token, android, made(client, "client_id")]
        subprocess.run(["ruby", script, *named], check=True, input=client.json()["private_key"], text=True)


if __name__ == "__main__":
    [program] = sys.argv[1:]
    main(program)
