//! The data of one place.

use model::place::PlaceId;
use ring::digest;

/// The size of a place in the order of nations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Country,
    Province,
    County,
    City,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Country, Kind::Province, Kind::County, Kind::City];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::Country => "country",
            Kind::Province => "province",
            Kind::County => "county",
            Kind::City => "city",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name that is shown to people.
    pub const fn label(self) -> &'static str {
        match self {
            Kind::Country => "Country",
            Kind::Province => "State/Province",
            Kind::County => "County",
            Kind::City => "City/Place",
        }
    }
}

/// The source of a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    NaturalEarth,
    Census,
    GeoNames,
}

impl Source {
    pub const fn host(self) -> &'static str {
        match self {
            Source::NaturalEarth => "naturalearthdata.com",
            Source::Census => "tiger.census.gov",
            Source::GeoNames => "geonames.org",
        }
    }
}

/// The kinds of codes that other systems have for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// ISO 3166-1: `DE`.
    Country,
    /// ISO 3166-2: `DE-BE`.
    Province,
    /// `US.CA`.
    Hasc,
    /// `US06`.
    Fips,
    /// `CA`, in the United States only.
    UsState,
    /// The same code under another name.
    State,
}

impl Code {
    pub const ALL: [Code; 6] = [Code::Country, Code::Province, Code::Hasc, Code::Fips, Code::UsState, Code::State];

    pub const fn name(self) -> &'static str {
        match self {
            Code::Country => "country",
            Code::Province => "province",
            Code::Hasc => "hasc",
            Code::Fips => "fips_10-4",
            Code::UsState => "us_state",
            Code::State => "state",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// Where a place lies, in millionths of a degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub south: i32,
    pub west: i32,
    pub north: i32,
    pub east: i32,
    /// The latitude and the longitude of the middle.
    pub lat: i32,
    pub lon: i32,
}

#[derive(Clone, Debug)]
pub struct Boundary {
    pub id: PlaceId,
    pub kind: Kind,
    pub source: Source,
    pub name: Box<str>,
    pub extent: Extent,
    /// Inhabitants of its cities, as far as they are known; large places come before small ones.
    pub population: u32,
    pub codes: Box<[(Code, Box<str>)]>,
    /// The place that this one is a part of, by its number.
    pub(crate) parent: Option<u32>,
}

impl Boundary {
    pub fn code(&self, wanted: Code) -> Option<&str> {
        self.codes.iter().find(|(code, _)| *code == wanted).map(|(_, value)| &**value)
    }
}

/// The id of a place, which depends only on its key in the source: it outlives new versions of the data.
pub(crate) fn place_id(kind: Kind, source: &str, key: &str) -> PlaceId {
    let digest = digest::digest(&digest::SHA256, format!("{}:{source}:{key}", kind.name()).as_bytes());
    let mut first = [0; 16];
    first.copy_from_slice(&digest.as_ref()[..16]);
    PlaceId(u128::from_be_bytes(first))
}
