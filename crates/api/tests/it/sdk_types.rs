//! The written types of the browser SDK name what its code has, and nothing else. `scripts/types` compares the types themselves,
//! with a compiler that not every machine can get.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../../sdk/aerogram.js");
const WORKER: &str = include_str!("../../../../sdk/aerogram-sw.js");
const TYPES: &str = include_str!("../../../../sdk/aerogram.d.ts");

type Names = BTreeSet<&'static str>;

/// The script of pages with all parts, in some order.
fn whole() -> &'static str {
    let parts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/parts");
    let paths = fs::read_dir(parts).unwrap().map(|part| part.unwrap().path());
    let texts = paths.map(|path| fs::read_to_string(path).unwrap());
    [PAGE.to_owned()].into_iter().chain(texts).collect::<String>().leak()
}

/// What stands between a line and the line that closes it.
fn block(text: &'static str, first: &str) -> &'static str {
    let (_, rest) = text.split_once(&format!("\n{first}\n")).unwrap_or_else(|| panic!("there is no line '{first}'"));
    let indent = &first[..first.len() - first.trim_start().len()];
    let end = rest.find(&format!("\n{indent}}}")).unwrap_or_else(|| panic!("'{first}' is not closed"));
    &rest[..end]
}

/// The name at the beginning of a text.
fn name(text: &'static str) -> &'static str {
    text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_').next().unwrap_or_default()
}

/// What is declared at an indentation, but for private members, constructors and what is inherited.
fn members(block: &'static str, indent: usize) -> Names {
    let of_line = |line: &'static str| {
        let mut bare = line.get(indent..).filter(|_| line.len() - line.trim_start().len() == indent)?;
        for word in ["static ", "async ", "readonly ", "get "] {
            bare = bare.strip_prefix(word).unwrap_or(bare);
        }
        let rest = &bare[name(bare).len()..];
        let is_declared = [" = ", ";", ":", "?:", "(", "<"].iter().any(|next| rest.starts_with(next));
        Some(name(bare)).filter(|name| is_declared && !["", "constructor", "addEventListener"].contains(name))
    };
    block.lines().filter_map(of_line).collect()
}

/// The names that follow some words.
fn after(text: &'static str, words: &str) -> Names {
    text.split(words).skip(1).map(name).collect()
}

/// What is taken out of an object by its names.
fn taken_from(text: &'static str, object: &str) -> Names {
    let end = format!(" }} = {object};");
    let taken = text.lines().filter_map(|line| line.strip_suffix(&end)?.split_once("{ "));
    taken.flat_map(|(_, names)| names.split(", ").map(name)).collect()
}

#[test]
fn types_name_what_the_code_has() {
    let class = "export class Aerogram extends EventTarget {";
    let (code, types, whole) = (block(PAGE, class), block(TYPES, class), whole());
    let public = members(code, 2);
    assert!(public.contains("channelId") && public.contains("enablePush") && public.contains("init"), "{public:?}");
    assert_eq!(public, members(types, 2));
    assert_eq!(members(block(PAGE, "  inbox = {"), 4), members(block(TYPES, "export interface Inbox {"), 2));
    let mut options = &after(whole, "#options.") | &after(whole, " options.");
    options.extend(["options", "this.#options"].into_iter().flat_map(|object| taken_from(whole, object)));
    assert_eq!(options, members(block(TYPES, "export interface InitOptions {"), 2));
    let told = [(whole, ".emit('"), (whole, " emit('"), (whole, ".tell({ type: '"), (WORKER, "toPages({ type: '")];
    let told: Names = told.into_iter().flat_map(|(text, words)| after(text, words)).collect();
    // What the tabs of a browser tell each other is not told to the page.
    let kept: Names =
        after(code, "if (type === '").into_iter().filter(|name| code.contains(&format!("'{name}') return"))).collect();
    assert_eq!(&told - &kept, members(block(TYPES, "export interface AerogramEvents {"), 2));
}
