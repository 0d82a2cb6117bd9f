"""Regions: the level above provinces, in countries whose provinces are small. People say Catalonia and England, not Barcelona and
Kent, and Natural Earth has them only as attributes of provinces.

    python3 scripts/geo_data/regions.py FOLDER    writes crates/geo/data/regions.tsv from the downloads in FOLDER

A line has the code of ISO 3166-2, the code of the country, the names and the keys of the provinces, the latter two separated by `|`.
A region of one province is left out: it is found as that province.
"""

import json
import pathlib
import sys

import names
import provinces as province_data
import sources

RESULT = pathlib.Path(__file__).parents[2] / "crates/geo/data/regions.tsv"

# code: (the attribute of its provinces and the value of it, the names, the displayed one first)
REGIONS = {
    "GB-ENG": ("geonunit", "England", "England|Angleterre|Inglaterra|Inghilterra|Engeland|Anglia|İngiltere|Англия|Англія|Αγγλία"
               "|イングランド|잉글랜드|英格兰|إنجلترا"),
    "GB-SCT": ("geonunit", "Scotland", "Scotland|Schottland|Écosse|Escocia|Scozia|Escócia|Schotland|Szkocja|Skottland|İskoçya"
               "|Шотландия|Шотландія|Σκωτία|スコットランド|스코틀랜드|苏格兰|اسكتلندا|Alba"),
    "GB-WLS": ("geonunit", "Wales", "Wales|Cymru|Pays de Galles|Gales|Galles|País de Gales|Walia|Galler|Уэльс|Уельс|Ουαλία"
               "|ウェールズ|웨일스|威尔士|ويلز"),
    "GB-NIR": ("geonunit", "Northern Ireland", "Northern Ireland|Nordirland|Irlande du Nord|Irlanda del Norte|Irlanda del Nord"
               "|Irlanda do Norte|Noord-Ierland|Irlandia Północna|Kuzey İrlanda|Северная Ирландия|Північна Ірландія"
               "|Βόρεια Ιρλανδία|北アイルランド|북아일랜드|北爱尔兰|أيرلندا الشمالية"),
    "ES-AN": ("region_cod", "ES.AN", "Andalusia|Andalucía|Andalusien|Andalousie|Andaluzia|Andalusië|Andaluzja"),
    "ES-AR": ("region_cod", "ES.AR", "Aragon|Aragón|Aragonien|Aragona|Aragão"),
    "ES-CL": ("region_cod", "ES.CL", "Castile and León|Castilla y León|Kastilien und León|Castille-et-León"),
    "ES-CM": ("region_cod", "ES.CM", "Castilla-La Mancha|Castile-La Mancha|Kastilien-La Mancha|Castille-La Manche"),
    "ES-CN": ("region_cod", "ES.CN", "Canary Islands|Canarias|Islas Canarias|Kanarische Inseln|Kanaren|Îles Canaries|Isole Canarie"
              "|Canarische Eilanden"),
    "ES-CT": ("region_cod", "ES.CT", "Catalonia|Catalunya|Cataluña|Katalonien|Catalogne|Catalogna|Catalunha|Catalonië|Katalonia"
              "|Katalonya|Каталония|Каталонія|Καταλονία|カタルーニャ州|카탈루냐|加泰罗尼亚|كتالونيا"),
    "ES-EX": ("region_cod", "ES.EX", "Extremadura|Estrémadure|Estremadura"),
    "ES-GA": ("region_cod", "ES.GA", "Galicia|Galicien|Galice|Galizia|Galiza"),
    "ES-PV": ("region_cod", "ES.PV", "Basque Country|País Vasco|Euskadi|Baskenland|Pays basque|Paesi Baschi|País Basco"),
    "ES-VC": ("region_cod", "ES.VC", "Valencian Community|Comunitat Valenciana|Comunidad Valenciana|País Valencià"
              "|Communauté valencienne|Comunità Valenciana"),
    "FR-ARA": ("region_cod", "FR-ARA", "Auvergne-Rhône-Alpes"),
    "FR-BFC": ("region_cod", "FR-BFC", "Bourgogne-Franche-Comté|Burgundy-Franche-Comté"),
    "FR-BRE": ("region_cod", "FR-BRE", "Brittany|Bretagne|Breizh|Bretaña|Bretagna|Bretanha"),
    "FR-CVL": ("region_cod", "FR-CVL", "Centre-Val de Loire"),
    "FR-20R": ("region_cod", "FR-COR", "Corsica|Corse|Korsika|Córcega|Corsega"),
    "FR-GES": ("region_cod", "FR-GES", "Grand Est"),
    "FR-HDF": ("region_cod", "FR-HDF", "Hauts-de-France"),
    "FR-IDF": ("region_cod", "FR-IDF", "Île-de-France|Isla de Francia"),
    "FR-NAQ": ("region_cod", "FR-NAQ", "Nouvelle-Aquitaine|New Aquitaine"),
    "FR-NOR": ("region_cod", "FR-NOR", "Normandy|Normandie|Normandía|Normandia"),
    "FR-OCC": ("region_cod", "FR-OCC", "Occitanie|Occitania|Occitània"),
    "FR-PAC": ("region_cod", "FR-PAC", "Provence-Alpes-Côte d'Azur|PACA"),
    "FR-PDL": ("region_cod", "FR-PDL", "Pays de la Loire"),
    "IT-21": ("region_cod", "IT-21", "Piedmont|Piemonte|Piemont|Piémont"),
    "IT-25": ("region_cod", "IT-25", "Lombardy|Lombardia|Lombardei|Lombardie|Lombardía"),
    "IT-32": ("region_cod", "IT-32", "Trentino-South Tyrol|Trentino-Alto Adige|Trentino-Südtirol|Trentin-Haut-Adige"),
    "IT-34": ("region_cod", "IT-34", "Veneto|Venetien|Vénétie|Véneto"),
    "IT-36": ("region_cod", "IT-36", "Friuli-Venezia Giulia|Friaul-Julisch Venetien|Frioul-Vénétie Julienne"),
    "IT-42": ("region_cod", "IT-42", "Liguria|Ligurien|Ligurie"),
    "IT-45": ("region_cod", "IT-45", "Emilia-Romagna|Émilie-Romagne|Emilia-Romaña"),
    "IT-52": ("region_cod", "IT-52", "Tuscany|Toscana|Toskana|Toscane"),
    "IT-55": ("region_cod", "IT-55", "Umbria|Umbrien|Ombrie"),
    "IT-57": ("region_cod", "IT-57", "Marche|Marken|Marches|Las Marcas"),
    "IT-62": ("region_cod", "IT-62", "Lazio|Latium|Lacio"),
    "IT-65": ("region_cod", "IT-65", "Abruzzo|Abruzzen|Abruzzes|Abruzos"),
    "IT-67": ("region_cod", "IT-67", "Molise"),
    "IT-72": ("region_cod", "IT-72", "Campania|Kampanien|Campanie"),
    "IT-75": ("region_cod", "IT-75", "Apulia|Puglia|Apulien|Pouilles"),
    "IT-77": ("region_cod", "IT-77", "Basilicata|Basilikata|Basilicate"),
    "IT-78": ("region_cod", "IT-78", "Calabria|Kalabrien|Calabre"),
    "IT-82": ("region_cod", "IT-82", "Sicily|Sicilia|Sizilien|Sicile"),
    "IT-88": ("region_cod", "IT-88", "Sardinia|Sardegna|Sardinien|Sardaigne|Cerdeña"),
    "BE-VLG": ("region", "Flemish", "Flanders|Vlaanderen|Flandern|Flandre|Flandes|Fiandre|Vlaams Gewest"),
    "BE-WAL": ("region", "Walloon", "Wallonia|Wallonie|Wallonien|Wallonië|Valonia|Vallonia"),
}


def write(folder: pathlib.Path) -> None:
    """From the folder of the package with the provinces."""
    features = json.loads((folder / "data/states/admin1.json").read_text())["features"]
    lines = []
    for code, (attribute, value, known_as) in sorted(REGIONS.items()):
        country = code[:2]
        keys = [
            feature["properties"]["adm1_code"] for feature in features
            if feature["properties"].get(attribute) == value
            and province_data.country_of(feature["properties"]) == country and feature["geometry"]
        ]
        if len(keys) < 2:
            raise SystemExit(f"{code} has {len(keys)} provinces")
        lines.append("\t".join([code, country, "|".join(names.distinct(known_as.split("|"))), "|".join(sorted(keys))]) + "\n")
    RESULT.write_text("".join(lines))


if __name__ == "__main__":
    write(sources.get(pathlib.Path(sys.argv[1]), ["provinces"])["provinces"])
