"""Starts the program for requests.rb, with a device and a bearer token, without which the Ruby library sends no custom events.

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
        channel = {"channel": {"device_type": "ios", "opt_in": True, "push_address": "AB" * 32}}
        channel = made(requests.post(f"{url}/api/channels", json=channel, auth=(KEY, APP_SECRET)), "channel_id")
        operator = {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
        token = {"name": "ruby", "role": "sender"}
        token = made(requests.post(f"{url}/operator/apps/{KEY}/tokens", json=token, headers=operator), "token")
        script = Path(__file__).with_name("requests.rb")
        subprocess.run(["ruby", script, url, KEY, MASTER_SECRET, token, channel], check=True)


if __name__ == "__main__":
    [program] = sys.argv[1:]
    main(program)
