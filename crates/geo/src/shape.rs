//! Shapes that share their borders: points, the arcs they form, and the rings that are made of arcs.

use std::ops::Range;

/// A corner of a shape or a place that is asked for, in millionths of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Spot {
    pub(crate) x: i32,
    pub(crate) y: i32,
}

/// The corners of shapes are multiples of this.
pub(crate) const GRID: i32 = 1_000;

/// Arcs end to end, and shapes made of them.
pub(crate) struct Shapes {
    pub(crate) spots: Vec<Spot>,
    /// Where in `spots` each arc begins, and where the last one ends.
    pub(crate) arcs: Vec<u32>,
    /// Where in `rings` each shape begins, and where the last one ends.
    pub(crate) shapes: Vec<u32>,
    /// Where in `parts` each ring begins, and where the last one ends.
    pub(crate) rings: Vec<u32>,
    /// Arcs of rings: twice the number of the arc, and one more if it is taken backwards.
    pub(crate) parts: Vec<u32>,
}

/// One side of a ring, by the number of its first point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge(pub(crate) u32);

impl Shapes {
    pub(crate) fn len(&self) -> usize {
        self.shapes.len() - 1
    }

    pub(crate) fn ends(&self, edge: Edge) -> (Spot, Spot) {
        let first = edge.0 as usize;
        (self.spots[first], self.spots[first + 1])
    }

    /// All sides of a shape, in no particular direction.
    pub(crate) fn edges(&self, shape: usize) -> impl Iterator<Item = Edge> {
        self.arcs_of(shape).flat_map(|arc| (self.arcs[arc]..self.arcs[arc + 1] - 1).map(Edge))
    }

    /// The numbers of all arcs of a shape.
    pub(crate) fn arcs_of(&self, shape: usize) -> impl Iterator<Item = usize> {
        self.rings(shape).flat_map(|ring| &self.parts[ring]).map(|part| (*part / 2) as usize)
    }

    /// The points of an arc, its ends included.
    pub(crate) fn spots_of(&self, arc: usize) -> &[Spot] {
        &self.spots[self.arcs[arc] as usize..self.arcs[arc + 1] as usize]
    }

    fn rings(&self, shape: usize) -> impl Iterator<Item = Range<usize>> {
        let rings = self.shapes[shape] as usize..self.shapes[shape + 1] as usize;
        rings.map(|ring| self.rings[ring] as usize..self.rings[ring + 1] as usize)
    }
}

/// Which side of the line from `a` to `b` a spot is on: positive on the left, zero on the line.
pub(crate) fn side(a: Spot, b: Spot, spot: Spot) -> i64 {
    let (dx, dy) = (i64::from(b.x) - i64::from(a.x), i64::from(b.y) - i64::from(a.y));
    dx * (i64::from(spot.y) - i64::from(a.y)) - dy * (i64::from(spot.x) - i64::from(a.x))
}
