//! The part of a shell and of curl that examples need: words, quotes, variables, and a handful of options.

use std::collections::BTreeMap;

use http::Method;

/// A request, as somebody would type it.
#[derive(Debug, PartialEq)]
pub(crate) struct Curl {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) user: Option<(String, String)>,
    pub(crate) body: String,
}

type Variables = BTreeMap<String, String>;

/// The commands of a script. Each is read when it is its turn, because it may need what the one before was answered.
pub(crate) fn commands(script: &str) -> Vec<impl Fn(&Variables) -> Curl> {
    let read = |line: String| move |variables: &Variables| Curl::new(words(&line, variables));
    lines(script).into_iter().map(read).collect()
}

/// Lines end where no quote is open and no backslash comes before.
fn lines(script: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut quote = None;
    let mut characters = script.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', None) if characters.peek() == Some(&'\n') => {
                characters.next();
                continue;
            }
            ('\n', None) => {
                lines.push(String::new());
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        lines.last_mut().expect("there is always a line").push(c);
    }
    assert_eq!(quote, None, "a quote is not closed in {script}");
    lines.retain(|line| !line.trim().is_empty());
    lines
}

fn words(line: &str, variables: &Variables) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            (' ', None) => words.extend(word.take()),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            ('$', None | Some('"')) => {
                let mut name = String::new();
                while let Some(c) = characters.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                let value = variables.get(&name).unwrap_or_else(|| panic!("nothing has said what ${name} is: {line}"));
                word.get_or_insert_default().push_str(value);
            }
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

impl Curl {
    fn new(words: Vec<String>) -> Self {
        let mut words = words.into_iter();
        assert_eq!(words.next().as_deref(), Some("curl"), "examples are calls of curl");
        let (mut method, mut url, mut user, mut body) = (None, None, None, None);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "-X" => method = Some(value().parse().expect("this is a method")),
                "-d" => body = Some(value()),
                "-u" => {
                    let pair = value();
                    let (key, secret) = pair.split_once(':').expect("credentials have a colon");
                    user = Some((key.to_owned(), secret.to_owned()));
                }
                option if option.starts_with('-') => panic!("examples do not use {option}"),
                _ => url = Some(word),
            }
        }
        let default = if body.is_some() { Method::POST } else { Method::GET };
        let url = url.expect("a call has an address");
        Self { method: method.unwrap_or(default), url, user, body: body.unwrap_or_default() }
    }
}

#[test]
fn scripts_are_read_as_a_shell_would() {
    let script = "curl -u \"$KEY:s\" -d '{\n  \"id\": \"'$ID'\"\n}' \\\n  {base}/a\n\ncurl -X DELETE '{base}/b?c=$d'\n";
    let variables = Variables::from([("KEY".to_owned(), "k".to_owned()), ("ID".to_owned(), "7".to_owned())]);
    let found: Vec<_> = commands(script).iter().map(|command| command(&variables)).collect();
    let first = Curl {
        method: Method::POST,
        url: "{base}/a".to_owned(),
        user: Some(("k".to_owned(), "s".to_owned())),
        body: "{\n  \"id\": \"7\"\n}".to_owned(),
    };
    let second = Curl { method: Method::DELETE, url: "{base}/b?c=$d".to_owned(), user: None, body: String::new() };
    assert_eq!(found, [first, second]);
}
