"""Counties, states and cities of the United States and its territories, from the Census Bureau."""

import json
import pathlib
from dataclasses import dataclass, field

import shapes

COUNTY_INTERVAL = "this.area < 1e8 ? 50 : 300"
CITY_INTERVAL = "this.area < 1e7 ? 80 : 200"

# Territories are countries of their own in ISO 3166-1; the number is the one the census uses.
TERRITORIES = {"60": "AS", "66": "GU", "69": "MP", "72": "PR", "78": "VI"}

STATES = """01 AL Alabama,02 AK Alaska,04 AZ Arizona,05 AR Arkansas,06 CA California,08 CO Colorado,09 CT Connecticut,
10 DE Delaware,11 DC District of Columbia,12 FL Florida,13 GA Georgia,15 HI Hawaii,16 ID Idaho,17 IL Illinois,18 IN Indiana,
19 IA Iowa,20 KS Kansas,21 KY Kentucky,22 LA Louisiana,23 ME Maine,24 MD Maryland,25 MA Massachusetts,26 MI Michigan,
27 MN Minnesota,28 MS Mississippi,29 MO Missouri,30 MT Montana,31 NE Nebraska,32 NV Nevada,33 NH New Hampshire,
34 NJ New Jersey,35 NM New Mexico,36 NY New York,37 NC North Carolina,38 ND North Dakota,39 OH Ohio,40 OK Oklahoma,
41 OR Oregon,42 PA Pennsylvania,44 RI Rhode Island,45 SC South Carolina,46 SD South Dakota,47 TN Tennessee,48 TX Texas,
49 UT Utah,50 VT Vermont,51 VA Virginia,53 WA Washington,54 WV West Virginia,55 WI Wisconsin,56 WY Wyoming,
60 AS American Samoa,66 GU Guam,69 MP Northern Mariana Islands,72 PR Puerto Rico,78 VI U.S. Virgin Islands"""


@dataclass
class Area:
    """A state, a county or a city."""

    key: str
    state: str
    name: str
    extent: shapes.Extent
    rings: list[list[int]] = field(default_factory=list)


def states() -> dict[str, tuple[str, str]]:
    """The abbreviation and the name of a state, by its number."""
    lines = (line.strip().split(" ", 2) for line in STATES.split(","))
    return {number: (abbreviation, name) for number, abbreviation, name in lines}


def country(state: str) -> str:
    return TERRITORIES.get(state, "US")


def load(folder: pathlib.Path, digits: int, kind: str) -> tuple[list[Area], list[dict]]:
    """Areas of a kind, which is told by the number of digits of their key, and their full geometries."""
    areas, geometries = [], []
    for path in sorted((folder / "files").iterdir()):
        key = path.stem.removeprefix("USA-")
        if not (key.isdigit() and len(key) == digits and key[:2] in states()):
            continue
        area = json.loads(path.read_text())
        if area["type"] != kind:
            raise SystemExit(f"{path.name} is a {area['type']}")
        areas.append(Area(key, key[:2], area["name"].strip(), shapes.extent(area["area"])))
        geometries.append(area["area"])
    return areas, geometries


def load_state_extents(folder: pathlib.Path) -> dict[str, shapes.Extent]:
    areas, _ = load(folder, 2, "state")
    return {area.key: area.extent for area in areas}
