"""Independent implementations read what the service sends: http-ece, py-vapid and PyJWT.

usage: peers.py keys FOLDER      makes keys for the service to send with, in FOLDER/keys.json
       peers.py check FOLDER     checks what it sent, which is in FOLDER/requests.json
"""

import base64
import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs

import http_ece
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from py_vapid import Vapid02

SUBJECT = "mailto:push@example.com"
TEAM, KEY_ID = "TEAM567890", "KEY4567890"
ACCOUNT, ACCOUNT_KEY_ID = "push@peers.iam.gserviceaccount.com", "account-key-1"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key):
    return key.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def public_pem(text):
    public = serialization.load_pem_private_key(text.encode(), None).public_key()
    return public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def make_keys(folder):
    browser, vapid = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    keys = {
        "apns": {"team_id": TEAM, "key_id": KEY_ID, "key": pem(ec.generate_private_key(ec.SECP256R1()))},
        "fcm": {
            "type": "service_account",
            "project_id": "peers",
            "private_key_id": ACCOUNT_KEY_ID,
            "private_key": pem(rsa.generate_private_key(65537, 2048)),
            "client_email": ACCOUNT,
        },
        "browser": {"p256dh": unpadded(point(browser)), "auth": unpadded(os.urandom(16)), "private_key": pem(browser)},
        "vapid": {
            "private_key": unpadded(vapid.private_numbers().private_value.to_bytes(32, "big")),
            "public_key": unpadded(point(vapid)),
            "subject": SUBJECT,
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keys.json").write_text(json.dumps(keys))
    (folder / "requests.json").unlink(missing_ok=True)


def refuses(action, what):
    """A check that cannot fail proves nothing: what was tampered with must be refused."""
    try:
        good = action()
    except Exception:
        return
    assert good is False, f"{what} was accepted although it was tampered with"


def tampered(text):
    middle = len(text) // 2
    return text[:middle] + ("A" if text[middle] != "A" else "B") + text[middle + 1 :]


def check_web_push(request, keys):
    body, browser = base64.b64decode(request["body"]), keys["browser"]
    private = serialization.load_pem_private_key(browser["private_key"].encode(), None)

    def decrypt(body):
        auth = decoded(browser["auth"])
        return http_ece.decrypt(body, private_key=private, auth_secret=auth, version="aes128gcm")

    assert decrypt(body).decode() == request["message"], "the browser reads something else"
    refuses(lambda: decrypt(body[:-1] + bytes([body[-1] ^ 1])), "a message")
    assert len(body) <= 4096, f"{len(body)} bytes are more than push services take"

    headers = request["headers"]
    assert headers["content-encoding"] == "aes128gcm" and int(headers["ttl"]) >= 0
    authorization = headers["authorization"]
    assert Vapid02.verify(authorization), "py-vapid refuses the header"
    fields = dict(field.strip().split("=", 1) for field in authorization.removeprefix("vapid ").split(","))
    assert fields["k"] == request["public_key"], "another key than the one browsers subscribe with"
    refuses(lambda: Vapid02.verify(authorization.replace(fields["t"], tampered(fields["t"]))), "a header")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(fields["k"]))
    claims = jwt.decode(fields["t"], public, algorithms=["ES256"], audience=request["origin"])
    assert claims["sub"] == SUBJECT and 0 < claims["exp"] - time.time() <= 24 * 3600, claims


def check_apns(request, keys):
    scheme, token = request["headers"]["authorization"].split(" ")
    public = public_pem(keys["apns"]["key"])
    claims = jwt.decode(token, public, algorithms=["ES256"])
    assert scheme == "bearer" and jwt.get_unverified_header(token)["kid"] == KEY_ID
    assert claims["iss"] == TEAM and 0 <= time.time() - claims["iat"] < 3600, claims
    refuses(lambda: jwt.decode(tampered(token), public, algorithms=["ES256"]), "a token for Apple")


def check_fcm(request, keys):
    form = parse_qs(base64.b64decode(request["body"]).decode(), strict_parsing=True)
    assert form["grant_type"] == [GRANT], form
    [assertion] = form["assertion"]
    public = public_pem(keys["fcm"]["private_key"])
    claims = jwt.decode(assertion, public, algorithms=["RS256"], audience=request["token_uri"])
    assert jwt.get_unverified_header(assertion)["kid"] == ACCOUNT_KEY_ID
    assert claims["iss"] == ACCOUNT and claims["scope"] == SCOPE, claims
    assert claims["exp"] - claims["iat"] <= 3600, claims
    refuses(lambda: jwt.decode(tampered(assertion), public, algorithms=["RS256"], audience=request["token_uri"]), "a statement")


CHECKS = {"web_push": check_web_push, "apns": check_apns, "fcm": check_fcm}


def check(folder):
    keys = json.loads((folder / "keys.json").read_text())
    requests = json.loads((folder / "requests.json").read_text())
    for request in requests:
        CHECKS[request["kind"]](request, keys)
    counts = {kind: sum(request["kind"] == kind for request in requests) for kind in CHECKS}
    assert all(counts.values()), f"something was not sent: {counts}"
    print("peers: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) + ", all accepted")


if __name__ == "__main__":
    action, folder = sys.argv[1:]
    {"keys": make_keys, "check": check}[action](Path(folder))
