//! Countries by the names that people have for them.

use geo::{Code, Kind};

use crate::ATLAS;

/// As people write them: with and without diacritics, short and long, old and new.
const COUNTRIES: [(&str, &str); 60] = [
    ("Germany", "DE"),
    ("france", "FR"),
    ("SPAIN", "ES"),
    ("Italy", "IT"),
    ("United Kingdom", "GB"),
    ("United States", "US"),
    ("Canada", "CA"),
    ("Mexico", "MX"),
    ("Brazil", "BR"),
    ("Argentina", "AR"),
    ("Chile", "CL"),
    ("Peru", "PE"),
    ("Colombia", "CO"),
    ("Ecuador", "EC"),
    ("Netherlands", "NL"),
    ("Belgium", "BE"),
    ("Switzerland", "CH"),
    ("Austria", "AT"),
    ("Poland", "PL"),
    ("Sweden", "SE"),
    ("Norway", "NO"),
    ("Denmark", "DK"),
    ("Finland", "FI"),
    ("Iceland", "IS"),
    ("Ireland", "IE"),
    ("Portugal", "PT"),
    ("Greece", "GR"),
    ("Ukraine", "UA"),
    ("Russia", "RU"),
    ("Egypt", "EG"),
    ("Morocco", "MA"),
    ("Nigeria", "NG"),
    ("Kenya", "KE"),
    ("Ethiopia", "ET"),
    ("South Africa", "ZA"),
    ("Lesotho", "LS"),
    ("Madagascar", "MG"),
    ("cote d'ivoire", "CI"),
    ("Saudi Arabia", "SA"),
    ("Israel", "IL"),
    ("Iran", "IR"),
    ("Iraq", "IQ"),
    ("India", "IN"),
    ("Pakistan", "PK"),
    ("Bangladesh", "BD"),
    ("China", "CN"),
    ("Japan", "JP"),
    ("South Korea", "KR"),
    ("Vietnam", "VN"),
    ("Thailand", "TH"),
    ("Indonesia", "ID"),
    ("Philippines", "PH"),
    ("Malaysia", "MY"),
    ("Singapore", "SG"),
    ("Australia", "AU"),
    ("New Zealand", "NZ"),
    ("Fiji", "FJ"),
    ("Nauru", "NR"),
    ("Vatican City", "VA"),
    ("San Marino", "SM"),
];

#[test]
fn countries_are_found_by_what_people_call_them() {
    let code =
        |name: &str| ATLAS.named(name, Some(Kind::Country), 1).first().and_then(|found| found.code(Code::Country));
    let wrong = COUNTRIES.into_iter().filter(|(name, wanted)| code(name) != Some(wanted));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}
