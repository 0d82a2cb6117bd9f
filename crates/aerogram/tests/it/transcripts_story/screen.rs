//! What is left on a terminal in the end of all that was written to it: bars that were drawn and cleared are gone.

#[derive(Default)]
pub(super) struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    pub(super) is_colored: bool,
}

impl Screen {
    pub(super) fn of(written: &str) -> Self {
        let mut screen = Self::default();
        let mut rest = written.chars();
        while let Some(c) = rest.next() {
            match c {
                '\r' => screen.column = 0,
                '\n' => (screen.row, screen.column) = (screen.row + 1, 0),
                '\u{1b}' => {
                    // It ends with its first letter.
                    let (sequence, _) = rest.as_str().split_at(length_of_sequence(rest.as_str()));
                    rest = rest.as_str()[sequence.len()..].chars();
                    screen.obey(sequence);
                }
                c => screen.put(c),
            }
        }
        screen
    }

    /// Without blank lines at the end.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    fn line(&mut self) -> &mut Vec<char> {
        let n_lines = self.lines.len().max(self.row + 1);
        self.lines.resize_with(n_lines, Vec::new);
        &mut self.lines[self.row]
    }

    fn put(&mut self, c: char) {
        let column = self.column;
        let line = self.line();
        let n_columns = line.len().max(column + 1);
        line.resize(n_columns, ' ');
        line[column] = c;
        self.column += 1;
    }

    /// `[`, numbers and a letter, as far as commands use them.
    fn obey(&mut self, sequence: &str) {
        let Some(kind) = sequence.chars().last() else { return };
        let number = sequence.trim_start_matches('[').trim_end_matches(kind).parse::<usize>();
        match kind {
            'm' => self.is_colored |= sequence != "[0m",
            'A' => self.row = self.row.saturating_sub(number.unwrap_or(1)),
            'K' => {
                let left = if number == Ok(2) { 0 } else { self.column };
                self.line().truncate(left);
            }
            _ => {}
        }
    }
}

fn length_of_sequence(rest: &str) -> usize {
    rest.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |last| last + 1)
}
