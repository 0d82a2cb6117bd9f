"""Derives the boundaries the service knows from public packages. Started by scripts/geo-data."""

import pathlib
import subprocess
import sys

import cities as city_data
import countries as country_data
import inside
import names
import pack
import provinces as province_data
import regions
import shapes
import sources
import united_states as us

# Alternative names in Latin letters are kept from this many inhabitants on, those in all scripts from that many.
NAMES_OUTSIDE_THE_US = (50_000, 300_000)
NAMES_IN_THE_US = (100_000, 300_000)


def main(cache: pathlib.Path, result: pathlib.Path) -> None:
    packages = sources.get(cache)
    program, work = sources.mapshaper(cache), cache / "work"
    regions.write(packages["provinces"])

    outlines = dict(country_data.outlines(packages["coasts"], province_data.REDRAWN))
    provinces, geometries = province_data.load(packages["provinces"], outlines)
    province_shapes = shapes.simplify(program, work, "provinces", geometries, province_data.INTERVAL, clean=True)
    counties, geometries = us.load(packages["united_states"], 5, "county")
    county_shapes = shapes.simplify(program, work, "counties", geometries, us.COUNTY_INTERVAL, clean=False)
    us_cities, geometries = us.load(packages["united_states"], 7, "city")
    city_shapes = shapes.simplify(program, work, "us_cities", geometries, us.CITY_INTERVAL, clean=False)
    states = us.load_state_extents(packages["united_states"])
    write(packages, result, provinces, province_shapes, counties, county_shapes, us_cities, city_shapes, states)


def write(packages, result, provinces, province_shapes, counties, county_shapes, us_cities, city_shapes, states) -> None:
    everywhere = city_data.load(packages["cities"], packages["city_kinds"])
    known, circles = match_us_cities(everywhere, us_cities, city_shapes)
    circles = place_in_provinces(circles, provinces, province_shapes, counties, county_shapes, states)

    writer = pack.Writer()
    extents: dict[str, list] = {}
    for province in provinces:
        extents.setdefault(province.country, []).append(province.extent)
    for number, extent in states.items():
        extents.setdefault(us.country(number), []).append(extent)
    codes = sorted(extents)
    country_names = {
        code: names.distinct(country_data.names(packages["country_names"], packages["cities"], code)) for code in codes
    }
    writer.texts([[code, *country_names[code]] for code in codes])
    writer.extents([shapes.joined(extents[code]) for code in codes])

    writer.texts([[p.key, p.country, p.iso, p.hasc, p.fips, *names.distinct(p.names)] for p in provinces])
    writer.extents([p.extent for p in provinces])
    writer.topology(province_shapes)

    writer.texts([[number, us.country(number), *us.states()[number]] for number in states])
    writer.extents(list(states.values()))

    writer.texts([[county.key, county.name] for county in counties])
    writer.extents([county.extent for county in counties])
    writer.topology(county_shapes)

    writer.texts([
        [city.key, *names.distinct([city.name, *city_data.kept_names(known[n], *NAMES_IN_THE_US)] if n in known else [city.name])]
        for n, city in enumerate(us_cities)
    ])
    writer.extents([city.extent for city in us_cities])
    writer.uints(known[n].population if n in known else 0 for n in range(len(us_cities)))
    writer.topology(city_shapes)

    # Neighbors in the file are neighbors on earth, which makes it smaller.
    circles.sort(key=lambda city: (city.province, city.key))
    writer.texts([city_data.kept_names(city, *NAMES_OUTSIDE_THE_US) for city in circles])
    write_column(writer, [city.province for city in circles])
    write_column(writer, [city.key for city in circles])
    write_column(writer, [round(city.lat * 100_000) for city in circles])
    write_column(writer, [round(city.lon * 100_000) for city in circles])
    writer.uints(city.population for city in circles)

    outlines = country_data.outlines(packages["coasts"], set(codes))
    writer.texts([[code] for code, _ in outlines])
    writer.topology(as_topology([geometry for _, geometry in outlines]))

    # The program carries this file: zopfli takes its time and makes 4 % less of it than gzip.
    plain = cache / "boundaries.bin"
    plain.write_bytes(writer.bytes)
    result.write_bytes(subprocess.run(["zopfli", "--i15", "-c", plain], stdout=subprocess.PIPE, check=True).stdout)
    print(f"{result}: {len(writer.bytes):,} bytes, {result.stat().st_size:,} compressed", file=sys.stderr)
    print(f"{len(codes)} countries, {len(provinces)} + {len(states)} provinces, {len(counties)} counties, "
          f"{len(us_cities)} + {len(circles)} cities, {len(outlines)} outlines", file=sys.stderr)


def write_column(writer: pack.Writer, values: list[int]) -> None:
    previous = 0
    for value in values:
        writer.sint(value - previous)
        previous = value


def match_us_cities(everywhere: list, us_cities: list, city_shapes: shapes.Topology) -> tuple[dict, list]:
    """What is known of the cities with polygons, and the cities that have none."""
    in_polygons = inside.Shapes(city_shapes)
    known: dict[int, city_data.City] = {}
    circles = []
    for city in everywhere:
        if city.country != "US" and city.country not in us.TERRITORIES.values():
            circles.append(city)
            continue
        containing = in_polygons.containing(city.lat, city.lon)
        called = {names.fold(name) for name in [city.name, *city.other_names]}
        for n in containing:
            official = names.fold(us_cities[n].name)
            # The census knows Honolulu as Urban Honolulu, and Nashville as Nashville-Davidson.
            if official in called or set(names.fold(city.name).split()) <= set(official.split()):
                known.setdefault(n, city)
        if not containing:
            circles.append(city)
    return known, circles


def place_in_provinces(circles, provinces, province_shapes, counties, county_shapes, states) -> list:
    """Gives every city its province: the one around it, or the nearest one of its country."""
    by_country: dict[str, list[int]] = {}
    for n, province in enumerate(provinces):
        by_country.setdefault(province.country, []).append(n)
    in_provinces, in_counties = inside.Shapes(province_shapes), inside.Shapes(county_shapes)
    numbers = list(states)
    for city in circles:
        own = by_country.get(city.country)
        if own:
            around = [n for n in in_provinces.containing(city.lat, city.lon) if provinces[n].country == city.country]
            city.province = around[0] if around else in_provinces.nearest(city.lat, city.lon, own)
        else:
            around = in_counties.containing(city.lat, city.lon)
            if around:
                city.province = len(provinces) + numbers.index(counties[around[0]].state)
    return [city for city in circles if city.province is not None]


def as_topology(geometries: list[dict]) -> shapes.Topology:
    """Shapes that share nothing."""
    arcs, found = [], []
    for geometry in geometries:
        found.append([])
        for ring in (ring for polygon in shapes.polygons(geometry) for ring in polygon):
            arcs.append([(round(point[0] * shapes.GRID), round(point[1] * shapes.GRID)) for point in ring])
            found[-1].append([len(arcs) - 1])
    return shapes.Topology(arcs, found)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
