//! Regions: the level above provinces in countries whose provinces are small. People say England and Catalonia, and these are found
//! as provinces. `scripts/geo_data/regions.py` makes the file.

use crate::Damaged;
use crate::boundary::Extent;

static FILE: &str = include_str!("../data/regions.tsv");

pub(crate) struct Region {
    /// ISO 3166-2.
    pub(crate) code: &'static str,
    pub(crate) country: &'static str,
    /// The displayed one first.
    pub(crate) names: Vec<&'static str>,
    /// Keys of its provinces.
    pub(crate) provinces: Vec<&'static str>,
}

pub(crate) fn read() -> Result<Vec<Region>, Damaged> {
    FILE.lines().map(read_line).collect()
}

fn read_line(line: &'static str) -> Result<Region, Damaged> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [code, country, names, provinces] = columns[..] else { return Err(Damaged) };
    Ok(Region { code, country, names: names.split('|').collect(), provinces: provinces.split('|').collect() })
}

impl Extent {
    /// The extent of everything together; none of it lies across the antimeridian. Its middle is that of the parts, of which the
    /// large count for more.
    pub(crate) fn around(parts: &[Extent]) -> Option<Extent> {
        let (mut lat, mut lon, mut weights) = (0.0, 0.0, 0.0);
        for part in parts {
            let weight = f64::from(part.north - part.south) * f64::from(part.east - part.west);
            lat += f64::from(part.lat) * weight;
            lon += f64::from(part.lon) * weight;
            weights += weight;
        }
        Some(Extent {
            south: parts.iter().map(|part| part.south).min()?,
            west: parts.iter().map(|part| part.west).min()?,
            north: parts.iter().map(|part| part.north).max()?,
            east: parts.iter().map(|part| part.east).max()?,
            lat: whole(lat / weights),
            lon: whole(lon / weights),
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "millionths of degrees between those of places")]
fn whole(micro: f64) -> i32 {
    micro.round() as i32
}
