//! From the file to the atlas.

use std::collections::HashMap;

use model::place::PlaceId;

use crate::Damaged;
use crate::atlas::{Atlas, Layer};
use crate::boundary::{Boundary, Code, Extent, Kind, Source, place_id};
use crate::cells::Cells;
use crate::circles::{Circle, Circles};
use crate::data::{CityDetails, Records, Texts, Unpacked};
use crate::names::NamesBuilder;
use crate::regions::{self, Region};

/// The sides of cells, in steps of the grid: a quarter of a degree where shapes are large, less where they are cities.
const LAND_CELL: i32 = 250;
const CITY_CELL: i32 = 100;
const OUTLINE_CELL: i32 = 1_000;

impl Atlas {
    /// Reads everything.
    pub fn read() -> Result<Self, Damaged> {
        let file = Unpacked::read()?;
        let contents = file.contents()?;
        let mut gazetteer = Gazetteer::default();
        gazetteer.add_countries(contents.countries)?;
        gazetteer.add_regions(&contents.provinces)?;
        let first_province = gazetteer.next();
        gazetteer.add_provinces(contents.provinces)?;
        gazetteer.add_states(contents.states)?;
        let first_county = gazetteer.next();
        gazetteer.add_counties(contents.counties)?;
        let first_us_city = gazetteer.next();
        gazetteer.add_us_cities(contents.us_cities, &contents.us_city_populations)?;
        let first_circle = gazetteer.next();
        let circles = gazetteer.add_cities(&contents.cities, &contents.city_details, first_province)?;
        let outline_countries = contents.outlines.iter().map(|texts| gazetteer.country(field(&texts, 0)?));
        let outline_countries = outline_countries.collect::<Result<_, Damaged>>()?;
        gazetteer.add_up_populations();
        let layer = |shapes, first, cell| Layer { cells: Cells::new(shapes, cell), first };
        Ok(Self {
            provinces: layer(contents.province_shapes, first_province, LAND_CELL),
            counties: layer(contents.county_shapes, first_county, LAND_CELL),
            us_cities: layer(contents.us_city_shapes, first_us_city, CITY_CELL),
            circles: Circles::new(&circles),
            first_circle,
            outlines: Cells::new(contents.outline_shapes, OUTLINE_CELL),
            outline_countries,
            parents: gazetteer.boundaries.iter().map(|boundary| boundary.parent).collect(),
            by_id: gazetteer.by_id(),
            by_code: gazetteer.by_code()?,
            names: gazetteer.names.finish(),
            boundaries: gazetteer.boundaries,
        })
    }
}

/// The boundaries as they are read.
#[derive(Default)]
struct Gazetteer {
    boundaries: Vec<Boundary>,
    names: NamesBuilder,
    countries: HashMap<String, u32>,
    /// The region of a province, by the key of the province.
    regions: HashMap<&'static str, u32>,
    /// By their numbers.
    states: HashMap<String, u32>,
}

/// The data of a new boundary.
struct Entry<'a> {
    kind: Kind,
    source: Source,
    id: PlaceId,
    names: &'a [&'a str],
    extent: Extent,
    population: u32,
    codes: Vec<(Code, String)>,
    parent: Option<u32>,
}

impl Gazetteer {
    fn next(&self) -> u32 {
        u32::try_from(self.boundaries.len()).expect("there are fewer boundaries than a number of 32 bits can count")
    }

    fn add(&mut self, entry: Entry<'_>) -> Result<u32, Damaged> {
        let number = self.next();
        let codes = entry.codes.into_iter().filter(|(_, code)| !code.is_empty());
        self.names.add(number, entry.names.iter().copied());
        self.boundaries.push(Boundary {
            id: entry.id,
            kind: entry.kind,
            source: entry.source,
            name: field(entry.names, 0)?.into(),
            extent: entry.extent,
            population: entry.population,
            codes: codes.map(|(kind, code)| (kind, code.into_boxed_str())).collect(),
            parent: entry.parent,
        });
        Ok(number)
    }

    fn country(&self, code: &str) -> Result<u32, Damaged> {
        self.countries.get(code).copied().ok_or(Damaged)
    }

    fn state_of(&self, key: &str) -> Result<u32, Damaged> {
        self.states.get(key.get(..2).ok_or(Damaged)?).copied().ok_or(Damaged)
    }

    fn add_countries(&mut self, records: Records<'_>) -> Result<(), Damaged> {
        for (texts, extent) in records.into_iter() {
            let code = field(&texts, 0)?;
            let number = self.add(Entry {
                kind: Kind::Country,
                source: if code == "US" { Source::Census } else { Source::NaturalEarth },
                id: place_id(Kind::Country, "iso", code),
                names: &texts[1..],
                extent,
                population: 0,
                codes: vec![(Code::Country, code.to_owned())],
                parent: None,
            })?;
            self.countries.insert(code.to_owned(), number);
        }
        Ok(())
    }

    /// Before their provinces, whose numbers follow each other.
    fn add_regions(&mut self, provinces: &Records<'_>) -> Result<(), Damaged> {
        let known: HashMap<&str, (&str, Extent)> = std::iter::zip(provinces.texts.iter(), &provinces.extents)
            .map(|(texts, extent)| Ok((field(&texts, 0)?, (field(&texts, 1)?, *extent))))
            .collect::<Result<_, Damaged>>()?;
        for Region { code, country, names, provinces } in regions::read()? {
            let extents = provinces.iter().map(|key| match known.get(key) {
                Some((of, extent)) if *of == country => Ok(*extent),
                Some(_) | None => Err(Damaged),
            });
            let extents: Vec<Extent> = extents.collect::<Result<_, Damaged>>()?;
            let number = self.add(Entry {
                kind: Kind::Province,
                source: Source::NaturalEarth,
                id: place_id(Kind::Province, "iso", code),
                names: &names,
                extent: Extent::around(&extents).ok_or(Damaged)?,
                population: 0,
                codes: vec![(Code::Province, code.to_owned())],
                parent: Some(self.country(country)?),
            })?;
            self.regions.extend(provinces.into_iter().map(|key| (key, number)));
        }
        Ok(())
    }

    fn add_provinces(&mut self, records: Records<'_>) -> Result<(), Damaged> {
        for (texts, extent) in records.into_iter() {
            let [key, country, iso, hasc, fips, names @ ..] = &texts[..] else { return Err(Damaged) };
            self.add(Entry {
                kind: Kind::Province,
                source: Source::NaturalEarth,
                id: place_id(Kind::Province, "naturalearth", key),
                names,
                extent,
                population: 0,
                codes: vec![
                    (Code::Province, (*iso).to_owned()),
                    (Code::Hasc, (*hasc).to_owned()),
                    (Code::Fips, (*fips).to_owned()),
                ],
                parent: Some(match self.regions.get(key) {
                    Some(region) => *region,
                    None => self.country(country)?,
                }),
            })?;
        }
        Ok(())
    }

    fn add_states(&mut self, records: Records<'_>) -> Result<(), Damaged> {
        for (texts, extent) in records.into_iter() {
            let [key, country, abbreviation, name] = &texts[..] else { return Err(Damaged) };
            let number = self.add(Entry {
                kind: Kind::Province,
                source: Source::Census,
                id: place_id(Kind::Province, "tiger", key),
                names: &[name, abbreviation],
                extent,
                population: 0,
                codes: vec![
                    (Code::UsState, (*abbreviation).to_owned()),
                    (Code::State, (*abbreviation).to_owned()),
                    (Code::Province, format!("US-{abbreviation}")),
                    (Code::Hasc, format!("US.{abbreviation}")),
                    (Code::Fips, format!("US{key}")),
                ],
                parent: Some(self.country(country)?),
            })?;
            self.states.insert((*key).to_owned(), number);
        }
        Ok(())
    }

    fn add_counties(&mut self, records: Records<'_>) -> Result<(), Damaged> {
        for (texts, extent) in records.into_iter() {
            let key = field(&texts, 0)?;
            self.add(Entry {
                kind: Kind::County,
                source: Source::Census,
                id: place_id(Kind::County, "tiger", key),
                names: &texts[1..],
                extent,
                population: 0,
                codes: Vec::new(),
                parent: Some(self.state_of(key)?),
            })?;
        }
        Ok(())
    }

    fn add_us_cities(&mut self, records: Records<'_>, populations: &[u32]) -> Result<(), Damaged> {
        for ((texts, extent), population) in records.into_iter().zip(populations) {
            let key = field(&texts, 0)?;
            self.add(Entry {
                kind: Kind::City,
                source: Source::Census,
                id: place_id(Kind::City, "tiger", key),
                names: &texts[1..],
                extent,
                population: *population,
                codes: Vec::new(),
                parent: Some(self.state_of(key)?),
            })?;
        }
        Ok(())
    }

    fn add_cities(
        &mut self,
        names: &Texts<'_>,
        details: &[CityDetails],
        first_province: u32,
    ) -> Result<Vec<Circle>, Damaged> {
        let mut circles = Vec::with_capacity(details.len());
        for (names, city) in names.iter().zip(details) {
            let circle = Circle::new(city.at, city.population);
            let parent = first_province.checked_add(city.province).ok_or(Damaged)?;
            if self.boundaries.get(parent as usize).is_none_or(|boundary| boundary.kind != Kind::Province) {
                return Err(Damaged);
            }
            self.add(Entry {
                kind: Kind::City,
                source: Source::GeoNames,
                id: place_id(Kind::City, "geonames", &city.key.to_string()),
                names: &names,
                extent: circle.extent(),
                population: city.population,
                codes: Vec::new(),
                parent: Some(parent),
            })?;
            circles.push(circle);
        }
        Ok(circles)
    }

    /// Places larger than a city have the inhabitants of their cities.
    fn add_up_populations(&mut self) {
        for number in 0..self.boundaries.len() {
            let Boundary { kind: Kind::City, population, .. } = self.boundaries[number] else { continue };
            let mut parent = self.boundaries[number].parent;
            while let Some(number) = parent {
                let boundary = &mut self.boundaries[number as usize];
                boundary.population = boundary.population.saturating_add(population);
                parent = boundary.parent;
            }
        }
    }

    fn by_id(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..self.next()).collect();
        numbers.sort_unstable_by_key(|number| self.boundaries[*number as usize].id);
        numbers
    }

    /// Two places with the same code would hide one of them; there are none in the file.
    fn by_code(&self) -> Result<HashMap<(Code, Box<str>), u32>, Damaged> {
        let mut found = HashMap::new();
        for (number, boundary) in (0_u32..).zip(&self.boundaries) {
            for (kind, code) in &boundary.codes {
                if found.insert((*kind, code.to_ascii_uppercase().into_boxed_str()), number).is_some() {
                    return Err(Damaged);
                }
            }
        }
        Ok(found)
    }
}

impl<'a> Records<'a> {
    fn into_iter(self) -> impl Iterator<Item = (Vec<&'a str>, Extent)> {
        std::iter::zip(self.texts.iter(), self.extents)
    }
}

fn field<'a>(texts: &[&'a str], n: usize) -> Result<&'a str, Damaged> {
    texts.get(n).copied().ok_or(Damaged)
}
