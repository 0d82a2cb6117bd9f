//! Reading the file of boundaries that `scripts/geo-data` makes; `scripts/geo_data/pack.py` is the reverse.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::Damaged;
use crate::boundary::Extent;
use crate::shape::{GRID, Shapes, Spot};

static FILE: &[u8] = include_bytes!("../data/boundaries.bin.gz");
const MAGIC: &[u8] = b"AEROGEO1";

/// The file without its compression.
pub(crate) struct Unpacked(Vec<u8>);

/// Everything in the file, in its order.
pub(crate) struct Contents<'a> {
    /// The code, then the names.
    pub(crate) countries: Records<'a>,
    /// The key, the code of the country, three other codes, then the names.
    pub(crate) provinces: Records<'a>,
    pub(crate) province_shapes: Shapes,
    /// The number, the code of the country, the abbreviation and the name.
    pub(crate) states: Records<'a>,
    /// The key, which begins with the number of the state, and the name.
    pub(crate) counties: Records<'a>,
    pub(crate) county_shapes: Shapes,
    /// The key, which begins with the number of the state, then the names.
    pub(crate) us_cities: Records<'a>,
    pub(crate) us_city_populations: Vec<u32>,
    pub(crate) us_city_shapes: Shapes,
    /// Names.
    pub(crate) cities: Texts<'a>,
    pub(crate) city_details: Vec<CityDetails>,
    /// The code of the country an outline belongs to.
    pub(crate) outlines: Texts<'a>,
    pub(crate) outline_shapes: Shapes,
}

/// The texts of a number of things.
pub(crate) struct Texts<'a> {
    n: usize,
    blob: &'a str,
}

impl<'a> Texts<'a> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Vec<&'a str>> + use<'a> {
        self.blob.split('\0').map(|record| record.split('\n').collect())
    }
}

pub(crate) struct Records<'a> {
    pub(crate) texts: Texts<'a>,
    pub(crate) extents: Vec<Extent>,
}

/// A city without a polygon.
pub(crate) struct CityDetails {
    /// Its place in the list of provinces, which the states follow.
    pub(crate) province: u32,
    pub(crate) key: u32,
    pub(crate) at: Spot,
    pub(crate) population: u32,
}

impl Unpacked {
    pub(crate) fn read() -> Result<Self, Damaged> {
        let mut bytes = Vec::new();
        GzDecoder::new(FILE).read_to_end(&mut bytes).map_err(|_| Damaged)?;
        Ok(Self(bytes))
    }

    pub(crate) fn contents(&self) -> Result<Contents<'_>, Damaged> {
        let mut reader = Reader(self.0.strip_prefix(MAGIC).ok_or(Damaged)?);
        let contents = reader.contents()?;
        if reader.0.is_empty() { Ok(contents) } else { Err(Damaged) }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn contents(&mut self) -> Result<Contents<'a>, Damaged> {
        let countries = self.records()?;
        let provinces = self.records()?;
        let province_shapes = self.shapes()?;
        let states = self.records()?;
        let counties = self.records()?;
        let county_shapes = self.shapes()?;
        let us_cities = self.records()?;
        let us_city_populations = self.uints(us_cities.texts.n)?;
        let us_city_shapes = self.shapes()?;
        let cities = self.texts()?;
        let city_details = self.city_details(cities.n)?;
        let outlines = self.texts()?;
        let outline_shapes = self.shapes()?;
        Ok(Contents {
            countries,
            provinces,
            province_shapes,
            states,
            counties,
            county_shapes,
            us_cities,
            us_city_populations,
            us_city_shapes,
            cities,
            city_details,
            outlines,
            outline_shapes,
        })
    }

    fn uint(&mut self) -> Result<u32, Damaged> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or(Damaged)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| Damaged);
            }
        }
        Err(Damaged)
    }

    fn sint(&mut self) -> Result<i32, Damaged> {
        let value = self.uint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn length(&mut self) -> Result<usize, Damaged> {
        // Nothing in the file takes less than a byte.
        let length = self.uint()? as usize;
        if length > self.0.len() { Err(Damaged) } else { Ok(length) }
    }

    fn uints(&mut self, n: usize) -> Result<Vec<u32>, Damaged> {
        (0..n).map(|_| self.uint()).collect()
    }

    fn sints(&mut self, n: usize) -> Result<Vec<i32>, Damaged> {
        (0..n).map(|_| self.sint()).collect()
    }

    /// Numbers of which only the differences are stored.
    fn running(&mut self, n: usize) -> Result<Vec<i32>, Damaged> {
        let mut value = 0_i32;
        let step = |_| {
            value = value.checked_add(self.sint()?).ok_or(Damaged)?;
            Ok(value)
        };
        (0..n).map(step).collect()
    }

    /// Positions at which things begin whose lengths are stored; one more than there are things.
    fn starts(&mut self, n: usize) -> Result<Vec<u32>, Damaged> {
        let mut starts = Vec::with_capacity(n + 1);
        let mut at = 0_u32;
        starts.push(at);
        for _ in 0..n {
            at = at.checked_add(self.uint()?).ok_or(Damaged)?;
            starts.push(at);
        }
        Ok(starts)
    }

    fn texts(&mut self) -> Result<Texts<'a>, Damaged> {
        let n = self.length()?;
        let length = self.length()?;
        let (blob, rest) = self.0.split_at(length);
        self.0 = rest;
        let blob = std::str::from_utf8(blob).map_err(|_| Damaged)?;
        if blob.split('\0').count() == n { Ok(Texts { n, blob }) } else { Err(Damaged) }
    }

    fn records(&mut self) -> Result<Records<'a>, Damaged> {
        let texts = self.texts()?;
        let n = texts.n;
        let (south, west) = (self.sints(n)?, self.sints(n)?);
        let (height, width) = (self.uints(n)?, self.uints(n)?);
        let (lat, lon) = (self.sints(n)?, self.sints(n)?);
        let extents = (0..n).map(|i| {
            let (south, west) = (south[i], west[i]);
            Extent {
                south,
                west,
                north: south.saturating_add_unsigned(height[i]),
                east: west.saturating_add_unsigned(width[i]),
                lat: south.saturating_add(lat[i]),
                lon: west.saturating_add(lon[i]),
            }
        });
        let extents = extents.collect();
        Ok(Records { texts, extents })
    }

    fn shapes(&mut self) -> Result<Shapes, Damaged> {
        let n_arcs = self.length()?;
        let arcs = self.starts(n_arcs)?;
        let n_spots = *arcs.last().ok_or(Damaged)? as usize;
        let xs = self.running(n_spots)?;
        let ys = self.running(n_spots)?;
        let spot = |(x, y): (i32, i32)| {
            Ok(Spot { x: x.checked_mul(GRID).ok_or(Damaged)?, y: y.checked_mul(GRID).ok_or(Damaged)? })
        };
        let spots = xs.into_iter().zip(ys).map(spot).collect::<Result<_, Damaged>>()?;
        let n_shapes = self.length()?;
        let shapes = self.starts(n_shapes)?;
        let rings = self.starts(*shapes.last().ok_or(Damaged)? as usize)?;
        let parts = self.running(*rings.last().ok_or(Damaged)? as usize)?;
        let part = |number: i32| {
            let part = u32::try_from(number).map_err(|_| Damaged)?;
            if (part / 2) as usize >= n_arcs { Err(Damaged) } else { Ok(part) }
        };
        let parts = parts.into_iter().map(part).collect::<Result<_, Damaged>>()?;
        Ok(Shapes { spots, arcs, shapes, rings, parts })
    }

    fn city_details(&mut self, n: usize) -> Result<Vec<CityDetails>, Damaged> {
        let provinces = self.running(n)?;
        let keys = self.running(n)?;
        let (lats, lons) = (self.running(n)?, self.running(n)?);
        let populations = self.uints(n)?;
        let details = (0..n).map(|i| {
            Ok(CityDetails {
                province: u32::try_from(provinces[i]).map_err(|_| Damaged)?,
                key: u32::try_from(keys[i]).map_err(|_| Damaged)?,
                // Cities are stored in hundred-thousandths of a degree.
                at: Spot { x: lons[i].saturating_mul(10), y: lats[i].saturating_mul(10) },
                population: populations[i],
            })
        });
        details.collect()
    }
}
