"""Shapes: exact bounds and centroids, simplification that keeps neighbors together, and the grid they are stored on."""

import json
import pathlib
import subprocess
from dataclasses import dataclass

# Shapes are stored on a grid of this many steps per degree.
GRID = 1000


@dataclass
class Extent:
    """Where a shape lies, in degrees, measured before it is simplified."""

    south: float
    west: float
    north: float
    east: float
    area: float
    centroid: tuple[float, float]  # latitude, longitude


@dataclass
class Topology:
    """Arcs on the grid, and for every shape its rings. A ring lists arcs; ~n is arc n backwards."""

    arcs: list[list[tuple[int, int]]]  # longitude, latitude
    shapes: list[list[list[int]]]


def polygons(geometry: dict) -> list:
    return geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]


def extent(geometry: dict) -> Extent:
    rings = [(n == 0, ring) for polygon in polygons(geometry) for n, ring in enumerate(polygon)]
    lons = [point[0] for _, ring in rings for point in ring]
    lats = [point[1] for _, ring in rings for point in ring]
    west, east = min(lons), max(lons)
    # The middle of something that reaches across the antimeridian is not on the other side of the earth.
    across = east - west > 180
    area = sum_lon = sum_lat = 0.0
    for is_outer, ring in rings:
        if across:
            ring = [(point[0] + 360 if point[0] < 0 else point[0], point[1]) for point in ring]
        of_ring, lon, lat = _moments(ring)
        # Outer rings add and holes take away, whichever way round they are written.
        sign = 1 if (of_ring > 0) == is_outer else -1
        area, sum_lon, sum_lat = area + sign * of_ring, sum_lon + sign * lon, sum_lat + sign * lat
    if area:
        lat, lon = sum_lat / area, sum_lon / area
    else:
        lat, lon = (min(lats) + max(lats)) / 2, (west + east) / 2
    return Extent(min(lats), west, max(lats), east, area, (lat, lon - 360 if lon > 180 else lon))


def joined(extents: list[Extent]) -> Extent:
    """The extent of several shapes that do not overlap."""
    west, east = min(e.west for e in extents), max(e.east for e in extents)
    across = east - west > 180
    area = sum(e.area for e in extents)
    lons = [e.centroid[1] + 360 if across and e.centroid[1] < 0 else e.centroid[1] for e in extents]
    lat = sum(e.centroid[0] * e.area for e in extents) / area
    lon = sum(lon * e.area for lon, e in zip(lons, extents)) / area
    south, north = min(e.south for e in extents), max(e.north for e in extents)
    return Extent(south, west, north, east, area, (lat, lon - 360 if lon > 180 else lon))


def _moments(ring: list) -> tuple[float, float, float]:
    """The signed area of a ring, and its area times its centroid."""
    # Near the origin the products do not lose digits.
    x0, y0 = ring[0][0], ring[0][1]
    area = sum_x = sum_y = 0.0
    x1 = y1 = 0.0
    for point in ring[1:]:
        x2, y2 = point[0] - x0, point[1] - y0
        cross = x1 * y2 - x2 * y1
        area += cross
        sum_x += (x1 + x2) * cross
        sum_y += (y1 + y2) * cross
        x1, y1 = x2, y2
    area /= 2
    return area, sum_x / 6 + x0 * area, sum_y / 6 + y0 * area


def simplify(program: pathlib.Path, folder: pathlib.Path, name: str, geometries: list[dict], interval: str, clean: bool) -> Topology:
    """Leaves out points that change a shape by less than the interval, in meters: an expression over `this.area`."""
    folder.mkdir(parents=True, exist_ok=True)
    source, result = folder / f"{name}.geojson", folder / f"{name}.topojson"
    features = [{"type": "Feature", "properties": {"n": n}, "geometry": g} for n, g in enumerate(geometries)]
    source.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    command = [program, "6gb", source, "snap", "-simplify", "variable", f"interval={interval}", "keep-shapes"]
    # Where shapes overlap, the smaller one is an enclave.
    command += ["-clean", "overlap-rule=min-area"] if clean else []
    subprocess.run([*command, "-o", "format=topojson", "no-quantization", result], check=True)
    return _on_grid(json.loads(result.read_text()), geometries)


def _on_grid(topology: dict, geometries: list[dict]) -> Topology:
    arcs = [_snap(arc) for arc in topology["arcs"]]
    found: list = [[] for _ in geometries]
    (layer,) = topology["objects"].values()
    for shape in layer["geometries"]:
        if shape["type"] is None:
            continue
        parts = shape["arcs"] if shape["type"] == "MultiPolygon" else [shape["arcs"]]
        found[shape["properties"]["n"]] = [ring for part in parts for ring in part if _has_area(arcs, ring)]
    for n, rings in enumerate(found):
        if not rings:
            # Smaller than the grid: the cells it lies in.
            arcs.append(_cells(extent(geometries[n])))
            rings.append([len(arcs) - 1])
    return Topology(arcs, found)


def _snap(arc: list) -> list[tuple[int, int]]:
    snapped = []
    for point in arc:
        at = (round(point[0] * GRID), round(point[1] * GRID))
        if not snapped or snapped[-1] != at:
            snapped.append(at)
    return snapped


def _has_area(arcs: list, ring: list[int]) -> bool:
    points = [p for n in ring for p in (arcs[n] if n >= 0 else arcs[~n][::-1])]
    twice = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))
    return twice != 0


def _cells(e: Extent) -> list[tuple[int, int]]:
    west, south = int(e.west * GRID // 1), int(e.south * GRID // 1)
    east, north = -int(-e.east * GRID // 1), -int(-e.north * GRID // 1)
    return [(west, south), (east, south), (east, north), (west, north), (west, south)]
