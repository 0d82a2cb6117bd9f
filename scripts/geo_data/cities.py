"""Cities, from GeoNames: a circle where there is no polygon, and population and names for those with one."""

import json
import math
import pathlib
from dataclasses import dataclass

import names

# Sections, abandoned, historical and destroyed places.
NO_CITIES = {"PPLX", "PPLQ", "PPLH", "PPLW"}

# Parts of a city that GeoNames lists as cities.
SECTIONS = {
    13118432,  # Business Bay, Dubai
    6178582,  # West End, Vancouver
}

# Cities whose point in GeoNames is far from where most people of the city are.
MOVED = {
    292223: (25.18, 55.26),  # Dubai
}

CAPITAL = "PPLC"


@dataclass
class City:
    key: int
    name: str
    other_names: list[str]
    country: str
    lat: float
    lon: float
    population: int
    kind: str | None
    province: int | None = None  # its place in the list of provinces

    @property
    def radius_km(self) -> float:
        """Between a fit to the areas of US places and one to those of large cities of the world."""
        return min(25.0, max(1.5, 0.07 * max(self.population, 1) ** 0.35))


def load(geonames: pathlib.Path, kinds: pathlib.Path) -> list[City]:
    """All cities, the largest first."""
    kind_of = _kinds(kinds / "cities.pbf")
    rows = json.loads((geonames / "data/cities5000.json").read_text()).values()
    found = [
        City(row["geonameid"], row["name"], row["alternatenames"], row["countrycode"], row["latitude"], row["longitude"],
             row["population"], kind_of.get(row["geonameid"]))
        for row in rows
    ]
    for city in found:
        city.lat, city.lon = MOVED.get(city.key, (city.lat, city.lon))
    found = [city for city in found if city.kind not in NO_CITIES and city.key not in SECTIONS]
    found.sort(key=lambda city: (-city.population, city.key))
    return _without_sections(found)


def kept_names(city: City, latin_from: int, all_from: int) -> list[str]:
    """The name of a city and the other names that are worth keeping for one of its size."""
    if city.population >= all_from or city.kind == CAPITAL:
        others = city.other_names
    elif city.population >= latin_from:
        others = [name for name in city.other_names if names.is_latin(name)]
    else:
        others = []
    return names.distinct([city.name, *others])


def distance_km(a: City, b: City) -> float:
    lon = (a.lon - b.lon + 180) % 360 - 180
    return 111.2 * math.hypot(a.lat - b.lat, lon * math.cos(math.radians((a.lat + b.lat) / 2)))


def _without_sections(largest_first: list[City]) -> list[City]:
    """Leaves out what is probably a part of a much larger city: of unknown kind, and well within its circle."""
    squares: dict[tuple[int, int], list[City]] = {}
    kept = []
    for city in largest_first:
        row, column = math.floor(city.lat), math.floor(city.lon)
        around = [c for i in (-1, 0, 1) for j in (-1, 0, 1) for c in squares.get((row + i, column + j), [])]
        is_part = city.kind is None and any(
            other.country == city.country
            and other.population >= 4 * city.population
            and distance_km(city, other) < 0.8 * other.radius_km
            for other in around
        )
        if not is_part:
            squares.setdefault((row, column), []).append(city)
            kept.append(city)
    return kept


def _kinds(path: pathlib.Path) -> dict[int, str]:
    """The feature code of every place, from a file of protocol buffers: field 1 is the id and field 7 the code."""
    data, at, found = path.read_bytes(), 0, {}

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        end = varint() + at
        key = code = None
        while at < end:
            tag = varint()
            field, wire = tag >> 3, tag & 7
            if wire == 0:
                value = varint()
                key = value >> 1 if field == 1 else key
            else:
                size = varint()
                code = data[at:at + size].decode() if field == 7 else code
                at += size
        found[key] = code
    return found
