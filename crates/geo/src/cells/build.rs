//! Finding out, once, which sides of which shapes pass through which cells, and which corners of cells are inside.

use std::collections::BTreeMap;

use super::{Cells, Entry, ORIGIN};
use crate::shape::{Edge, GRID, Shapes, Spot, side};

/// The part of one shape in a row of cells.
#[derive(Default)]
struct Strip {
    /// Columns and the sides that pass through them.
    sides: Vec<(u32, Edge)>,
    /// The sides that cross the southern border of the row.
    crossing: Vec<Edge>,
}

impl Cells {
    /// Cells of a number of grid steps.
    pub(crate) fn new(shapes: Shapes, steps: i32) -> Self {
        let size = steps * GRID;
        let mut cells = Self { shapes, size, rows: Vec::new(), entries: Vec::new(), edges: Vec::new() };
        let mut by_row: Vec<(u32, Entry)> = Vec::new();
        for shape in 0..cells.shapes.len() {
            for (row, found) in cells.rows_of(shape) {
                cells.enter(shape, row, found, &mut by_row);
            }
        }
        by_row.sort_unstable_by_key(|(row, entry)| (*row, entry.column, entry.shape));
        let n_rows = by_row.last().map_or(0, |(row, _)| row + 1);
        cells.rows = (0..=n_rows).map(|row| count(by_row.partition_point(|(of_entry, _)| *of_entry < row))).collect();
        cells.entries = by_row.into_iter().map(|(_, entry)| entry).collect();
        cells.edges.shrink_to_fit();
        cells
    }

    fn rows_of(&self, shape: usize) -> BTreeMap<u32, Strip> {
        let mut rows: BTreeMap<u32, Strip> = BTreeMap::new();
        for edge in self.shapes.edges(shape) {
            let (a, b) = self.shapes.ends(edge);
            let (low, high) = if a.y <= b.y { (a, b) } else { (b, a) };
            let ((_, first), (_, last)) = (self.cell(low), self.cell(high));
            for number in first..=last {
                let row = rows.entry(number).or_default();
                let south = self.corner(0, number).y;
                // Where the side enters and leaves the row; in whole steps it may seem to pass through one cell too many.
                let (enters, leaves) = if low.y == high.y {
                    (low.x, high.x)
                } else {
                    (x_at(low, high, south.max(low.y)), x_at(low, high, (south + self.size).min(high.y)))
                };
                let (west, east) = (enters.min(leaves) - 1, enters.max(leaves) + 1);
                let column = |x: i32| self.cell(Spot { x: x.max(ORIGIN.x), y: south }).0;
                row.sides.extend((column(west)..=column(east)).map(|column| (column, edge)));
                if number > first {
                    row.crossing.push(edge);
                }
            }
        }
        rows
    }

    /// Makes the entries of a shape in a row.
    fn enter(&mut self, shape: usize, row: u32, mut found: Strip, entries: &mut Vec<(u32, Entry)>) {
        found.sides.sort_unstable_by_key(|(column, edge)| (*column, edge.0));
        let first_column = found.sides.first().map_or(0, |(column, _)| *column);
        let last_column = found.sides.last().map_or(0, |(column, _)| *column);
        let mut at = 0;
        let mut inside = InsideAlong::new(self, row, &found.crossing);
        for column in first_column..=last_column {
            let n = found.sides[at..].partition_point(|(of_side, _)| *of_side == column);
            let is_corner_inside = inside.at(self.corner(column, row));
            if n > 0 || is_corner_inside {
                let first_edge = count(self.edges.len());
                self.edges.extend(found.sides[at..at + n].iter().map(|(_, edge)| edge));
                let content = count(n) * 2 + u32::from(is_corner_inside);
                entries.push((row, Entry { column, shape: count(shape), first_edge, content }));
            }
            at += n;
        }
    }
}

/// Goes along the southern border of a row and returns for each corner whether it is inside.
struct InsideAlong {
    /// The sides that cross the border, from west to east; each from its lower end to its upper one.
    crossing: Vec<(i32, Spot, Spot)>,
}

impl InsideAlong {
    fn new(cells: &Cells, row: u32, crossing: &[Edge]) -> Self {
        let south = cells.corner(0, row).y;
        let crossing = crossing.iter().map(|edge| {
            let (a, b) = cells.shapes.ends(*edge);
            let (low, high) = if a.y < b.y { (a, b) } else { (b, a) };
            (x_at(low, high, south), low, high)
        });
        let mut crossing: Vec<_> = crossing.collect();
        crossing.sort_unstable_by_key(|(x, _, _)| *x);
        Self { crossing }
    }

    fn at(&mut self, corner: Spot) -> bool {
        // Only those that cross within a step of the corner need a close look; all before them are to the west.
        let near = self.crossing.partition_point(|(x, _, _)| *x < corner.x - 2);
        let close = self.crossing[near..].iter().take_while(|(x, _, _)| *x <= corner.x + 2);
        let n_close = close.filter(|(_, low, high)| is_west_of(*low, *high, corner)).count();
        (near + n_close) % 2 == 1
    }
}

/// Whether a side that rises from `low` to `high` passes to the west of a corner, a trace to the north of it.
fn is_west_of(low: Spot, high: Spot, corner: Spot) -> bool {
    let at_corner = side(low, high, corner);
    at_corner < 0 || (at_corner == 0 && low.x > high.x)
}

/// Where a side that is not level is at a height between its ends, to within one step.
fn x_at(low: Spot, high: Spot, y: i32) -> i32 {
    let (dx, dy) = (i64::from(high.x) - i64::from(low.x), i64::from(high.y) - i64::from(low.y));
    let x = i64::from(low.x) + dx * (i64::from(y) - i64::from(low.y)) / dy;
    i32::try_from(x).expect("a point of a side lies between its ends")
}

fn count(n: usize) -> u32 {
    u32::try_from(n).expect("there are fewer shapes, sides and cells than a number of 32 bits can count")
}
