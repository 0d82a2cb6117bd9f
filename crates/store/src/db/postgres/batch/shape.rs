//! What a statement does, as far as its text tells: which tables it touches, and which rows of them.
//!
//! Our statements are few and plain, so a handful of rules reads most of them. What the rules do not understand counts as
//! touching every row of every table it names.

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
        let unread = Self { verb: Verb::Other, tables: Vec::new(), keys: Vec::new(), sets: Vec::new(), seam: None };
        let shape = read.unwrap_or(unread);
        // The columns of a join belong to one of its tables, and the text does not always say to which.
        let keys = if tables.len() == 1 { shape.keys } else { Vec::new() };
        Self { tables, keys, ..shape }
    }

    fn reading(verb: Verb, tokens: &[Placed<'_>], seam: Seam) -> Self {
        Self { verb, tables: Vec::new(), keys: keys(tokens), sets: Vec::new(), seam: Some(seam) }
    }
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
    let verb = match rest {
        [] => Verb::Insert,
        _ if rest.last().is_some_and(|it| it.token == Token::Word("nothing")) => Verb::Insert,
        _ => {
            let target = list(rest, 2)?;
            Verb::Upsert(target.items.iter().map(|item| word(item).map(str::to_owned)).collect::<Option<_>>()?)
        }
    };
    let has_parameters = rest.iter().any(|it| matches!(it.token, Token::Param(_)));
    let (from, until) = (tokens[values].at, tokens[tuple.end - 1].at);
    let tuple = tokens[values + 1].at + 1..until;
    let seam = (!has_parameters).then_some(Seam::Values { all: from..until + 1, tuple });
    Some(Shape { verb, tables: Vec::new(), keys: Vec::new(), sets, seam })
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
    Some(Shape { verb: Verb::Update, tables: Vec::new(), keys: keys(tokens), sets, seam })
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

/// The text with `v.cN` for every `$N`.
pub(crate) fn with_columns(text: &str) -> String {
    let mut made = String::with_capacity(text.len() + 32);
    let mut done = 0;
    for it in tokens(text) {
        if let Token::Param(n) = it.token {
            made.push_str(&text[done..it.at]);
            made.push_str(&format!("v.c{n}"));
            done = it.at + 1 + n.to_string().len();
        }
    }
    made.push_str(&text[done..]);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> (Verb, Vec<String>, String, bool) {
        let Shape { verb, tables, keys, sets, seam } = Shape::of(sql);
        let keys: Vec<String> = keys.iter().map(|(column, n)| format!("{column}=${n}")).collect();
        let sets = sets.iter().map(|(column, n)| format!("{column}:{}", n.unwrap_or(0)));
        (verb, tables, keys.into_iter().chain(sets).collect::<Vec<_>>().join(" "), seam.is_some())
    }

    fn read(verb: Verb, tables: &[&str], columns: &str, has_seam: bool) -> (Verb, Vec<String>, String, bool) {
        (verb, tables.iter().map(|table| (*table).to_owned()).collect(), columns.to_owned(), has_seam)
    }

    #[test]
    fn plain_statements_tell_which_rows_they_touch() {
        let upsert = "insert into counter (app, hour, n) values ($1, $2, $3)
                      on conflict (app, hour) do update set n = counter.n + excluded.n";
        for (sql, expected) in [
            (
                "select terms from channel c where c.app = $1 and id = $2 and installed = 1 order by ordinal limit $3",
                read(Verb::Select, &["channel"], "app=$1 id=$2", true),
            ),
            (
                "insert into job (app, id, leased) values ($1, $2, 0) on conflict (app, id) do nothing",
                read(Verb::Insert, &["job"], "app:1 id:2 leased:0", true),
            ),
            (upsert, read(Verb::Upsert(vec!["app".into(), "hour".into()]), &["counter"], "app:1 hour:2 n:3", true)),
            (
                "update job set due = $4, failures = failures + 1 where app = $1 and id = $2 and attempt < $3",
                read(Verb::Update, &["job"], "app=$1 id=$2 due:4 failures:0", true),
            ),
            (
                "delete from session where app = $1 and ordinal = $2",
                read(Verb::Delete, &["session"], "app=$1 ordinal=$2", true),
            ),
        ] {
            assert_eq!(of(sql), expected, "{sql}");
        }
    }

    #[test]
    fn others_count_as_touching_everything_of_their_tables() {
        for (sql, expected) in [
            (
                "select u.terms from channel c left join named_user u on u.id = c.named_user where c.app = $1",
                read(Verb::Select, &["channel", "named_user"], "", true),
            ),
            ("select n from a x, b where app = $1", read(Verb::Select, &["a", "b"], "", true)),
            ("select n from a where app = $1 or id = $2", read(Verb::Select, &["a"], "", true)),
            ("select id from job where app = $1 for update skip locked", read(Verb::Other, &["job"], "", false)),
            (
                "delete from a where app = $1 and id in (select id from b where app = $1 limit $2)",
                read(Verb::Other, &["a", "b"], "", false),
            ),
            ("insert into a (id) select id from b", read(Verb::Other, &["a", "b"], "", false)),
            ("update a set n = 1 where id = $1 returning n", read(Verb::Other, &["a"], "", false)),
        ] {
            assert_eq!(of(sql), expected, "{sql}");
        }
    }

    #[test]
    fn parameters_become_columns() {
        let sql = "select '$1' from a where b = $12 and c>=$2";
        assert_eq!(with_columns(sql), "select '$1' from a where b = v.c12 and c>=v.c2");
    }
}
