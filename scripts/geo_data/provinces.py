"""Provinces outside the United States, from Natural Earth."""

import json
import pathlib
from dataclasses import dataclass, field

import shapes

# Larger shapes may lose more. Enclaves, city states and small islands keep nearly everything.
INTERVAL = "this.area < 1e8 ? 30 : this.area < 2e9 ? 250 : 700"

LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "tr", "ru", "uk", "el", "ja", "ko", "zh", "ar"]

# Overseas parts that have an ISO code of their own, by the name of the unit.
UNITS = {
    "French Guiana": "GF", "Guadeloupe": "GP", "Martinique": "MQ", "Réunion": "RE", "Reunion": "RE", "Mayotte": "YT",
    "Cocos Islands": "CC", "Cocos (Keeling) Islands": "CC", "Christmas Island": "CX",
}

# Where the code of the subdivision decides, because it names another country than the attribute: overseas parts, and
# Crimea, which is where ISO says it is.
BY_SUBDIVISION = {"BQ", "SJ", "BV", "YT", "UA"}


@dataclass
class Province:
    key: str
    country: str
    names: list[str]
    iso: str
    hasc: str
    fips: str
    extent: shapes.Extent
    rings: list[list[int]] = field(default_factory=list)


# Countries whose names and codes Natural Earth has given to the wrong shapes, and single provinces of which that is true;
# another attribute has them right.
MISNAMED_COUNTRIES = {"GY", "ER"}
MISNAMED_PROVINCES = {("EC", "Napo"), ("EC", "Tungurahua")}

# Provinces that Natural Earth gives a code of a neighbor, which has it in ISO 3166-2: Lord Howe Island, Bogotá, Western in the
# Solomon Islands, and Eastern Darfur.
BORROWERS = {"AUS-2659", "COL-1399", "SLB-3507", "SDN-5857"}

# Natural Earth draws the Vatican as a dot.
REDRAWN = {"VA"}


def load(folder: pathlib.Path, outlines: dict[str, dict]) -> tuple[list[Province], list[dict]]:
    """The provinces and their full geometries; `outlines` are better ones of countries."""
    features = json.loads((folder / "data/states/admin1.json").read_text())["features"]
    provinces, geometries = [], []
    for feature in features:
        attributes, geometry = feature["properties"], feature["geometry"]
        country = country_of(attributes)
        # The United States and its territories come from their own census.
        if country in (None, "US", "PR", "VI", "GU", "MP", "AS") or not geometry:
            continue
        if country in REDRAWN:
            geometry = outlines[country]
        provinces.append(Province(
            key=attributes["adm1_code"],
            country=country,
            names=_names(attributes, country),
            iso=_code(attributes, country, "iso_3166_2"),
            hasc=_code(attributes, country, "code_hasc"),
            fips=_code(attributes, country, "fips"),
            extent=shapes.extent(geometry),
        ))
        geometries.append(geometry)
    if len({province.key for province in provinces}) != len(provinces):
        raise SystemExit("two provinces have the same key")
    drop_shared_codes(provinces)
    return provinces, geometries


def drop_shared_codes(provinces: list[Province]) -> None:
    """Takes a code from all provinces that share it: mostly it is that of a region they are in, and would mean one of them."""
    for kind in ("iso", "hasc", "fips"):
        holders: dict[str, list[Province]] = {}
        for province in provinces:
            if code := getattr(province, kind):
                # The service does not tell the cases apart.
                holders.setdefault(code.upper(), []).append(province)
        for several in holders.values():
            owners = [province for province in several if province.key not in BORROWERS]
            for province in several:
                if len(several) > 1 and owners != [province]:
                    setattr(province, kind, "")


def country_of(attributes: dict) -> str | None:
    subdivision = (attributes.get("region_code") or "")[:2]
    iso = (attributes.get("iso_3166_2") or "")[:2]
    if subdivision in BY_SUBDIVISION or iso in BY_SUBDIVISION:
        return subdivision if subdivision in BY_SUBDIVISION else iso
    for unit in (attributes.get("geonunit"), attributes.get("name")):
        if unit in UNITS:
            return UNITS[unit]
    code = attributes.get("iso_a2") or ""
    return code if len(code) == 2 and code.isalpha() else None


def _is_misnamed(attributes: dict, country: str) -> bool:
    return country in MISNAMED_COUNTRIES or (country, attributes.get("name")) in MISNAMED_PROVINCES


def _code(attributes: dict, country: str, key: str) -> str:
    text = (attributes.get(key) or "").strip()
    if _is_misnamed(attributes, country) or is_made_up(key, text):
        return ""
    return text


def is_made_up(key: str, text: str) -> bool:
    """Codes that the source made up are marked; in FIPS 10-4 it gave them the number 0."""
    is_marked = text == "-99" or text.endswith("-X") or any(mark in text for mark in "~?*")
    return is_marked or (key == "fips" and text.endswith("00"))


def _names(attributes: dict, country: str) -> list[str]:
    """The name by which it is shown, then all others."""
    if _is_misnamed(attributes, country):
        return [attributes["woe_label"].split(",")[0]]
    names = [attributes.get("name") or attributes.get("name_en") or attributes.get("gn_name") or attributes.get("admin")]
    names += [attributes.get(f"name_{language}") for language in LANGUAGES]
    for key in ("name_alt", "name_local", "gn_name"):
        names += (attributes.get(key) or "").split("|")
    return list(dict.fromkeys(name.strip() for name in names if name and name.strip()))
