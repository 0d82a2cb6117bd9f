"""Pins the images that ours is built from by digest; scripts/pin-images says how to run it."""

import hashlib
import json
import pathlib
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

PACKAGING = pathlib.Path(__file__).resolve().parent.parent / "packaging"
# Where Docker's images are, whatever their names say.
HOSTS = {"docker.io": "https://registry-1.docker.io"}
# Lists of the manifests of all systems, so that a digest is good on each of them, then manifests of one.
MANIFESTS = ", ".join(f"application/vnd.{kind}+json" for kind in (
    "oci.image.index.v1", "docker.distribution.manifest.list.v2", "oci.image.manifest.v1", "docker.distribution.manifest.v2"))
PINNED = re.compile(r"\S+:[\w][\w.-]*@sha256:[0-9a-f]{64}")
LOCK_HEADER = "# Written by scripts/pin-images from packaging/images: what the tags meant when it ran.\n"
PATIENCE = 30


class Unpinned(Exception):
    """A sentence about what is not pinned, or cannot be."""


def main(arguments, packaging=PACKAGING, hosts=HOSTS):
    """What is printed; what fails raises `Unpinned`."""
    match arguments:
        case []:
            images = [(name, pinned(image, hosts)) for name, image in read(packaging / "images")]
            (packaging / "images.lock").write_text(LOCK_HEADER + "".join(f"{name} {image}\n" for name, image in images))
            return "\n".join(f"{name} is {image}" for name, image in images)
        case ["--build-args"]:
            check(packaging, is_release=True)
            return " ".join(f"--build-arg {name}={image}" for name, image in read(packaging / "images.lock"))
        case ["--check"]:
            return check(packaging, is_release=False)
        case ["--check-release"]:
            return check(packaging, is_release=True)
    raise Unpinned(f"there is no option '{' '.join(arguments)}'; the head of scripts/pin-images lists them.")


def read(file):
    """The (build argument, image) of every line."""
    lines = [line.split() for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    for line in lines:
        if len(line) != 2:
            raise Unpinned(f"{file}: a line is a build argument and an image, not '{' '.join(line)}'.")
    return [(name, image) for name, image in lines]


def pinned(image, hosts):
    host, _, rest = image.partition("/")
    repository, _, tag = rest.rpartition(":")
    if not (repository and tag) or "@" in image:
        raise Unpinned(f"'{image}' is not of the form host/repository:tag.")
    url = f"{hosts.get(host, 'https://' + host)}/v2/{repository}/manifests/{tag}"
    try:
        manifest = fetch(url, {"Accept": MANIFESTS})
    except (OSError, ValueError) as error:
        raise Unpinned(f"the registry did not tell what {image} is, so that it cannot be pinned from here: {error}.") from error
    if "schemaVersion" not in json.loads(manifest):
        raise Unpinned(f"what the registry has for {image} is no manifest.")
    return f"{image}@sha256:{hashlib.sha256(manifest).hexdigest()}"


def fetch(url, headers):
    """The bytes at a URL, with the token that a registry gives to everybody."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE) as answer:
            return answer.read()
    except urllib.error.HTTPError as refusal:
        challenge = refusal.headers.get("WWW-Authenticate", "")
        if refusal.code != 401 or "Authorization" in headers or not challenge.startswith("Bearer "):
            raise
        parts = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        query = urllib.parse.urlencode({key: parts[key] for key in ("service", "scope") if key in parts})
        token = json.loads(fetch(f"{parts['realm']}?{query}", {"Authorization": ""}))
        return fetch(url, headers | {"Authorization": f"Bearer {token.get('token') or token['access_token']}"})


def check(packaging, is_release):
    """Every image in a file under packaging/ has a digest, or is a build argument that the lock gives a value with one."""
    followed = read(packaging / "images")
    for file in sorted(packaging.rglob("*")):
        if file.is_file() and file.name.split(".")[0] in ("Dockerfile", "Containerfile"):
            check_dockerfile(file, {name for name, _ in followed})
        elif file.suffix in (".yaml", ".yml"):
            for image in re.findall(r"^\s*-?\s*image:\s*[\"']?([^\"'\s]+)", file.read_text(), re.MULTILINE):
                must_be_pinned(file, image)
    lock = packaging / "images.lock"
    if not lock.exists():
        if is_release:
            raise Unpinned("packaging/images.lock is missing: run scripts/pin-images where the registries can be reached.")
        return "images: no file names one by its tag; packaging/images.lock is not there yet, so that none can be built"
    locked = read(lock)
    for _, image in locked:
        must_be_pinned(lock, image)
    if [(name, image.partition("@")[0]) for name, image in locked] != followed:
        raise Unpinned("packaging/images.lock is about other tags than packaging/images: run scripts/pin-images.")
    return f"images: {len(locked)} are pinned by digest"


def check_dockerfile(file, arguments):
    stages = set()
    for line in file.read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if words[0].upper() == "ARG" and (default := line.partition("=")[2]) and words[1].partition("=")[0] in arguments:
            must_be_pinned(file, default.strip("\"'"))
        if words[0].upper() == "FROM":
            words = [word for word in words[1:] if not word.startswith("--")]
            image = words[0]
            if image not in stages | {"scratch"} | {f"${{{name}}}" for name in arguments}:
                must_be_pinned(file, image)
            if len(words) == 3:
                stages.add(words[2])
        for source in re.findall(r"--from=(\S+)", line):
            if source not in stages:
                must_be_pinned(file, source)


def must_be_pinned(file, image):
    if not PINNED.fullmatch(image):
        raise Unpinned(f"{file.relative_to(file.parents[1])} names the image '{image}' without a digest.")


if __name__ == "__main__":
    try:
        print(main(sys.argv[1:]))
    except Unpinned as problem:
        sys.exit(f"pin-images: {problem}")
