//! From text to template: tags and blocks. A mistake in one tag does not hide those of the next.

mod tag;

use crate::limits;
use crate::template::{Block, Branch, Node, Opener, Template};
use tag::TagReader;
pub(crate) use tag::{RESERVED, is_in_names};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
}

/// Whether a text is anything but text.
pub fn has_tags(text: &str) -> bool {
    text.contains("{{")
}

impl Template {
    /// Parses a text, or finds its mistakes in the order of their columns.
    pub fn parse(source: &str) -> Result<Self, Vec<Mistake>> {
        let mut parser = Parser { source, ..Parser::default() };
        parser.read();
        let Parser { nodes, mut slips, .. } = parser;
        if slips.is_empty() {
            return Ok(Self { nodes });
        }
        slips.sort_by_key(|slip| slip.at);
        slips.truncate(limits::MISTAKES);
        let mistake = |Slip { at, message }| Mistake { column: source[..at].chars().count() + 1, message };
        Err(slips.into_iter().map(mistake).collect())
    }
}

/// A mistake at a byte of the source, which is the first of a character.
struct Slip {
    at: usize,
    message: String,
}

type Parsed<T> = Result<T, Slip>;

#[derive(Default)]
struct Parser<'s> {
    source: &'s str,
    at: usize,
    /// Of the innermost open block, or of the whole.
    nodes: Vec<Node>,
    open: Vec<OpenBlock>,
    slips: Vec<Slip>,
    n_tags: usize,
    /// Whether white space is left out before the next tag: the last one ended with `~}}`.
    trims: bool,
}

struct OpenBlock {
    at: usize,
    /// What closes it.
    word: String,
    /// Branches that have ended.
    branches: Vec<Branch>,
    now_in: Section,
    /// The nodes before the block.
    outer: Vec<Node>,
}

enum Section {
    Branch(Opener),
    Otherwise,
    /// Its opener was wrong; what is in it is read for its mistakes.
    Broken,
}

/// What stands between the braces of one tag.
enum Tag {
    Value(Node),
    Open { word: String, section: Section },
    Else,
    ElseIf(Opener),
    Close(String),
    Comment,
}

impl<'s> Parser<'s> {
    fn read(&mut self) {
        while let Some(found) = self.source[self.at..].find("{{") {
            let start = self.at + found;
            let before = &self.source[self.at..start];
            // As in Handlebars: a backslash makes text of the braces, two are one backslash before a tag.
            if let Some(text) = before.strip_suffix('\\').filter(|text| !text.ends_with('\\')) {
                self.text(text);
                self.text("{{");
                self.at = start + 2;
                continue;
            }
            self.text(if before.ends_with("\\\\") { &before[..before.len() - 1] } else { before });
            self.n_tags += 1;
            if self.n_tags > limits::TAGS {
                return self.slip(start, format!("A text has {} tags at most.", limits::TAGS));
            }
            if let Err(slip) = self.tag(start) {
                // Goes on behind the tag, or where the mistake is, which may be behind its end.
                let from = slip.at.max(start + 2);
                self.slips.push(slip);
                self.open_broken(start);
                match self.source[from..].find("}}") {
                    Some(end) => self.at = from + end + 2,
                    None => return,
                }
            }
            if self.open.len() > limits::DEPTH {
                return self.slip(start, format!("Blocks are inside each other {} deep at most.", limits::DEPTH));
            }
        }
        let rest = &self.source[self.at..];
        self.text(rest);
        for OpenBlock { at, word, .. } in std::mem::take(&mut self.open) {
            self.slip(at, format!("This block is not closed: '{{{{/{word}}}}}' is missing."));
        }
    }

    /// Notes the block of a wrong opener, so that its end is no second mistake and its content is read for mistakes.
    fn open_broken(&mut self, at: usize) {
        let mut reader = TagReader { source: self.source, at: at + 2 };
        reader.eat("~");
        if let Some(word) = reader.opening_word() {
            let (word, outer) = (word.to_owned(), std::mem::take(&mut self.nodes));
            self.open.push(OpenBlock { at, word, branches: Vec::new(), now_in: Section::Broken, outer });
        }
    }

    fn slip(&mut self, at: usize, message: String) {
        self.slips.push(Slip { at, message });
    }

    fn text(&mut self, text: &str) {
        let text = if self.trims { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trims = false;
        match self.nodes.last_mut() {
            Some(Node::Text(last)) => last.push_str(text),
            Some(Node::Value { .. } | Node::Block(_)) | None => self.nodes.push(Node::Text(text.to_owned())),
        }
    }

    fn trim_before(&mut self) {
        if let Some(Node::Text(text)) = self.nodes.last_mut() {
            text.truncate(text.trim_end().len());
            if text.is_empty() {
                self.nodes.pop();
            }
        }
    }

    /// Reads the tag that begins here.
    fn tag(&mut self, start: usize) -> Parsed<()> {
        let mut reader = TagReader { source: self.source, at: start + 2 };
        let is_triple = reader.eat("{");
        if reader.eat("~") {
            self.trim_before();
        }
        self.trims = false;
        let tag = if is_triple { reader.value(true).map(Tag::Value)? } else { reader.tag()? };
        if let Tag::Comment = tag {
            self.at = reader.at;
            return Ok(());
        }
        let ends_trimmed = reader.end(if is_triple { "}}}" } else { "}}" })?;
        self.at = reader.at;
        match tag {
            // Text in quotes is text.
            Tag::Value(Node::Text(text)) => self.text(&text),
            Tag::Value(node) => self.nodes.push(node),
            Tag::Open { word, section } => {
                let outer = std::mem::take(&mut self.nodes);
                self.open.push(OpenBlock { at: start, word, branches: Vec::new(), now_in: section, outer });
            }
            Tag::Else => self.next_section(start, Section::Otherwise)?,
            Tag::ElseIf(opener) => self.next_section(start, Section::Branch(opener))?,
            Tag::Close(word) => self.close(start, &word)?,
            Tag::Comment => {}
        }
        self.trims = ends_trimmed;
        Ok(())
    }

    fn next_section(&mut self, at: usize, next: Section) -> Parsed<()> {
        let Some(block) = self.open.last_mut() else {
            return Err(Slip { at, message: "There is no block that this could be the other part of.".to_owned() });
        };
        let is_loop = |section: &Section| matches!(section, Section::Branch(Opener::Each { .. } | Opener::With { .. }));
        let message = match (&block.now_in, &next) {
            (Section::Otherwise, _) => Some("The block has an '{{else}}' before this, which is its last part."),
            (now_in, Section::Branch(_)) if is_loop(now_in) => Some("Only '{{else}}' follows on 'each' and 'with'."),
            (Section::Branch(_) | Section::Broken, _) => None,
        };
        if let Some(message) = message {
            return Err(Slip { at, message: message.to_owned() });
        }
        let nodes = std::mem::take(&mut self.nodes);
        match std::mem::replace(&mut block.now_in, next) {
            Section::Branch(opener) => block.branches.push(Branch { opener, nodes }),
            Section::Otherwise | Section::Broken => {}
        }
        Ok(())
    }

    fn close(&mut self, at: usize, word: &str) -> Parsed<()> {
        let Some(n) = self.open.iter().rposition(|block| block.word == word) else {
            let message = match self.open.last() {
                Some(block) => format!("Here '{{{{/{}}}}}' must follow; there is no open '{word}'.", block.word),
                None => format!("There is no open block '{word}' that this could close."),
            };
            return Err(Slip { at, message });
        };
        // Blocks inside of it that were not closed.
        for unclosed in self.open.drain(n + 1..).rev().collect::<Vec<_>>() {
            self.slip(unclosed.at, format!("This block is not closed: '{{{{/{}}}}}' is missing.", unclosed.word));
            self.nodes.clear();
        }
        let Some(OpenBlock { mut branches, now_in, outer, .. }) = self.open.pop() else { return Ok(()) };
        let nodes = std::mem::replace(&mut self.nodes, outer);
        let otherwise = match now_in {
            Section::Branch(opener) => {
                branches.push(Branch { opener, nodes });
                None
            }
            Section::Otherwise => Some(nodes),
            Section::Broken => None,
        };
        self.nodes.push(Node::Block(Block { branches, otherwise }));
        Ok(())
    }
}
