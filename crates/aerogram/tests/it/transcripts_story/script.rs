//! The form of a story: paragraphs of prose, commands after `$`, what somebody types when asked after `>`, and below them,
//! indented, what is printed.

use std::fmt;

#[derive(Default)]
pub(super) struct Script(Vec<Part>);

enum Part {
    Prose(String),
    Step(Step),
}

#[derive(Default)]
pub(super) struct Step {
    pub(super) command: String,
    /// What somebody at the terminal types when they are asked.
    pub(super) answer: Option<String>,
    pub(super) on_terminal: Outcome,
    pub(super) in_pipe: Outcome,
}

/// What a command prints, and how it ends.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) output: Vec<String>,
    /// Only in a pipe; a terminal shows both.
    pub(super) errors: Vec<String>,
    pub(super) is_colored: bool,
    pub(super) code: i32,
}

impl Script {
    pub(super) fn read(text: &str) -> Self {
        let mut parts = Vec::new();
        // Lines of prose that belong together stand below each other.
        let mut is_going_on = false;
        for line in text.lines() {
            let is_prose = !line.is_empty() && !line.starts_with(' ');
            match (line.strip_prefix("$ "), line.strip_prefix("> "), parts.last_mut()) {
                (Some(command), _, _) => {
                    parts.push(Part::Step(Step { command: command.to_owned(), ..Step::default() }));
                }
                (None, Some(answer), Some(Part::Step(step))) => step.answer = Some(answer.to_owned()),
                (None, None, Some(Part::Prose(prose))) if is_prose && is_going_on => *prose += &format!("\n{line}"),
                (None, _, _) if is_prose => parts.push(Part::Prose(line.to_owned())),
                // The output, which is made anew.
                (None, _, _) => {}
            }
            is_going_on = is_prose && !line.starts_with("$ ");
        }
        Self(parts)
    }

    pub(super) fn steps(&mut self) -> impl Iterator<Item = &mut Step> {
        self.0.iter_mut().filter_map(|part| match part {
            Part::Step(step) => Some(step),
            Part::Prose(_) => None,
        })
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.0.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match part {
                Part::Prose(text) => writeln!(f, "{text}")?,
                Part::Step(step) => step.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        if let Some(answer) = &self.answer {
            writeln!(f, "> {answer}")?;
        }
        let Self { on_terminal, in_pipe, .. } = self;
        if on_terminal.reads_like(in_pipe) {
            let colors = on_terminal.is_colored.then(|| "on a terminal in colors".to_owned());
            remark(f, [colors, exit_code(on_terminal.code)])?;
            return write(f, &on_terminal.output);
        }
        let colors = if on_terminal.is_colored { " in colors" } else { "" };
        remark(f, [Some(format!("on a terminal{colors}")), exit_code(on_terminal.code)])?;
        write(f, &on_terminal.output)?;
        let stream = if in_pipe.output.is_empty() { " on standard error" } else { "" };
        remark(f, [Some(format!("in a pipe{stream}")), exit_code(in_pipe.code)])?;
        write(f, &in_pipe.output)?;
        if !in_pipe.output.is_empty() && !in_pipe.errors.is_empty() {
            remark(f, [Some("and on standard error".to_owned())])?;
        }
        write(f, &in_pipe.errors)
    }
}

impl Outcome {
    /// Whether there is nothing to tell apart. A terminal shows results and remarks as they come.
    fn reads_like(&self, piped: &Outcome) -> bool {
        let together = [&piped.output[..], &piped.errors[..]].concat();
        let remarks_first = [&piped.errors[..], &piped.output[..]].concat();
        self.code == piped.code && (self.output == together || self.output == remarks_first)
    }
}

fn exit_code(code: i32) -> Option<String> {
    (code != 0).then(|| format!("exit code {code}"))
}

/// What is to be said of the output below it, if anything.
fn remark<const N: usize>(f: &mut fmt::Formatter<'_>, parts: [Option<String>; N]) -> fmt::Result {
    let said: Vec<String> = parts.into_iter().flatten().collect();
    if said.is_empty() { Ok(()) } else { writeln!(f, "  ({})", said.join(", ")) }
}

fn write(f: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    lines.iter().try_for_each(|line| writeln!(f, "{}", format!("    {line}").trim_end()))
}
