//! Well-known places: all capitals of countries and other cities that most people have heard of.

use geo::{Boundary, Code, Kind};

use crate::{ATLAS, at};

/// The city, its province, its country, and a point in the middle of it, as printed in any atlas.
static PLACES: [(&str, &str, &str, f64, f64); 270] = [
    ("Ambato", "Tungurahua", "EC", -1.25, -78.62),
    ("Tena", "Napo", "EC", -0.99, -77.81),
    ("Kabul", "Kabul", "AF", 34.53, 69.17),
    ("Tirana", "Tiranë", "AL", 41.33, 19.82),
    ("Algiers", "Alger", "DZ", 36.75, 3.06),
    ("Andorra la Vella", "Andorra la Vella", "AD", 42.51, 1.52),
    ("Luanda", "Luanda", "AO", -8.84, 13.23),
    ("Saint John’s", "Saint John", "AG", 17.12, -61.85),
    ("Buenos Aires", "Ciudad de Buenos Aires", "AR", -34.60, -58.38),
    ("Yerevan", "Erevan", "AM", 40.18, 44.51),
    ("Canberra", "Australian Capital Territory", "AU", -35.28, 149.13),
    ("Vienna", "Wien", "AT", 48.21, 16.37),
    ("Baku", "Bakı", "AZ", 40.41, 49.87),
    ("Nassau", "New Providence", "BS", 25.06, -77.34),
    ("Manama", "Al Manāmah", "BH", 26.22, 50.58),
    ("Dhaka", "Dhaka", "BD", 23.81, 90.41),
    ("Bridgetown", "Saint Michael", "BB", 13.10, -59.61),
    ("Minsk", "City of Minsk", "BY", 53.90, 27.56),
    ("Brussels", "Brussels", "BE", 50.85, 4.35),
    ("Belmopan", "Cayo", "BZ", 17.25, -88.77),
    ("Porto-Novo", "Ouémé", "BJ", 6.50, 2.60),
    ("Thimphu", "Thimphu", "BT", 27.47, 89.64),
    ("Sucre", "Chuquisaca", "BO", -19.04, -65.26),
    ("La Paz", "La Paz", "BO", -16.50, -68.15),
    ("Sarajevo", "Sarajevo", "BA", 43.86, 18.41),
    ("Gaborone", "Gaborone", "BW", -24.65, 25.91),
    ("Brasília", "Distrito Federal", "BR", -15.79, -47.88),
    ("Bandar Seri Begawan", "Brunei and Muara", "BN", 4.89, 114.94),
    ("Sofia", "Grad Sofiya", "BG", 42.70, 23.32),
    ("Ouagadougou", "Kadiogo", "BF", 12.37, -1.53),
    ("Gitega", "Gitega", "BI", -3.43, 29.93),
    ("Phnom Penh", "Phnom Penh", "KH", 11.56, 104.92),
    ("Yaoundé", "Centre", "CM", 3.87, 11.52),
    ("Ottawa", "Ontario", "CA", 45.42, -75.69),
    ("Praia", "Praia", "CV", 14.92, -23.51),
    ("Bangui", "Bangui", "CF", 4.37, 18.56),
    ("N'Djamena", "Ville de N'Djamena", "TD", 12.11, 15.04),
    ("Santiago", "Región Metropolitana de Santiago", "CL", -33.45, -70.66),
    ("Beijing", "Beijing", "CN", 39.91, 116.40),
    ("Bogotá", "Bogota", "CO", 4.61, -74.08),
    ("Moroni", "Andjazîdja", "KM", -11.70, 43.26),
    ("Kinshasa", "Kinshasa City", "CD", -4.33, 15.31),
    ("Brazzaville", "Brazzaville", "CG", -4.27, 15.26),
    ("San José", "San José", "CR", 9.93, -84.08),
    ("Yamoussoukro", "Lacs", "CI", 6.82, -5.28),
    ("Zagreb", "Grad Zagreb", "HR", 45.81, 15.98),
    ("Havana", "Ciudad de la Habana", "CU", 23.13, -82.38),
    ("Nicosia", "Nicosia", "CY", 35.17, 33.36),
    ("Prague", "Prague", "CZ", 50.08, 14.44),
    ("Copenhagen", "Hovedstaden", "DK", 55.68, 12.57),
    ("Djibouti", "Djibouti", "DJ", 11.59, 43.15),
    ("Roseau", "Saint George", "DM", 15.30, -61.39),
    ("Santo Domingo", "Distrito Nacional", "DO", 18.47, -69.90),
    ("Quito", "Pichincha", "EC", -0.22, -78.51),
    ("Cairo", "Al Qahirah", "EG", 30.04, 31.24),
    ("San Salvador", "San Salvador", "SV", 13.69, -89.19),
    ("Malabo", "Bioko Norte", "GQ", 3.75, 8.78),
    ("Asmara", "Maekel", "ER", 15.33, 38.93),
    ("Tallinn", "Harju", "EE", 59.44, 24.75),
    ("Mbabane", "Hhohho", "SZ", -26.32, 31.13),
    ("Addis Ababa", "Addis Ababa", "ET", 9.03, 38.74),
    ("Suva", "Central", "FJ", -18.14, 178.44),
    ("Helsinki", "Uusimaa", "FI", 60.17, 24.94),
    ("Paris", "Paris", "FR", 48.86, 2.35),
    ("Libreville", "Estuaire", "GA", 0.39, 9.45),
    ("Banjul", "Banjul", "GM", 13.45, -16.58),
    ("Tbilisi", "Tbilisi", "GE", 41.69, 44.83),
    ("Berlin", "Berlin", "DE", 52.52, 13.40),
    ("Accra", "Greater Accra", "GH", 5.56, -0.20),
    ("Athens", "Attiki", "GR", 37.98, 23.73),
    ("Saint George's", "Saint George", "GD", 12.05, -61.75),
    ("Guatemala City", "Guatemala", "GT", 14.63, -90.51),
    ("Conakry", "Conakry", "GN", 9.54, -13.68),
    ("Bissau", "Bissau", "GW", 11.86, -15.60),
    ("Georgetown", "Demerara-Mahaica", "GY", 6.80, -58.16),
    ("Port-au-Prince", "Ouest", "HT", 18.54, -72.34),
    ("Tegucigalpa", "Francisco Morazán", "HN", 14.08, -87.21),
    ("Budapest", "Budapest", "HU", 47.50, 19.04),
    ("Reykjavík", "Reykjavík", "IS", 64.14, -21.93),
    ("New Delhi", "Delhi", "IN", 28.61, 77.21),
    ("Jakarta", "Jakarta Raya", "ID", -6.21, 106.85),
    ("Tehran", "Tehran", "IR", 35.69, 51.42),
    ("Baghdad", "Baghdad", "IQ", 33.32, 44.37),
    ("Dublin", "Dublin", "IE", 53.35, -6.26),
    ("Jerusalem", "Jerusalem", "IL", 31.78, 35.21),
    ("Rome", "Roma", "IT", 41.89, 12.50),
    ("Kingston", "Kingston", "JM", 17.97, -76.79),
    ("Tokyo", "Tokyo", "JP", 35.69, 139.69),
    ("Amman", "Amman", "JO", 31.95, 35.93),
    ("Astana", "Astana", "KZ", 51.17, 71.43),
    ("Nairobi", "Nairobi", "KE", -1.29, 36.82),
    ("Tarawa", "Kiribati", "KI", 1.33, 172.98),
    ("Pyongyang", "P'yŏngyang", "KP", 39.03, 125.75),
    ("Seoul", "Seoul", "KR", 37.57, 126.98),
    ("Pristina", "Priština", "XK", 42.66, 21.17),
    ("Kuwait City", "Al Asimah", "KW", 29.37, 47.98),
    ("Bishkek", "Bishkek", "KG", 42.87, 74.59),
    ("Vientiane", "Vientiane [prefecture]", "LA", 17.97, 102.61),
    ("Riga", "Riga", "LV", 56.95, 24.11),
    ("Beirut", "Beirut", "LB", 33.89, 35.50),
    ("Maseru", "Maseru", "LS", -29.32, 27.48),
    ("Monrovia", "Montserrado", "LR", 6.30, -10.80),
    ("Tripoli", "Tajura' wa an Nawahi al Arba", "LY", 32.89, 13.19),
    ("Vaduz", "Vaduz", "LI", 47.14, 9.52),
    ("Vilnius", "Vilniaus", "LT", 54.69, 25.28),
    ("Luxembourg", "Luxembourg", "LU", 49.61, 6.13),
    ("Antananarivo", "Analamanga", "MG", -18.91, 47.54),
    ("Lilongwe", "Lilongwe", "MW", -13.97, 33.79),
    ("Kuala Lumpur", "Kuala Lumpur", "MY", 3.15, 101.70),
    ("Male", "Malé", "MV", 4.175, 73.51),
    ("Bamako", "Bamako", "ML", 12.65, -8.00),
    ("Valletta", "Valletta", "MT", 35.8989, 14.5146),
    ("Majuro", "Ratak Chain", "MH", 7.09, 171.38),
    ("Nouakchott", "Nouakchott", "MR", 18.09, -15.98),
    ("Port Louis", "Port Louis city", "MU", -20.16, 57.50),
    ("Mexico City", "Distrito Federal", "MX", 19.43, -99.13),
    ("Palikir", "Pohnpei", "FM", 6.92, 158.16),
    ("Chisinau", "Chişinău", "MD", 47.01, 28.86),
    ("Monaco", "Monaco", "MC", 43.738, 7.425),
    ("Yaren", "Yaren", "NR", -0.5477, 166.9209),
    ("Ulan Bator", "Ulaanbaatar", "MN", 47.91, 106.88),
    ("Podgorica", "Podgorica", "ME", 42.44, 19.26),
    ("Rabat", "Rabat - Salé - Zemmour - Zaer", "MA", 34.02, -6.84),
    ("Maputo", "Maputo", "MZ", -25.97, 32.58),
    ("Nay Pyi Taw", "Mandalay", "MM", 19.75, 96.12),
    ("Windhoek", "Khomas", "NA", -22.56, 17.08),
    ("Kathmandu", "Bagmati", "NP", 27.71, 85.32),
    ("Amsterdam", "Noord-Holland", "NL", 52.37, 4.89),
    ("Wellington", "Wellington", "NZ", -41.29, 174.78),
    ("Managua", "Managua", "NI", 12.14, -86.25),
    ("Niamey", "Niamey", "NE", 13.51, 2.11),
    ("Abuja", "Federal Capital Territory", "NG", 9.06, 7.49),
    ("Skopje", "Čair", "MK", 42.00, 21.43),
    ("Oslo", "Oslo", "NO", 59.91, 10.75),
    ("Muscat", "Muscat", "OM", 23.59, 58.41),
    ("Islamabad", "F.C.T.", "PK", 33.69, 73.05),
    ("Ngerulmud", "Melekeok", "PW", 7.50, 134.62),
    ("Ramallah", "West Bank", "PS", 31.90, 35.20),
    ("Panama City", "Panama", "PA", 8.98, -79.52),
    ("Port Moresby", "National Capital District", "PG", -9.44, 147.18),
    ("Asunción", "Asunción", "PY", -25.28, -57.63),
    ("Lima", "Lima Province", "PE", -12.05, -77.04),
    ("Manila", "Manila", "PH", 14.60, 120.98),
    ("Warsaw", "Masovian", "PL", 52.23, 21.01),
    ("Lisbon", "Lisboa", "PT", 38.72, -9.14),
    ("Doha", "Ad Dawhah", "QA", 25.29, 51.53),
    ("Bucharest", "Bucharest", "RO", 44.43, 26.10),
    ("Moscow", "Moskva", "RU", 55.75, 37.62),
    ("Kigali", "Kigali City", "RW", -1.95, 30.06),
    ("Basseterre", "Saint George Basseterre", "KN", 17.30, -62.72),
    ("Castries", "Castries", "LC", 14.00, -61.00),
    ("Kingstown", "Saint George", "VC", 13.16, -61.22),
    ("Apia", "Tuamasaga", "WS", -13.83, -171.76),
    ("San Marino", "Borgo Maggiore", "SM", 43.936, 12.447),
    ("São Tomé", "São Tomé", "ST", 0.34, 6.73),
    ("Riyadh", "Ar Riyad", "SA", 24.71, 46.68),
    ("Dakar", "Dakar", "SN", 14.69, -17.45),
    ("Belgrade", "Grad Beograd", "RS", 44.80, 20.46),
    ("Victoria", "English River", "SC", -4.62, 55.45),
    ("Freetown", "Western", "SL", 8.48, -13.23),
    ("Singapore", "Central Singapore", "SG", 1.29, 103.85),
    ("Bratislava", "Bratislavský", "SK", 48.15, 17.11),
    ("Ljubljana", "Ljubljana", "SI", 46.05, 14.51),
    ("Honiara", "Capital Territory (Honiara)", "SB", -9.43, 159.95),
    ("Mogadishu", "Banaadir", "SO", 2.04, 45.34),
    ("Pretoria", "Gauteng", "ZA", -25.75, 28.19),
    ("Cape Town", "Western Cape", "ZA", -33.92, 18.42),
    ("Bloemfontein", "Free State", "ZA", -29.12, 26.21),
    ("Juba", "Central Equatoria", "SS", 4.85, 31.58),
    ("Madrid", "Madrid", "ES", 40.42, -3.70),
    ("Colombo", "Kŏḷamba", "LK", 6.93, 79.85),
    ("Khartoum", "Khartoum", "SD", 15.60, 32.53),
    ("Paramaribo", "Paramaribo", "SR", 5.85, -55.20),
    ("Stockholm", "Stockholm", "SE", 59.33, 18.07),
    ("Bern", "Bern", "CH", 46.95, 7.45),
    ("Damascus", "Damascus", "SY", 33.51, 36.29),
    ("Taipei", "Taipei City", "TW", 25.04, 121.56),
    ("Dushanbe", "Dushanbe", "TJ", 38.56, 68.77),
    ("Dodoma", "Dodoma", "TZ", -6.17, 35.74),
    ("Bangkok", "Bangkok Metropolis", "TH", 13.75, 100.50),
    ("Dili", "Dili", "TL", -8.56, 125.57),
    ("Lomé", "Maritime", "TG", 6.13, 1.22),
    ("Nuku‘alofa", "Tongatapu", "TO", -21.14, -175.20),
    ("Port of Spain", "Port of Spain", "TT", 10.66, -61.51),
    ("Tunis", "Tunis", "TN", 36.80, 10.18),
    ("Ankara", "Ankara", "TR", 39.93, 32.86),
    ("Ashgabat", "Ahal", "TM", 37.95, 58.38),
    ("Funafuti", "Tuvalu", "TV", -8.52, 179.20),
    ("Kampala", "Kampala", "UG", 0.32, 32.58),
    ("Kyiv", "Kiev City", "UA", 50.45, 30.52),
    ("Abu Dhabi", "Abu Dhabi", "AE", 24.46, 54.37),
    ("London", "Westminster", "GB", 51.507, -0.128),
    ("Washington", "District of Columbia", "US", 38.90, -77.04),
    ("Montevideo", "Montevideo", "UY", -34.90, -56.16),
    ("Tashkent", "Tashkent", "UZ", 41.31, 69.28),
    ("Port-Vila", "Shefa", "VU", -17.74, 168.32),
    ("Vatican City", "Vatican", "VA", 41.9022, 12.4533),
    ("Caracas", "Distrito Capital", "VE", 10.49, -66.88),
    ("Hanoi", "Ha Noi", "VN", 21.03, 105.85),
    ("Sanaa", "Amanat Al Asimah", "YE", 15.35, 44.21),
    ("Lusaka", "Lusaka", "ZM", -15.42, 28.28),
    ("Harare", "Harare", "ZW", -17.83, 31.05),
    ("New York", "New York", "US", 40.71, -74.01),
    ("Los Angeles", "California", "US", 34.05, -118.24),
    ("Chicago", "Illinois", "US", 41.88, -87.63),
    ("Houston", "Texas", "US", 29.76, -95.37),
    ("Phoenix", "Arizona", "US", 33.45, -112.07),
    ("Philadelphia", "Pennsylvania", "US", 39.95, -75.17),
    ("San Francisco", "California", "US", 37.775, -122.419),
    ("Seattle", "Washington", "US", 47.61, -122.33),
    ("Denver", "Colorado", "US", 39.74, -104.99),
    ("Boston", "Massachusetts", "US", 42.36, -71.06),
    ("Miami", "Florida", "US", 25.77, -80.19),
    ("Atlanta", "Georgia", "US", 33.75, -84.39),
    ("Portland", "Oregon", "US", 45.523, -122.676),
    ("Urban Honolulu", "Hawaii", "US", 21.31, -157.86),
    ("Anchorage", "Alaska", "US", 61.22, -149.90),
    ("St. Louis", "Missouri", "US", 38.63, -90.20),
    ("El Paso", "Texas", "US", 31.76, -106.49),
    ("Detroit", "Michigan", "US", 42.33, -83.05),
    ("New Orleans", "Louisiana", "US", 29.95, -90.07),
    ("Las Vegas", "Nevada", "US", 36.17, -115.14),
    ("Juneau", "Alaska", "US", 58.30, -134.42),
    ("San Juan", "Puerto Rico", "PR", 18.42, -66.07),
    ("Toronto", "Ontario", "CA", 43.65, -79.38),
    ("Montréal", "Québec", "CA", 45.51, -73.57),
    ("Vancouver", "British Columbia", "CA", 49.26, -123.11),
    ("Sydney", "New South Wales", "AU", -33.87, 151.21),
    ("Melbourne", "Victoria", "AU", -37.81, 144.96),
    ("Perth", "Western Australia", "AU", -31.95, 115.86),
    ("Auckland", "Auckland", "NZ", -36.85, 174.76),
    ("Mumbai", "Maharashtra", "IN", 19.08, 72.88),
    ("Kolkata", "West Bengal", "IN", 22.57, 88.36),
    ("Bengaluru", "Karnataka", "IN", 12.97, 77.59),
    ("Shanghai", "Shanghai", "CN", 31.23, 121.47),
    ("Shenzhen", "Guangdong", "CN", 22.54, 114.06),
    ("Hong Kong", "Central and Western", "HK", 22.28, 114.16),
    ("Macau", "Macau", "MO", 22.20, 113.55),
    ("Osaka", "Ōsaka", "JP", 34.69, 135.50),
    ("Sapporo", "Hokkaidō", "JP", 43.06, 141.35),
    ("Busan", "Busan", "KR", 35.18, 129.08),
    ("Ho Chi Minh City", "Hồ Chí Minh city", "VN", 10.78, 106.70),
    ("Dubai", "Dubay", "AE", 25.20, 55.27),
    ("Istanbul", "Istanbul", "TR", 41.01, 28.98),
    ("Saint Petersburg", "City of St. Petersburg", "RU", 59.94, 30.31),
    ("Vladivostok", "Primor'ye", "RU", 43.12, 131.89),
    ("Munich", "Bayern", "DE", 48.14, 11.58),
    ("Hamburg", "Hamburg", "DE", 53.55, 9.99),
    ("Köln", "Nordrhein-Westfalen", "DE", 50.94, 6.96),
    ("Milan", "Milano", "IT", 45.46, 9.19),
    ("Barcelona", "Barcelona", "ES", 41.39, 2.17),
    ("Porto", "Porto", "PT", 41.15, -8.61),
    ("Lyon", "Rhône", "FR", 45.76, 4.84),
    ("Marseille", "Bouches-du-Rhône", "FR", 43.30, 5.37),
    ("Geneva", "Genève", "CH", 46.20, 6.15),
    ("Edinburgh", "Edinburgh", "GB", 55.95, -3.19),
    ("Manchester", "Manchester", "GB", 53.48, -2.24),
    ("Belfast", "Belfast", "GB", 54.60, -5.93),
    ("Lagos", "Lagos", "NG", 6.45, 3.39),
    ("Johannesburg", "Gauteng", "ZA", -26.20, 28.05),
    ("Casablanca", "Grand Casablanca", "MA", 33.57, -7.59),
    ("São Paulo", "São Paulo", "BR", -23.55, -46.63),
    ("Rio de Janeiro", "Rio de Janeiro", "BR", -22.91, -43.18),
    ("Guadalajara", "Jalisco", "MX", 20.68, -103.35),
    ("Tijuana", "Baja California", "MX", 32.53, -117.02),
    ("Sevastopol", "Sevastopol", "UA", 44.60, 33.53),
    ("Nuuk", "Kommuneqarfik Sermersooq", "GL", 64.18, -51.72),
    ("Gibraltar", "Gibraltar", "GI", 36.14, -5.35),
    ("Ushuaia", "Tierra del Fuego", "AR", -54.80, -68.30),
    ("Longyearbyen", "Svalbard", "SJ", 78.22, 15.64),
];

fn country(boundary: &Boundary) -> &str {
    ATLAS.parents(boundary).last().unwrap_or(boundary).code(Code::Country).unwrap()
}

fn of_kind<'a>(found: &'a [&'a Boundary], kind: Kind) -> impl Iterator<Item = &'a Boundary> {
    found.iter().copied().filter(move |boundary| boundary.kind == kind)
}

#[test]
fn well_known_places_are_where_they_are() {
    let mut wrong = Vec::new();
    for (city, province, country_code, lat, lon) in PLACES {
        let found = ATLAS.at(at(lat, lon));
        // The first one; the province around it, if there is one, is a region.
        let first_province = of_kind(&found, Kind::Province).next().map(|boundary| &*boundary.name);
        let code = found.last().and_then(|country| country.code(Code::Country));
        // Only a larger city around it may come first, such as Delhi around New Delhi.
        let cities: Vec<&Boundary> = of_kind(&found, Kind::City).collect();
        let rank = cities.iter().position(|boundary| &*boundary.name == city);
        let is_city =
            rank.is_some_and(|rank| cities[..rank].iter().all(|before| before.population > cities[rank].population));
        if !is_city || first_province != Some(province) || code != Some(country_code) {
            let names: Vec<_> = found.iter().map(|boundary| (boundary.kind.name(), &*boundary.name)).collect();
            wrong.push(format!("{city}, {province}, {country_code}: {names:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn well_known_places_are_found_by_their_names() {
    let mut wrong = Vec::new();
    for (city, province, country_code, lat, lon) in PLACES {
        let found = ATLAS.named(city, Some(Kind::City), 100);
        let rank = found.iter().position(|boundary| country(boundary) == country_code && &*boundary.name == city);
        // Only a larger one of the same name may come first.
        let is_right = rank.is_some_and(|rank| {
            found[..rank].iter().all(|before| before.population >= found[rank].population)
                && ATLAS.at(at(lat, lon)).iter().any(|boundary| boundary.id == found[rank].id)
        });
        if !is_right {
            wrong.push(format!("{city}, {country_code}: {rank:?}"));
        }
        let of_name = ATLAS.named(province, Some(Kind::Province), 100);
        if !of_name.iter().any(|found| country(found) == country_code && &*found.name == province) {
            wrong.push(format!("{province}, {country_code}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn countries_are_found_by_their_names_and_codes() {
    for (_, _, code, lat, lon) in PLACES {
        let found = ATLAS.at(at(lat, lon));
        let here = found.last().unwrap();
        assert_eq!(ATLAS.by_code(Code::Country, code).unwrap().id, here.id);
        assert_eq!(ATLAS.named(&here.name, Some(Kind::Country), 1)[0].id, here.id, "{}", here.name);
        assert_eq!(ATLAS.by_id(here.id).unwrap().id, here.id);
    }
}
