"""Which shape a point is in. Slow and simple: only for finding out what the cities belong to."""

import math

import shapes


class Shapes:
    def __init__(self, topology: shapes.Topology) -> None:
        self.rings = [[_points(topology.arcs, ring) for ring in shape] for shape in topology.shapes]
        self.squares: dict[tuple[int, int], list[int]] = {}
        for n, rings in enumerate(self.rings):
            for square in {square for ring in rings for square in _squares(ring)}:
                self.squares.setdefault(square, []).append(n)

    def containing(self, lat: float, lon: float) -> list[int]:
        x, y = lon * shapes.GRID, lat * shapes.GRID
        near = self.squares.get((math.floor(lat), math.floor(lon)), [])
        return [n for n in near if sum(_is_in(ring, x, y) for ring in self.rings[n]) % 2]

    def nearest(self, lat: float, lon: float, among: list[int]) -> int:
        x, y, narrow = lon * shapes.GRID, lat * shapes.GRID, math.cos(math.radians(lat))

        def distance(n: int) -> float:
            return min(math.hypot((px - x) * narrow, py - y) for ring in self.rings[n] for px, py in ring)

        return min(among, key=distance)


def _points(arcs: list, ring: list[int]) -> list[tuple[int, int]]:
    return [point for n in ring for point in (arcs[n] if n >= 0 else arcs[~n][::-1])]


def _squares(ring: list[tuple[int, int]]):
    """The squares of one degree that the bounds of a ring touch."""
    columns = [x // shapes.GRID for x, _ in ring]
    rows = [y // shapes.GRID for _, y in ring]
    for row in range(min(rows), max(rows) + 1):
        for column in range(min(columns), max(columns) + 1):
            yield row, column


def _is_in(ring: list[tuple[int, int]], x: float, y: float) -> bool:
    inside = False
    x1, y1 = ring[-1]
    for x2, y2 in ring:
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            inside = not inside
        x1, y1 = x2, y2
    return inside
