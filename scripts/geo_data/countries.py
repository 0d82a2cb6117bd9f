"""Countries: their names, and generous outlines for points off their coasts."""

import json
import pathlib

LANGUAGES = [
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "nb", "fi", "cs", "hu", "ro", "el", "tr", "ru", "uk", "ar",
    "he", "hi", "ja", "ko", "zh", "vi",
]

# What people call countries whose names in CLDR are different, and the one that has no code of its own in ISO 3166-1.
ALSO = {
    "GB": ["Great Britain", "Britain"], "US": ["United States of America", "America"], "NL": ["Holland"],
    "CD": ["Democratic Republic of the Congo", "DR Congo"], "CG": ["Republic of the Congo", "Congo"],
    "CZ": ["Czech Republic"], "MK": ["Macedonia"], "SZ": ["Swaziland"], "MM": ["Burma"], "CV": ["Cabo Verde"],
    "TL": ["East Timor"], "CI": ["Ivory Coast"], "VA": ["Holy See"], "XK": ["Kosova"], "TR": ["Turkey"],
}


def names(cldr: pathlib.Path, geonames: pathlib.Path, code: str) -> list[str]:
    """The English name, then all others."""
    found = []
    for language in LANGUAGES:
        territories = _territories(cldr, language)
        keys = [code, f"{code}-alt-variant", f"{code}-alt-short"]
        found += [territories[key] for key in keys if key in territories]
    codes = json.loads((geonames / "data/countries.json").read_text()).get(code, {})
    return found + ALSO.get(code, []) + [code, codes.get("iso3", "")]


_cache: dict[str, dict] = {}


def _territories(cldr: pathlib.Path, language: str) -> dict:
    if language not in _cache:
        text = (cldr / "main" / language / "territories.json").read_text()
        _cache[language] = json.loads(text)["main"][language]["localeDisplayNames"]["territories"]
    return _cache[language]


def outlines(folder: pathlib.Path, codes: set[str]) -> list[tuple[str, dict]]:
    """Outlines with the code of the country they belong to. Some countries have several."""
    features = json.loads((folder / "src/data/borders.json").read_text())["features"]
    found = []
    for feature in features:
        about = feature["properties"]
        owner = next((code for code in (about.get("iso1A2"), about.get("country")) if code in codes), None)
        if owner and feature["geometry"]:
            found.append((owner, feature["geometry"]))
    return found
