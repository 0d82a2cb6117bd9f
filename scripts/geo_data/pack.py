"""The file the service reads: columns of numbers and texts, compressed. `crates/geo/src/data.rs` is the reverse."""

import shapes

MAGIC = b"AEROGEO1"


class Writer:
    def __init__(self) -> None:
        self.bytes = bytearray(MAGIC)

    def uint(self, value: int) -> None:
        if value < 0:
            raise ValueError(value)
        while value >= 128:
            self.bytes.append(value & 127 | 128)
            value >>= 7
        self.bytes.append(value)

    def sint(self, value: int) -> None:
        self.uint(value * 2 if value >= 0 else -value * 2 - 1)

    def uints(self, values) -> None:
        """A column; its length is known to the reader."""
        for value in values:
            self.uint(value)

    def sints(self, values) -> None:
        for value in values:
            self.sint(value)

    def texts(self, records: list[list[str]]) -> None:
        """Records of texts. Their number comes first."""
        for record in records:
            for text in record:
                if "\n" in text or "\0" in text:
                    raise ValueError(text)
        self.uint(len(records))
        blob = "\0".join("\n".join(record) for record in records).encode()
        self.uint(len(blob))
        self.bytes += blob

    def extents(self, extents: list[shapes.Extent]) -> None:
        """Bounds and centroids, in millionths of a degree."""
        def micro(degrees: float) -> int:
            return round(degrees * 1_000_000)

        self.sints(micro(e.south) for e in extents)
        self.sints(micro(e.west) for e in extents)
        self.uints(micro(e.north) - micro(e.south) for e in extents)
        self.uints(micro(e.east) - micro(e.west) for e in extents)
        self.sints(micro(e.centroid[0]) - micro(e.south) for e in extents)
        self.sints(micro(e.centroid[1]) - micro(e.west) for e in extents)

    def topology(self, topology: shapes.Topology) -> None:
        used, rings = _only_used(topology)
        self.uint(len(used))
        self.uints(len(arc) for arc in used)
        for axis in (0, 1):
            previous = 0
            for arc in used:
                for point in arc:
                    self.sint(point[axis] - previous)
                    previous = point[axis]
        self.uint(len(rings))
        self.uints(len(shape) for shape in rings)
        self.uints(len(ring) for shape in rings for ring in shape)
        previous = 0
        for arc in (arc for shape in rings for ring in shape for arc in ring):
            number = arc * 2 if arc >= 0 else ~arc * 2 + 1
            self.sint(number - previous)
            previous = number


def _only_used(topology: shapes.Topology):
    numbers: dict[int, int] = {}
    rings = []
    for shape in topology.shapes:
        renumbered = []
        for ring in shape:
            renumbered.append([])
            for arc in ring:
                number = numbers.setdefault(arc if arc >= 0 else ~arc, len(numbers))
                renumbered[-1].append(number if arc >= 0 else ~number)
        rings.append(renumbered)
    return [topology.arcs[arc] for arc in numbers], rings
