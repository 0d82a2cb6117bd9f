//! Places on earth: coordinates, and the ids of places that have a boundary.

use std::fmt;

use schemars::json_schema;
use serde_json::json;

use crate::json::body::Read;
use crate::json::{At, Json};
use crate::time::UtcMillis;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_CHARS: usize = 22;

/// The id of a boundary: 128 bits, written as 22 letters and digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub u128);

impl PlaceId {
    /// `None` for a text that is not the id of any place.
    pub fn from_text(text: &str) -> Option<Self> {
        if text.len() != ID_CHARS {
            return None;
        }
        let mut number = 0_u128;
        for byte in text.bytes() {
            let digit = DIGITS.iter().position(|digit| *digit == byte)?;
            number = number.checked_mul(62)?.checked_add(digit as u128)?;
        }
        Some(Self(number))
    }
}

impl fmt::Display for PlaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [b'0'; ID_CHARS];
        let mut rest = self.0;
        for place in text.iter_mut().rev() {
            *place = DIGITS[usize::try_from(rest % 62).map_err(|_| fmt::Error)?];
            rest /= 62;
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for PlaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlaceId({self})")
    }
}

/// A point on earth, in millionths of a degree. It is always in range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    lat: i32,
    lon: i32,
}

/// Where a device was, and when; without a time it is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Read)]
#[body(schema = {
    let degrees = json!({"type": ["number", "string"]});
    let keys = json!({"latitude": degrees, "longitude": degrees, "date": {"type": ["string", "null"]}});
    json_schema!({"type": "object", "properties": keys, "required": ["latitude", "longitude"]})
})]
pub struct Sighting {
    pub point: Point,
    pub at: Option<UtcMillis>,
}

impl Sighting {
    /// `{"latitude": NUMBER, "longitude": NUMBER, "date"?: DATE-TIME, …}`; some devices write numbers as texts.
    pub fn parse(at: &At<'_>) -> Option<Self> {
        let mut fields = at.object()?;
        let lat = fields.required("latitude", parse_degrees);
        let lon = fields.required("longitude", parse_degrees);
        let date = fields.nullable("date", |at| {
            let text = at.string()?;
            UtcMillis::parse_api(text)
                .or_else(|| at.invalid("This must be a date-time in UTC, such as 2024-05-01T08:00:00."))
        });
        // Devices add how they found the location, its accuracy and more: none of it is kept, and none of it is wrong.
        fields.rest();
        match Point::new(lat?, lon?) {
            Ok(point) => Some(Self { point, at: date }),
            Err(wrong) => at.invalid(wrong.to_string()),
        }
    }
}

fn parse_degrees(at: &At<'_>) -> Option<f64> {
    match at.json() {
        Json::String(text) => match text.parse() {
            Ok(degrees) => Some(degrees),
            Err(_) => at.invalid("This must be a number of degrees."),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            at.number(f64::MIN..=f64::MAX)
        }
    }
}

/// Why two numbers are not a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPoint {
    Latitude,
    Longitude,
    /// The latitude is out of range, but would be a valid longitude, and the other way round.
    Swapped,
}

const MICRO: f64 = 1_000_000.0;

impl Point {
    pub fn new(lat: f64, lon: f64) -> Result<Self, NoPoint> {
        let is_lat = |degrees: f64| (-90.0..=90.0).contains(&degrees);
        let is_lon = |degrees: f64| (-180.0..=180.0).contains(&degrees);
        match (is_lat(lat), is_lon(lon)) {
            (true, true) => Ok(Self { lat: micro(lat), lon: micro(lon) }),
            (false, _) if is_lon(lat) && is_lat(lon) => Err(NoPoint::Swapped),
            (false, _) => Err(NoPoint::Latitude),
            (true, false) => Err(NoPoint::Longitude),
        }
    }

    /// In millionths of a degree.
    pub const fn lat(self) -> i32 {
        self.lat
    }

    /// In millionths of a degree.
    pub const fn lon(self) -> i32 {
        self.lon
    }
}

impl fmt::Display for NoPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoPoint::Latitude => "A latitude is a number of degrees from -90 to 90.",
            NoPoint::Longitude => "A longitude is a number of degrees from -180 to 180.",
            NoPoint::Swapped => "The latitude comes first and is from -90 to 90; these look swapped.",
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "degrees are in range, so their millionths fit")]
fn micro(degrees: f64) -> i32 {
    (degrees * MICRO).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_back() {
        for number in [0, 1, 61, 62, u128::MAX, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef] {
            let text = PlaceId(number).to_string();
            assert_eq!(text.len(), ID_CHARS);
            assert_eq!(PlaceId::from_text(&text), Some(PlaceId(number)));
        }
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "x",
            "zzzzzzzzzzzzzzzzzzzzzz",
            "0000000000000000000000é",
            "000000000000000000000-",
            "00000000000000000000000",
        ] {
            assert_eq!(PlaceId::from_text(text), None, "{text}");
        }
        assert!(PlaceId::from_text("4oFkxX7RcUdirjtaenEQIV").is_some());
    }

    #[test]
    fn sightings_are_read() {
        let read = |body: &str| crate::json::parse(body.as_bytes(), Sighting::parse);
        let here = Point::new(45.5, -122.6).unwrap();
        assert_eq!(read(r#"{"latitude":45.5,"longitude":"-122.6"}"#), Ok(Sighting { point: here, at: None }));
        let more = read(r#"{"latitude":45.5,"longitude":-122.6,"accuracy":12.5,"provider":"GPS"}"#);
        assert_eq!(more, Ok(Sighting { point: here, at: None }), "devices tell more than is asked for");
        let dated = read(r#"{"latitude":45.5,"longitude":-122.6,"date":"1970-01-02T00:00:00"}"#).unwrap();
        assert_eq!(dated.at, Some(UtcMillis(86_400_000)));
        for (body, path, message) in [
            (r#"{"latitude":-122.6,"longitude":45.5}"#, "", "swapped"),
            (r#"{"latitude":45.5,"longitude":200}"#, "", "longitude"),
            (r#"{"latitude":45.5}"#, "longitude", "must be set"),
            (r#"{"latitude":"north","longitude":1}"#, "latitude", "degrees"),
            (r#"{"latitude":true,"longitude":1}"#, "latitude", "number"),
            (r#"{"latitude":1,"longitude":1,"date":"yesterday"}"#, "date", "date-time"),
        ] {
            let problems = read(body).unwrap_err();
            let first = problems.first();
            assert_eq!(first.path, path, "{body}");
            assert!(first.message.contains(message), "{body}: {}", first.message);
        }
    }

    #[test]
    fn points_are_in_range() {
        assert_eq!(Point::new(-90.0, 180.0), Ok(Point { lat: -90_000_000, lon: 180_000_000 }));
        assert_eq!(Point::new(45.523_064_4, -122.676_483_6), Ok(Point { lat: 45_523_064, lon: -122_676_484 }));
        assert_eq!(Point::new(-122.67, 45.52), Err(NoPoint::Swapped));
        assert_eq!(Point::new(90.1, 120.0), Err(NoPoint::Latitude));
        assert_eq!(Point::new(f64::NAN, 0.0), Err(NoPoint::Latitude));
        assert_eq!(Point::new(0.0, f64::INFINITY), Err(NoPoint::Longitude));
        assert_eq!(Point::new(0.0, -180.1), Err(NoPoint::Longitude));
    }
}
