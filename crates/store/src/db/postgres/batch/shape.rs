//! What a statement does, as far as its text tells: which tables it touches, and which rows of them.
//!
//! Our statements are few and plain, so a handful of rules reads most of them. What the rules do not understand counts as
//! touching every row of every table it names.

#[cfg(test)]
mod tests;

use std::ops::Range;

/// A statement of ours, analyzed once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) verb: Verb,
    /// The tables it reads or writes, the one that it writes first.
    pub(crate) tables: Vec<String>,
    /// `column = $n` that every row it reads, changes or deletes satisfies.
    pub(crate) keys: Vec<(String, usize)>,
    /// The columns that it sets, with their parameters where they are set to one.
    pub(crate) sets: Vec<(String, Option<usize>)>,
    /// The columns that a select yields, if it yields columns and nothing else, of all rows with its keys.
    pub(crate) yields: Vec<String>,
    /// Whether a write leaves nothing of what an earlier run of it for the same row has written.
    pub(crate) overwrites: bool,
    /// The parameter that every `app = $n` of it names, if it is one.
    pub(crate) place: Option<usize>,
    /// Where many rows of parameters take the place of one, if that is possible.
    pub(crate) seam: Option<Seam>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Select,
    /// Adds rows, and leaves those that exist as they are.
    Insert,
    /// Adds rows, or changes those with the same values in these columns.
    Upsert(Vec<String>),
    Update,
    Delete,
    Other,
}

/// The place in the text at which the rows of parameters come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seam {
    /// The whole select is asked for each row.
    Select,
    /// From `values` to the end of the tuple, which is inside the second range.
    Values { all: Range<usize>, tuple: Range<usize> },
    /// Before the `where` of an update or a delete.
    Where(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    Param(usize),
    Sign(char),
    Text,
}

/// A token, where it begins, and how many parentheses it is in.
#[derive(Clone, Copy, Debug)]
struct Placed<'s> {
    token: Token<'s>,
    at: usize,
    depth: usize,
}

impl Shape {
    pub(crate) fn of(sql: &str) -> Self {
        let tokens = tokens(sql);
        let tables = tables(&tokens);
        let is = |index: usize, word: &str| tokens.get(index).is_some_and(|it| it.token == Token::Word(word));
        let has = |word: &str| tokens.iter().any(|it| it.token == Token::Word(word));
        let is_plain = !has("select") && !has("returning");
        let read = if is(0, "select") && !has("skip") {
            Some(Self::reading(Verb::Select, &tokens, Seam::Select))
        } else if is(0, "insert") && is_plain {
            insert(&tokens)
        } else if is(0, "update") && is_plain && !has("from") {
            update(&tokens)
        } else if is(0, "delete") && is_plain && !has("using") {
            place(&tokens, "where").map(|index| Self::reading(Verb::Delete, &tokens, Seam::Where(tokens[index].at)))
        } else {
            None
        };
        let shape = read.unwrap_or_else(|| Self::with(Verb::Other, Vec::new(), Vec::new(), None));
        // The columns of a join belong to one of its tables, and the text does not always say to which. A select inside of another
        // reads other rows.
        let n_selects = tokens.iter().filter(|it| it.token == Token::Word("select")).count();
        let keys = if tables.len() == 1 && n_selects <= 1 { shape.keys } else { Vec::new() };
        Self { tables, keys, place: place_of(&tokens), ..shape }
    }

    /// Whether all its tables are on one server, also where apps are spread over several.
    pub(crate) fn is_at_home(&self) -> bool {
        self.tables.iter().all(|table| ["app", "inbox_login", "serial"].contains(&table.as_str()))
    }

    fn reading(verb: Verb, tokens: &[Placed<'_>], seam: Seam) -> Self {
        let keys = keys(tokens);
        let is_plain =
            verb == Verb::Select && place(tokens, "where").is_some_and(|at| keys.len() == n_conditions(&tokens[at..]));
        let yields = if is_plain { yields(tokens) } else { Vec::new() };
        Self { yields, ..Self::with(verb, keys, Vec::new(), Some(seam)) }
    }

    fn with(verb: Verb, keys: Vec<(String, usize)>, sets: Vec<(String, Option<usize>)>, seam: Option<Seam>) -> Self {
        Self { verb, tables: Vec::new(), keys, sets, yields: Vec::new(), overwrites: false, place: None, seam }
    }

    /// The columns that tell the rows of a write that overwrites from each other, with their parameters.
    pub(crate) fn identity(&self) -> impl Iterator<Item = (&str, usize)> {
        let target = if let Verb::Upsert(target) = &self.verb { target.as_slice() } else { &[] };
        let of_upsert = target.iter().filter_map(|column| {
            let (_, parameter) = self.sets.iter().find(|(set, _)| set == column)?;
            Some((column.as_str(), (*parameter)?))
        });
        of_upsert.chain(self.keys.iter().map(|(column, n)| (column.as_str(), *n)))
    }
}

/// The plain columns between `select` and `from`.
fn yields(tokens: &[Placed<'_>]) -> Vec<String> {
    let Some(from) = place(tokens, "from") else { return Vec::new() };
    let items = tokens[1..from].split(|it| it.depth == 0 && it.token == Token::Sign(','));
    items.map(|item| word(item).map(str::to_owned)).collect::<Option<_>>().unwrap_or_default()
}

/// `insert into t (a, b) values ($1, $2) [on conflict …]`
fn insert(tokens: &[Placed<'_>]) -> Option<Shape> {
    let values = place(tokens, "values")?;
    let columns = list(tokens, 3)?;
    let tuple = list(tokens, values + 1)?;
    let pairs = columns.items.iter().zip(&tuple.items);
    let sets =
        pairs.map(|(name, value)| Some((word(name)?.to_owned(), parameter(value)))).collect::<Option<Vec<_>>>()?;
    let rest = &tokens[tuple.end..];
    let mut overwrites = false;
    let verb = match rest {
        [] => Verb::Insert,
        _ if rest.last().is_some_and(|it| it.token == Token::Word("nothing")) => Verb::Insert,
        _ => {
            let target = list(rest, 2)?;
            let columns = target.items.iter().map(|item| word(item).map(str::to_owned)).collect::<Option<Vec<_>>>()?;
            let replaced = replaced(&rest[target.end..]);
            let is_new = |(column, _): &(String, _)| columns.contains(column) || replaced.contains(&column.as_str());
            let has_parameters = |column: &String| sets.iter().any(|(set, n)| set == column && n.is_some());
            overwrites = sets.iter().all(is_new) && columns.iter().all(has_parameters);
            Verb::Upsert(columns)
        }
    };
    let has_parameters = rest.iter().any(|it| matches!(it.token, Token::Param(_)));
    let (from, until) = (tokens[values].at, tokens[tuple.end - 1].at);
    let tuple = tokens[values + 1].at + 1..until;
    let seam = (!has_parameters).then_some(Seam::Values { all: from..until + 1, tuple });
    Some(Shape { overwrites, ..Shape::with(verb, Vec::new(), sets, seam) })
}

/// The columns of `do update set a = excluded.a, …`.
fn replaced<'s>(tokens: &[Placed<'s>]) -> Vec<&'s str> {
    let Some(set) = place(tokens, "set") else { return Vec::new() };
    let assignments = tokens[set + 1..].split(|it| it.depth == 0 && it.token == Token::Sign(','));
    assignments
        .filter_map(|assignment| match assignment {
            [column, equals, value] => match (column.token, equals.token, value.token) {
                (Token::Word(column), Token::Sign('='), Token::Word(value)) => {
                    (value.strip_prefix("excluded.") == Some(column)).then_some(column)
                }
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// `update t set a = $3, b = b + 1 where …`
fn update(tokens: &[Placed<'_>]) -> Option<Shape> {
    let (set, end) = (place(tokens, "set")?, place(tokens, "where")?);
    let mut sets = Vec::new();
    for assignment in tokens.get(set + 1..end)?.split(|it| it.depth == 0 && it.token == Token::Sign(',')) {
        let [column, equals, value @ ..] = assignment else { return None };
        let (Token::Word(column), Token::Sign('=')) = (column.token, equals.token) else { return None };
        sets.push((column.to_owned(), parameter(value)));
    }
    let seam = Some(Seam::Where(tokens[end].at));
    let keys = keys(tokens);
    let is_set = |column: &String| sets.iter().any(|(set, _)| set == column);
    let overwrites = sets.iter().all(|(_, n)| n.is_some())
        && keys.len() == n_conditions(&tokens[end..])
        && !keys.iter().any(|(column, _)| is_set(column));
    Some(Shape { overwrites, ..Shape::with(Verb::Update, keys, sets, seam) })
}

/// How many conditions a row has to satisfy, counted so that nothing is overlooked: whatever is not one counts as well.
fn n_conditions(from_where: &[Placed<'_>]) -> usize {
    let n_tokens = from_where.len() - 1;
    // `column = $n` and `and`.
    (n_tokens + 1).div_ceil(4)
}

/// The equalities that the outermost condition consists of, or a part of them.
fn keys(tokens: &[Placed<'_>]) -> Vec<(String, usize)> {
    let Some(start) = place(tokens, "where") else { return Vec::new() };
    let ends = ["order", "limit", "group", "having", "union", "window"];
    let is_end = |it: &Placed<'_>| it.depth == 0 && ends.iter().any(|word| it.token == Token::Word(word));
    let end = tokens[start..].iter().position(is_end).map_or(tokens.len(), |n| start + n);
    let condition = &tokens[start + 1..end];
    if condition.iter().any(|it| it.depth == 0 && it.token == Token::Word("or")) {
        return Vec::new();
    }
    let parts = condition.split(|it| it.depth == 0 && it.token == Token::Word("and"));
    parts
        .filter_map(|part| match part {
            [column, equals, value] => match (column.token, equals.token, value.token) {
                (Token::Word(column), Token::Sign('='), Token::Param(n)) => {
                    Some((column.rsplit('.').next().unwrap_or(column).to_owned(), n))
                }
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// The parameter that all conditions on the app compare it with.
fn place_of(tokens: &[Placed<'_>]) -> Option<usize> {
    let named = tokens.windows(3).filter_map(|three| match (three[0].token, three[1].token, three[2].token) {
        (Token::Word(column), Token::Sign('='), Token::Param(n)) if column == "app" || column.ends_with(".app") => {
            Some(n)
        }
        _ => None,
    });
    let mut named: Vec<usize> = named.collect();
    named.dedup();
    if let [place] = named[..] { Some(place) } else { None }
}

/// The tables that a statement names, the first of them first.
fn tables(tokens: &[Placed<'_>]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (index, it) in tokens.iter().enumerate() {
        let Token::Word("from" | "join" | "into" | "update" | "using") = it.token else { continue };
        let mut at = index + 1;
        while let Some(Placed { token: Token::Word(name), .. }) = tokens.get(at) {
            if ["set", "skip", "select"].contains(name) {
                break;
            }
            found.push((*name).to_owned());
            // A list of tables, each perhaps with another name.
            let is_comma = |at: usize| tokens.get(at).is_some_and(|it| it.token == Token::Sign(','));
            match (1..=3).find(|n| is_comma(at + n)) {
                Some(n) if tokens[at + 1..at + n].iter().all(|it| matches!(it.token, Token::Word(_))) => at += n + 1,
                _ => break,
            }
        }
    }
    let mut kept: Vec<String> = Vec::new();
    for name in found {
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

/// The first word of this kind outside of parentheses.
fn place(tokens: &[Placed<'_>], word: &str) -> Option<usize> {
    tokens.iter().position(|it| it.depth == 0 && it.token == Token::Word(word))
}

/// The items between two parentheses, and the index behind them.
struct List<'t, 's> {
    items: Vec<&'t [Placed<'s>]>,
    end: usize,
}

fn list<'t, 's>(tokens: &'t [Placed<'s>], at: usize) -> Option<List<'t, 's>> {
    let open = tokens.get(at).filter(|it| it.token == Token::Sign('('))?;
    let length = tokens[at + 1..].iter().position(|it| it.token == Token::Sign(')') && it.depth == open.depth)?;
    let inside = &tokens[at + 1..at + 1 + length];
    let items = inside.split(|it| it.depth == open.depth + 1 && it.token == Token::Sign(',')).collect();
    Some(List { items, end: at + length + 2 })
}

fn word<'s>(item: &[Placed<'s>]) -> Option<&'s str> {
    match item {
        [Placed { token: Token::Word(word), .. }] => Some(word),
        _ => None,
    }
}

fn parameter(item: &[Placed<'_>]) -> Option<usize> {
    match item {
        [Placed { token: Token::Param(n), .. }] => Some(*n),
        _ => None,
    }
}

fn tokens(sql: &str) -> Vec<Placed<'_>> {
    let bytes = sql.as_bytes();
    let (mut found, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    let span = |from: usize, fits: fn(u8) -> bool| bytes[from..].iter().take_while(|byte| fits(**byte)).count();
    while let Some(byte) = bytes.get(at) {
        let (token, length) = match byte {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'$' => {
                let digits = span(at + 1, |byte| byte.is_ascii_digit());
                (Token::Param(sql[at + 1..at + 1 + digits].parse().unwrap_or(0)), 1 + digits)
            }
            b'\'' => (Token::Text, 2 + span(at + 1, |byte| byte != b'\'')),
            byte if byte.is_ascii_alphabetic() || *byte == b'_' => {
                let length = span(at, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.');
                (Token::Word(&sql[at..at + length]), length)
            }
            byte => (Token::Sign(char::from(*byte)), 1),
        };
        depth -= usize::from(token == Token::Sign(')') && depth > 0);
        found.push(Placed { token, at, depth });
        depth += usize::from(token == Token::Sign('('));
        at += length;
    }
    found
}

/// The text with `v.cN` for every `$N`, but not for the one that is kept.
pub(crate) fn with_columns(text: &str, kept: Option<usize>) -> String {
    with_params(text, |n| if Some(n) == kept { format!("${n}") } else { format!("v.c{n}") })
}

/// The text with higher numbers of parameters.
pub(crate) fn with_shifted(text: &str, by: usize) -> String {
    with_params(text, |n| format!("${}", n + by))
}

fn with_params(text: &str, replace: impl Fn(usize) -> String) -> String {
    let mut made = String::with_capacity(text.len() + 32);
    let mut done = 0;
    for it in tokens(text) {
        if let Token::Param(n) = it.token {
            made.push_str(&text[done..it.at]);
            made.push_str(&replace(n));
            done = it.at + 1 + n.to_string().len();
        }
    }
    made.push_str(&text[done..]);
    made
}
