"""Tag lists, attribute lists and old listings of devices, and clients that come with tokens instead of the master secret."""

import tempfile
from pathlib import Path

import requests
import urbanairship as ua
from urbanairship.urls import Urls

from service import KEY, OPERATOR_TOKEN, USER, done, eventually, filled, refused


def uploaded(listed, rows):
    """Uploads a file and waits until it is applied. Returns the list as it is shown then."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        file.write_text("\n".join(rows) + "\n")
        done(listed.upload(str(file)), 202)

    def ready():
        lists = done(type(listed).list(listed.airship), 200)["lists"]
        [found] = [one for one in lists if one["name"] == listed.list_name]
        return found["status"] == "ready" and found

    return eventually(ready)


def check_change_lists(service):
    airship, device = service.airship, service.devices["ios"]
    tags = ua.TagList(
        airship, "ua_tags_gold", "Gold members", {"source": "crm"}, add_tags={"loyalty": ["gold"]},
        remove_tags={"loyalty": ["silver"]}, set_tags={"plan": ["new"]},
    )
    done(tags.create(), 201)
    refused(tags.create, 409)
    found = uploaded(tags, ["channel_id,firstName", f"{device},Kim", "nobody,Lee"])
    assert (found["mutation_success_count"], found["mutation_error_count"]) == (1, 1), found
    assert tags.get_errors().text.startswith('"nobody",ERROR,"Line 3: '), tags.get_errors().text
    assert ua.ChannelInfo(airship).lookup(device).tag_groups["loyalty"] == ["gold"]

    attributes = ua.AttributeList(airship, "ua_attributes_crm", "From the CRM", {"source": "crm"})
    done(attributes.create(), 201)
    uploaded(attributes, ["named_user,seats,city", f'"{USER}",12,Oslo'])
    assert attributes.get_errors().text == ""
    user = ua.NamedUser(airship, USER).lookup()["named_user"]
    assert (user["attributes"]["seats"], user["attributes"]["city"]) == (12, "Oslo"), user


def check_old_listings(service):
    tokens = [device.device_token for device in ua.DeviceTokenList(service.airship, limit=1)]
    apids = [device.apid for device in ua.APIDList(service.airship)]
    assert len(tokens) == len(set(tokens)) >= 1 and service.devices["android"] in apids, (tokens, apids)


def check_tokens(service):
    """A token and an OAuth client do what the master secret does, as far as their roles go."""

    def made(kind, **fields):
        url, headers = f"{service.url}/operator/apps/{KEY}/{kind}", {"Authorization": f"Bearer {OPERATOR_TOKEN}"}
        return done(requests.post(url, json={"name": "Shop", **fields}, headers=headers), 201)

    urls = Urls(base_url=f"{service.url}/api/")
    bearer = filled(ua.client.BearerTokenClient(KEY, made("tokens", role="sender")["token"]), urls=urls)
    client = made("oauth-clients", role="sender", scopes=["chn", "evt", "jny"])

    def oauth_client(*scopes):
        oauth = ua.client.OAuthClient(KEY, client["client_id"], client["private_key"], scope=list(scopes))
        return filled(oauth, urls=urls, token_url=f"{service.url}/token")

    oauth = oauth_client("chn", "evt")
    for airship in [bearer, oauth]:
        assert ua.ChannelInfo(airship).lookup(service.devices["ios"]).channel_id == service.devices["ios"]
        assert ua.CustomEvent(airship, "seen_by_token", ua.named_user(USER)).send()["ok"] is True
    assert filled(service.push(alert="Hello"), _airship=bearer).send().ok is True
    refused(filled(service.push(alert="Hello"), _airship=oauth).send, 403)
    refused(lambda: ua.Journeys(oauth).trigger(ua.named_user(USER), "welcome"), 403)
    journeys = ua.Journeys(oauth_client("jny"))
    entered = journeys.trigger(ua.named_user(USER), ["welcome", "other"], "first", {"item": {"name": "Boots"}})
    assert entered["ok"] is True and journeys.trigger(ua.tag("nobody-has-this"), "welcome")["ok"] is True
    assert journeys.exit("welcome", "first")["ok"] is True and journeys.exit(["welcome", "other"])["ok"] is True


CHECKS = [check_change_lists, check_old_listings, check_tokens]
